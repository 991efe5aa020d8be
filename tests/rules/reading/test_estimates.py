"""What a list of numbers allows a statistic to be."""

from __future__ import annotations

import statistics
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from rules.reading.documents import number
from rules.reading.estimates import agrees, expected, reach, scaled
from rules.reading.quantities import of_number
from rules.reading.statistic_keys import Statistic

NUMBERS = st.lists(st.decimals(min_value=-(10**6), max_value=10**6, places=3), min_size=2, max_size=40)


def held(*texts: str):  # type: ignore[no-untyped-def]
    made = scaled(texts)
    assert made is not None
    return made


@given(NUMBERS)
def test_usual_statistics_are_those_of_the_standard_library(values: list[object]) -> None:
    made = held(*map(str, values))
    exact = [Fraction(str(v)) for v in values]
    assert expected(Statistic("mean"), made) == (statistics.mean(exact),)
    assert expected(Statistic("median"), made)[0] == statistics.median(exact)
    deviations = expected(Statistic("stdev"), made)
    assert abs(float(deviations[0]) - statistics.stdev(map(float, exact))) < 1e-3
    assert abs(float(deviations[-1]) - statistics.pstdev(map(float, exact))) < 1e-3


@given(NUMBERS, st.sampled_from([Fraction(9, 10), Fraction(95, 100), Fraction(1, 4)]))
def test_percentiles_hold_the_library_s_two_and_lie_inside(values: list[object], p: Fraction) -> None:
    made = expected(Statistic("percentile", p), held(*map(str, values)))
    exact = [Fraction(str(v)) for v in values]
    cuts = {method: statistics.quantiles(exact, n=20, method=method)[int(p * 20) - 1] for method in ("inclusive", "exclusive")}
    assert cuts["inclusive"] in made
    assert all(min(exact) <= v <= max(exact) for v in made)
    assert cuts["exclusive"] in made or not min(exact) <= cuts["exclusive"] <= max(exact)


def test_rounding_in_both_directions_noise_and_digits_cut_off() -> None:
    assert agrees(Fraction("2"), Fraction(1), Fraction("2.5")) and agrees(Fraction("3"), Fraction(1), Fraction("2.5"))
    assert agrees(Fraction("0.30000000000000004"), Fraction(1, 10**17), Fraction("0.3"))
    assert agrees(Fraction("1.12"), Fraction(1, 100), Fraction("1.129"))
    assert not agrees(Fraction("1.14"), Fraction(1, 100), Fraction("1.129"))


def test_exponents_and_unusable_literals() -> None:
    assert expected(Statistic("mean"), held("1e-3", "3E-3")) == (Fraction(2, 1000),)
    assert scaled(["nan", "1"]) is None
    assert scaled(["1e999999", "1"]) is None


def test_what_some_left_out_samples_can_do_to_a_mean() -> None:
    assert reach(Statistic("mean"), held("1", "2", "9"), 1) == (Fraction(3, 2), Fraction(11, 2))
    assert reach(Statistic("stdev"), held("1", "2", "9"), 1) is None


def test_a_hostile_exponent_is_no_measurement() -> None:
    assert number("1e-99999999").exact is None
    assert number("1e-" + "0" * 6000 + "1").exact is None
    assert of_number(number("1e-" + "0" * 6000 + "1")) is None
    assert number("1.5e3").exact == 1500
