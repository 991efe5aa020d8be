"""What keys say."""

from __future__ import annotations

from fractions import Fraction

import pytest

from rules.reading.canonical_words import words
from rules.reading.statistic_keys import counts, read_key
from rules.reading.tallies import tallies


@pytest.mark.parametrize(
    ("key", "kind", "unit", "content"),
    [
        ("mean_ttft_ms", "mean", "ms", {"ttft"}),
        ("meanTTFTMs", "mean", "ms", {"ttft"}),
        ("latency_s_p50", "median", "s", set()),
        ("std_dev_us", "stdev", "µs", set()),
        ("平均延迟_ms", "mean", "ms", set()),
        ("min_ms", "min", "ms", set()),
        ("elapsed_min", None, "min", set()),
        ("trimmed_mean_ms", None, "ms", set()),
        ("samples_ms", None, "ms", set()),
        ("peak_gb_per_s", None, "GB/s", {"peak"}),
    ],
)
def test_keys(key: str, kind: str | None, unit: str, content: set[str]) -> None:
    read = read_key(key)
    assert (read.statistic.kind if read.statistic else None) == kind
    assert read.unit is not None and read.unit.name == unit
    assert read.content == content


@pytest.mark.parametrize(("key", "p"), [("p99_9_ms", "0.999"), ("p99.9", "0.999"), ("p999", "0.999"), ("TP99", "0.99"), ("99th_percentile", "0.99")])
def test_percentiles(key: str, p: str) -> None:
    statistic = read_key(key).statistic
    assert statistic is not None and statistic.p == Fraction(p)


@pytest.mark.parametrize(
    ("key", "noun"),
    [
        ("num_samples", "sample"),
        ("numRuns", "run"),
        ("runs", "run"),
        ("重复次数", "repetition"),
        ("world_size", "rank"),
        ("n", "n"),
        ("repeat", "repetition"),
        ("run", None),
        ("rank", None),
        ("sample_rate", None),
        ("batch_size", None),
        ("four_device_samples", None),
        ("warmup_runs", None),
    ],
)
def test_counts(key: str, noun: str | None) -> None:
    found = counts(key)
    assert (found.noun if found else None) == noun


def test_words_are_bounded() -> None:
    assert len(words("a_" * 100_000)) <= 200


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("5 runs of 60 requests each", [(5, "run"), (60, "request")]),
        ("5 × 60 requests", [(300, "request")]),
        ("p99 (n = 60): 48.2 ms", [(60, "n")]),
        ("40 次请求的 p99 为 83 ms", [(40, "request")]),
        ("单卡，预热一次，重复三次，报告中位数。", [(3, "repetition")]),
        ("after two warm-up runs, five timed runs", [(5, "run")]),
        ("The suite was run 5 times", [(5, "repetition")]),
        ("60 requests per second, 100 concurrent requests, 4 local Ascend 910B1", []),
    ],
)
def test_tallies(text: str, found: list[tuple[int, str]]) -> None:
    assert [(t.value, t.noun) for t in tallies(text)] == found
