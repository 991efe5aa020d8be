"""Results and settings are told apart by the nearest word."""

from __future__ import annotations

import pytest

from rules.reading.quantities import is_measuring_context, quantities


def measured(text: str) -> list[str]:
    return [one.text for one in quantities(text) if is_measuring_context(text, one)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The serial control took 168.96 s.", ["168.96"]),
        ("the measured median decode latency is 382.95 ms", ["382.95"]),
        ("measured throughput reached 2,093.47 MB/s at batch 16", ["2,093.47"]),
        ("completed at168.956s; its candidate is still running", ["168.956"]),
        ("Adds the bring-up, which took 173.937 s for five steps.", ["173.937"]),
        ("解码耗时 412.8 毫秒，学习率 0.0003", ["412.8"]),
        ("平均延迟从 412.8 ms 降至 359.6 ms", ["412.8", "359.6"]),
        ("17.31 -> 22.4 (+29.4 %)", ["17.31", "22.4", "+29.4"]),
        ("decodes 1234.5 tokens/s", ["1234.5"]),
        ("the bring-up: 173.937 s", ["173.937"]),
        ("peak memory was 41.27 GiB", ["41.27"]),
        ("a 30.60 % reduction", ["30.60"]),
        ("learning rate 0.0003125, weight decay 0.01250, context 16384 tokens, seed 20261101, 2000 warm-up steps.", []),
        ("batch size 1024, timeout 1234.5 s, a target of 12.25 ms", []),
        ("学习率 0.0003125，种子 20261101，上下文长度 16384，目标 12.25 ms", []),
        ("the arrival rate is 12.25 req/s", []),
        ("it must stay within the 1234.5 ms budget", []),
        ("12.5 ms", []),
    ],
)
def test_the_nearest_word_decides(text: str, expected: list[str]) -> None:
    assert measured(text) == expected


def test_a_long_text_is_read_near_the_quantity_only() -> None:
    text = "measured " * 50_000 + ", seed 20261101"
    assert not is_measuring_context(text, quantities(text)[0])
