"""Quantities as text prints them: what must be read, what must not, and the time it takes."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.reading.documents import number
from rules.reading.quantities import (
    MOST,
    Quantity,
    Unit,
    convertible,
    of_number,
    of_value,
    quantities,
    same_quantity,
    scaled,
    spelled_counts,
)


def shown(text: str) -> list[str]:
    """Each quantity of `text` as "relation number unit"; the relation "=" is left out."""
    parts = [("" if one.relation == "=" else one.relation, one.text, one.unit.name if one.unit else "") for one in quantities(text)]
    return [" ".join(part for part in each if part) for each in parts]


def one(text: str) -> Quantity:
    found = quantities(text)
    assert len(found) == 1, found
    return found[0]


def test_a_number_is_the_interval_of_its_printed_precision() -> None:
    read = one("The control took 168.956 s.")
    assert (read.text, read.low, read.high, read.value) == ("168.956", Fraction("168.9555"), Fraction("168.9565"), Fraction("168.956"))
    assert read.unit == Unit("s", "time", Fraction(1))
    assert (read.digits, read.relation, read.form) == (6, "=", "single")
    assert "The control took 168.956 s."[read.start : read.end] == "168.956 s"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("completed at168.956s with", ["168.956 s"]),
        ("server exited0, worker exit1", ["0", "1"]),
        ("All40 steps", ["40 steps"]),
        ("but only29.8098% of it", ["29.8098 %"]),
        ("baseline814.064s", ["814.064 s"]),
        ("共5次，降低12.9%", ["5 *", "12.9 %"]),
        ("1,237.5 ms = 1.2375 s", ["1,237.5 ms", "1.2375 s"]),
        ("3,544 passed", ["3,544"]),
        ("1e-3 and 2.5e3 s", ["1e-3", "2.5e3 s"]),
        ("1.2 × 10^9 bytes", ["1.2 × 10^9 B"]),
        (">= 5 ms, ≥ 5 ms, ≈12.5 s, ~12 s, <0.1", [">= 5 ms", ">= 5 ms", "~ 12.5 s", "~ 12 s", "< 0.1"]),
        ("about 12.5 s, at least 30% lower, up to 2.1 GB", ["~ 12.5 s", ">= 30 %", "<= 2.1 GB"]),
        ("延迟约 12.5 毫秒，超过 1200 token/秒，降低30%以上，5秒左右", ["~ 12.5 ms", "> 1200 tokens/s", ">= 30 %", "~ 5 s"]),
        ("−14.4 %, -15.1%, (+29.4 %)", ["−14.4 %", "-15.1 %", "+29.4 %"]),
        ("elapsed_s=168.956 and n=5", ["168.956 s", "5"]),
        ('"elapsed_ms": 41235', ["41235 ms"]),
        ("latency (ms): 12.5", ["12.5 ms"]),
        ("took 2 min 30.25 s or 3分20秒", ["2 min 30.25 s", "3分20 s"]),
        ("100+ users", [">= 100 users"]),
        ("the 50-step 15 s run, a 15-second one", ["50 steps", "15 s", "15 s"]),
        ("64 measured requests in 3 independent runs", ["64 requests", "3 runs"]),
        ("1.25x, 2.5-fold, 3.2 times faster, ×1.35, 2.1 倍", ["1.25 ×", "2.5 ×", "3.2 ×", "1.35 ×", "2.1 ×"]),
        ("每秒 35 帧", ["35 frames/s"]),
        ("1.5M requests, 1.2k tokens, 3万次", ["1.5 M requests", "1.2 k tokens", "3 万 *"]),
        ("exit codes [0, 0, -15, 143]", ["0", "0", "-15", "143"]),
        ("**5.2 s** and `12.5 ms`", ["5.2 s", "12.5 ms"]),
        ("throughput is 30.Then it fell", ["30"]),
        ("12/s", ["12 /s"]),
        ("0.29 with n-1 and 0.26 with n; RTF < 0.1 at C1 and < 1 at C64", ["0.29", "0.26", "< 0.1", "< 1"]),
        ("45.2 k tokens/s and 300 requests a second", ["45.2 k tokens/s", "300 requests/s"]),
        ("a speedup of 1.35 on 8×H100", ["1.35 ×", "8"]),
        ("12'345 ops and 1\u202f234.5 ms", ["12'345 operations", "1\u202f234.5 ms"]),
        ("took\n5.2\ns", ["5.2 s"]),
        ("speed 7.25 km", ["7.25"]),
    ],
)
def test_it_is_read(text: str, expected: list[str]) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "BF16",
        "H19",
        "tp4 and TP4/SP2",
        "sha256",
        "Python3.10",
        ":237-260",
        "results/x.json:274",
        "acceptance.yml:13,29,51,62",
        "#320 and #9698",
        "2026-01-15, 2026/01/15, 15.01.2026, 2026-01",
        "2026-01-15T12:34:56.789Z",
        "12:34:56 and 12:34",
        "on 15 January 2026 and Jan 2, 2026",
        "2025年3月5日",
        "in 2025 and since 1998",
        "the 1990s",
        "v1.2.3 and v2.1",
        "c7f56f01, 7ac5ab8c, 47205e41",
        "123e4567-e89b-12d3-a456-426614174000",
        "10.0.0.1 and 10.0.0.1:8080",
        "https://example.com/a/5?n=12.5&m=7",
        "/mnt/data/5/12.5",
        "4x910B1, 910B1, h3-ref2va-4x910b1-320",
        "1344x768 and 1920×1080",
        "3.10/3.11",
        "Python 3.10, 3.11 and 3.12",
        "torch 2.5.1408 on driver 24.1.1031",
        "python >=3.11",
        "CUDA 12.4, Ubuntu 22.04, RTX 4090",
        "15s-baseline, 5s.json, 15s/results",
        "Qwen2.5-72B, Llama-3.1-8B, 7B, W8A8, 8-bit, 64bit",
        "section 8.1, line 274, Figure 3, GPU 0",
        "1. first",
        "第3轮, 表2",
        "p99 and top-5",
        "&#39; %20 $5",
        "1080p, 3rd, 2nd",
    ],
)
def test_it_is_no_quantity(text: str) -> None:
    assert shown(text) == []


def test_a_list_in_brackets_has_no_thousands_separators() -> None:
    assert shown("[1,440]") == ["1", "440"]
    assert shown('{"x": [1,440, 3]}') == ["1", "440", "3"]
    assert shown("8,1184.62") == ["8", "1184.62"]
    assert shown("8,256,1024") == ["8", "256", "1024"]
    assert shown("(1,440 requests)") == ["1,440 requests"]
    assert shown("[3,544](results/tests.txt)") == ["3,544"]


@pytest.mark.parametrize(
    ("text", "form", "members"),
    [
        ("22.4-22.91", "range", ["22.4", "22.91"]),
        ("22.4–22.91 frames/s", "range", ["22.4 frames/s", "22.91 frames/s"]),
        ("35-50%", "range", ["35 %", "50 %"]),
        ("5ms-10ms", "range", ["5 ms", "10 ms"]),
        ("between 12 and 15 ms", "range", ["12 ms", "15 ms"]),
        ("12 to 15 ms", "range", ["12 ms", "15 ms"]),
        ("12.5 -- 13.5 s", "range", ["12.5 s", "13.5 s"]),
        ("12 ~ 15 ms", "range", ["12 ms", "15 ms"]),
        ("12至15毫秒", "range", ["12 ms", "15 ms"]),
        ("17.31 -> 22.4", "change", ["17.31", "22.4"]),
        ("878321→913491 ms", "change", ["878321 ms", "913491 ms"]),
        ("17.31 frames/s -> 22.4", "change", ["17.31 frames/s", "22.4 frames/s"]),
        ("frames/s: 17.31 -> 22.4", "change", ["17.31 frames/s", "22.4 frames/s"]),
        ("reduction from 384.16 to 266.60 ms", "change", ["384.16 ms", "266.60 ms"]),
        ("由 412.8 ms 降至 359.6 ms", "change", ["412.8 ms", "359.6 ms"]),
        ("从17.31提升到22.4帧/秒", "change", ["17.31 frames/s", "22.4 frames/s"]),
        ("2597.200/2475.906 s", "pair", ["2597.200 s", "2475.906 s"]),
        ("384.16 vs 266.60 ms", "pair", ["384.16 ms", "266.60 ms"]),
        ("72/72 workers", "pair", ["72 workers", "72 workers"]),
        ("5s/15s", "pair", ["5 s", "15 s"]),
        ("5/10/15 s", "pair", ["5 s", "10 s", "15 s"]),
        ("12.5, 13.1 and 14.2 ms", "list", ["12.5 ms", "13.1 ms", "14.2 ms"]),
    ],
)
def test_members_of_a_group_share_their_unit(text: str, form: str, members: list[str]) -> None:
    found = quantities(text)
    assert shown(text) == members
    assert {one.form for one in found} == {form}
    assert len({one.group for one in found}) == 1
    assert [one.position for one in found] == list(range(len(members)))


def test_a_change_may_end_in_a_range() -> None:
    found = quantities("RTF 1.237 -> 0.947-0.962")
    assert [(one.text, one.position) for one in found] == [("1.237", 0), ("0.947", 1), ("0.962", 1)]
    assert len({one.group for one in found}) == 1


@pytest.mark.parametrize(
    "text",
    ["RTF 1.237, 0.91 s", "batch 8 -> 12.5 ms", "29.4 % above 17.31 and 22.7 %", "5 s and 15 s", "16 threads -> 2,093 MB/s", "12 s / 5 tokens"],
)
def test_neighbours_that_do_not_belong_together_stay_single(text: str) -> None:
    assert {one.form for one in quantities(text)} == {"single"}


def test_plus_minus_is_an_interval() -> None:
    assert [(one.low, one.high) for one in quantities("15 ± 5")] == [(10, 20)]
    assert one("12.5±0.3 ms").low == Fraction("12.2")
    assert one("200 ms ± 3 %").high == 206
    assert one("2 s +/- 500 ms").low == Fraction("1.5")


@pytest.mark.parametrize(
    ("text", "digits"), [("168.956", 6), ("2597.200", 7), ("0.0125", 3), ("0.01250", 4), ("2000", 1), ("16384", 5), ("0", 1), ("1e-3", 1)]
)
def test_significant_digits(text: str, digits: int) -> None:
    assert one(text).digits == digits


def test_spelled_counts() -> None:
    assert [(q.text, q.value, q.unit.family if q.unit else None) for q in spelled_counts("Five runs of three independent samples; 两次测量")] == [
        ("Five", 5, "runs"),
        ("three", 3, "samples"),
        ("两", 2, "runs"),
    ]
    assert spelled_counts("one of the best, no one knows") == ()


# ---------------------------------------------------------------- values of documents


def test_a_json_number_keeps_its_printed_precision() -> None:
    read = of_number(number("1.10"))
    assert read is not None
    assert (read.low, read.high, read.digits) == (Fraction("1.095"), Fraction("1.105"), 3)
    assert of_number(number("nan")) is None
    assert of_number(number("1" * 50)) is None
    assert of_number(number("1e99999")) is None


def test_a_string_may_be_one_quantity() -> None:
    seconds = Unit("s", "time", Fraction(1))
    read = of_value("12.5 ms", seconds)
    assert read is not None
    assert read.unit is not None
    assert read.unit.name == "ms"
    assert of_value("1,237.5", seconds) == Quantity("1,237.5", *_interval("1237.5"), seconds, 5, 0, 7)
    assert of_value("<0.1 s") is not None
    for text in ("12.5 ms or so", "two", "", "v1.2.3", "5-10 ms", "x" * 500):
        assert of_value(text) is None
    assert of_value(True) is None


def _interval(text: str) -> tuple[Fraction, Fraction, Fraction]:
    value = Fraction(text)
    return value, value - Fraction(1, 20), value + Fraction(1, 20)


# ---------------------------------------------------------------- comparing


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("168.96 s", "168.9561 s", True),
        ("382.95 ms", "382.9154 ms", False),
        ("1,237.5 ms", "1.2375 s", True),
        ("168.956 s", "168.957 s", False),
        ("12.5 s", "12.45 s", True),
        ("12.4 s", "12.45 s", True),
        ("2.8 min", "168 s", True),
        ("41.2 GiB", "44.24 GB", True),
        ("41.27 GiB", "41.27 s", False),
        ("41.27 GiB", "41.27 GB", False),
        ("15 ± 5 ms", "12 ms", True),
        ("1200 tok/s", "1200 tps", True),
        ("5次", "5 runs", True),
        ("87.31 %", "87.31", False),
        ("12 %", "12 percentage points", False),
        ("1.2k", "1200", True),
    ],
)
def test_same_quantity(left: str, right: str, same: bool) -> None:
    assert same_quantity(one(left), one(right)) is same
    assert same_quantity(one(right), one(left)) is same


def test_scaled_is_exact() -> None:
    assert scaled(one("1.5 ms")) == (Fraction("0.00145"), Fraction("0.00155"))
    assert convertible(one("5 MB/s"), one("5 GiB/s"))
    assert not convertible(one("5 MB/s"), one("5 MB"))


# ---------------------------------------------------------------- properties

UNITS = ["s", "ms", "µs", "min", "%", "MB/s", "GiB", "tokens/s", "frames/s", "毫秒", "帧/秒", "GB", "W", "requests", "x", " 个百分点"]


@settings(deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 6), st.sampled_from(UNITS), st.sampled_from([" ", ""]), st.booleans())
def test_a_printed_value_reads_back(whole: int, places: int, unit: str, gap: str, commas: bool) -> None:
    value = Fraction(whole, 10**places)
    printed = f"{whole // 10**places:,}" if commas else str(whole // 10**places)
    printed += f".{whole % 10**places:0{places}d}" if places else ""
    if (unit == "s" and gap == "" and len(printed) == 4 and printed[:2] in {"19", "20"}) or (gap == "" and unit in {"requests", "x"}):
        gap = " "
    text = f"it took {printed}{gap}{unit}, as measured"
    read = one(text)
    half = Fraction(1, 2 * 10**places)
    assert (read.text, read.value, read.low, read.high) == (printed, value, value - half, value + half)
    assert read.unit is not None
    assert text[read.start : read.end] == f"{printed}{gap}{unit}"


PIECES = [
    "1",
    "440",
    ",",
    ".",
    "->",
    " ",
    "-",
    "/",
    "ms",
    "s",
    "%",
    "x",
    "×",
    "e",
    "[",
    "]",
    "(",
    ":",
    "a",
    "第",
    "次",
    "~",
    "<",
    "=",
    "to",
    "±",
    "+",
    "\n",
    "_",
    "h",
]


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PIECES), max_size=40).map("".join)))
def test_any_text_is_read(text: str) -> None:
    end = 0
    for read in quantities(text):
        assert end <= read.start < read.end <= len(text)
        assert read.low <= read.value <= read.high
        end = read.end
    spelled_counts(text)


@pytest.mark.parametrize(
    "piece",
    [
        "1",
        ",",
        ".",
        " ",
        "→",
        "1,111",
        "1.",
        "1 -> ",
        "1->",
        "1,",
        "#1 ",
        "1×",
        "第1",
        "1 ms ",
        "1/",
        "1-1",
        "[1,",
        "a://1",
        "1 h 1 m ",
        "Jan 1 ",
        "1:1",
        "python 1.1, ",
        "1 to ",
        "measured ",
        "000000000000001 ",
        "_",
        "1_000",
        "(ms) 1 ",
        "1±",
        "至少1",
    ],
)
def test_time_is_linear_and_output_bounded(piece: str) -> None:
    text = (piece * 200_000)[:200_000]
    started = time.process_time()
    assert len(quantities(text)) <= MOST
    assert time.process_time() - started < 1
