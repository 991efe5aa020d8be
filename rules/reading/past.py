"""The history, indexed once per review: what changed inside a bundle, and which commits brought an object."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from rules.core.model import Bundle, Change, Snapshot


def changes_in(snapshot: Snapshot, bundle: Bundle) -> tuple[Change, ...]:
    """Every change of a path inside the bundle's directory that head's history holds, oldest first."""
    depth = bundle.path.count("/") + 1
    grouped = snapshot.memo(("changes by directory", depth), lambda: _by_directory(snapshot, depth))
    return tuple(grouped.get(bundle.path, ()))


def _by_directory(snapshot: Snapshot, depth: int) -> Mapping[str, list[Change]]:
    grouped: dict[str, list[Change]] = defaultdict(list)
    for change in reversed(snapshot.history.changes) if snapshot.history else ():
        parts = change.path.split("/", depth)
        if len(parts) > depth:
            grouped["/".join(parts[:depth])].append(change)
    return grouped


def commits_with(snapshot: Snapshot, oid: str) -> tuple[str, ...]:
    """The commits that bring the object at any path, oldest first."""
    return tuple(snapshot.memo("commits by object", lambda: _by_object(snapshot)).get(oid, ()))


def _by_object(snapshot: Snapshot) -> Mapping[str, list[str]]:
    """Of the objects that head's files are; older versions are not asked for."""
    wanted = {entry.oid for entry in snapshot.head.files.values()}
    found: dict[str, list[str]] = defaultdict(list)
    for change in reversed(snapshot.history.changes) if snapshot.history else ():
        if change.after in wanted:
            found[change.after].append(change.commit)
    return found
