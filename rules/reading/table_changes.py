"""Changes that a table states in a column (or row) of its own, with the operands in the columns, or in the rows, beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rules.reading.changes import Change, Direction, Span, holds, span
from rules.reading.quantities import Quantity, quantities
from rules.reading.receipts import Names, arm_of_text
from rules.reading.unit_keys import unit_of_key
from rules.reading.units import COUNTS, Unit, comparable

_DELTA = re.compile(
    r"Δ|∆|(?<![A-Za-z])(?:deltas?|change[sd]?|diff(?:erence)?s?|reductions?|reduced|improvements?|gains?|savings?|saved|decreases?|increases?|regressions?|uplift|drop|vs\.?\s(?:the\s)?(?:baseline|control|reference))(?![A-Za-z])"
    r"|变化|降幅|增幅|提升|下降|降低|改善|差值|差异|节省|增量|相对基线",
    re.IGNORECASE,
)
_NOT_DELTA = re.compile(
    r"(?<![A-Za-z])(?:speed-?ups?|factor|ratio|target|goal|required|limit|min(?:imum)? gain|ci|p[- ]?value|change ?log|changed by)(?![A-Za-z])|加速比|倍|目标",
    re.IGNORECASE,
)
_DOWN = re.compile(r"reduc|decreas|(?<![a-z])drop|降幅|下降|降低|减少", re.IGNORECASE)
_UP = re.compile(r"increas|增幅|增加|上升", re.IGNORECASE)
_OF = re.compile(r"(?<![A-Za-z])(?:of (?:the )?(?:baseline|control)|relative to)(?![A-Za-z])", re.IGNORECASE)
_NOTHING = re.compile(r"(?:\s|[-–—/.0%±]|n/?a|ref(?:erence)?|baseline|control|base|基线|对照)*\Z", re.IGNORECASE)
_BASELINE = re.compile(
    r"(?<![A-Za-z])(?:baseline|control|reference|original|stock|vanilla|before|unpatched|base)(?![A-Za-z])|基线|对照|原始|优化前", re.IGNORECASE
)
_ZH_BEFORE, _ZH_AFTER = re.compile(r"(?:优化|修改|改动|改造|补丁|之|变更)前"), re.compile(r"(?:优化|修改|改动|改造|补丁|之|变更)后")
_SOME = 3


@dataclass(frozen=True, slots=True)
class Cell:
    """A change that a table states: the row and column it stands in, its operands as printed, and how many rows the reading fits."""

    row: int
    column: int
    change: Change
    operands: str


Grid = Sequence[Sequence[str]]


def table_changes(header: Sequence[str], rows: Grid) -> Iterator[Cell]:
    """Every stated change of a table whose operands are known. A column whose operands are only guessed counts when most of its rows agree."""
    found = list(_by_columns(header, rows))
    if found or not rows:
        yield from found
        return
    width = min(len(header), *(len(row) for row in rows))
    turned = [[header[column], *(row[column] for row in rows)] for column in range(width)]
    labels = [header[0], *(row[0] if row else "" for row in rows)]
    yield from (replace(one, row=one.column - 1, column=one.row + 1) for one in _by_columns(labels, turned[1:]))


def _by_columns(header: Sequence[str], rows: Grid) -> Iterator[Cell]:
    for column, name in enumerate(header):
        if column and _DELTA.search(name) and not _NOT_DELTA.search(name):
            yield from _of_column(header, rows, column)


def _of_column(header: Sequence[str], rows: Grid, column: int) -> Iterator[Cell]:
    for operands, named in _readings(header, rows, column):
        cells = [cell for row in range(len(rows)) if (cell := _cell(header, rows[row], row, column, operands))]
        judged, agreeing = _agreement(cells)
        if not judged:
            continue
        if (named and (judged < _SOME or 2 * agreeing >= judged)) or (agreeing >= 2 and 2 * agreeing >= judged):
            yield from cells
            return
    yield from _against_baseline(header, rows, column)


def _agreement(cells: Sequence[Cell]) -> tuple[int, int]:
    """(rows that can be judged, rows that agree) of one reading of a column; a change of nothing agrees with too much to show that the reading is right."""
    judged = [(cell, held) for cell in cells if (held := holds(cell.change)) is not None]
    trivial = sum(held and not cell.change.stated.value for cell, held in judged)
    return len(judged) - trivial, sum(held for _, held in judged) - trivial


def _readings(header: Sequence[str], rows: Grid, column: int) -> Iterator[tuple[tuple[int, int], bool]]:
    """Pairs of columns that may be the operands, best first; True for those that are named as such. (c, c) is a column of pairs."""
    arms = [_arms(name) for name in header]
    deltas = [i for i, name in enumerate(header) if _DELTA.search(name)]
    start = max((i for i in deltas if i < column), default=-1) + 1
    left = [i for i in range(start, column) if i and _numeric(rows, i)]
    before = [i for i in left if arms[i] == {"baseline"}]
    after = [i for i in left if arms[i] == {"candidate"}]
    if len(before) == 1 and len(after) == 1:
        yield (before[0], after[0]), True
    pairs = [i for i in left if _pairs(rows, i)]
    if pairs:
        yield (pairs[-1], pairs[-1]), True
    if len(left) >= 2:
        yield (left[-2], left[-1]), False
        yield (left[0], left[-1]), False
    right = [i for i in range(column + 1, len(header)) if _numeric(rows, i)]
    if len(right) == 2 and not left:
        yield (right[0], right[1]), arms[right[0]] == {"baseline"} and arms[right[1]] == {"candidate"}


def _arms(name: str) -> frozenset[str]:
    """The arm that a column's head names: `before`, `candidate`, 优化前."""
    chinese = [arm for arm, pattern in (("baseline", _ZH_BEFORE), ("candidate", _ZH_AFTER)) if pattern.search(name)]
    return frozenset(chinese) if chinese else frozenset(arm_of_text(name, Names()))


def _numeric(rows: Grid, column: int) -> bool:
    filled = [row[column] for row in rows if column < len(row) and row[column].strip(" -–—")]
    return bool(filled) and 2 * sum(bool(quantities(cell)) for cell in filled) >= len(filled)


def _pairs(rows: Grid, column: int) -> bool:
    return any(column < len(row) and len(_pair(quantities(row[column]))) == 2 for row in rows)


def _pair(held: Sequence[Quantity]) -> list[Quantity]:
    return [one for one in held if one.form == "change"] if held and held[0].form == "change" and len(held) == 2 else []


def _cell(header: Sequence[str], row: Sequence[str], index: int, column: int, operands: tuple[int, int]) -> Cell | None:
    if max(column, *operands) >= len(row):
        return None
    stated = _one(row[column], header[column], row[0], delta=True)
    if operands[0] == operands[1]:
        both = _pair(quantities(row[operands[0]]))
        before, after = (_with_unit(one, header[operands[0]], row[0]) for one in both) if len(both) == 2 else (None, None)
    else:
        before, after = (_one(row[i], header[i], row[0]) for i in operands)
    if stated is None or before is None or after is None or not comparable(before.unit, after.unit):
        return None
    return Cell(index, column, _change(header[column], stated, before, after), f"{before.text} and {after.text}")


def _change(name: str, stated: Quantity, before: Quantity, after: Quantity) -> Change:
    left = span(before).scaled(before.unit.factor / after.unit.factor) if before.unit and after.unit else span(before)
    direction: Direction = "down" if _DOWN.search(name) else "up" if _UP.search(name) else ""
    return Change(stated, left, span(after), after.unit, direction, bool(_OF.search(name)))


def _one(text: str, header: str, label: str, delta: bool = False) -> Quantity | None:
    """The one quantity of a cell, with its unit from the head or the row's label; None where there are several or other words."""
    held = quantities(text.strip())
    if len(held) != 1 or len(re.sub(r"[^A-Za-z\u4e00-\u9fff]", "", text[: held[0].start] + text[held[0].end :])) > 12:
        return None
    return _with_unit(held[0], header, "" if delta else label)


def _with_unit(one: Quantity, header: str, label: str) -> Quantity:
    unit = one.unit or _measure(header) or (_measure(label) if label else None)
    return replace(one, unit=unit)


def _measure(name: str) -> Unit | None:
    unit = unit_of_key(name)
    return None if unit and unit.family in COUNTS else unit


def _against_baseline(header: Sequence[str], rows: Grid, column: int) -> Iterator[Cell]:
    """Each row against the one row of the baseline, whose own change is empty: `| variant | ms | Δ |`."""
    values = [i for i in range(1, column) if _numeric(rows, i) and not _DELTA.search(header[i])]
    empty = [row for row in rows if column < len(row) and _NOTHING.fullmatch(row[column]) and row[0] and _is_baseline(row[0])]
    if not values or len(empty) != 1:
        return
    base = empty[0]
    found = [_row_cell(header, row, index, column, values[-1], base) for index, row in enumerate(rows) if row is not base]
    cells = [cell for cell in found if cell is not None]
    judged, agreeing = _agreement(cells)
    if (2 * agreeing >= judged and agreeing) or (len(values) == 1 and judged == 1):
        yield from cells


def _is_baseline(label: str) -> bool:
    """`baseline (fp16)`, `stock kernel`; a label such as `pcie_reference_or_gt` only holds such a word."""
    said = re.findall(r"[A-Za-z]+|[\u4e00-\u9fff]+", label)
    return (bool(said) and any(_BASELINE.search(word) for word in (said[0], said[-1]))) or (
        len(said) <= _SOME and _BASELINE.search(label) is not None
    )


def _row_cell(header: Sequence[str], row: Sequence[str], index: int, column: int, value: int, base: Sequence[str]) -> Cell | None:
    if max(column, value) >= min(len(row), len(base)):
        return None
    stated = _one(row[column], header[column], row[0], delta=True)
    before, after = _one(base[value], header[value], ""), _one(row[value], header[value], "")
    if stated is None or before is None or after is None or not comparable(before.unit, after.unit):
        return None
    return Cell(index, column, _change(header[column], stated, before, after), f"{before.text} and {after.text}")


__all__ = ["Cell", "Span", "table_changes"]
