"""Statistics of listed arrays: mean and median of every list of numbers, column and field of a record file, whole, by group, and without warm-ups.

Floats are enough here: a figure has a few printed digits, and what is only computed to be looked up is not reported as a value of its own.
"""

from __future__ import annotations

import csv
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np

from rules.core.model import Missing, Snapshot, Tree
from rules.reading.documents import LINES_SUFFIXES, YAML_SUFFIXES, Number, Path, document, is_document
from rules.reading.quantities import Quantity
from rules.reading.record_places import LOG_SUFFIXES, TABLE_SUFFIXES, is_measured_place, unit_of_part
from rules.reading.unit_keys import unit_of_key
from rules.reading.units import COUNTS, Unit

ARRAYS = 4000
"""Arrays of one file that are looked at, groups included."""
ROWS = 500_000
FIELDS = 64
GROUPED_ROWS = 100_000
_MANY = 1000
_GROUPS = 40
_TRIAL = re.compile(r"(\D{0,40})\d{1,6}\D{0,10}\Z")


@dataclass(frozen=True, slots=True)
class Request:
    """Further statistics that the text of one figure speaks of: `sum`, `stdev`, `p90`, `p95`, `p99`, …."""

    index: int
    kinds: frozenset[str]


@dataclass(frozen=True, slots=True)
class Value:
    """One statistic: its value, the unit its array declares, what it is, and where the array stands."""

    value: float
    unit: Unit | None
    kind: str
    how: str
    place: Path | None
    line: int | None


@dataclass(frozen=True, slots=True)
class _Array:
    values: list[float]
    unit: Unit | None
    place: Path | None
    line: int | None
    of: str = ""
    group: bool = False


@dataclass(frozen=True, slots=True)
class _Source:
    """Where an array stands, without its values."""

    count: int
    place: Path | None
    line: int | None
    of: str


_Row = tuple[float, str, int]  # value, kind ("mean", "mean/2" without the first two), index of its source


@dataclass
class Listed:
    """The statistics of one file, by unit, sorted by value."""

    rows: dict[Unit | None, list[_Row]] = field(default_factory=dict)
    sources: list[_Source] = field(default_factory=list)

    def add(self, array: _Array) -> None:
        at = len(self.sources)
        self.sources.append(_Source(len(array.values), array.place if array.line is None else None, array.line, array.of))
        held = self.rows.setdefault(array.unit, [])
        held.extend((abs(value), kind, at) for kind, value in _kinds(array.values, array.group) if value and isfinite(value))

    def sort(self) -> Listed:
        for held in self.rows.values():
            held.sort()
        return self

    def central(self) -> Iterator[tuple[Unit | None, float]]:
        """Every mean and median, with its unit."""
        for unit, held in self.rows.items():
            yield from ((unit, value) for value, kind, _ in held if kind in ("mean", "median"))

    def between(self, quantity: Quantity, low: Fraction, high: Fraction, kinds: frozenset[str]) -> Iterator[Value]:
        """What may agree with `quantity`, whose values lie from `low` to `high`: as printed, as a share, or scaled by the units."""
        for unit, held in self.rows.items():
            factors = {1.0, 0.01}
            if unit and quantity.unit:
                factors.add(float(quantity.unit.factor / unit.factor))
            for factor in factors:
                first = bisect_left(held, (float(low) * factor * (1 - 1e-9),))
                last = bisect_right(held, (float(high) * factor * (1 + 1e-9), "~"))
                yield from (self._value(row, unit) for row in held[first:last] if row[1].partition("/")[0] in {"mean", "median"} | kinds)

    def _value(self, row: _Row, unit: Unit | None) -> Value:
        source = self.sources[row[2]]
        name, _, trimmed = row[1].partition("/")
        dropped = f" without the first {trimmed}" if trimmed else ""
        return Value(row[0], unit, name, f"the {name} of {source.count} values{source.of}{dropped}", source.place, source.line)


def listed_values(snapshot: Snapshot, path: str, tree: Tree) -> Listed:
    """The statistics of the arrays in the file at `path`, kept by object id; nothing for logs and what cannot be read."""
    entry = tree.files[path]
    if path.lower().endswith(LOG_SUFFIXES):
        return Listed()

    def make() -> Listed:
        held = Listed()
        for array in _limited(_arrays(snapshot, path, tree)):
            held.add(array)
        return held.sort()

    try:
        return snapshot.cache.fleeting("listed:" + path.rpartition(".")[2], entry.oid, entry.size, make)
    except (Missing, RecursionError):
        return Listed()


# ---------------------------------------------------------------- arrays


def _limited(arrays: Iterator[_Array]) -> Iterator[_Array]:
    for count, array in enumerate(arrays):
        if count >= ARRAYS:
            return
        yield array


def _arrays(snapshot: Snapshot, path: str, tree: Tree) -> Iterator[_Array]:
    if path.endswith(YAML_SUFFIXES):
        doc = document(snapshot, path, tree)
        yield from _of_value(doc.value if doc and doc.readable else None)
    elif is_document(path):
        yield from _of_value(_json(tree.read(path)))
    elif path.endswith(LINES_SUFFIXES):
        rows = [row for line in tree.read(path).split(b"\n")[:ROWS] if isinstance(row := _json(line), dict)]
        yield from _of_rows(rows, (), None, None)
    elif path.lower().endswith(TABLE_SUFFIXES):
        yield from _of_table(tree.read(path).decode("utf-8", "replace"), "\t" if path.lower().endswith(".tsv") else ",")


def _json(data: bytes) -> Any:
    try:
        return json.loads(data) if data.strip() else None
    except (ValueError, RecursionError):
        return None


def _of_value(root: Any) -> Iterator[_Array]:
    stack: list[tuple[Any, Path, Unit | None]] = [(root, (), None)]
    while stack:
        held, place, unit = stack.pop()
        if isinstance(held, dict):
            yield from _of_map(held, place, unit)
            for key, child in held.items():
                if isinstance(child, (dict, list)):
                    stack.append((child, (*place, key), _unit(held, key, unit)))
        elif isinstance(held, list) and held and is_measured_place(place, False):
            if isinstance(held[0], dict):
                yield from _of_rows([item for item in held[:ROWS] if isinstance(item, dict)], place, unit, None)
                stack.extend((item, (*place, i), unit) for i, item in enumerate(held[:ROWS]) if _nests(item))
            elif isinstance(held[0], list):
                stack.extend((item, (*place, i), unit) for i, item in enumerate(held[:ROWS]))
            else:
                yield from _of_numbers(held, place, unit, None)


def _nests(item: Any) -> bool:
    return isinstance(item, dict) and any(isinstance(child, (dict, list)) for child in item.values())


def _unit(held: dict[str, Any], key: str, outer: Unit | None) -> Unit | None:
    own = unit_of_part(held, key)
    return outer if own is None or (own.family in COUNTS and outer is not None) else own


def _of_map(held: dict[str, Any], place: Path, unit: Unit | None) -> Iterator[_Array]:
    """`{"run1": 41.2, "run2": 40.9}`, `{"rank0": {…}, "rank1": {…}}`: one entry per trial."""
    stems = [match[1] if (match := _TRIAL.match(key)) else None for key in held] if 2 <= len(held) <= 10_000 else [None]
    if None in stems or len(set(stems)) != 1 or not is_measured_place(place, False):
        return
    inside = list(held.values())
    if all(isinstance(item, dict) for item in inside):
        yield from _of_rows(inside, place, unit, None)
    else:
        yield from _of_numbers(inside, place, unit or unit_of_key(next(iter(held))), None)


def _of_numbers(held: list[Any], place: Path | None, unit: Unit | None, line: int | None, of: str = "", group: bool = False) -> Iterator[_Array]:
    numbers = [item for item in held if type(item) is float or type(item) is int or isinstance(item, Number)]
    if len(numbers) >= 2 and 2 * len(numbers) >= len(held):
        try:
            yield _Array([float(item) for item in numbers], unit, place, line, of, group)
        except OverflowError:
            return


def _of_rows(rows: list[dict[str, Any]], place: Path, unit: Unit | None, line: int | None) -> Iterator[_Array]:
    columns = _columns(rows)
    labels = _labels(columns)
    for within, values in columns.items():
        if any(type(value) in (float, int) or isinstance(value, float) for value in values[:50]) and is_measured_place(within, False):
            own = _column_unit(rows[0], within, unit)
            yield from _of_numbers(values, place, own, line, f" of `{within[-1]}`")
            for keys, named, chosen in labels:
                if any(key == within for key in keys):
                    continue
                yield from _of_numbers([values[i] for i in chosen], place, own, line, f" of `{within[-1]}` where {named}", group=True)


def _column_unit(row: dict[str, Any], within: tuple[str, ...], outer: Unit | None) -> Unit | None:
    unit = _unit(row, within[0], outer)
    inner = row.get(within[0])
    return _unit(inner, within[1], unit) if len(within) > 1 and isinstance(inner, dict) else unit


def _columns(rows: list[dict[str, Any]]) -> dict[tuple[str, ...], list[Any]]:
    """Field (or field inside a field) → its value in each row, None where a row has none."""
    names: dict[tuple[str, ...], None] = {}
    for row in rows[:200]:
        for key, child in row.items():
            inner = [(key, name) for name in child] if isinstance(child, dict) else [(key,)]
            names.update(dict.fromkeys(inner))
    made: dict[tuple[str, ...], list[Any]] = {}
    for within in list(names)[:FIELDS]:
        if len(within) == 1:
            made[within] = [row.get(within[0]) for row in rows]
        else:
            made[within] = [child.get(within[1]) if isinstance(child := row.get(within[0]), dict) else None for row in rows]
    return made


_Label = tuple[tuple[tuple[str, ...], ...], str, list[int]]


def _labels(columns: dict[tuple[str, ...], list[Any]]) -> list[_Label]:
    """The rows that share the value of a column of few values (an arm, a batch size), or of two such columns."""
    keys = [(within, values) for within, values in columns.items() if _is_label(values)][:6]
    single = [((within,), values) for within, values in keys]
    pairs = [((a, b), list(zip(x, y, strict=True))) for i, (a, x) in enumerate(keys) for b, y in keys[i + 1 :]]
    made: list[_Label] = []
    for names, values in [*single, *pairs]:
        chosen: dict[Any, list[int]] = {}
        for index, value in enumerate(values):
            chosen.setdefault(value, []).append(index)
        if 1 < len(chosen) <= _GROUPS:
            made += [(names, _group_name(names, value), indices) for value, indices in chosen.items() if len(indices) > 1]
    return made


def _group_name(within: tuple[tuple[str, ...], ...], value: Any) -> str:
    parts = value if isinstance(value, tuple) else (value,)
    return " and ".join(f"`{'.'.join(key)}` is {str(part)[:40]}" for key, part in zip(within, parts, strict=True))


def _is_label(values: list[Any]) -> bool:
    if len(values) > GROUPED_ROWS:
        return False
    kinds = {type(value) for value in values}
    return kinds <= {str, bool, int, type(None)} and 1 < len(set(values)) <= min(_GROUPS, max(2, len(values) // 2))


def _of_table(text: str, delimiter: str) -> Iterator[_Array]:
    try:
        rows = list(csv.reader(text.splitlines()[:ROWS], delimiter=delimiter))
    except csv.Error:
        return
    header = [name.strip() for name in rows[0]] if rows else []
    if len(set(header)) == len(header):
        yield from _of_rows([dict(zip(header, map(_cell, row), strict=False)) for row in rows[1:]], (), None, 1)


def _cell(text: str) -> Any:
    try:
        return int(text) if text.strip().lstrip("+-").isdigit() and len(text) < 16 else float(text)
    except ValueError:
        return text.strip()


# ---------------------------------------------------------------- statistics


def _kinds(values: list[float], group: bool) -> Iterator[tuple[str, float]]:
    """Mean and median; of a whole list also without its first values (warm-ups), and what a text may call by name."""
    count, total = len(values), sum(values)
    ordered = sorted(values) if count < _MANY else np.sort(np.array(values)).tolist()
    yield "mean", total / count
    yield "median", _at(ordered, 0.5)
    if group:
        return
    for dropped in (1, 2, 3):
        if count - dropped >= 3:
            yield f"mean/{dropped}", sum(values[dropped:]) / (count - dropped)
            if count < _MANY:
                yield f"median/{dropped}", _at(sorted(values[dropped:]), 0.5)
    yield "sum", total
    yield "range", ordered[-1] - ordered[0]
    mean = total / count
    spread = sum((value - mean) ** 2 for value in values)
    yield "stdev", (spread / count) ** 0.5
    yield "stdev", (spread / (count - 1)) ** 0.5
    for p in (5, 10, 25, 50, 75, 90, 95, 99):
        yield f"p{p}", _at(ordered, p / 100)


def _at(ordered: list[float], p: float) -> float:
    """The linear estimate of a quantile; the others are elements of the list, and stand in it."""
    place = p * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
