"""Small worlds in memory: trees and snapshots for testing rules with values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rules.core.cache import Cache
from rules.core.config import Config
from rules.core.model import Confirmed, Entry, Facts, Finding, Issue, Missing, Pull, Rule, Snapshot, Unchecked
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
