"""Changes between two printed values: what a relative change, a difference or a share may be, as intervals of their printed precision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Literal

from rules.reading.quantities import Quantity
from rules.reading.units import Unit, comparable


@dataclass(frozen=True, slots=True)
class Span:
    """Values from `low` to `high`, both inclusive."""

    low: Fraction
    high: Fraction

    def meets(self, other: Span) -> bool:
        """True when they share a value."""
        return self.low <= other.high and other.low <= self.high

    def scaled(self, factor: Fraction) -> Span:
        """Every value times `factor`."""
        return Span(*sorted((self.low * factor, self.high * factor)))

    def size(self) -> Span:
        """The values without their sign."""
        if self.low <= 0 <= self.high:
            return Span(Fraction(0), max(-self.low, self.high))
        return Span(*sorted((abs(self.low), abs(self.high))))

    def joined(self, other: Span) -> Span:
        """From the lower low to the higher high."""
        return Span(min(self.low, other.low), max(self.high, other.high))


def relative(before: Span, after: Span) -> Iterator[tuple[str, Span]]:
    """(denominator, signed change in percent) of `after` against `before` for every usual denominator: the first, the second, their mean.

    A denominator that may be zero gives none.
    """
    mean = Span((before.low + after.low) / 2, (before.high + after.high) / 2)
    for name, base in (("the first", before), ("the second", after), ("their mean", mean)):
        if base.low <= 0 <= base.high:
            continue
        corners = [100 * (a - b) / _base(name, b, a) for b, a in product((before.low, before.high), (after.low, after.high)) if _base(name, b, a)]
        yield name, Span(min(corners), max(corners))


def _base(name: str, before: Fraction, after: Fraction) -> Fraction:
    return abs({"the first": before, "the second": after, "their mean": (before + after) / 2}[name])


def difference(before: Span, after: Span) -> Span:
    """`after` less `before`."""
    return Span(after.low - before.high, after.high - before.low)


def shares(before: Span, after: Span) -> Iterator[Span]:
    """What one is of the other, in percent."""
    for part, whole in ((after, before), (before, after)):
        if not whole.low <= 0 <= whole.high:
            corners = [100 * p / w for p, w in product((part.low, part.high), (whole.low, whole.high))]
            yield Span(min(corners), max(corners))


Direction = Literal["", "down", "up"]
_OURS = frozenset(["percent", "percentage-points"])


@dataclass(frozen=True, slots=True)
class Change:
    """A stated change with its operands.

    stated      as printed; its unit says its form (percent, percentage points, or absolute), None leaves it open
    before      the operands, as intervals in `unit`
    direction   what its word says of the values: a reduction goes "down"
    of_whole    its words allow "x % of the other" too
    """

    stated: Quantity
    before: Span
    after: Span
    unit: Unit | None
    direction: Direction = ""
    of_whole: bool = False


def span(quantity: Quantity) -> Span:
    """The values that print as `quantity`."""
    return Span(quantity.low, quantity.high)


def holds(change: Change) -> bool | None:
    """True when the stated change follows from its operands within rounding, in any usual reading of its form; None for factors and other units."""
    forms = list(_forms(change))
    if not forms:
        return None
    asked = _asked(change.stated)
    fits = any(_fits(asked, computed.size(), change.stated.relation) for computed in forms)
    return fits and not _against(change)


def computed(change: Change) -> str:
    """What the operands give: `-30.6 % of the first, -44.1 % of the second` or the difference."""
    if change.stated.unit and change.stated.unit.family not in _OURS:
        held = difference(change.before, change.after)
        return f"{_shown((held.low + held.high) / 2)} {change.unit.name if change.unit else ''}".strip()
    parts = [f"{_shown((s.low + s.high) / 2)} % of {name}" for name, s in relative(change.before, change.after) if name != "their mean"]
    if change.stated.unit and change.stated.unit.family == "percentage-points":
        held = difference(change.before, change.after)
        return f"{_shown((held.low + held.high) / 2)} points"
    return ", ".join(parts)


def _shown(value: Fraction) -> str:
    return f"{float(value):+.4g}"


def _asked(stated: Quantity) -> Span:
    held = span(stated).size()
    if stated.relation == "~":
        width = max(held.high - held.low, abs(stated.value) / 20)
        return Span(max(Fraction(0), held.low - width), held.high + width)
    return held


def _fits(asked: Span, found: Span, relation: str) -> bool:
    if relation in (">", ">="):
        return found.high >= asked.low
    if relation in ("<", "<="):
        return found.low <= asked.high
    return asked.meets(found)


def _forms(change: Change) -> Iterator[Span]:
    """Every value, in the unit of the stated change, that its operands give in a usual reading."""
    unit, absolute = change.stated.unit, difference(change.before, change.after)
    percents = [held for _, held in relative(change.before, change.after)]
    whole = list(shares(change.before, change.after)) if change.of_whole else []
    family = unit.family if unit else ""
    if unit is None:
        yield from percents
        yield from (held.scaled(Fraction(1, 100)) for held in percents)
        yield absolute
    elif family == "percent":
        yield from (held.scaled(1 / unit.factor) for held in (*percents, *whole))
        yield from _points(absolute, change.unit)
    elif family == "percentage-points":
        yield from _points(absolute, change.unit) if change.unit else (absolute, absolute.scaled(Fraction(100)))
    elif change.unit is None:
        yield absolute
    elif comparable(unit, change.unit) and family not in ("factor", "ratio"):
        yield absolute.scaled(change.unit.factor / unit.factor)


def _points(absolute: Span, unit: Unit | None) -> Iterator[Span]:
    """A difference of percentages, or of shares of one, in points."""
    if unit and unit.family in _OURS:
        yield absolute.scaled(unit.factor)
    elif unit and unit.family == "ratio":
        yield absolute.scaled(Fraction(100))


def _against(change: Change) -> bool:
    """A positive "reduction" of values that rose. The sign alone is no error: a reduction of -30 % may be one."""
    if change.stated.value <= 0 or not change.direction or change.stated.text[:1] == "-":
        return False
    rose, fell = change.after.low > change.before.high, change.after.high < change.before.low
    return (change.direction == "down" and rose) or (change.direction == "up" and fell)
