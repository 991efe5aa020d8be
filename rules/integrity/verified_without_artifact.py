"""A flag says verified or reproduced, and what it rests on is not in the repository

What it checks: fields such as `locally_verified` or `independently_reproduced` that are true, against the artifacts that the same document or
the inventory names (raw logs, outputs, harness).

Why: a field that says verified does not make its artifacts reviewable; a reader takes it for a receipt.

Fix: keep the measurements, label them author-reported, and set the flag when the artifacts are committed.

Example: `"verification_locally_verified": true` beside `"artifacts": {"in_repository": false}`.

Not flagged: flags that are false; artifacts that are committed; flags about hashes, signatures or licences.

Strength: high.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rules.core.model import Bundle, Finding, Item, Location, Rule, Severity, Snapshot
from rules.reading.documents import Node, at, document, nodes, walk
from rules.reading.inventory import externals
from rules.reading.named_paths import Named, named_paths, split_key
from rules.reading.prefilter import mentions

_FLAG = re.compile(r"(?:^|_)(?:verified|reproduced|replicated|revalidated|已验证|已复现|verification|reproduction|replication)(?:_|\Z)")
_OTHER = re.compile(
    r"(?:^|_)(?:un|not|non|never|hash|hashes|digest|checksum|signature|signed|license|licence|email|identity|schema|syntax|config|required?|should|must|to_be|pending|date|count|until)(?:_|\Z)|unverified"
)
_MENTIONS = ("verif", "reproduc", "replic", "revalid", "验证", "复现")
_YES = frozenset({"true", "yes", "verified", "reproduced", "replicated", "confirmed", "passed", "是", "已验证", "已复现"})
_RAW = re.compile(
    r"\braw\b|\blogs?\b|outputs?\b|harness|traces?\b|samples?\b|media|dumps?\b|benchmark|script|client|transcripts?|日志|原始|输出|脚本", re.I
)
_RAW_FILE = re.compile(
    r"(?:^|/)(?:raw|logs?|outputs?|traces?|harness|artifacts?)/|\.(?:log|out|err|jsonl|ndjson|csv|tsv|trace|txt|gz|zst|npz|npy|parquet)\Z", re.I
)
_ABSENT_FLAGS = ("in_repository", "checked_in", "committed", "retained", "available", "in_repo", "included")


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    for path in bundle.files:
        doc = document(snapshot, path)
        for node in nodes(snapshot, path) if doc and mentions(doc.text, *_MENTIONS) else ():
            missing = _missing(snapshot, bundle, path, node) if _is_flag(node) else None
            if missing:
                yield _finding(path, node, *missing)


def _is_flag(node: Node) -> bool:
    key = split_key(node.key)
    if not node.path or not isinstance(node.path[-1], str) or not _FLAG.search(key) or _OTHER.search(key):
        return False
    return node.value is True or (isinstance(node.value, str) and node.value.strip().casefold() in _YES)


def _missing(snapshot: Snapshot, bundle: Bundle, path: str, node: Node) -> tuple[str, tuple[Location, ...]] | None:
    """What the flag rests on and is not here, and where that is said; None when it is here or nothing can be said."""
    named = [one for one in named_paths(snapshot, bundle, path) if _beside(node, one)] or list(named_paths(snapshot, bundle, path))
    gone = [one for one in named if not one.files]
    if gone:
        what = ", ".join(f"`{one.text}`" for one in gone[:3])
        return f"{what} {'is declared external' if gone[0].external else 'is not in the tree'}", tuple(_at(path, one) for one in gone[:5])
    said = _said_absent(snapshot, path, node)
    if said:
        return f"`{said.key}` is `{str(said.value).lower()}`", (Location(path, pointer=said.pointer, role="record"),)
    if named:
        return None
    outside = [e for e in externals(snapshot, bundle) if _RAW.search(e.name)]
    if outside:
        names = ", ".join(f"`{e.name}`" for e in outside[:3])
        return f"the inventory declares {names} external", (Location(bundle.root.inventory or "", role="inventory"),)
    if not any(_RAW_FILE.search(bundle.relative(file)) for file in bundle.files) and len(bundle.part("results")) <= 1:
        return f"none of the bundle's {len(bundle.files)} files is a raw log, an output or a harness", ()
    return None


def _beside(node: Node, named: Named) -> bool:
    """True when the path is named in the object of the flag."""
    return named.place[: len(node.path) - 1] == node.path[:-1] and len(node.path) > 1


def _said_absent(snapshot: Snapshot, path: str, node: Node) -> Node | None:
    """A place of the document that says that artifacts are not in the repository: in the flag's own object, or at the top."""
    doc = document(snapshot, path)
    root: Any = doc.value if doc else None
    for scope in (node.parent, root):
        for found in walk(scope) if isinstance(scope, dict) else ():
            key = split_key(found.key)
            if found.value is False and key in _ABSENT_FLAGS:
                return next((n for n in nodes(snapshot, path) if n.parent is found.parent and n.key == found.key), found)
    return None


def _at(path: str, named: Named) -> Location:
    return at(path, named.place, "record")


def _finding(path: str, node: Node, absent: str, places: tuple[Location, ...]) -> Finding:
    name = path.rpartition("/")[2]
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title=f"{name} says {node.key} while the artifacts are not in the repository",
        problem=f"`{node.key}` is `{str(node.value).lower()}` in `{path}`; {absent}.",
        impact="A reader takes the flag for a check that can be repeated from this repository; it cannot.",
        next="Keep the measurements, label them author-reported, and drop the flag or set it to false until the artifacts are committed (edit text).",
        locations=(Location(path, pointer=node.pointer, role="claim"), *places),
        evidence=((node.key, str(node.value).lower()),),
        roots=(f"verified:{path}",),
    )


RULE = Rule("verified-without-artifact", "integrity", Severity.HIGH, each=each, norms=(("author-reported", "verified"),))
