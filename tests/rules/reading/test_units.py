"""Units in prose, and the units that keys and columns declare."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.reading.unit_keys import unit_of_key
from rules.reading.units import comparable, unit


@pytest.mark.parametrize(
    ("text", "family", "factor"),
    [
        ("s", "time", 1),
        ("sec", "time", 1),
        ("seconds", "time", 1),
        ("秒", "time", 1),
        ("毫秒", "time", Fraction(1, 1000)),
        ("μs", "time", Fraction(1, 10**6)),
        ("us", "time", Fraction(1, 10**6)),
        ("ns", "time", Fraction(1, 10**9)),
        ("min", "time", 60),
        ("h", "time", 3600),
        ("MB", "bytes", 10**6),
        ("GB", "bytes", 10**9),
        ("GiB", "bytes", 2**30),
        ("MB/s", "bytes/time", 10**6),
        ("GiB/s", "bytes/time", 2**30),
        ("Gbps", "bytes/time", Fraction(10**9, 8)),
        ("tok/s", "tokens/time", 1),
        ("tokens per second", "tokens/time", 1),
        ("requests/min", "requests/time", Fraction(1, 60)),
        ("QPS", "requests/time", 1),
        ("it/s", None, 1),
        ("IOPS", "operations/time", 1),
        ("ops/s", "operations/time", 1),
        ("Mpps", "packets/time", 10**6),
        ("TFLOPS", "flop/time", 10**12),
        ("TFLOP/s", "flop/time", 10**12),
        ("FPS", "frames/time", 1),
        ("帧/秒", "frames/time", 1),
        ("ms/token", "time/tokens", Fraction(1, 1000)),
        ("J/token", "energy/tokens", 1),
        ("%", "percent", 1),
        ("个百分点", "percentage-points", 1),
        ("percentage points", "percentage-points", 1),
        ("dB", "decibel", 1),
        ("W", "power", 1),
        ("kWh", "energy", 3_600_000),
        ("°C", "temperature", 1),
        ("MHz", "frequency", 10**6),
        ("×", "factor", 1),
    ],
)
def test_a_unit_has_a_family_and_an_exact_factor(text: str, family: str | None, factor: Fraction) -> None:
    found = unit(text)
    if family is None:
        assert found is None
    else:
        assert found is not None
        assert (found.family, found.factor) == (family, factor)


@pytest.mark.parametrize("text", ["", "banana", "m", "MB and more", "k", "x" * 100])
def test_what_is_no_unit(text: str) -> None:
    assert unit(text) is None


def test_what_converts() -> None:
    assert comparable(unit("ms"), unit("h"))
    assert comparable(unit("tps"), unit("tokens/s"))
    assert comparable(unit("次"), unit("runs"))
    assert comparable(None, None)
    assert not comparable(unit("s"), None)
    assert not comparable(unit("s"), unit("GiB"))
    assert not comparable(unit("tokens/s"), unit("frames/s"))
    assert not comparable(unit("tps"), unit("MB/s"))


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("elapsed_s", "s"),
        ("warmup_s", "s"),
        ("elapsed_s_mean", "s"),
        ("samples_s", "s"),
        ("duration_seconds", "s"),
        ("latency_ms", "ms"),
        ("latency-ms", "ms"),
        ("latency_ms_p99", "ms"),
        ("p99LatencyMs", "ms"),
        ("time (ms)", "ms"),
        ("TTFT [ms]", "ms"),
        ("延迟_ms", "ms"),
        ("延迟（毫秒）", "ms"),
        ("kernel_us", "µs"),
        ("elapsed_min", "min"),
        ("throughput_mb_s", "MB/s"),
        ("mb_per_s", "MB/s"),
        ("throughputMBps", "MB/s"),
        ("frames_per_s", "frames/s"),
        ("control_frames_per_s", "frames/s"),
        ("tokensPerSecond", "tokens/s"),
        ("tokens/s", "tokens/s"),
        ("tok_s", "tokens/s"),
        ("吞吐(帧/秒)", "frames/s"),
        ("ms_per_output_token", "ms/tokens"),
        ("rtf", "ratio"),
        ("compression_ratio", "ratio"),
        ("speedup", "×"),
        ("size_gib", "GiB"),
        ("sizeGiB", "GiB"),
        ("peak_memory_gb", "GB"),
        ("reduction_pct", "%"),
        ("min_improvement_percent", "%"),
        ("Δ (%)", "%"),
        ("power_w", "W"),
        ("energy_j", "J"),
        ("output_tokens", "tokens"),
        ("request_count", "requests"),
        ("rows_in", "rows"),
        ("it_per_s", "iterations/s"),
        ("mean_first_token_s", "s"),
    ],
)
def test_a_key_declares_its_unit(key: str, name: str) -> None:
    found = unit_of_key(key)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "key",
    [
        "params",
        "loss_s",
        "is_ms",
        "s",
        "n",
        "x",
        "id",
        "status",
        "bus",
        "focus",
        "norms",
        "elapsed",
        "latency",
        "latency_min",
        "mean_score",
        "sample_rate",
        "hit_rate",
        "pushes_per_batch",
        "img_h",
        "token_s",
        "us",
        "requests_s",
        "atoms",
        "per",
        "per_s",
        "model",
        "threads_x",
        "weight_bits",
        "p99",
    ],
)
def test_a_key_without_unit(key: str) -> None:
    assert unit_of_key(key) is None


@settings(deadline=None)
@given(st.text(max_size=150))
def test_any_key_and_any_unit_is_read(text: str) -> None:
    unit_of_key(text)
    unit(text)
