from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.reading.changes import Span, difference, relative
from rules.reading.digits import Interval, Searcher, Windows
from rules.reading.figures import find
from rules.reading.layout import bundles
from rules.reading.quantities import quantities
from rules.reading.record_places import declared_unit, is_measured_place
from tests.worlds import bundle, snapshot


def literals(data: bytes, low: str, high: str, digits: int) -> list[str]:
    return [hit.literal for hit in Searcher([(Interval(Fraction(low), Fraction(high)), digits)]).hits(data)]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b'{"a": 2597.2}', "2597.2"),
        (b"8,control,2597.2003,9", "2597.2003"),
        (b"took 2,597.200 s", "2597.200"),
        (b"[2597200]", "2597200"),
        (b"x=0.0025972", "0.0025972"),
        (b"2.5972e3", "2.5972e3"),
    ],
)
def test_a_literal_is_found_at_any_power_of_ten(data: bytes, found: str) -> None:
    assert found in literals(data, "2597.1995", "2597.2005", 7)


@pytest.mark.parametrize("data", [b"2597.25", b"12597.2", b"v2.5.9.7", b"259720", b""])
def test_other_digits_are_not(data: bytes) -> None:
    windows = Windows([(0, Interval(Fraction("2597.1995"), Fraction("2597.2005")))])
    hits = Searcher([(Interval(Fraction("2597.1995"), Fraction("2597.2005")), 7)]).hits(data)
    assert not [hit for hit in hits if list(windows.around(hit.value)) and hit.literal != "259720"]


@given(st.integers(1000, 9_999_999), st.integers(-6, 6), st.integers(0, 999))
def test_what_rounds_to_a_figure_is_found(whole: int, power: int, more: int) -> None:
    printed = Fraction(whole)
    value = (printed * 1000 + more - 499) / 1000 * Fraction(10) ** power
    text = f"{float(value):.12g}" if value > 0 else "1"
    interval = Interval(printed - Fraction(1, 2), printed + Fraction(1, 2))
    held = [hit.value for hit in Searcher([(interval, len(str(whole)))]).hits(f'{{"a": {text}}}'.encode())]
    assert Fraction(text) in held


def test_a_figure_stands_where_its_unit_agrees() -> None:
    files: dict[str, object] = {"results/a.json": {"x_ms": 168956.1, "y_gib": 77.125, "z": [1.25, 1.75, 2.753]}}
    held = snapshot(bundle(files))
    asked = quantities("took 168.956 s, then 77.125 s, mean of 1.9177 s")
    found = find(held, bundles(held)[0], asked).found
    assert [found[i].place.pointer if i in found else None for i in range(3)] == ["/x_ms", None, "/z"]
    assert found[2].how == "the mean of 3 values"


def test_units_of_places() -> None:
    value = {"latency_ms": {"samples": [1.5], "throughput": 2.5}, "m": {"unit": "s", "samples": [1.5]}, "rss": 5.5, "rss_unit": "GiB"}
    assert [
        (unit.name if unit else None, sure)
        for unit, sure in (
            declared_unit(value, path) for path in (("latency_ms", "samples", 0), ("latency_ms", "throughput"), ("m", "samples", 0), ("rss",))
        )
    ] == [
        ("ms", False),
        ("ms", False),
        ("s", True),
        ("GiB", True),
    ]
    assert not is_measured_place(("gates", "latency", "limit"), False)
    assert is_measured_place(("gates", "latency", "observed"), False)
    assert is_measured_place(("baseline", "p50_ms"), True)
    assert not is_measured_place(("p50_ms",), True)


@given(st.fractions(1, 1000), st.fractions(1, 1000))
def test_a_change_lies_in_its_interval(before: Fraction, after: Fraction) -> None:
    width = Fraction(1, 100)
    spans = dict(relative(Span(before - width, before + width), Span(after - width, after + width)))
    assert spans["the first"].low <= 100 * (after - before) / before <= spans["the first"].high
    held = difference(Span(before, before), Span(after, after))
    assert held.low == held.high == after - before


def test_hostile_records_are_searched_in_bounded_time() -> None:
    files: dict[str, object] = {
        "results/a.log": "1" * 200_000,
        "results/b.json": json.dumps([168.956] * 50_000),
        "results/c.csv": "168.956," * 50_000,
    }
    held = snapshot(bundle(files))
    assert find(held, bundles(held)[0], quantities("took 168.956 s, then 111.111 s")).files == 3
