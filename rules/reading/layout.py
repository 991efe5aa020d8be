"""Where things are: bundles and their parts, what a review answers for, and the globs of the config."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import re2

from rules.core.config import Root
from rules.core.model import Bundle, Snapshot, Tree

_PIECES = {b"**/": rb"(?:[^/]+/)*", b"**": rb".*", b"*": rb"[^/]*", b"?": rb"[^/\x80-\xBF][\x80-\xBF]*"}


@lru_cache(maxsize=4096)
def _pattern(glob: str) -> Any:
    """The glob as RE2, whose time is linear: globs come from the config and, as names of externals, from the reviewed inventory."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.dot_nl = True
    options.log_errors = False
    parts = [_PIECES.get(piece) or re2.escape(piece) for piece in re.split(rb"(\*\*/|\*\*|\*|\?)", _bytes(glob)[:1000]) if piece]
    return re2.compile(b"".join(parts), options)


def _bytes(text: str) -> bytes:
    """Names as bytes: one that is not UTF-8 holds surrogates."""
    return text.encode("utf-8", "surrogatepass")


def matches(path: str, glob: str) -> bool:
    """True when `path` matches the config's `glob`: `**` crosses folders, `*` and `?` do not; a folder (`raw/`) matches everything inside."""
    if glob.endswith("/"):
        return path.startswith(glob)
    return _pattern(glob).fullmatch(_bytes(path)) is not None


def bundles_of(snapshot: Snapshot, tree: Tree) -> tuple[Bundle, ...]:
    """Every bundle directory of `tree` that holds a file, in order of path; the config's `ignore` is left out."""
    return snapshot.memo(("bundles", id(tree)), lambda: _bundles(snapshot, tree))


def _bundles(snapshot: Snapshot, tree: Tree) -> tuple[Bundle, ...]:
    grouped: dict[str, tuple[Root, list[str]]] = {}
    for path in tree.files:
        for root in snapshot.config.roots:
            directory = _bundle_of(path, root.bundles)
            if directory and directory.rpartition("/")[2] not in snapshot.config.ignore:
                grouped.setdefault(directory, (root, []))[1].append(path)
                break
    return tuple(Bundle(d.rpartition("/")[2], d, tuple(sorted(files)), root) for d, (root, files) in sorted(grouped.items()))


def _bundle_of(path: str, glob: str) -> str | None:
    depth = glob.count("/") + 1
    parts = path.split("/")
    if len(parts) <= depth:
        return None
    directory = "/".join(parts[:depth])
    return directory if matches(directory, glob) else None


def changed(snapshot: Snapshot) -> Mapping[str, tuple[str | None, str | None]]:
    """Path → (object id at the merge base, object id at head) of every file that head changes. Empty without a base."""
    return snapshot.memo("changed", lambda: _changed(snapshot))


def _changed(snapshot: Snapshot) -> dict[str, tuple[str | None, str | None]]:
    old = snapshot.merge_base or snapshot.base
    if old is None:
        return {}
    before, after = old.files, snapshot.head.files
    made: dict[str, tuple[str | None, str | None]] = {}
    for path in before.keys() | after.keys():
        left, right = before.get(path), after.get(path)
        if left is None or right is None or left.oid != right.oid or left.mode != right.mode:
            made[path] = (left.oid if left else None, right.oid if right else None)
    return dict(sorted(made.items()))


def bundles(snapshot: Snapshot) -> tuple[Bundle, ...]:
    """The bundles that this review answers for: with a base those that head touches (whole), else all."""
    return snapshot.memo("bundles in scope", lambda: tuple(b for b in bundles_of(snapshot, snapshot.head) if _touched(snapshot, b)))


def _touched(snapshot: Snapshot, bundle: Bundle) -> bool:
    if snapshot.base is None:
        return True
    return any(path.startswith(bundle.path + "/") for path in changed(snapshot))


def bundle_at(snapshot: Snapshot, path: str) -> Bundle | None:
    """The bundle of head that holds `path`."""
    by_path = snapshot.memo("bundle by file", lambda: {f: b for b in bundles_of(snapshot, snapshot.head) for f in b.files})
    return by_path.get(path)


def in_scope(snapshot: Snapshot) -> tuple[str, ...]:
    """Every file of head that this review answers for, sorted: all of them, or with a base those it touches and the whole of the bundles it touches."""
    return snapshot.memo("scope", lambda: _in_scope(snapshot))


def _in_scope(snapshot: Snapshot) -> tuple[str, ...]:
    if snapshot.base is None:
        return tuple(sorted(snapshot.head.files))
    wanted = {path for path, (_, after) in changed(snapshot).items() if after is not None}
    for bundle in bundles(snapshot):
        wanted.update(bundle.files)
    return tuple(sorted(wanted))


def documents_in_scope(snapshot: Snapshot) -> tuple[str, ...]:
    """The Markdown files this review answers for: those in bundles in scope, and other documents that are changed (all, without a base)."""
    return tuple(path for path in in_scope(snapshot) if path.lower().endswith((".md", ".markdown")))


__all__ = ["Bundle", "bundle_at", "bundles", "bundles_of", "changed", "documents_in_scope", "in_scope", "matches"]
