"""What a list of printed numbers allows a stated statistic to be: exact arithmetic, every usual definition, printed precision as an interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation, localcontext
from fractions import Fraction
from functools import cached_property

from rules.reading.statistic_keys import Statistic

PLACES = 60
DIGITS = 40
NOISE = Fraction(1, 10**9)
"""Relative slack for what binary floating point adds to a printed number (411.91999999999996)."""
# Statistics that only grow when every sample grows: what they can be with some samples left out lies between two ends.
MONOTONE = frozenset(["mean", "median", "min", "max", "best", "worst", "percentile", "geomean", "hmean"])


@dataclass(frozen=True)
class Scaled:
    """Numbers as integers: the value is `integer / 10**places`. `printed` is the decimals that the samples show."""

    integers: Sequence[int]
    places: int
    printed: int

    @cached_property
    def ordered(self) -> Sequence[int]:
        return sorted(self.integers)

    def value(self, integer: int | Fraction) -> Fraction:
        return Fraction(integer) * Fraction(1, 10**self.places)

    def take(self, integers: Sequence[int]) -> Scaled:
        return Scaled(integers, self.places, self.printed)


def scaled(texts: Sequence[str]) -> Scaled | None:
    """The literals `texts` as integers of one scale; None where one of them is no finite number of a usual length."""
    if not texts or max(map(len, texts)) > DIGITS:
        return None
    joined = "".join(texts)
    if "e" in joined or "E" in joined:
        return _scaled_decimal(texts)
    decimals = [len(text.partition(".")[2]) for text in texts]
    places = max(decimals)
    powers = [10 ** (places - count) for count in range(places + 1)]
    try:
        return Scaled([int(text.replace(".", "")) * powers[count] for text, count in zip(texts, decimals, strict=True)], places, places)
    except ValueError:
        return None


def _scaled_decimal(texts: Sequence[str]) -> Scaled | None:
    try:
        values = [Decimal(text) for text in texts]
    except InvalidOperation:
        return None
    if any(not v.is_finite() or abs(v.adjusted()) > PLACES for v in values):
        return None
    exponents = [int(v.as_tuple().exponent) for v in values]
    places = max(0, -min(exponents))
    return Scaled([int(v.scaleb(places)) if places < 20 else int(Fraction(v) * 10**places) for v in values], places, places)


def expected(statistic: Statistic, held: Scaled) -> tuple[Fraction, ...]:
    """Every value that `statistic` of `held` can have under a usual definition, the most usual first. Empty where it is not defined."""
    return tuple(dict.fromkeys(candidates(statistic, held)))


def candidates(statistic: Statistic, held: Scaled) -> Iterator[Fraction]:
    """The same one by one; the rarer definitions are computed only when asked for."""
    n = len(held.integers)
    if n == 0:
        return
    match statistic.kind:
        case "mean":
            yield held.value(Fraction(sum(held.integers), n))
        case "sum" | "total":
            yield held.value(sum(held.integers))
        case "min" | "best" | "worst":
            yield held.value(min(held.integers))
            if statistic.kind != "min":
                yield held.value(max(held.integers))
        case "max":
            yield held.value(max(held.integers))
        case "range":
            yield held.value(max(held.integers) - min(held.integers))
        case "stdev" | "variance" | "cv":
            yield from _spread(statistic.kind, held)
        case "median":
            yield from _percentiles(held, Fraction(1, 2))
        case "percentile" if statistic.p is not None:
            yield from _percentiles(held, statistic.p)
        case "geomean" | "hmean":
            yield from _mean_of_ratios(statistic.kind, held)


def _spread(kind: str, held: Scaled) -> Iterator[Fraction]:
    """With n − 1 first, then with n."""
    n, total = len(held.integers), sum(held.integers)
    squares = n * sum(x * x for x in held.integers) - total * total
    for divisor in (n * (n - 1), n * n):
        if divisor == 0:
            continue
        variance = Fraction(squares, divisor) / 10 ** (2 * held.places)
        if kind == "variance":
            yield variance
        elif kind == "stdev":
            yield _root(variance)
        elif total:
            yield _root(variance) / abs(held.value(Fraction(total, n)))


def _root(value: Fraction) -> Fraction:
    """Square root to 50 significant digits."""
    with localcontext() as context:
        context.prec = 50
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def _mean_of_ratios(kind: str, held: Scaled) -> Iterator[Fraction]:
    if min(held.integers) <= 0:
        return
    n = len(held.integers)
    try:
        if kind == "geomean":
            yield Fraction(math.exp(math.fsum(map(math.log, held.integers)) / n)) / 10**held.places
        else:
            yield Fraction(n / math.fsum(1 / x for x in held.integers)) / 10**held.places
    except (OverflowError, ZeroDivisionError):
        return


def _percentiles(held: Scaled, p: Fraction) -> Iterator[Fraction]:
    """The nine definitions of Hyndman and Fan (1996), nearest rank and the index conventions of common libraries."""
    x = held.ordered
    n = len(x)

    def at(index: int) -> int:
        """The index-th smallest, counted from one."""
        return x[min(max(index, 1), n) - 1]

    def between(h: Fraction) -> int | Fraction:
        low = math.floor(h)
        below, above = at(low), at(low + 1)
        return below if below == above else below + (h - low) * (above - below)

    np, linear = n * p, (n - 1) * p + 1
    smooth = ((n + 1) * p, np + Fraction(1, 2), np, (n + Fraction(1, 3)) * p + Fraction(1, 3), (n + Fraction(1, 4)) * p + Fraction(3, 8))
    ranks = (math.ceil(np), math.floor(np), math.floor(np) + 1, round(np), round(np) + 1, math.floor(linear), math.ceil(linear), round(linear))
    yield held.value(between(linear))
    for h in smooth:
        yield held.value(between(h))
    for rank in dict.fromkeys(ranks):
        yield held.value(at(rank))
    for pair in ((math.floor(linear), math.ceil(linear)), (math.floor(np), math.ceil(np)), (math.floor(np), math.floor(np) + 1)):
        yield held.value(Fraction(at(pair[0]) + at(pair[1]), 2))


def agrees(stated: Fraction, precision: Fraction, candidate: Fraction, slack: Fraction = Fraction(0)) -> bool:
    """True when `candidate`, rounded to the precision of `stated` (ties either way) or cut off there, can print as `stated`.

    `slack` widens the interval by what the candidate itself is uncertain by. Binary noise is allowed for.
    """
    slack += NOISE * max(abs(stated), abs(candidate))
    if abs(candidate - stated) <= precision / 2 + slack:
        return True
    cut = abs(candidate) - abs(stated)
    return candidate * stated > 0 and 0 <= cut < precision


def slack_of(statistic: Statistic, held: Scaled, exact: bool) -> Fraction:
    """How far the statistic of the unrounded observations can lie from that of the printed ones. `exact` samples are no rounded ones.

    A mean's rounding errors cancel: two and a half standard deviations of n uniform errors, always less than half a digit.
    """
    if exact:
        return Fraction(0)
    digit = Fraction(1, 10**held.printed)
    n = len(held.integers)
    match statistic.kind:
        case "mean" | "geomean" | "hmean":
            return min(digit * Fraction(45, 100), digit * Fraction(7217, 10000) / Fraction(math.isqrt(n * 10**6), 1000))
        case "stdev":
            return digit / 2
        case "sum" | "total":
            return digit * n / 2
        case "variance" | "cv" | "range":
            return digit
        case _:
            return digit / 2


def reach(statistic: Statistic, held: Scaled, dropped: int) -> tuple[Fraction, Fraction] | None:
    """Between which values a monotone statistic lies when any `dropped` of the samples are left out; None where it is not monotone."""
    if statistic.kind not in MONOTONE or dropped >= len(held.integers):
        return None
    x = held.ordered
    low = expected(statistic, held.take(x[: len(x) - dropped]))
    high = expected(statistic, held.take(x[dropped:]))
    return (min(low), max(high)) if low and high else None
