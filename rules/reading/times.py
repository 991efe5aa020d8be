"""Times and durations as records write them: which keys hold one, and what it says on one scale.

A time without a zone is read (`local`) but has no `micros`: it cannot be compared with another machine's clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from rules.reading.documents import Node, Number, number
from rules.reading.keys import family, words
from rules.reading.outline import Outline

MICRO = 1_000_000
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_ISO = re.compile(
    r"(?P<year>\d{4})(?:-|/)?(?P<month>\d{2})(?:-|/)?(?P<day>\d{2})"
    r"(?:[Tt ]{1,2}(?P<hour>\d{2}):?(?P<minute>\d{2})(?::?(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,12}))?)?"
    r" ?(?P<zone>[Zz]|UTC|GMT|[+\-−]\d{2}(?::?\d{2})?)?)?\Z"
)
# A clock that was never set: Go's and .NET's zero time, Unix' zero.
_UNSET = ("0000-", "0001-01-01", "1970-01-01T00:00:00", "1970-01-01 00:00:00")
# Epoch numbers between 1990 and 2100, in seconds, milliseconds, microseconds, nanoseconds.
_EPOCHS = ((MICRO, 631_152_000, 4_102_444_800), (1000, 631_152_000_000, 4_102_444_800_000))
_EPOCHS_FINE = ((Fraction(1), 631_152 * 10**9, 4_102_444_800 * MICRO), (Fraction(1, 1000), 631_152 * 10**12, 4_102_444_800 * 10**9))

Role = Literal["start", "end", "recorded", "event"]
_START = family("start started starts starting begin began begun beginning launch launched 开始 起始 启动")
_END = family("end ended ends ending finish finished finishes stop stopped complete completed completion done exited terminated 结束 完成 终止 停止")
_RECORDED = family("recorded created written frozen generated saved exported approved effective adopted 记录 冻结 生成 批准 生效")
_CLOCK = family("at time times timestamp timestamps ts utc epoch unix datetime date iso on when clock wall 时间 时刻 日期 于")
_EVENT = family("at time timestamp ts t when datetime date 时间 时刻")
# A time that lies ahead by its meaning is no time of the run.
_AHEAD = family(
    "planned plan expected expires expiry expire deadline due scheduled schedule eta until valid next target estimated timeout limit reserved "
    "reservation window 计划 预计 截止 到期 期限"
)
_ELAPSED = family("elapsed duration took runtime walltime lasted 耗时 用时 时长 历时")
_UNITS: dict[str, Fraction] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "秒"), Fraction(1)),
    **dict.fromkeys(("ms", "msec", "millis", "millisecond", "milliseconds", "毫秒"), Fraction(1, 1000)),
    **dict.fromkeys(("us", "usec", "µs", "μs", "microsecond", "microseconds", "微秒"), Fraction(1, MICRO)),
    **dict.fromkeys(("ns", "nsec", "nanosecond", "nanoseconds", "纳秒"), Fraction(1, 1000 * MICRO)),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes", "分", "分钟"), Fraction(60)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "小时", "时"), Fraction(3600)),
    **dict.fromkeys(("d", "day", "days", "天"), Fraction(86400)),
}
_PART = re.compile(r"(\d{1,12}(?:\.\d{1,9})?) ?([A-Za-zµμ]{1,12}|[一-鿿]{1,2})[ ,]{0,2}")
_CLOCKED = re.compile(r"(?:(\d{1,4}):)?(\d{1,2}):(\d{2}(?:\.\d{1,9})?)\Z")
_ISO_DURATION = re.compile(r"P(?:(\d{1,4})D)?T?(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,8}(?:\.\d{1,9})?)S)?\Z")


@dataclass(frozen=True, slots=True)
class Moment:
    """One time.

    micros  microseconds since 1970 in UTC, None without a zone
    local   the same, as if what is written were UTC
    coarse  the unit of its last digit, in microseconds
    """

    text: str
    micros: int | None
    local: int
    coarse: int


@dataclass(frozen=True, slots=True)
class TimeKey:
    """What a key says about its time: its role, and the words that tell whose time it is (`request` in `request_started_at`)."""

    role: Role
    stem: tuple[str, ...]


# ---------------------------------------------------------------- moments


def read_moment(value: Any) -> Moment | None:
    """The time that a value holds: ISO 8601, or an epoch number between 1990 and 2100. None for anything else and for a clock never set."""
    if isinstance(value, Number):
        return _of_number(value)
    return _of_text(value.strip()) if isinstance(value, str) and len(value) <= 64 else None


def from_datetime(time: datetime) -> Moment:
    """An aware time as a moment."""
    offset = time.utcoffset()
    local = (time.date().toordinal() - _EPOCH_DAY) * 86400 + time.hour * 3600 + time.minute * 60 + time.second
    return Moment(time.isoformat(), local * MICRO + time.microsecond - (int(offset.total_seconds()) if offset else 0) * MICRO, local * MICRO, MICRO)


def _of_text(text: str) -> Moment | None:
    match = _ISO.match(text)
    if not match or text.startswith(_UNSET):
        return None
    try:
        day = date(int(match["year"]), int(match["month"]), int(match["day"])).toordinal() - _EPOCH_DAY
    except ValueError:
        return None
    if match["hour"] is None:
        return Moment(text, None, day * 86400 * MICRO, 86400 * MICRO) if text[4] in "-/" else None
    hour, minute, second = int(match["hour"]), int(match["minute"]), int(match["second"] or 0)
    if hour > 24 or minute > 59 or second > 60 or (hour == 24 and minute + second):
        return None
    fraction = (match["fraction"] or "")[:6]
    local = ((day * 24 + hour) * 60 + minute) * 60 * MICRO + second * MICRO + int(fraction.ljust(6, "0"))
    offset = _offset(match["zone"])
    coarse = 60 * MICRO if match["second"] is None else MICRO // 10 ** len(fraction)
    return Moment(text, None if offset is None else local - offset * MICRO, local, coarse)


def _offset(zone: str | None) -> int | None:
    """Seconds east of UTC; None without a zone."""
    if zone is None:
        return None
    if zone[0] not in "+-−":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    return (1 if zone[0] == "+" else -1) * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)


def _of_number(value: Number) -> Moment | None:
    exact = value.exact if 6e8 < value < 5e18 else None
    if exact is None:
        return None
    for scale, low, high in (*_EPOCHS, *_EPOCHS_FINE):
        if low <= exact <= high:
            micros = int(exact * scale)
            return Moment(value.text, micros, micros, max(1, int(value.precision * scale)))
    return None


def later(one: Moment, other: Moment) -> int | None:
    """By how many microseconds `one` lies after `other`; None where a zone is missing."""
    return one.micros - other.micros if one.micros is not None and other.micros is not None else None


# ---------------------------------------------------------------- keys


@lru_cache(maxsize=8192)
def time_key(key: str) -> TimeKey | None:
    """What a key says about a time it may hold; None where it names no time, or one that lies ahead (planned, expires, deadline)."""
    parts = tuple(word for whole in words(key) for word in _cut(whole))
    if _AHEAD & set(parts):
        return None
    for role, known in (("start", _START), ("end", _END), ("recorded", _RECORDED)):
        if known & set(parts):
            return TimeKey(role, tuple(w for w in parts if w not in known and w not in _CLOCK and w not in _UNITS))  # type: ignore[arg-type]
    if parts and (_EVENT & {parts[-1]} or (len(parts) > 1 and _EVENT & {parts[-2]} and parts[-1] in _UNITS)):
        return TimeKey("event", tuple(w for w in parts if w not in _CLOCK and w not in _EVENT and w not in _UNITS))
    return None


def _cut(word: str) -> tuple[str, ...]:
    """A Chinese compound cut at the words of time in it (`开始时间` → 开始, 时间)."""
    if not word or not "一" <= word[0] <= "鿿":
        return (word,)
    found = [known for family in (_START, _END, _RECORDED, _AHEAD, _ELAPSED, _CLOCK) for known in family if len(known) > 1 and known in word]
    rest = word
    for known in found:
        rest = rest.replace(known, "")
    return (*((rest,) if rest else ()), *found) if found else (word,)


@lru_cache(maxsize=8192)
def elapsed_stem(key: str) -> tuple[str, ...] | None:
    """The words of a key that holds an elapsed time, without those that say so and without its unit; None for another key."""
    parts = tuple(part for word in words(key) for part in _cut(word))
    if not _ELAPSED & set(parts) and parts[-2:-1] != ("wall",) and parts[:2] not in (("wall", "time"), ("total", "time")):
        return None
    return tuple(w for w in parts if w not in _ELAPSED and w not in _UNITS and w not in {"wall", "clock", "time", "total", "总", "总计"})


_PLAIN = re.compile(r"\d{1,15}(?:\.\d{1,9})?")


def read_duration(key: str, value: Any) -> tuple[Fraction, Fraction] | None:
    """(seconds, seconds of the last digit) of a number with its unit in the key, or of text with units (`9 m 2 s`, `0:09:02`, `PT9M2S`)."""
    if isinstance(value, Number):
        unit = unit_of(key)
        return (value.exact * unit, value.precision * unit) if unit is not None and value.exact is not None and value >= 0 else None
    if isinstance(value, str) and _PLAIN.fullmatch(value.strip()) and unit_of(key) is not None:
        return read_duration(key, number(value.strip()))
    return _duration_of_text(value.strip()) if isinstance(value, str) and 0 < len(value) <= 64 else None


@lru_cache(maxsize=8192)
def unit_of(key: str) -> Fraction | None:
    """Seconds per unit that a key ends with (`elapsed_ms`, `耗时_秒`), or None."""
    parts = words(key)
    if not parts:
        return None
    last = parts[-1]
    return _UNITS.get(last) or next((scale for name, scale in _UNITS.items() if len(last) > len(name) and last.endswith(name) and name > "一"), None)


def _duration_of_text(text: str) -> tuple[Fraction, Fraction] | None:
    clocked, iso = _CLOCKED.match(text), _ISO_DURATION.match(text)
    if clocked:
        hours, minutes, seconds = clocked[1] or "0", clocked[2], clocked[3]
        return Fraction(int(hours) * 3600 + int(minutes) * 60) + Fraction(seconds), Fraction(1)
    if iso and len(text) > 2:
        held = [Fraction(part) if part else Fraction(0) for part in iso.groups()]
        return held[0] * 86400 + held[1] * 3600 + held[2] * 60 + held[3], Fraction(1)
    total, finest, position = Fraction(0), Fraction(0), 0
    while match := _PART.match(text, position):
        unit = _UNITS.get(match[2].lower())
        if unit is None:
            return None
        total += Fraction(match[1]) * unit
        finest = unit / 10 ** len(match[1].partition(".")[2])
        position = match.end()
    return (total, finest) if position and position == len(text) else None


@dataclass(frozen=True, slots=True)
class Timed:
    """One time of a document: where it stands, what its key says, and the moment."""

    node: Node
    key: TimeKey
    moment: Moment


def times_of(held: Outline) -> Iterator[Timed]:
    """Every time of a document that stands under a key of time, in order."""
    for node in held.nodes(lambda shape: bool(shape) and shape[-1] is not None and time_key(shape[-1]) is not None, (str, Number)):
        timed = timed_at(node)
        if timed:
            yield timed


def timed_at(node: Node) -> Timed | None:
    """The time that a place holds under a key of time."""
    key = time_key(node.path[-1]) if isinstance(node.value, (str, Number)) and isinstance(node.path[-1], str) else None
    moment = read_moment(node.value) if key else None
    return Timed(node, key, moment) if key and moment else None
