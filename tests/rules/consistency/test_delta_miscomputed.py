from __future__ import annotations

import time

import pytest

from rules.consistency.delta_miscomputed import RULE
from rules.core.model import Confirmed, Finding, Severity
from tests.talk import pull
from tests.worlds import bundle, findings, run, snapshot


def of_text(text: str) -> list[Finding | Confirmed]:
    made = run(RULE, snapshot(bundle({"README.md": text}), base={"README.md": "x"}))
    return [item for item in made if isinstance(item, (Finding, Confirmed))]


def of_json(value: object, path: str = "results/compare.json") -> list[Finding]:
    return findings(RULE, snapshot(bundle({path: value})))


WRONG = [
    "frames/s: 17.31 -> 22.4 (+24.9 %)",
    "Latency fell by 31.9 % (384.16 → 266.60 ms).",
    "Latency fell from 384.16 ms to 266.60 ms: 34.6 %.",
    "Decode went from 384.16 to 266.60 ms E2E, a 34.60% reduction.",
    "A 34.60 % reduction in p99 latency from 384.16 to 266.60 ms.",
    "266.60 ms is 34.6 % lower than the baseline's 384.16 ms.",
    "Control 173.211 s, candidate 365.884 s (+121.2 %).",
    "Accuracy 81.2 % -> 83.0 % (+2.8 percentage points).",
    "17.31 -> 22.4 ms (+6.09 ms).",
    "384.16 → 266.60 ms (30.6 % increase).",
    "384.16 vs 266.60 ms (−31.6 %).",
    "解码由 412.8 ms 降至 359.6 ms（降低13.9%）",
    "359.6 ms，较基线 412.8 ms 降低 13.9%。",
    "从 412.8 ms 降低 13.9% 至 359.6 ms。",
    "吞吐从 17.31 提升到 22.4 帧/秒，提升 24.9%。",
]
RIGHT = [
    "frames/s 17.31 -> 22.4 (+5.09, +29.4 %)",
    "a 30.60 % reduction from 384.16 to 266.60 ms",
    "384.16 -> 266.60 ms (44.1 % faster)",
    "384.16 -> 266.60 ms (a reduction of −30.6 %)",
    "384.16 → 266.60 ms (69.4 % of baseline)",
    "Accuracy 81.2 % -> 83.0 % (+1.8 pp)",
    "878321→913491 ms (+4.0 %)",
    "解码由 412.8 ms 降至 359.6 ms（降低12.9%）",
]
SILENT = [
    "The control took 173.211 s and the candidate 365.884 s. Memory had fallen by 12 % in that time.",
    "384.16 -> 266.60 ms (CV 3.2 %, 95 % of requests).",
    "384.16 -> 266.60 ms (2.44×).",
    "10.5 → 8.25 ms, memory −5 %.",
    "> 17.31 -> 22.4 (+24.9 %)",
    "At batch 8 -> 12.5 ms (3 % jitter).",
    "Versions 3.10 -> 3.11 (5 % of users).",
]


@pytest.mark.parametrize("text", WRONG)
def test_a_change_that_its_operands_do_not_give(text: str) -> None:
    made = [item for item in of_text(text) if isinstance(item, Finding)]
    assert len(made) == 1
    assert made[0].severity is Severity.MEDIUM


@pytest.mark.parametrize("text", RIGHT)
def test_a_change_that_follows_is_confirmed(text: str) -> None:
    made = of_text(text)
    assert made
    assert all(isinstance(item, Confirmed) for item in made)


@pytest.mark.parametrize("text", SILENT)
def test_what_stands_together_by_chance(text: str) -> None:
    assert of_text(text) == []


TABLES = {
    "named": "| batch | before (ms) | after (ms) | Δ |\n|---|---|---|---|\n| 1 | 91.4 | 78.2 | −14.4 % |\n| 8 | 310.5 | 287.1 | −9.5 % |",
    "transposed": "| | batch 1 | batch 8 |\n|---|---|---|\n| baseline ms | 91.4 | 310.5 |\n| candidate ms | 78.2 | 287.1 |\n| change | −14.4 % | −9.5 % |",
    "guessed": "| op | A | B | Δ |\n|---|---|---|---|\n| x | 91.4 ms | 78.2 ms | −14.4 % |\n| y | 50.0 ms | 40.0 ms | −20 % |\n| z | 310.5 ms | 287.1 ms | −9.5 % |",
    "pairs": "| op | before → after (ms) | change |\n|---|---|---|\n| x | 91.4 → 78.2 | −14.4 % |\n| z | 310.5 → 287.1 | −9.5 % |",
    "rows": "| variant | ms | Δ vs baseline |\n|---|---|---|\n| baseline | 310.5 | – |\n| fused | 287.1 | −7.5 % |\n| paged | 250.0 | −29.5 % |",
    "chinese": "| 批量 | 优化前（ms） | 优化后（ms） | 降幅 |\n|---|---|---|---|\n| 1 | 91.4 | 78.2 | 14.4% |\n| 8 | 310.5 | 287.1 | 9.5% |",
}


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_column_of_changes(name: str) -> None:
    made = [item for item in of_text(TABLES[name]) if isinstance(item, Finding)]
    assert len(made) == 1
    assert "9.5" in made[0].problem


def test_a_column_that_nothing_beside_it_gives_is_no_change_of_it() -> None:
    table = "| op | layers | heads | change |\n|---|---|---|---|\n| x | 12 | 16 | 3 % |\n| y | 24 | 32 | 4 % |"
    assert of_text(table) == []


@pytest.mark.parametrize(
    "value",
    [
        {"baseline_ms": 384.16, "candidate_ms": 266.6, "reduction_pct": 34.6},
        {"beforeMs": 384.16, "afterMs": 266.6, "changePct": -34.6},
        {"latency": {"control": 384.16, "candidate": 266.6, "unit": "ms", "delta_percent": "-34.6 %"}},
        {"old": {"p50_ms": 384.16, "rss_mb": 12.5}, "new": {"p50_ms": 266.6, "rss_mb": 12.5}, "delta": {"p50_pct": -34.6}},
        {"latency_before_ms": 384.16, "latency_after_ms": 266.6, "mem_before_mb": 10.0, "mem_after_mb": 9.0, "latency_reduction_percent": 34.6},
        {"before_s": 4.81, "after_s": 3.92, "delta_s": -0.79},
        {"rows": [{"before_s": 12.5, "after_s": 10.0, "saving_pct": 20.0}, {"before_s": 4.85, "after_s": 3.95, "saving_pct": 28.6}]},
        {"baseline_acc_pct": 81.2, "candidate_acc_pct": 83.0, "gain_points": 2.8},
        {"before_ms": 266.6, "after_ms": 384.16, "reduction_pct": 44.1},
        {"优化前_ms": 384.16, "优化后_ms": 266.6, "降幅_pct": 34.6},
        {"before_ms": 384.16, "after_ms": 266.6, "change": -0.346},
    ],
)
def test_keys_of_one_object(value: object) -> None:
    made = of_json(value)
    assert len(made) == 1
    assert made[0].severity is Severity.BLOCKING


@pytest.mark.parametrize(
    "value",
    [
        {"baseline_ms": 384.16, "candidate_ms": 266.6, "reduction_pct": 30.6, "speedup": 9.9, "min_improvement_pct": 5},
        {"before_ms": 384.16, "after_ms": 266.6, "change": -0.306, "delta_ms": -117.56, "reduction_pct": -30.6},
        {"baseline": {"mean_ms": 384.16, "p50_ms": 380.0}, "candidate": {"mean_ms": 266.6, "p50_ms": 260.0}, "reduction_pct": 31.58},
        {"baseline_ms": 384.16, "candidate_ms": 266.6, "improvement_vs_864332": 3.25},
        {"before_ms": 384.16, "change_log": "34.6 %", "after": "later", "delta": "none"},
        {"target_reduction_pct": 34.6, "baseline_ms": 384.16, "candidate_ms": 266.6},
        {"latency_before_ms": 10.0, "latency_after_ms": 9.0, "mem_reduction_pct": 34.6},
        {"baseline_revision": 3, "candidate_revision": 5, "changed_files": 7},
    ],
)
def test_keys_that_agree_or_state_no_change(value: object) -> None:
    assert of_json(value) == []


def test_a_csv_column_and_a_pull() -> None:
    table = "batch,before_ms,after_ms,change_pct\n1,91.4,78.2,-14.4\n8,310.5,287.1,-9.5\n"
    made = findings(RULE, snapshot(bundle({"results/t.csv": table}), base={"README.md": "x"}, pull=pull("E2E 17.31 -> 22.4 fps (+24.9 %)")))
    assert [(item.locations[0].path, item.locations[0].line) for item in made] == [("evidence/camp/results/t.csv", 3), ("pull:body", 1)]


@pytest.mark.parametrize(
    "text", ["1 -> 2 (" * 3000, "12.5 ms lower than " * 3000, "10 -> 8 ms, a reduction " + "of of " * 20000 + "5 %", "control 5 s, " * 5000]
)
def test_long_sentences_take_linear_time(text: str) -> None:
    start = time.perf_counter()
    of_text(text)
    assert time.perf_counter() - start < 5
