"""Statistics of listed arrays: mean and median of every list of numbers, column and field of a record file, whole, by group, and without warm-ups.

Floats are enough here: a figure has a few printed digits, and what is only computed to be looked up is not reported as a value of its own.
"""

from __future__ import annotations

import csv
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rules.core.model import Missing, Snapshot, Tree
from rules.reading.documents import LINES_SUFFIXES, YAML_SUFFIXES, Path, document, is_document
from rules.reading.quantities import Quantity
from rules.reading.record_places import LOG_SUFFIXES, TABLE_SUFFIXES, is_measured_place, unit_of_part
from rules.reading.unit_keys import unit_of_key
from rules.reading.units import COUNTS, Unit

ARRAYS = 4000
"""Arrays of one file that are looked at, groups included."""
ROWS = 500_000
FIELDS = 64
GROUPED_ROWS = 100_000
_GROUPS = 40
_TRIAL = re.compile(r"(\D{0,40})\d{1,6}\D{0,10}\Z")
Vector = NDArray[np.float64]


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


@dataclass
class Listed:
    """The statistics of one file, by unit, sorted by value."""

    by_unit: dict[Unit | None, list[Value]] = field(default_factory=dict)
    _keys: dict[Unit | None, list[float]] = field(default_factory=dict)

    def add(self, values: Iterable[Value]) -> None:
        for one in values:
            self.by_unit.setdefault(one.unit, []).append(one)

    def sort(self) -> Listed:
        for unit, held in self.by_unit.items():
            held.sort(key=lambda one: one.value)
            self._keys[unit] = [one.value for one in held]
        return self

    def between(self, quantity: Quantity, low: Fraction, high: Fraction, kinds: frozenset[str]) -> Iterator[Value]:
        """What may agree with `quantity`, whose values lie from `low` to `high`: as printed, as a share, or scaled by the units."""
        for unit, held in self.by_unit.items():
            factors = {1.0, 0.01}
            if unit and quantity.unit:
                factors.add(float(quantity.unit.factor / unit.factor))
            for factor in factors:
                first = bisect_left(self._keys[unit], float(low) * factor * (1 - 1e-9))
                last = bisect_right(self._keys[unit], float(high) * factor * (1 + 1e-9))
                yield from (one for one in held[first:last] if one.kind in ("mean", "median") or one.kind in kinds)


def listed_values(snapshot: Snapshot, path: str, tree: Tree) -> Listed:
    """The statistics of the arrays in the file at `path`, kept by object id; nothing for logs and what cannot be read."""
    entry = tree.files[path]
    if path.lower().endswith(LOG_SUFFIXES):
        return Listed()

    def make() -> Listed:
        held = Listed()
        for array in _limited(_arrays(snapshot, path, tree)):
            held.add(_statistics(array))
        return held.sort()

    try:
        return snapshot.cache.by_blob("listed:" + path.rpartition(".")[2], entry.oid, entry.size, make)
    except (Missing, RecursionError):
        return Listed()


# ---------------------------------------------------------------- arrays


@dataclass(frozen=True, slots=True)
class _Array:
    values: Vector
    unit: Unit | None
    place: Path | None
    line: int | None
    of: str = ""


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


def _of_numbers(held: list[Any], place: Path | None, unit: Unit | None, line: int | None, of: str = "") -> Iterator[_Array]:
    numbers = [item for item in held if type(item) in (float, int) or (isinstance(item, float) and isfinite(item))]
    if len(numbers) >= 2 and 2 * len(numbers) >= len(held):
        try:
            values = np.array(numbers, dtype=np.float64)
        except OverflowError:
            return
        yield _Array(values[np.isfinite(values)], unit, place, line, of)


def _of_rows(rows: list[dict[str, Any]], place: Path, unit: Unit | None, line: int | None) -> Iterator[_Array]:
    columns = _columns(rows)
    for within, values in columns.items():
        if any(type(value) in (float, int) or isinstance(value, float) for value in values[:50]) and is_measured_place(within, False):
            own = _column_unit(rows[0], within, unit)
            yield from _of_numbers(values, place, own, line, f" of `{within[-1]}`")
            for named, chosen in _groups(columns, within):
                yield from _of_numbers([values[i] for i in chosen], place, own, line, f" of `{within[-1]}` where {named}")


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


def _groups(columns: dict[tuple[str, ...], list[Any]], measured: tuple[str, ...]) -> Iterator[tuple[str, list[int]]]:
    """The rows that share the value of a column of few values (an arm, a batch size), or of two such columns."""
    keys = [(within, values) for within, values in columns.items() if within != measured and _is_label(values)][:8]
    pairs = [(((a, b)), list(zip(x, y, strict=True))) for i, (a, x) in enumerate(keys) for b, y in keys[i + 1 :]]
    for within, values in [*(((a,), list(x)) for a, x in keys), *pairs]:
        chosen: dict[Any, list[int]] = {}
        for index, value in enumerate(values):
            chosen.setdefault(value, []).append(index)
        if 1 < len(chosen) <= _GROUPS:
            for value, indices in chosen.items():
                if len(indices) > 1:
                    yield _group_name(within, value), indices


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


def _statistics(array: _Array) -> Iterator[Value]:
    values = array.values
    if len(values) < 2:
        return
    place = array.place if array.line is None else None
    for kind, value in _kinds(values):
        if isfinite(value) and value:
            name, _, trimmed = kind.partition("/")
            dropped = f" without the first {trimmed}" if trimmed else ""
            yield Value(abs(value), array.unit, name, f"the {name} of {len(values)} values{array.of}{dropped}", place, array.line)


def _kinds(values: Vector) -> Iterator[tuple[str, float]]:
    ordered = np.sort(values)
    count = len(values)
    yield "mean", float(values.mean())
    yield "median", _at(ordered, 0.5)
    for dropped in (1, 2, 3):
        if count - dropped >= 3:
            yield f"mean/{dropped}", float(values[dropped:].mean())
            yield f"median/{dropped}", _at(np.sort(values[dropped:]), 0.5)
    yield "sum", float(values.sum())
    yield "range", float(ordered[-1] - ordered[0])
    deviation = float(values.std())
    yield "stdev", deviation
    yield "stdev", deviation * (count / (count - 1)) ** 0.5
    for p in (5, 10, 25, 50, 75, 90, 95, 99):
        yield f"p{p}", _at(ordered, p / 100)


def _at(ordered: Vector, p: float) -> float:
    """The linear estimate of a quantile; the others are elements of the list, and stand in it."""
    place = p * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (ordered[above] - ordered[below]) * (place - below))
