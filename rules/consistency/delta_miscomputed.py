"""A stated change does not follow from its operands

What it checks: changes stated beside their two values, in sentences ("17.31 -> 22.4 (+29.4 %)", "a 30.6 % reduction from 384.16 to 266.60 ms"), in a
table's column of changes, and in the keys of one JSON or YAML object; against the interval that the printed values allow, for every usual denominator.
A change may be relative, absolute in the values' unit, or in percentage points; each is checked in its own form.

Why: the change is what gets quoted, and its operands show that it is another one.

Fix: compute the change anew from its operands, or correct the operand that is wrong.

Example: "17.31 -> 22.4 (+24.9 %)": it is 29.4 % of the first and 22.7 % of the second.

Not flagged: values and changes that merely stand in one paragraph; factors (×, speed-up); a sign alone where the word fits ("a reduction of -30 %").

Strength: blocking when all of it is JSON or YAML, else medium.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rules.core.model import Confirmed, Facts, Finding, Item, Location, Missing, Rule, Severity, Snapshot
from rules.core.redact import excerpt
from rules.reading.changes import Change, computed, holds
from rules.reading.conversation import claim_root, texts
from rules.reading.documents import at, document, is_document, pointer
from rules.reading.keyed_changes import MENTIONS, Keyed, keyed_changes
from rules.reading.layout import Bundle, bundle_at, documents_in_scope
from rules.reading.markdown import Markdown, Table, markdown, markdown_of
from rules.reading.prefilter import mentions
from rules.reading.stated_changes import stated_changes
from rules.reading.statements import Statement, statements, text_statements
from rules.reading.table_changes import Cell, table_changes

_CSV_BYTES = 1024 * 1024
_TOGETHER = 5
"""Wrong changes of one table or document above which they are one finding."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """One stated change, whether it holds, where it and its operands stand, and what it is printed as."""

    change: Change
    fits: bool
    shown: str
    place: Location
    operands: Location
    root: str
    group: str
    proven: bool = False


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    """The bundle's Markdown, tables and documents."""
    made: list[_Judged] = []
    for path in bundle.files:
        if is_document(path):
            made += _of_document(snapshot, path)
        elif path.lower().endswith((".md", ".markdown")):
            made += _of_text(path, statements(snapshot, path), markdown(snapshot, path))
        elif path.lower().endswith((".csv", ".tsv")):
            made += _of_csv(snapshot, path)
    yield from _items(made)


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    """Documents outside bundles, and the conversation's texts."""
    made: list[_Judged] = []
    for path in documents_in_scope(snapshot):
        if bundle_at(snapshot, path) is None:
            made += _of_text(path, statements(snapshot, path), markdown(snapshot, path))
    for text in texts(snapshot):
        made += _of_text(text.path, text_statements(snapshot, text), markdown_of(snapshot, text))
    yield from _items(made)


# ---------------------------------------------------------------- texts


def _of_text(path: str, said: Sequence[Statement], document: Markdown | None) -> Iterator[_Judged]:
    for one in said:
        found = tuple(stated_changes(one.text)) if one.kind not in ("code", "quote") else ()
        if not found or one.standing in ("quoted", "withdrawn", "question", "reported"):
            continue
        for beside in found:
            fits = holds(beside.change)
            if fits is not None:
                yield _Judged(
                    beside.change, fits, beside.shown, one.location(), one.location("operand"), claim_root(path, one.text), f"{path}#{one.text}"
                )
    for table in document.tables if document else ():
        yield from _of_table(path, table)


def _of_table(path: str, table: Table) -> Iterator[_Judged]:
    for cell in table_changes(table.header, [row.cells for row in table.rows]):
        fits = holds(cell.change)
        if fits is not None:
            row = table.rows[cell.row]
            sentence = " ".join(" | ".join(row.cells).split())
            place = Location(path, line=row.line, end_line=row.line, text=sentence)
            yield _judged_cell(cell, fits, place, claim_root(path, sentence), f"{path}:{table.line}")


def _judged_cell(cell: Cell, fits: bool, place: Location, root: str, group: str) -> _Judged:
    return _Judged(cell.change, fits, f"{_stated(cell.change)} for {cell.operands}", place, replace(place, role="operand"), root, group)


def _of_csv(snapshot: Snapshot, path: str) -> Iterator[_Judged]:
    entry = snapshot.head.files[path]
    if not entry.is_file or not 0 <= entry.size <= _CSV_BYTES:
        return
    try:
        text = snapshot.head.read(path).decode("utf-8", "replace")
        first = text.partition("\n")[0]
        if not mentions(first, *MENTIONS, "Δ", "vs"):
            return
        rows = list(csv.reader(text.splitlines(), delimiter="\t" if path.lower().endswith(".tsv") else ","))
    except (Missing, csv.Error):
        return
    for cell in table_changes(rows[0], rows[1:]) if rows else ():
        fits = holds(cell.change)
        if fits is not None:
            place = Location(path, line=cell.row + 2, text=",".join(rows[cell.row + 1]))
            yield _judged_cell(cell, fits, place, f"record:{path}#{cell.row}", path)


# ---------------------------------------------------------------- documents


def _of_document(snapshot: Snapshot, path: str) -> Iterator[_Judged]:
    doc = document(snapshot, path)
    if doc is None or not doc.readable or not mentions(doc.text, *MENTIONS):
        return
    for keyed in keyed_changes(doc.outline):
        judged = [(change, fits) for change in keyed.changes if (fits := holds(change)) is not None]
        if judged:
            change, fits = next((one for one in judged if one[1]), judged[0])
            yield _keyed(path, keyed, change, fits)


def _keyed(path: str, keyed: Keyed, change: Change, fits: bool) -> _Judged:
    shown = f"`{keyed.place[-1]}` is {change.stated.text} for {keyed.printed[0]} and {keyed.printed[1]}"
    place, operands = at(path, keyed.place), at(path, keyed.operands[0], "operand")
    return _Judged(change, fits, shown, place, operands, f"record:{path}#{pointer(keyed.place)}", path, proven=True)


# ---------------------------------------------------------------- items


def _items(made: Sequence[_Judged]) -> Iterator[Item]:
    wrong: dict[str, list[_Judged]] = {}
    for one in made:
        if one.fits:
            yield Confirmed("figure", excerpt(one.shown, 120), one.place, one.operands)
        else:
            wrong.setdefault(one.group, []).append(one)
    for group in wrong.values():
        yield from [_finding(group)] if len(group) > _TOGETHER else [_finding([one]) for one in group]


def _stated(change: Change) -> str:
    unit = change.stated.unit
    return f"{change.stated.text} {unit.name}" if unit else change.stated.text


def _finding(group: Sequence[_Judged]) -> Finding:
    first = group[0]
    more = f" {len(group) - 1} more changes here do not follow either." if len(group) > 1 else ""
    return Finding(
        rule=RULE.id,
        severity=Severity.BLOCKING if first.proven else Severity.MEDIUM,
        title="Stated changes do not follow from their operands" if more else "A stated change does not follow from its operands",
        problem=f"{excerpt(first.shown)}: the operands give {computed(first.change)}, within their printed precision; {_stated(first.change)} is none of the usual readings.{more}",
        impact="The change is what gets quoted and compared with targets; its own operands contradict it.",
        next=f"Compute {'the changes' if more else 'the change'} anew from the operands, or correct the operand that is wrong (edit text). No new run is needed.",
        locations=tuple(
            dict.fromkeys(
                [*(one.place for one in group[:20]), *(one.operands for one in group[:20] if one.operands != replace(one.place, role="operand"))]
            )
        ),
        evidence=tuple(item for one in group[:5] for item in (("stated", _stated(one.change)), ("computed", computed(one.change)))),
        roots=tuple(dict.fromkeys(one.root for one in group[:20])),
    )


RULE = Rule(
    "delta-miscomputed",
    "consistency",
    Severity.BLOCKING,
    check,
    each=each,
    norms=(("relative", "change", "baseline"), ("percent", "reduction"), ("delta", "computed")),
)
