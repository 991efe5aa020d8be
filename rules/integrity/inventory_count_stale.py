"""A declared number of bundles or hashes is not the actual one

What it checks: the counts that the inventory declares (`bundle_count`, `hash_count`), that its test expects, and that documents state ("22 bundles",
"430 hashes"), against the bundle directories and the (path, digest) pairs of all manifests, at head and on the merge of head with the current
base tip.

Why: two pulls that each raise the same count by one merge without a conflict, and the result is wrong.

Fix: count again on the merge result and change the number.

Example: the test expects eight bundles, and the pull adds a ninth.

Not flagged: numbers quoted as history. A merge that conflicts: the merged count is not checked.

Strength: blocking in the inventory and its test, low in documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rules.core.model import Confirmed, Facts, Finding, Item, Location, Missing, Rule, Severity, Snapshot, Tree, Unchecked
from rules.reading.documents import pointer
from rules.reading.inventory import Inventory, inventories
from rules.reading.layout import bundle_at, bundles_of, changed, matches
from rules.reading.manifests import manifests
from rules.reading.statements import Statement, statements

_NOUNS = {
    "bundle": r"(?:evidence[ -])?(?:bundles?|campaigns?|证据包)",
    "hash": r"(?:checked |frozen |listed )?(?:hashes|digests|sha-?256 (?:hashes|digests|entries)|哈希|摘要)",
}
_WORDS = dict(zip(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], range(1, 13), strict=True))
_WORDS |= dict(zip("一二三四五六七八九十", range(1, 11), strict=True))
_COUNT = r"(?P<count>\d{1,9}|" + "|".join(_WORDS) + r")"
_STATED = {
    kind: re.compile(
        rf"(?<![\w.#]){_COUNT}(?:\s|个|条|份|-)*+(?:registered |checked-in |archived |committed |已登记的?)?{noun}(?![\w-])", re.IGNORECASE
    )
    for kind, noun in _NOUNS.items()
}
_PAST = re.compile(
    r"\b(?:was|were|had|grew|rose|raised|previously|formerly|used to|at (?:that|the) time|back then|until|before|initially|originally|started with|first|more|another|"
    r"new|additional|adds?|added|of (?:the|these|them)|at least|at most|up to|about|around|some)\b|\b(?:19|20)\d\d\b|当时|曾|此前|之前|最初|新增|原有|截至",
    re.IGNORECASE,
)
_ASSERTED = {
    kind: re.compile(
        rf"(?:len\([^\n]{{0,120}}?{word}[^\n]{{0,80}}?\)|\b\w*{word}\w*[\"']?\]?)\s*(?:==|=)\s*(?P<a>\d{{1,9}})\b(?!\s*[.*+/<>-])"
        rf"|\b(?P<b>\d{{1,9}})\s*==\s*(?:len\([^\n]{{0,120}}?{word}|\w*{word})|assertEqual\(\s*len\([^\n]{{0,120}}?{word}[^\n]{{0,80}}?\)\s*,\s*(?P<c>\d{{1,9}})\)",
        re.IGNORECASE,
    )
    for kind, word in (("bundle", "bundle"), ("hash", "(?:hash|digest)"))
}
_SYNTHETIC = re.compile(r"tmp_path|tempfile|monkeypatch|write_text|TemporaryDirectory|mkdir\(")
_DOCUMENTS = re.compile(r"(?:docs/.{1,200}|[^/]{1,100}|evidence/[^/]{1,100}|tools/[^/]{1,100})\.md\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Declared:
    """One declared count: of `bundle`s or `hash`es, its value, where it stands, and how it is called there."""

    kind: str
    value: int
    location: Location
    name: str
    severity: Severity


@dataclass(frozen=True, slots=True)
class Counted:
    """The actual numbers of one tree."""

    bundle: int
    hash: int

    def of(self, kind: str) -> int:
        return self.bundle if kind == "bundle" else self.hash


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    if snapshot.base is not None and not _touches(snapshot):
        return
    for inventory in inventories(snapshot):
        if inventory.problem:
            yield Unchecked(f"counts of {inventory.path}", inventory.problem)
            continue
        yield from _of_inventory(snapshot, inventory)


def _touches(snapshot: Snapshot) -> bool:
    """True when the pull changes a bundle, an inventory, or a file that may state a count."""
    known = {inventory.path for inventory in inventories(snapshot)}
    globs = [glob for root in snapshot.config.roots for glob in root.inventory_tests]
    return any(
        path in known
        or bundle_at(snapshot, path)
        or _DOCUMENTS.match(path)
        or any(matches(path, glob) for glob in globs)
        or (before is not None and after is None)
        for path, (before, after) in changed(snapshot).items()
    )


def _of_inventory(snapshot: Snapshot, inventory: Inventory) -> Iterator[Item]:
    declared = [*_declared(snapshot, snapshot.head, inventory)]
    hashes = any(one.kind == "hash" for one in declared)
    at_head = _count(snapshot, snapshot.head, inventory, hashes)
    merged_tree = snapshot.merge.tree if snapshot.merge else None
    merged = _count(snapshot, merged_tree, inventory, hashes) if merged_tree else None
    after = {(d.location.path, d.name): d for d in _declared(snapshot, merged_tree, inventory)} if merged_tree else {}
    if snapshot.merge is not None and not snapshot.merge.clean and declared:
        yield Unchecked(
            "counts on the merge with the base's tip", f"the merge conflicts in {', '.join(snapshot.merge.conflicts[:3]) or 'some files'}"
        )
    for one in declared:
        there = after.get((one.location.path, one.name))
        wrong_at_head = one.value != at_head.of(one.kind)
        wrong_merged = merged is not None and there is not None and there.value != merged.of(one.kind)
        if wrong_at_head or wrong_merged:
            yield _finding(inventory, one, at_head, merged, there, wrong_at_head)
        elif one.severity is Severity.BLOCKING:
            yield Confirmed("record", f"{one.name}: {one.value}", one.location, Location(inventory.path, role="inventory"))


def _count(snapshot: Snapshot, tree: Tree, inventory: Inventory, hashes: bool) -> Counted:
    """The actual numbers; hashes are counted only where a number of them is declared, since every document must be read for it."""
    here = [bundle for bundle in bundles_of(snapshot, tree) if bundle.root.inventory == inventory.path]
    listed = {entry.path for held in inventories(snapshot, tree) for entry in held.bundles}
    counted = [bundle for bundle in here if bundle.path in listed] if hashes else []
    return Counted(len(here), sum(len(manifest.pairs) for bundle in counted for manifest in manifests(snapshot, bundle, tree)))


def _declared(snapshot: Snapshot, tree: Tree, inventory: Inventory) -> Iterator[Declared]:
    yield from _in_inventory(snapshot, tree, inventory)
    for path in tree.files:
        if any(matches(path, glob) for glob in inventory.root.inventory_tests):
            yield from _in_test(snapshot, tree, path)
        elif _DOCUMENTS.match(path) and bundle_at(snapshot, path) is None:
            yield from _in_text(snapshot, tree, path)


def _in_inventory(snapshot: Snapshot, tree: Tree, inventory: Inventory) -> Iterator[Declared]:
    held = next((other for other in inventories(snapshot, tree) if other.path == inventory.path), None)
    for key, (number, place) in ((held.counts if held else None) or {}).items():
        kind = {"bundle_count": "bundle", "bundles_count": "bundle", "hash_count": "hash", "hashes_count": "hash", "digest_count": "hash"}.get(key)
        if kind and number.is_integer():
            yield Declared(kind, int(number), Location(inventory.path, pointer=pointer(place), role="inventory"), key, Severity.BLOCKING)


def _in_test(snapshot: Snapshot, tree: Tree, path: str) -> Iterator[Declared]:
    entry = tree.files[path]
    if not entry.is_file or not 0 < entry.size <= snapshot.config.limits.markdown:
        return
    try:
        text = tree.read(path).decode("utf-8", "replace")
    except Missing:
        return
    for function, first in _functions(text):
        if _SYNTHETIC.search(function):
            continue
        for number, line in enumerate(function.split("\n"), first):
            for kind, pattern in _ASSERTED.items():
                match = pattern.search(line[:500]) if not line.lstrip().startswith("#") else None
                value = match and next(group for group in match.groups() if group is not None)
                if value:
                    yield Declared(
                        kind,
                        int(value),
                        Location(path, line=number, role="claim", text=line),
                        line.strip()[:120].replace(value, "…"),
                        Severity.BLOCKING,
                    )


def _functions(text: str) -> Iterator[tuple[str, int]]:
    """The top-level pieces of a Python file, each with its first line."""
    start = 0
    for match in re.finditer(r"^(?:def |class |async def |@)", text, re.MULTILINE):
        if match.start() > start:
            yield text[start : match.start()], text.count("\n", 0, start) + 1
            start = match.start()
    yield text[start:], text.count("\n", 0, start) + 1


def _in_text(snapshot: Snapshot, tree: Tree, path: str) -> Iterator[Declared]:
    for statement in statements(snapshot, path, tree):
        if not _PAST.search(statement.text) and statement.standing == "asserted":
            yield from _stated(statement)


def _stated(statement: Statement) -> Iterator[Declared]:
    for kind, pattern in _STATED.items():
        match = pattern.search(statement.text)
        if match:
            count = match["count"].lower()
            value = _WORDS.get(count) or int(count)
            where = Location(statement.path, line=statement.line, end_line=statement.end_line, role="claim", text=statement.text)
            yield Declared(kind, value, where, match[0].replace(match["count"], "…"), Severity.LOW)


def _finding(inventory: Inventory, one: Declared, at_head: Counted, merged: Counted | None, there: Declared | None, wrong_at_head: bool) -> Finding:
    noun = "bundles" if one.kind == "bundle" else "hashes"
    actual = at_head.of(one.kind)
    after = f" On the merge with the base's tip it says {there.value} and there are {merged.of(one.kind)}." if merged and there else ""
    if wrong_at_head:
        problem = f"`{one.location.path}` says {one.value} {noun}, and there are {actual} at head.{after}"
    else:
        problem = f"`{one.location.path}` says {one.value} {noun}, which is right at head.{after} The base gained some since this branch forked."
    return Finding(
        rule=RULE.id,
        severity=one.severity,
        title=f"{one.location.path.rpartition('/')[2]} counts {one.value} {noun}, not {actual if wrong_at_head else merged.of(one.kind) if merged else actual}",
        problem=problem,
        impact="The repository's own check fails on it, or passes on a number nobody counted."
        if one.severity is Severity.BLOCKING
        else "A reader gets the old number.",
        next=f"Change the number to what is there after the merge ({merged.of(one.kind) if merged else actual}); do not add or drop {noun} to fit it (edit text).",
        locations=(one.location, *(() if one.location.path == inventory.path else (Location(inventory.path, role="inventory"),))),
        evidence=(("declared", str(one.value)), ("at head", str(actual)), *((("on the merge", str(merged.of(one.kind))),) if merged else ())),
        roots=("inventory",),
    )


RULE = Rule(
    "inventory-count-stale",
    "integrity",
    Severity.BLOCKING,
    check,
    norms=(("count", "inventory"), ("test_evidence_inventory", "expects")),
)
