from fractions import Fraction

import pytest

from rules.reading.documents import number
from rules.reading.times import elapsed_stem, later, read_duration, read_moment, time_key


@pytest.mark.parametrize(
    ("one", "other", "seconds"),
    [
        ("2026-10-12T10:00:00+02:00", "2026-10-12T08:00:00Z", 0),
        ("2026-10-12 08:00:00 UTC", "2026-10-12T08:00:00.250Z", -0.25),
        ("20261012T080000Z", "2026-10-12T08:00Z", 0),
        ("2026-12-31T23:59:60Z", "2027-01-01T00:00:00Z", 0),
        ("2026-10-12T16:00:00+0800", "2026-10-12T08:00:00Z", 0),
        ("9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59Z", 14 * 3600),
        ("0002-01-01T00:00:00+14:00", "0002-01-01T00:00:00Z", -14 * 3600),
    ],
)
def test_moments_are_compared_across_zones(one: str, other: str, seconds: float) -> None:
    left, right = read_moment(one), read_moment(other)
    assert left and right
    assert later(left, right) == seconds * 1_000_000


@pytest.mark.parametrize(
    "text", ["0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-10-12T25:00:00Z", "12345678", "1.2.3", ""]
)
def test_no_moment(text: str) -> None:
    assert read_moment(text) is None


def test_a_time_without_a_zone_is_read_but_not_compared() -> None:
    naive, aware = read_moment("2026-10-25 02:50:00"), read_moment("2026-10-25T02:50:00Z")
    assert naive and aware
    assert naive.micros is None
    assert naive.local == aware.local
    assert later(naive, aware) is None


def test_epochs() -> None:
    seconds, millis, nanos = (read_moment(number(text)) for text in ("1793612287", "1793612287000", "1793612287000000000"))
    assert seconds and millis and nanos
    assert seconds.micros == millis.micros == nanos.micros
    assert read_moment(number("814.064")) is None
    assert read_moment(number("1e400")) is None


@pytest.mark.parametrize(
    ("key", "role", "stem"),
    [
        ("started_at", "start", ()),
        ("startTime", "start", ()),
        ("request_finished_at", "end", ("request",)),
        ("开始时间", "start", ()),
        ("结束时间", "end", ()),
        ("recorded_at", "recorded", ()),
        ("ts", "event", ()),
        ("t_ms", "event", ()),
    ],
)
def test_time_keys(key: str, role: str, stem: tuple[str, ...]) -> None:
    found = time_key(key)
    assert found
    assert (found.role, found.stem) == (role, stem)


@pytest.mark.parametrize("key", ["planned_start", "expires_at", "deadline", "threads", "decode_ms", ""])
def test_no_time_key(key: str) -> None:
    assert time_key(key) is None


@pytest.mark.parametrize(
    ("key", "value", "seconds"),
    [
        ("elapsed_s", number("540.2"), "540.2"),
        ("elapsedMs", number("1500"), "1.5"),
        ("耗时_秒", number("3"), "3"),
        ("runtime_min", number("10"), "600"),
        ("elapsed", "9 m 2 s", "542"),
        ("elapsed", "0:09:02", "542"),
        ("elapsed", "PT9M2S", "542"),
        ("elapsed", "540.2s", "540.2"),
    ],
)
def test_durations(key: str, value: object, seconds: str) -> None:
    found = read_duration(key, value)
    assert found
    assert found[0] == Fraction(seconds)


def test_elapsed_keys() -> None:
    assert elapsed_stem("elapsed_s") == elapsed_stem("wall_seconds") == elapsed_stem("总耗时_s") == ()
    assert elapsed_stem("request_elapsed_ms") == ("request",)
    assert elapsed_stem("decode_ms") is None
