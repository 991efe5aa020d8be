"""Figures in a bundle's records: does a printed quantity stand in a receipt, within its precision and in the units that are declared, and where.

Literals are looked for in the raw bytes first (RE2 over every power of ten and unit of the family, a gigabyte a second), so that only the documents
that may hold one are parsed; means and medians of listed arrays are computed only for what stands nowhere as a literal.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from rules.core.model import Location, Missing, Snapshot, Tree
from rules.reading.digits import Hit, Interval, Lines, Searcher, Windows, scales
from rules.reading.documents import (
    LINES_SUFFIXES,
    YAML_SUFFIXES,
    Node,
    Number,
    document,
    is_document,
    is_lfs_pointer,
    is_numbers,
    nodes,
    pointer,
    read_json,
    walk,
)
from rules.reading.layout import Bundle
from rules.reading.listed import Request, listed_values
from rules.reading.quantities import Quantity, of_value, quantities
from rules.reading.record_places import (
    TABLE_SUFFIXES,
    compressed_records,
    declared_unit,
    is_measured_place,
    is_plan,
    record_files,
)
from rules.reading.unit_keys import unit_of_key
from rules.reading.units import COUNTS, Unit, comparable
from rules.reading.units import unit as unit_named

TOTAL_BYTES = 256 * 1024 * 1024
"""Records of one bundle that are searched."""
LINES = 2000
_AROUND, _ROW, _COLUMNS = 400, 64 * 1024, 200
_EPSILON = Fraction(1, 10**9)
_SHARES = frozenset(["percent", "percentage-points", "ratio"])
_FACTORS = frozenset(["factor", "ratio"])
_KEY_BEFORE = re.compile(rb'"([^"\\\n]{1,80})"[ \t]{0,4}:[ \t]{0,4}-?\Z')
_PROMISED = re.compile(r"(?:target|limit|threshold|expected|goal|budget|timeout|目标|阈值|上限)[\w .:=(-]{0,16}\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a figure stands. `how` is empty for a printed number, else what it is of a listed array ("the mean of 3 values")."""

    place: Location
    text: str
    how: str = ""


@dataclass(frozen=True)
class Search:
    """What came of a search: by index of what was asked for, where it stands; how many files were read; what was not, and why."""

    found: Mapping[int, Stand]
    files: int
    unread: tuple[tuple[str, str], ...]


@dataclass
class _Run:
    snapshot: Snapshot
    bundle: Bundle
    tree: Tree
    wanted: Sequence[Quantity]
    windows: Windows
    found: dict[int, Stand] = field(default_factory=dict)
    unread: list[tuple[str, str]] = field(default_factory=list)

    @property
    def at(self) -> str | None:
        return self.tree.commit if self.tree is not self.snapshot.head else None

    def open(self) -> list[int]:
        return [index for index in range(len(self.wanted)) if index not in self.found]


def find(snapshot: Snapshot, bundle: Bundle, wanted: Sequence[Quantity], tree: Tree | None = None, also: Sequence[Request] = ()) -> Search:
    """Where each of `wanted` stands in the bundle's records (of `tree`, default head): as a number, or as mean, median, min or max of a listed array.

    `also` names further statistics per index of `wanted` (a sum, a deviation, a percentile) that its text speaks of.
    """
    run = _Run(snapshot, bundle, tree or snapshot.head, wanted, Windows(_asked(wanted)))
    files = record_files(bundle, run.tree)
    read = _search(run, files)
    if run.open():
        _of_arrays(run, read, also)
    run.unread += [(path, "compressed") for path in compressed_records(bundle)]
    return Search(run.found, len(read), tuple(run.unread))


# ---------------------------------------------------------------- printed numbers


def bounds(quantity: Quantity) -> tuple[Fraction, Fraction]:
    """The values, without sign, that `quantity` allows in its own unit; "about" allows three times its last place, or two per mille."""
    low, high = sorted((abs(quantity.low), abs(quantity.high)))
    if quantity.low <= 0 <= quantity.high:
        low = Fraction(0)
    if quantity.relation == "~":
        width = max((high - low) * 3 / 2, abs(quantity.value) / 500)
        low, high = max(Fraction(0), abs(quantity.value) - width), abs(quantity.value) + width
    return low - high * _EPSILON, high + high * _EPSILON


def _search(run: _Run, files: Sequence[str]) -> list[str]:
    budget, read = TOTAL_BYTES, []
    searcher = Searcher((interval, run.wanted[index].digits) for index, interval in _asked(run.wanted))
    for path in files:
        data = _bytes(run, path, budget)
        if data is None:
            continue
        budget -= len(data)
        read.append(path)
        if run.open():
            _in_file(run, path, data, searcher)
    return read


def _asked(wanted: Sequence[Quantity]) -> Iterator[tuple[int, Interval]]:
    """(index, values that a literal may have) for every unit of its family that a place may declare, and for none."""
    for index, quantity in enumerate(wanted):
        low, high = bounds(quantity)
        yield index, Interval(low, high)
        for scale in scales(quantity.unit.family if quantity.unit else ""):
            factor = (quantity.unit.factor if quantity.unit else 1) / scale
            yield index, Interval(low * factor, high * factor)


def _bytes(run: _Run, path: str, budget: int) -> bytes | None:
    limits, size = run.snapshot.config.limits, run.tree.files[path].size
    limit = limits.yaml_bytes if path.endswith(YAML_SUFFIXES) else limits.json_bytes if is_document(path) else limits.scan
    if size > min(limit, budget):
        run.unread.append((path, "above the limit of reading"))
        return None
    try:
        data = run.tree.read(path)
    except Missing:
        run.unread.append((path, "missing from the object store"))
        return None
    if is_lfs_pointer(data):
        run.unread.append((path, "a Git LFS pointer"))
        return None
    return data


def _in_file(run: _Run, path: str, data: bytes, searcher: Searcher) -> None:
    hits = [hit for hit in searcher.hits(data) if _candidates(run, hit.value)]
    if not hits:
        return
    plan = is_plan(run.bundle, path)
    if is_document(path):
        hits = [hit for hit in hits if _key_allows(run, data, hit)]
        if hits:
            _in_document(run, path, hits, plan)
    elif not plan:
        reader = _in_table if path.lower().endswith(TABLE_SUFFIXES) else _in_records if path.endswith(LINES_SUFFIXES) else _in_log
        reader(run, path, data, hits)


def _key_allows(run: _Run, data: bytes, hit: Hit) -> bool:
    """False where the key right before a number declares a unit in which nothing that is asked for agrees: the document need not be parsed for it."""
    key = _KEY_BEFORE.search(data, max(0, hit.at - 120), hit.at)
    unit = unit_of_key(key[1].decode("utf-8", "replace")) if key else None
    if unit is None or unit.family in COUNTS:
        return True
    return any(agrees(run.wanted[index], hit.value, unit) for index in run.windows.around(hit.value) if index not in run.found)


def _candidates(run: _Run, value: Fraction) -> bool:
    """True when something still asked for may be `value`, in some unit of its family."""
    return any(index not in run.found for index in run.windows.around(value))


def agrees(quantity: Quantity, value: Fraction, unit: Unit | None, trusted: bool = True) -> bool:
    """True when `value`, in the unit that its place declares, prints as `quantity`. A place without unit agrees with the value as printed."""
    low, high = bounds(quantity)
    value = abs(value)
    own = quantity.unit
    as_printed = low <= value <= high or (own is not None and own.family in _SHARES and low <= value * 100 <= high)
    if own is None or unit is None or (unit.family in COUNTS and value.denominator != 1):
        return as_printed
    factor = _conversion(own, unit)
    scaled = factor is not None and (low <= value * factor <= high or (_twins(own, unit) and low <= value <= high))
    return scaled or (as_printed and not trusted)


def _conversion(own: Unit, unit: Unit) -> Fraction | None:
    if comparable(own, unit) or (own.family in COUNTS and unit.family in COUNTS):
        return unit.factor / own.factor
    if own.family in _SHARES and unit.family in _SHARES:
        return _share(unit) / _share(own)
    return Fraction(1) if own.family in _FACTORS and unit.family in _FACTORS else None


def _share(unit: Unit) -> Fraction:
    return Fraction(1) if unit.family == "ratio" else unit.factor / 100


def _twins(own: Unit, unit: Unit) -> bool:
    """GiB and GB: people write one for the other; that is not this question."""
    return own.family.startswith("bytes") and own.name.replace("i", "") == unit.name.replace("i", "")


def _match(run: _Run, text: str, unit: Unit | None, trusted: bool, place: Location) -> None:
    """Notes the place for everything still asked for that `text` (a literal, or a whole string) agrees with."""
    value = Fraction(text)
    for index in run.open():
        if agrees(run.wanted[index], value, unit, trusted):
            shown = f"{text} {unit.name}" if unit else text
            run.found[index] = Stand(place, shown)


# ---------------------------------------------------------------- by kind of file


def _in_document(run: _Run, path: str, hits: Iterable[Hit], plan: bool) -> None:
    doc = document(run.snapshot, path, run.tree)
    if doc is None or not doc.readable:
        return
    wanted = {hit.literal for hit in hits}
    for place, text, unit, trusted in _places(nodes(run.snapshot, path, run.tree), doc.value, wanted, plan):
        _match(run, text, unit, trusted, Location(path, pointer=pointer(place), role="record", at=run.at))


_Held = tuple[tuple["str | int", ...], str, "Unit | None", bool]


def _places(held: Iterable[Node], root: object, wanted: set[str], plan: bool) -> Iterator[_Held]:
    """(place, literal, unit, trusted) of every number among `wanted`, as a number or in a string, at a place that holds what was measured."""
    texts = {literal.lstrip("0") or "0" for literal in wanted} | wanted
    for node in held:
        for place, value in _values(node, texts):
            if is_measured_place(place, plan):
                unit, trusted = declared_unit(root, place)
                yield from _read(place, value, unit, trusted)


def _values(node: Node, texts: set[str]) -> Iterator[tuple[tuple[str | int, ...], object]]:
    if isinstance(node.value, Number):
        if node.value.text.lstrip("-+") in texts:
            yield node.path, node.value
    elif is_numbers(node.value):
        yield from (((*node.path, i), item) for i, item in enumerate(node.value) if item.text.lstrip("-+") in texts)
    elif isinstance(node.value, str) and len(node.value) < 20_000:
        plain = node.value.replace(",", "")
        if any(text in plain for text in texts):
            yield node.path, node.value


def _read(place: tuple[str | int, ...], value: object, unit: Unit | None, trusted: bool) -> Iterator[_Held]:
    if isinstance(value, Number):
        yield place, value.text, unit, trusted
        return
    whole = of_value(value, unit)
    for quantity in (whole,) if whole else quantities(str(value)):
        yield place, str(quantity.value), quantity.unit, trusted or quantity.unit is not unit


def _by_line(lines: Lines, hits: Iterable[Hit]) -> Iterator[tuple[int, list[Hit]]]:
    """(line, its hits, each literal once) in order; at most `LINES` lines of a file."""
    made: dict[int, dict[str, Hit]] = {}
    for hit in hits:
        made.setdefault(lines.number(hit.at), {}).setdefault(hit.literal, hit)
    yield from ((number, list(held.values())) for number, held in sorted(made.items())[:LINES])


def _in_table(run: _Run, path: str, data: bytes, hits: Iterable[Hit]) -> None:
    lines = Lines(data)
    delimiter = "\t" if path.lower().endswith(".tsv") else ","
    header = [name.strip() for name in _cells(lines.text(0, _ROW)[0], delimiter)]
    units = [unit_of_key(name) for name in header]
    declared = next((i for i, name in enumerate(header) if name.lower() in ("unit", "units", "单位")), None)
    for number, held in _by_line(lines, hits):
        cells = _cells(lines.text(held[0].at, _ROW)[0], delimiter)
        values = {hit.value: hit.literal for hit in held}
        row = unit_named(cells[declared]) if declared is not None and declared < len(cells) else None
        for column, cell in enumerate(cells[:_COLUMNS]):
            plain = cell.replace(",", "")
            found = of_value(cell.strip()) if any(literal in plain for literal in values.values()) else None
            if found is None or abs(found.value) not in values or not is_measured_place(tuple(header[column : column + 1]), False):
                continue
            unit = found.unit or (units[column] if column < len(units) else None) or row
            _match(run, values[abs(found.value)], unit, True, Location(path, line=number, role="record", at=run.at))


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _in_records(run: _Run, path: str, data: bytes, hits: Iterable[Hit]) -> None:
    lines, limit = Lines(data), run.snapshot.config.limits.log_line
    for number, held in _by_line(lines, hits):
        doc = read_json(lines.text(held[0].at, limit)[0].encode("utf-8", "replace"), path)
        if doc.readable and run.open():
            for _, text, unit, trusted in _places(walk(doc.value), doc.value, {hit.literal for hit in held}, False):
                _match(run, text, unit, trusted, Location(path, line=number, role="record", at=run.at))


def _in_log(run: _Run, path: str, data: bytes, hits: Iterable[Hit]) -> None:
    lines = Lines(data)
    for number, held in _by_line(lines, hits):
        for hit in held[:_COLUMNS]:
            text, at = lines.text(hit.at, _AROUND)
            if not _candidates(run, hit.value) or _PROMISED.search(text[max(0, at - 40) : at]):
                continue
            read = next((q for q in quantities(text) if q.start <= at < max(q.end, q.start + 1)), None)
            unit = read.unit if read and abs(read.value) == hit.value else None
            _match(run, hit.literal, unit, True, Location(path, line=number, role="record", at=run.at))


# ---------------------------------------------------------------- of arrays


def _of_arrays(run: _Run, files: Sequence[str], also: Sequence[Request]) -> None:
    for path in files:
        if is_plan(run.bundle, path) or not run.open():
            continue
        held = listed_values(run.snapshot, path, run.tree)
        for index in run.open():
            low, high = bounds(run.wanted[index])
            kinds = frozenset(kind for request in also if request.index == index for kind in request.kinds)
            for one in held.between(run.wanted[index], low, high, kinds):
                if agrees(run.wanted[index], Fraction(one.value).limit_denominator(10**12), one.unit):
                    place = Location(path, pointer=pointer(one.place) if one.place is not None else None, line=one.line, role="record", at=run.at)
                    run.found[index] = Stand(place, f"{one.value:.10g} {one.unit.name}" if one.unit else f"{one.value:.10g}", one.how)
                    break
