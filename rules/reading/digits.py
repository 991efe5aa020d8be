"""Searching raw bytes for printed numbers: which literals of a file may be one of the intervals that are asked for."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import re2

from rules.reading.units import DENOMINATORS, SPELLINGS, Unit

PATTERNS = 300
"""Alternatives of one expression: so many keep RE2's automaton small."""
HITS = 20_000
"""Places of one file that are looked at."""
_LITERAL = re.compile(rb"[0-9][0-9,_]{0,40}+(?:\.[0-9]{1,30}+)?(?:[eE][-+]?[0-9]{1,3}(?![0-9A-Za-z_.]))?|\.[0-9]{1,30}+")
_RUN = frozenset(b"0123456789.,_")
_GROUPED = re.compile(rb"[0-9]{1,3}(?:[,_][0-9]{3})+(?:\.[0-9]+)?\Z")


@dataclass(frozen=True, slots=True)
class Hit:
    """One literal of a file: its digits without separators, its exact value and the offset in bytes where it starts."""

    literal: str
    value: Fraction
    at: int


@dataclass(frozen=True, slots=True)
class Interval:
    """Values from `low` to `high`, both inclusive and not negative."""

    low: Fraction
    high: Fraction


@lru_cache(maxsize=256)
def scales(family: str) -> tuple[Fraction, ...]:
    """Every factor to the base that a unit of `family` may have; powers of ten apart count once, since digits are what is searched for."""
    above, slash, below = family.partition("/")
    tops = {unit.factor for unit in _units() if unit.family == above} or {Fraction(1)}
    bottoms = {unit.factor for unit in _units() if unit.family in below.split("/")} or {Fraction(1)} if slash else {Fraction(1)}
    whole = {unit.factor for unit in _units() if unit.family == family}
    made: dict[Fraction, None] = {}
    for factor in (*whole, *(top / bottom for top in tops for bottom in bottoms)):
        made.setdefault(_mantissa(factor))
    return tuple(made)


@lru_cache(maxsize=1)
def _units() -> tuple[Unit, ...]:
    return (*SPELLINGS.values(), *DENOMINATORS.values())


def _mantissa(value: Fraction) -> Fraction:
    """`value` times the power of ten that brings it into [1, 10)."""
    while value >= 10:
        value /= 10
    while value < 1:
        value *= 10
    return value


# ---------------------------------------------------------------- patterns


def patterns(interval: Interval, digits: int) -> Iterator[str]:
    """Expressions for the digits that a number in `interval`, times any power of ten, begins with. None for an interval around zero."""
    if interval.low <= 0:
        return
    shift = Fraction(1)
    while interval.high * shift >= 10**digits:
        shift /= 10
    while interval.high * shift < 10 ** (digits - 1):
        shift *= 10
    first, last = int(interval.low * shift), int(interval.high * shift)
    if last - first > 12:
        return
    for prefix in range(first, last + 1):
        if prefix:
            yield _pattern(str(prefix))


def _pattern(prefix: str) -> str:
    """`25972` then zeros: a shorter literal (2597.2) may stand for 2597.200."""
    stem = prefix.rstrip("0")
    zeros = len(prefix) - len(stem)
    start = "[.,_]?".join(stem)
    if not zeros:
        return start
    return start + "(?:" + "[.,_]?0" * zeros + "|[.,_]?(?:0[.,_]?){0,12}(?:[^0-9.,_]|$))"


class Searcher:
    """Finds the literals of files that may lie in one of several intervals, whatever their power of ten."""

    def __init__(self, wanted: Iterable[tuple[Interval, int]]) -> None:
        made = sorted({pattern for interval, digits in wanted for pattern in patterns(interval, digits)})
        self._compiled = [_compiled("|".join(made[at : at + PATTERNS])) for at in range(0, len(made), PATTERNS)]

    def hits(self, data: bytes) -> Iterator[Hit]:
        """The literals of `data` that begin with digits of an interval, in order per expression; the caller compares values. At most `HITS`."""
        left = HITS
        for expression in self._compiled:
            seen = -1
            for match in expression.finditer(data):
                left -= 1
                if left < 0:
                    return
                if match.start() > seen:
                    for hit in literals_at(data, match.start()):
                        seen = max(seen, hit.at + len(hit.literal) - 1)
                        yield hit


@lru_cache(maxsize=64)
def _compiled(expression: str) -> Any:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.never_capture = True
    options.max_mem = 64 * 1024 * 1024
    return re2.compile(expression.encode(), options)


def literals_at(data: bytes, at: int) -> Iterator[Hit]:
    """The number that stands around offset `at`: `1,184.62` both as one number and as the element of a list."""
    start = at
    while start > 0 and at - start < 40 and data[start - 1] in _RUN:
        start -= 1
    match = _LITERAL.search(data, start, at + 80)
    while match and match.end() <= at:
        match = _LITERAL.search(data, match.end(), at + 80)
    if not match or match.start() > at:
        return
    text, begin = match[0], match.start()
    if b"," in text or b"_" in text:
        if _GROUPED.match(text):
            yield from _hit(text.replace(b",", b"").replace(b"_", b""), begin)
        cut = max(text.rfind(b",", 0, at - begin), text.rfind(b"_", 0, at - begin)) + 1
        text, begin = re.split(rb"[,_]", text[cut:])[0], begin + cut
    yield from _hit(text, begin)


def _hit(text: bytes, at: int) -> Iterator[Hit]:
    if text and len(text) <= 60:
        power = text.lower().partition(b"e")[2]
        if not power or abs(int(power)) <= 100:
            yield Hit(text.decode("ascii"), Fraction(text.decode("ascii")), at)


class Windows:
    """Which of many intervals may hold a value, whatever its power of ten."""

    def __init__(self, wanted: Iterable[tuple[int, Interval]]) -> None:
        held = set()
        for index, interval in wanted:
            if interval.low > 0:
                low = float(_mantissa(interval.low))
                high = low * float(interval.high / interval.low)
                held |= {(low, high, index), (low / 10, high / 10, index)}
        self._held = sorted(held)
        self._lows = [low for low, _, _ in self._held]
        self._width = max((high / low for low, high, _ in self._held), default=1.0) * (1 + 1e-9)

    def around(self, value: Fraction) -> Iterator[int]:
        """The indices of the intervals that hold `value` times some power of ten, to double precision."""
        if value <= 0:
            return
        mantissa = float(_mantissa(value))
        last = bisect_right(self._lows, mantissa * (1 + 1e-9))
        while last > 0 and self._lows[last - 1] * self._width >= mantissa * (1 - 1e-9):
            last -= 1
            if mantissa <= self._held[last][1] * (1 + 1e-9):
                yield self._held[last][2]


class Lines:
    """The lines of a file by offset."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts: list[int] | None = None

    def number(self, at: int) -> int:
        """The 1-based line that offset `at` lies in."""
        return self._index(at) + 1

    def text(self, at: int, limit: int) -> tuple[str, int]:
        """The line around `at`, cut to `limit` bytes on either side, and where `at` lies in it (in bytes decoded as text)."""
        begin = max(self._data.rfind(b"\n", 0, at) + 1, at - limit)
        end = self._data.find(b"\n", at, at + limit)
        head = self._data[begin:at].decode("utf-8", "replace")
        return head + self._data[at : end if end >= 0 else at + limit].decode("utf-8", "replace").rstrip("\r"), len(head)

    def _index(self, at: int) -> int:
        if self._starts is None:
            self._starts = [match.end() for match in re.finditer(rb"\n", self._data)]
        return bisect_left(self._starts, at + 1)
