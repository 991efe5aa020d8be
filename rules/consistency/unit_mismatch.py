"""One value stands in two places at ×1000, ×60 or ×100 under names that say the same thing

What it checks: the numbers of a bundle's documents whose keys say the same thing and whose objects speak of the same run, workload or phase, after
the units that the keys declare are converted: do two of them differ by exactly a factor of units?

Why: seconds under a key that says milliseconds, or a share under one that says percent, is a figure wrong by two or three orders of magnitude that each
file alone does not show.

Fix: correct the value or the key's unit in the place that is wrong (edit text); the receipt shows which.

Example: `baseline15.json` holds `warmup_s: 2597.2`, the summary's `baseline15` holds `warmup_s: 2597200`.

Not flagged: units that are both declared and convert (41.235 s and 41235 ms); GiB against GB; other sizes, runs, phases or arms; numbers of fewer
than three digits.

Strength: medium.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import inf
from typing import Any

from rules.core.model import Bundle, Finding, Item, Location, Rule, Severity, Snapshot
from rules.reading.canonical_words import singular, words
from rules.reading.documents import Document, Number, Path
from rules.reading.few import few
from rules.reading.markdown import markdown
from rules.reading.outline import Column, Shape
from rules.reading.quantities import Quantity, of_value
from rules.reading.records import of_tables, place, source
from rules.reading.statistic_keys import SAMPLE_WORDS, WEAK_WORDS, counts, read_key
from rules.reading.unit_keys import unit_of_key
from rules.reading.units import Unit
from rules.reading.units import unit as unit_named
from rules.reading.units import words as word_set

FACTORS = (Fraction(1000), Fraction(60), Fraction(100))
DIGITS = 3
FIELDS, FIGURES, PAIRS = 100, 20_000, 2000
"""Numbers of objects with so many fields, so many of one name, and so many pairs of one name, are compared."""
NEAR, NEIGHBOURS = 0.01, 8
"""What a factor may be off by before the digits are looked at, and how many values near it are looked at."""
_GENERIC = SAMPLE_WORDS | word_set(
    "report copy for final overall table row column all total output main index info detail value latest current state verdict evidence of in from to with "
    "json csv entry group campaign bundle receipt measurement status record block overview digest headline dashboard sheet log bench benchmark recap brief "
    "totals aggregate note results metrics time 汇总 明细 总览 概览 概要 摘要 报告 报表 详情 详细 记录 统计 总表 附表 表格 表 原始 清单 指标 负载"
)
# Words of file names that set two files of one workload apart.
_CONTRASTS = word_set(
    "small large tiny big medium huge short long cold warm hot control candidate baseline before after old new first second third ref reference patched stock "
    "debug release single multi serial parallel low high left right 冷 热 大 小 基线 候选 对照 优化前 优化后 首次 再次"
)
# Fields that every object of a campaign may share: equal values link nothing.
_COMMON = word_set(
    "campaign verdict status unit provenance date host device model arm kind type format schema version note comment description author revision commit sha image "
    "hardware platform engine framework language source issue bundle owner level metric measure quantity statistic tool seed port"
)
# Fields whose difference says nothing about the subject.
_LOOSE = word_set(
    "note comment description source file path of copy timestamp date at time sha hash digest url provenance author label_for reason title"
)
_TIME_LIKE = WEAK_WORDS | {"s", "ms", "us", "ns", "minute", "hour"}


@dataclass(frozen=True)
class Figure:
    """One number with what it is of: the value in its base unit as an interval, and the object it stands in."""

    doc: Document
    path: Path
    quantity: Quantity
    name: frozenset[str]
    holder: dict[str, Any]

    @property
    def factor(self) -> Fraction:
        return _factor(self.quantity.unit)

    @property
    def base(self) -> Fraction:
        return self.quantity.value * self.factor


def _factor(unit: Unit | None) -> Fraction:
    """To the base of the family; a percentage is a hundredth of a ratio."""
    return Fraction(1) if unit is None else unit.factor / 100 if unit.family == "percent" else unit.factor


def _family(unit: Unit | None) -> str | None:
    return None if unit is None else "ratio" if unit.family == "percent" else unit.family


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    groups: dict[object, list[_Figures]] = defaultdict(list)
    for doc in _sources(snapshot, bundle):
        for one in _in_document(doc):
            group = groups[one.name, one.family]
            if sum(len(other.rows) for other in group) < FIGURES:
                group.append(one)
    pairs = (pair for held in groups.values() if _spread(held) for pair in _of_one_subject(held))
    yield from few((_finding(bundle, one) for one in _matters(list(islice(pairs, PAIRS)))), "pairs of values")


Pair = tuple[Figure, Figure, Fraction]


def _of_one_subject(held: list[_Figures]) -> Iterator[Pair]:
    """The scaled pairs among the figures of one name that are of one thing."""
    alone = sum(len(list(islice(one.sizes(), 3))) for one in held) == 2
    rows: dict[str, list[frozenset[str]]] = {}

    def is_one(figure: Figure, shared: frozenset[str]) -> bool:
        """No other object of its document holds a figure of this name under the same strings: what all rows of a table say tells none of them."""
        path = figure.doc.path
        if path not in rows:
            others = [other for one in held if one.doc.path == path for _, _, row in one.sizes() if (other := one.figure(row))]
            rows[path] = list({other.path[:-1]: _identities(other) for other in others}.values())
        return len(list(islice((said for said in rows[path] if shared <= said), 2))) <= 1

    for pair in islice(_scaled(held), PAIRS):
        one, other = pair[:2]
        shared = _identities(one) & _identities(other)
        if _same_subject(one, other, alone, bool(shared) and is_one(one, shared) and is_one(other, shared)):
            yield pair


def _matters(found: list[Pair]) -> list[list[Pair]]:
    """The pairs that are one matter: of the same objects, or one name at one factor between the same two files."""
    first: dict[object, int] = {}
    made: dict[int, list[Pair]] = {}
    for number, (small, large, factor) in enumerate(found):
        ends = [(figure.doc.path, figure.path[:-1]) for figure in (small, large)]
        keys = [*ends, (small.doc.path, large.doc.path, small.name, factor)]
        known = sorted({first[key] for key in keys if key in first}) or [number]
        made[known[0]] = [pair for group in known for pair in made.pop(group, [])] + [(small, large, factor)]
        if len(known) > 1:
            first |= {key: known[0] for key, group in first.items() if group in known}
        first |= dict.fromkeys(keys, known[0])
    return list(made.values())


# ---------------------------------------------------------------- figures


@dataclass(frozen=True)
class _Figures:
    """The numbers of one column that say the same thing in units of one family: the rows they stand in, and the column's unit."""

    doc: Document
    column: Column
    name: frozenset[str]
    family: str | None
    unit: Unit | None
    rows: list[int]

    def figure(self, row: int) -> Figure | None:
        node = self.column.node(row)
        quantity = of_value(node.value, self.unit)
        return Figure(self.doc, node.path, quantity, self.name, node.parent) if quantity is not None else None

    def sizes(self) -> Iterator[tuple[float, float, int]]:
        """(value in the base unit, half of its last digit, row) of those with enough digits, as floats."""
        factor = float(_factor(self.unit))
        for row in self.rows:
            value = self.column.values[row]
            if isinstance(value, Number):
                yield from ((size * factor, half * factor, row) for size, half in _printed(value))
            else:
                found = self.figure(row)
                if found is not None and found.quantity.digits >= DIGITS and found.quantity.value > 0:
                    yield float(found.base), float((found.quantity.high - found.quantity.low) / 2 * found.factor), row


def _sources(snapshot: Snapshot, bundle: Bundle) -> Iterator[Document]:
    """The documents, tables and record streams of the bundle, and the tables of its texts, row by row."""
    for path in bundle.files:
        doc = source(snapshot, path)
        if doc is not None:
            yield doc
        elif path.lower().endswith((".md", ".markdown")):
            yield from tuple(of_tables(markdown(snapshot, path)))[::2]


def _in_document(doc: Document) -> Iterator[_Figures]:
    for column in doc.outline.where(lambda shape: bool(shape) and shape[-1] is not None and not counts(shape[-1]), (Number, str)):
        held = column.holders.values if column.holders is not None else ()
        rows = [row for row, at in enumerate(column.rows) if isinstance(held[at], dict) and len(held[at]) <= FIELDS][:FIGURES]
        if rows and not _counts_up(column.values):
            yield from _in_column(doc, column, rows)


def _counts_up(values: Sequence[Any]) -> bool:
    """True for 0, 1, 2, …: numbers of rows, not figures."""
    return len(values) > 2 and values[0] in (0.0, 1.0) and list(values) == list(range(int(values[0]), int(values[0]) + len(values)))


def _in_column(doc: Document, column: Column, rows: list[int]) -> Iterator[_Figures]:
    """The column's numbers, and its strings that are quantities, by what they say and in which unit."""
    assert column.holders is not None
    beside = [field for field in (*_METRICS, *_UNIT_FIELDS) if any(one.shape[-1] == field for one in doc.outline.inside[column.holders])]
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for row in rows:
        holder = column.holders.values[column.rows[row]] if beside else {}
        groups[tuple(holder.get(field) if isinstance(holder.get(field), str) else None for field in beside)].append(row)
    for said, mine in groups.items():
        key, unit = _said(column.shape, dict(zip(beside, said, strict=True)))
        numbers = [row for row in mine if isinstance(column.values[row], Number)]
        made = {unit: numbers} if numbers else {}
        for row in mine if str in column.types else ():
            text = column.values[row]
            quantity = _of_text(text, unit) if isinstance(text, str) and len(text) <= 24 else None
            if quantity is not None:
                made.setdefault(quantity.unit, []).append(row)
        yield from (_Figures(doc, column, name, _family(own), unit, found) for own, found in made.items() if (name := _name(key, own)))


@lru_cache(maxsize=8192)
def _of_text(text: str, unit: Unit | None) -> Quantity | None:
    return of_value(text, unit) if any(char.isdigit() for char in text) else None


def _printed(value: Number) -> tuple[tuple[float, float], ...]:
    """(value, half of its last digit) of a number with enough digits, as floats; empty for any other."""
    mantissa, _, power = value.text.lower().partition("e")
    whole, point, decimals = mantissa.partition(".")
    digits = (whole + decimals).lstrip("-0")
    enough = len(digits if point else digits.rstrip("0")) >= DIGITS
    if not enough or not 0 < value < _LARGEST or len(power) > 4:
        return ()
    return ((float(value), 0.5 * 10.0 ** ((int(power) if power else 0) - len(decimals))),)


_LARGEST = 1e300


def _said(shape: Shape, beside: Mapping[str, str | None]) -> tuple[str, Unit | None]:
    """The name and the unit of a number: its key's; for a plain `value` the metric's that stands beside; the unit may stand beside or above."""
    key = shape[-1] or ""
    if not set(words(key)) - {"value", "val", "result", "reading", "amount"}:
        key = next((text for field in _METRICS if (text := beside.get(field)) is not None and len(text) <= 60), key)
    stated = next((unit_named(text) for field in _UNIT_FIELDS if (text := beside.get(field)) is not None), None)
    above = read_key(shape[-2]).unit if len(shape) > 1 and shape[-2] is not None else None
    declared = unit_of_key(key)
    own = declared if declared is not None and declared.family == "ratio" else read_key(key).unit
    return key, own or stated or above


_UNIT_FIELDS = ("unit", "units", "单位")
_METRICS = ("metric", "measure", "quantity", "name", "指标", "名称")
_UNITS = word_set("percent byte kb mb gb tb kib mib gib tib value per")
_SHARES = word_set("ratio rate fraction share proportion portion")
_RATES = word_set("throughput rate speed bandwidth per s ms second minute hour tps qps rps fps iops op operation")


def _name(key: str, unit: Unit | None) -> frozenset[str]:
    """What a key says, however it is spelled: without the unit's own words, with one word for a time, for a rate and for a share."""
    said = [word for word in read_key(key).words if word not in _UNITS]
    family = unit.family if unit is not None else ""
    if family.endswith("/time"):
        counted = {singular(part) for part in family.split("/")} | {"tok", "req", "query", "img"}
        return frozenset(word for word in said if word not in _RATES and word not in counted) | {family}
    if family in ("", "ratio", "percent"):
        said = ["share" if word in _SHARES else word for word in said] + (["share"] if family else [])
    return frozenset(["time" if word in _TIME_LIKE else word for word in said] + (["time"] if family == "time" else []))


def _scaled(held: list[_Figures]) -> Iterator[Pair]:
    """Every pair at one of the factors, to the printed digits: found by floats, then compared exactly."""
    ordered = sorted((base, half, number, row) for number, one in enumerate(held) for base, half, row in one.sizes())
    bases = [size[0] for size in ordered]
    for base, half, number, row in ordered:
        for factor in FACTORS:
            wanted = base * float(factor)
            at = bisect_left(bases, wanted * (1 - NEAR))
            for other, other_half, other_number, other_row in ordered[at : at + NEIGHBOURS]:
                if abs(other - wanted) > (other_half + half * float(factor)) * (1 + NEAR):
                    continue
                small, large = held[number].figure(row), held[other_number].figure(other_row)
                if small and large and _fits(small, large, factor):
                    yield small, large, factor


def _spread(held: list[_Figures]) -> bool:
    """Whether the smallest and the largest are far enough apart; strings are not looked at yet."""
    low, high = inf, 0.0
    for one in held:
        if str in one.column.types:
            return True
        factor, values = float(_factor(one.unit)), one.column.values
        sizes = [value for value in (values if len(one.rows) == len(values) else [values[row] for row in one.rows]) if 0 < value < _LARGEST]
        low, high = min(low, min(sizes, default=low) * factor), max(high, max(sizes, default=high) * factor)
    return high >= low * float(min(FACTORS)) * (1 - NEAR)


def _fits(small: Figure, large: Figure, factor: Fraction) -> bool:
    """True when the factor is exact as printed: one value lies in what the other's digits allow, both with enough digits."""
    value = small.base * factor / large.factor
    low, high = small.quantity.low * small.factor * factor / large.factor, small.quantity.high * small.factor * factor / large.factor
    units = {figure.quantity.unit.family for figure in (small, large) if figure.quantity.unit}
    if units == {"ratio", "percent"} and max(f.quantity.value for f in (small, large) if f.quantity.unit and f.quantity.unit.family == "ratio") > 1:
        return False  # a "ratio" above one is a percentage, whatever it is called
    return large.quantity.low <= value <= large.quantity.high or (low <= large.quantity.value <= high and factor == 60)


# ---------------------------------------------------------------- the same subject


def _same_subject(one: Figure, other: Figure, alone: bool, identical: bool) -> bool:
    """Whether two figures of one name are of the same thing. `alone`: the bundle holds no third one of the name; `identical`: strings say so."""
    if one.doc.path == other.doc.path and one.path[:-1] == other.path[:-1]:
        return one.path[-1] != other.path[-1] and one.quantity.unit is not None and other.quantity.unit is not None
    if _contradict(one, other):
        return False
    if _names(one, other) or _names(other, one):
        return True
    left, right = _keys_about(one), _keys_about(other)
    files = (_stem_words(one), _stem_words(other)) if one.doc.path != other.doc.path else (frozenset[str](), frozenset[str]())
    if left and right and not (left <= right | files[1] and right <= left | files[0]):
        return False
    if (files[0] - files[1]) & _CONTRASTS and (files[1] - files[0]) & _CONTRASTS:
        return False
    if identical:
        return True
    left, right = left or files[0], right or files[1]
    if left and right:
        return left <= right | files[1] and right <= left | files[0]
    numbered = any(part.isdigit() for part in files[0] ^ files[1])
    unnamed = not _identities(one) and not _identities(other) and not _keys_about(one) and not _keys_about(other)
    return _share_figure(one, other) or (alone and one.doc.path != other.doc.path and unnamed and not numbered)


def _contradict(one: Figure, other: Figure) -> bool:
    """True when a field that both objects have says that they are two things."""
    for key, value in one.holder.items():
        if key not in other.holder or key == one.path[-1] or set(words(key)) & _LOOSE:
            continue
        theirs = other.holder[key]
        if isinstance(value, Number) and isinstance(theirs, Number):
            if not _same_number(value, theirs):
                return True
        elif isinstance(value, (str, bool)) and isinstance(theirs, (str, bool)) and value != theirs:
            return True
    return False


def _same_number(one: Number, other: Number) -> bool:
    """Equal to the printed digits, or off by the same kind of factor."""
    a, b = of_value(one), of_value(other)
    if a is None or b is None:
        return one == other
    if a.low <= b.value <= a.high or b.low <= a.value <= b.high:
        return True
    if min(a.digits, b.digits) < DIGITS or not a.value or not b.value:
        return False
    ratio = max(a.value, b.value) / min(a.value, b.value)
    return any(abs(ratio / factor - 1) < Fraction(1, 10**4) for factor in FACTORS)


def _keys_about(figure: Figure) -> frozenset[str]:
    """The words of the keys around an object that say of what it is; a list's name says only what its elements are."""
    parts = figure.path[:-1]
    keys = [part for part, after in zip(parts, (*parts[1:], ""), strict=False) if isinstance(part, str) and not isinstance(after, int)]
    return frozenset(word for part in keys for word in words(part) if word not in _GENERIC)


def _stem_words(figure: Figure) -> frozenset[str]:
    """The words of a file's name that say of what it is, numbers included."""
    return frozenset(word for word in words(_stem(figure.doc.path)) if word not in _GENERIC and (len(word) > 1 or not word.islower()))


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _names(one: Figure, other: Figure) -> bool:
    """True when a string in the one object names the other's key or file."""
    keys = [part for part in other.path[:-1] if isinstance(part, str)][-1:]
    known = {key.lower() for key in keys if set(words(key)) - _GENERIC}
    stem = _stem(other.doc.path).lower() if one.doc.path != other.doc.path else ""
    for value in one.holder.values():
        if isinstance(value, str) and len(value) < 300:
            low = value.strip().lower()
            if low in known or (stem and len(stem) > 2 and _stem(low) == stem and re.search(r"\.\w{2,5}\Z", low)):
                return True
    return False


def _identities(figure: Figure) -> frozenset[str]:
    """The strings of an object that say of what it is: a workload, a clip, a run; and the numbers of runs."""
    made = set()
    for key, value in figure.holder.items():
        said = set(words(key))
        if said & (_COMMON | _LOOSE) or key == figure.path[-1]:
            continue
        if isinstance(value, str) and 0 < len(value) < 200 and not value[:1].isdigit():
            made.add(value.strip().casefold())
        elif isinstance(value, (Number, str)) and value and counts(key) is None and read_key(key).unit is None and len(said) <= 2:
            text = value.text if isinstance(value, Number) else value
            made.update([f"{'_'.join(sorted(said))}={text}"] if text.isdigit() else [])
    return frozenset(made)


def _share_figure(one: Figure, other: Figure) -> bool:
    """True when another measured number of at least four digits stands in both objects."""
    for key, value in one.holder.items():
        theirs = other.holder.get(key)
        if key != one.path[-1] and isinstance(value, Number) and isinstance(theirs, Number) and value == theirs and not value.is_integer_literal:
            quantity = of_value(value)
            if quantity is not None and quantity.digits >= 4:
                return True
    return False


# ---------------------------------------------------------------- findings


def _finding(bundle: Bundle, found: list[Pair]) -> Finding:
    small, large, factor = found[0]
    said = "; ".join(f"{_at(bundle, a)} = {_shown(a)} and {_at(bundle, b)} = {_shown(b)} (×{int(f)})" for a, b, f in found[:5])
    where: list[Location] = [place(figure.doc, figure.path, "operand") for pair in found[:20] for figure in pair[:2]]
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        title=f"`{small.path[-1]}` stands at ×{int(factor)} in a second place",
        problem=f"{said}. The names say the same thing of the same subject, and the units that they declare do not account for the factor.",
        impact=f"Whoever reads only one of the places is wrong by a factor of {int(factor)}.",
        next="See in the receipt which of the two is right, and correct the other's value or its key's unit (edit text).",
        locations=tuple(dict.fromkeys(where)),
        evidence=((_at(bundle, small), _shown(small)), (_at(bundle, large), _shown(large))),
        roots=tuple(f"record:{figure.doc.path}#{place(figure.doc, figure.path).pointer}" for figure in (small, large)),
    )


def _shown(figure: Figure) -> str:
    unit = figure.quantity.unit
    return f"{figure.quantity.text} {unit.name}" if unit is not None else figure.quantity.text


def _at(bundle: Bundle, figure: Figure) -> str:
    at = place(figure.doc, figure.path)
    return f"`{bundle.relative(at.path)}{'#' + at.pointer if at.pointer is not None else f':{at.line}'}`"


RULE = Rule("unit-mismatch", "consistency", Severity.MEDIUM, each=each, norms=(("states", "unit"), ("unit", "each number")))
