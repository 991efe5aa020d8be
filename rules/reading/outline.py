"""The places of a document by column: all places whose paths are the same but for indices.

A document of measurements has few columns and very many places. What depends on keys is decided once for a column; only the places of the columns
that a rule wants are visited, in the document's order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from rules.reading.values import Node, is_numbers

Shape = tuple["str | None", ...]
"""A path with None for an index of a list, or for a key of a map."""
Wanted = Callable[[Shape], object]

FIELDS, COLUMNS = 1000, 20_000
"""An object with more keys is a map: its keys are data, not the names of fields. So is every further object of a document with very many columns."""
DEPTH = 64
"""Places deeper than this are not looked at."""


@dataclass(frozen=True, eq=False)
class Column:
    """All values of a document whose paths have one shape, in the document's order.

    holders  the column of the objects or lists around them (None at the root); `rows[i]` is the place of value i's holder in it
    steps    the last part of each path: one key for all, or index or key of each
    ranks    the position of each among its siblings: one for all, or of each
    """

    shape: Shape
    values: Sequence[Any]
    holders: Column | None = field(default=None, repr=False)
    rows: Sequence[int] = (0,)
    steps: str | Sequence[str | int] = ()
    ranks: int | Sequence[int] = 0

    @cached_property
    def types(self) -> frozenset[type]:
        """The types of the values."""
        return frozenset(map(type, self.values))

    def holds(self, kind: type | tuple[type, ...]) -> bool:
        """True when a value is a `kind`."""
        return any(issubclass(one, kind) for one in self.types)

    @property
    def key(self) -> str:
        """The nearest key, as `Node.key`; "" where there is none."""
        return key_of(self.shape)

    def node(self, row: int) -> Node:
        """The place of value `row`."""
        parent = self.holders.values[self.rows[row]] if self.holders is not None else None
        return Node(self._up(row, lambda column, at: column.steps if isinstance(column.steps, str) else column.steps[at]), self.values[row], parent)

    def order(self, row: int) -> tuple[int, ...]:
        """What value `row` is sorted by in the document's order."""
        return self._up(row, lambda column, at: column.ranks if isinstance(column.ranks, int) else column.ranks[at])

    def _up(self, row: int, part: Callable[[Column, int], Any]) -> tuple[Any, ...]:
        made: list[Any] = []
        column = self
        while column.holders is not None:
            made.append(part(column, row))
            column, row = column.holders, column.rows[row]
        made.reverse()
        return tuple(made)


@dataclass(frozen=True, eq=False)
class Outline:
    """The columns of a document, outer ones first."""

    columns: tuple[Column, ...]

    @cached_property
    def inside(self) -> dict[Column, list[Column]]:
        """Column → the columns right below it; none for one that has none."""
        made: dict[Column, list[Column]] = {}
        for column in self.columns:
            if column.holders is not None:
                made.setdefault(column.holders, []).append(column)
        return made

    def where(self, wanted: Wanted, kind: type | tuple[type, ...] = object) -> list[Column]:
        """The columns of wanted shape that hold a `kind`."""
        return [column for column in self.columns if wanted(column.shape) and (kind is object or column.holds(kind))]

    def nodes(self, wanted: Wanted, kind: type | tuple[type, ...] = object) -> list[Node]:
        """The places of wanted shape whose value is a `kind`, in the document's order."""
        return _in_order((column, _rows(column, kind)) for column in self.where(wanted, kind))

    def pick(self, rows: Callable[[Column], Iterable[int]]) -> list[Node]:
        """The places that `rows` names in each column, in the document's order."""
        return _in_order((column, rows(column)) for column in self.columns)

    def distinct(self, wanted: Wanted, kind: type | tuple[type, ...]) -> list[Node]:
        """The same for strings, numbers and flags, of each column only the first place of every value."""
        return _in_order((column, _first_rows(column, kind)) for column in self.where(wanted, kind))

    def strings(self, wanted: Wanted, test: Callable[[str], object]) -> list[Node]:
        """The places of wanted shape that hold a string which passes `test`; equal strings of a column are tested once."""
        return self.pick(lambda column: _passing(column, test) if str in column.types and wanted(column.shape) else ())

    @property
    def top(self) -> Any:
        """The document's value; None where it cannot be read."""
        return self.columns[0].values[0] if self.columns else None

    def all(self) -> list[Node]:
        """Every place, in the document's order."""
        return self.nodes(lambda _: True)


def key_of(shape: Shape) -> str:
    """The nearest key of a shape; "" where there is none."""
    return next((part for part in reversed(shape) if part is not None), "")


def keys_of(shape: Shape) -> list[str]:
    """The keys of a shape, outermost first."""
    return [part for part in shape if part is not None]


def _rows(column: Column, kind: type | tuple[type, ...]) -> Iterable[int]:
    if kind is object or all(issubclass(one, kind) for one in column.types):
        return range(len(column.values))
    return [row for row, value in enumerate(column.values) if isinstance(value, kind)]


def _first_rows(column: Column, kind: type | tuple[type, ...]) -> Iterable[int]:
    first: dict[Any, int] = {}
    for row, value in enumerate(column.values):
        if isinstance(value, kind):
            first.setdefault(value, row)
    return first.values()


def _passing(column: Column, test: Callable[[str], object]) -> list[int]:
    hits = {value for value in {value for value in column.values if type(value) is str} if test(value)}
    return [row for row, value in enumerate(column.values) if type(value) is str and value in hits] if hits else []


def _in_order(chosen: Iterable[tuple[Column, Iterable[int]]]) -> list[Node]:
    held = [(column, rows) for column, rows in chosen if rows]
    if len(held) == 1:
        return [held[0][0].node(row) for row in held[0][1]]
    places = [(column.order(row), column, row) for column, rows in held for row in rows]
    places.sort(key=lambda place: place[0])
    return [column.node(row) for _, column, row in places]


# ---------------------------------------------------------------- building


def outline(value: Any) -> Outline:
    """The columns of a document's value. A list of numbers is one place."""
    columns = [Column((), (value,))]
    for column in columns:
        if len(column.shape) < DEPTH:
            columns.extend(_inside(column, FIELDS if len(columns) < COLUMNS else 0))
    return Outline(tuple(columns))


def _inside(column: Column, most: int) -> Iterator[Column]:
    """The columns right below one: of each field of objects with at most so many, and of all elements of lists and maps."""
    if dict in column.types:
        fields, maps = _grouped(column, most)
        yield from _fields(column, fields)
    else:
        maps = []
    if maps or list in column.types:
        yield from _elements(column, maps)


def _grouped(column: Column, most: int) -> tuple[dict[tuple[str, ...], list[int]], list[int]]:
    """The rows that hold objects, by their keys; and those that hold maps."""
    fields: dict[tuple[str, ...], list[int]] = {}
    maps = []
    for row, value in enumerate(column.values):
        if type(value) is dict:
            if len(value) <= most:
                fields.setdefault(tuple(value), []).append(row)
            else:
                maps.append(row)
    return fields, maps


@dataclass(slots=True)
class _Field:
    """One field as it is collected from objects with different keys."""

    values: list[Any] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)


def _fields(column: Column, groups: dict[tuple[str, ...], list[int]]) -> Iterator[Column]:
    if len(groups) == 1:
        keys, rows = next(iter(groups.items()))
        held = zip(*(column.values[row].values() for row in rows), strict=True)
        for rank, (key, values) in enumerate(zip(keys, held, strict=True)):
            yield Column((*column.shape, key), values, column, range(len(rows)) if len(rows) == len(column.values) else rows, key, rank)
        return
    made: dict[str, _Field] = {}
    for keys, rows in groups.items():
        held = zip(*(column.values[row].values() for row in rows), strict=True)
        for rank, (key, values) in enumerate(zip(keys, held, strict=True)):
            one = made.setdefault(key, _Field())
            one.values += values
            one.rows += rows
            one.ranks += [rank] * len(rows)
    for key, one in made.items():
        yield _sorted(Column((*column.shape, key), one.values, column, one.rows, key, one.ranks))


def _sorted(column: Column) -> Column:
    """The column with its values in the order of their holders."""
    order = sorted(range(len(column.rows)), key=column.rows.__getitem__)
    values, rows, ranks = ([held[at] for at in order] for held in (column.values, column.rows, column.ranks))  # type: ignore[index]
    return Column(column.shape, values, column.holders, rows, column.steps, ranks)


def _elements(column: Column, maps: list[int]) -> Iterator[Column]:
    values: list[Any] = []
    rows: list[int] = []
    steps: list[str | int] = []
    ranks: list[int] = []
    wide = set(maps)
    for row, value in enumerate(column.values):
        if row in wide or (type(value) is list and value and not is_numbers(value)):
            values += value.values() if row in wide else value
            rows += [row] * len(value)
            steps += value if row in wide else range(len(value))
            ranks += range(len(value))
    if values:
        yield Column((*column.shape, None), values, column, rows, steps, ranks)
