"""Changes between two printed values: what a relative change, a difference or a share may be, as intervals of their printed precision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product


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
