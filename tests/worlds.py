"""Small worlds in memory: trees and snapshots for testing rules with values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from rules.core.cache import Cache
from rules.core.config import Config
from rules.core.model import Change, Commit, Confirmed, Entry, Facts, Finding, Issue, Missing, Pull, Rule, Snapshot, Unchecked
from rules.reading.layout import bundles


@dataclass(frozen=True, eq=False)
class MemoryTree:
    """A tree whose files are given as bytes."""

    blobs: Mapping[str, bytes]
    commit: str | None = None
    files: Mapping[str, Entry] = field(init=False)

    def __post_init__(self) -> None:
        entries = {path: Entry(hashlib.sha1(data).hexdigest(), "100644", len(data)) for path, data in self.blobs.items()}
        object.__setattr__(self, "files", dict(sorted(entries.items())))

    def read(self, path: str) -> bytes:
        if path not in self.blobs:
            raise Missing(path)
        return self.blobs[path]


def tree(files: Mapping[str, object], commit: str | None = None) -> MemoryTree:
    """A tree from path → text, bytes, or a value that is written as indented JSON."""
    return MemoryTree({path: _bytes(value) for path, value in files.items()}, commit)


def _bytes(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def snapshot(
    files: Mapping[str, object],
    base: Mapping[str, object] | None = None,
    pull: Pull | None = None,
    issue: Issue | None = None,
    config: Config | None = None,
    **more: Any,
) -> Snapshot:
    """A snapshot of `files` at head, with `base` as base tip and merge base where it is given."""
    held = tree(base, "b" * 40) if base is not None else None
    return Snapshot(head=tree(files, "a" * 40), config=config or Config(), cache=Cache(), base=held, merge_base=held, pull=pull, issue=issue, **more)


def bundle(files: Mapping[str, object], name: str = "camp") -> dict[str, object]:
    """`files` inside `evidence/<name>/`."""
    return {f"evidence/{name}/{path}": value for path, value in files.items()}


def run(rule: Rule, held: Snapshot, facts: Facts | None = None) -> list[Finding | Confirmed | Unchecked]:
    made = [item for one in bundles(held) for item in rule.each(held, one)] if rule.each else []
    return made + (list(rule.check(held, facts or Facts())) if rule.check else [])


def findings(rule: Rule, held: Snapshot) -> list[Finding]:
    return [item for item in run(rule, held) if isinstance(item, Finding)]


@dataclass(frozen=True)
class Step:
    """One commit of a linear history: the files it writes (None deletes), its subject, its minute, and its author's minute where that differs."""

    files: Mapping[str, object]
    subject: str = "a step"
    minute: int | None = None
    author_minute: int | None = None


class MemoryHistory:
    """A linear history of steps, oldest first; `others` are commits that head does not reach, by id."""

    def __init__(self, steps: tuple[Step, ...], complete: bool = True, others: Mapping[str, MemoryTree] | None = None) -> None:
        self.complete, self._others = complete, dict(others or {})
        self._trees: dict[str, MemoryTree] = {}
        self._blobs: dict[str, bytes] = {}
        found: list[tuple[Commit, list[Change]]] = []
        blobs: dict[str, bytes] = {}
        parents: tuple[str, ...] = ()
        for number, step in enumerate(steps):
            id = f"{number + 1:040x}"
            changes = [_apply(blobs, id, path, value) for path, value in step.files.items()]
            made = MemoryTree(dict(blobs), id)
            self._trees[id] = made
            self._blobs |= {entry.oid: blobs[path] for path, entry in made.files.items()}
            time = NOON + timedelta(minutes=number if step.minute is None else step.minute)
            author = time if step.author_minute is None else NOON + timedelta(minutes=step.author_minute)
            found.append((Commit(id, parents, time, author, step.subject), changes))
            parents = (id,)
        self.commits = {commit.id: commit for commit, _ in reversed(found)}
        self.changes = tuple(change for _, changes in reversed(found) for change in changes)

    def is_ancestor(self, older: str, newer: str) -> bool:
        return older in self._trees and newer in self._trees and older <= newer

    def kind(self, id: str) -> str | None:
        return "commit" if self.tree(id) else "blob" if id in self._blobs else None

    def blob(self, oid: str) -> bytes:
        if oid not in self._blobs:
            raise Missing(oid)
        return self._blobs[oid]

    def tree(self, commit: str) -> MemoryTree | None:
        return self._trees.get(commit) or self._others.get(commit)


NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


def _apply(blobs: dict[str, bytes], id: str, path: str, value: object) -> Change:
    before = hashlib.sha1(blobs[path]).hexdigest() if path in blobs else None
    if value is None:
        del blobs[path]
        return Change(id, path, before, None)
    blobs[path] = _bytes(value)
    return Change(id, path, before, hashlib.sha1(blobs[path]).hexdigest())


def story(*steps: Step, base: int | None = None, complete: bool = True, others: Mapping[str, MemoryTree] | None = None, **more: Any) -> Snapshot:
    """The snapshot at the last of `steps`; `base` is the index of the base tip, which is also the merge base."""
    history = MemoryHistory(steps, complete, others)
    trees = [history.tree(f"{number + 1:040x}") for number in range(len(steps))]
    held = trees[base] if base is not None else None
    head = trees[-1]
    assert head is not None
    return Snapshot(head=head, config=Config(), cache=Cache(), base=held, merge_base=held, history=history, **more)
