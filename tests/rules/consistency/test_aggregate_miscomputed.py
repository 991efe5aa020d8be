"""Which aggregates contradict their samples, and which only look so."""

from __future__ import annotations

import pytest

from rules.consistency.aggregate_miscomputed import RULE
from rules.core.model import Confirmed, Severity
from tests.worlds import bundle, findings, run, snapshot

S = [412.31, 409.88, 415.02, 411.47, 410.92]  # mean 411.92, median 411.47, stdev 1.94
T = [1.0, 2.0, 3.0]


def wrong(document: object) -> list[str]:
    return [str(f.locations[0].pointer) for f in findings(RULE, snapshot(bundle({"results/r.json": document})))]


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"samplesMs": S, "meanMs": 413.92}, "/meanMs"),
        ({"ttft_ms": S, "tpot_ms": T, "mean_ttft_ms": 413.92, "mean_tpot_ms": 2.0}, "/mean_ttft_ms"),
        ({"ttft_ms": S, "tpot_ms": T, "ttft_mean_ms": 411.92, "tpot_mean_ms": 2.1}, "/tpot_mean_ms"),
        ({"ttft": {"samples": S, "mean": 413.9}}, "/ttft/mean"),
        ({"samples": {"ttft": S, "tpot": T}, "summary": {"ttft": {"mean": 413.9}, "tpot": {"mean": 2}}}, "/summary/ttft/mean"),
        ({"control": {"samples_ms": S}, "candidate": {"samples_ms": T}, "mean_ms": {"control": 411.92, "candidate": 2.5}}, "/mean_ms/candidate"),
        ({"results": {"decode": {"raw": {"samples_ms": S}, "summary": {"mean_ms": 413.92}}}}, "/results/decode/summary/mean_ms"),
        ({"samples_ms": S, "mean_s": 0.41392}, "/mean_s"),
        ({"unit": "ms", "samples": S, "mean": 413.92}, "/mean"),
        ({"runs": [{"run": i, "seconds": x} for i, x in enumerate(S)], "median_s": 412.31}, "/median_s"),
        ({"requests": [{"id": i, "latency_ms": x, "tokens": 100 + i} for i, x in enumerate(S)], "latency": {"mean_ms": 413.92}}, "/latency/mean_ms"),
        ({"requests": [{"metrics": {"ttft_ms": x}} for x in S], "summary": {"mean_ttft_ms": 413.9}}, "/summary/mean_ttft_ms"),
        ({"measurements": [{"value": x, "unit": "ms"} for x in S], "average": 413.92}, "/average"),
        ({"samples_ms": [str(x) for x in S], "mean_ms": "413.92"}, "/mean_ms"),
        ({"samples": [f"{x} ms" for x in S], "mean": "413.92 ms"}, "/mean"),
        ({"samples_ms": {"run1": 1.0, "run2": 2.0, "run3": 3.3}, "mean_ms": 2.5}, "/mean_ms"),
        ({"延迟_ms": S, "平均延迟_ms": 411.92, "中位数_ms": 411.9}, "/中位数_ms"),
        ({"样本_ms": S, "均值_ms": 413.92}, "/均值_ms"),
        ({"samples_ms": S, "max_ms": 420.1, "min_ms": 409.88, "mean_ms": 411.92}, "/max_ms"),
        ({"samples_s": T, "sum_s": 7.0}, "/sum_s"),
        ({"speedups": [1.0, 2.0, 4.0], "geomean": 2.33}, "/geomean"),
        ({"values": [1, 2, 3, 4], "variance": 2.1}, "/variance"),
        ({"latency_ms": {"values": S, "stats": {"mean": 411.92, "std": 5.0}}}, "/latency_ms/stats/std"),
        ({"samples_ms": [float(i) for i in range(1, 101)], "percentiles_ms": {"50": 50.5, "90": 90, "99": 90.0}}, "/percentiles_ms/99"),
        ({"values": [float(i) for i in range(1, 201)], "tp99": 150.0}, "/tp99"),
        ({"times_s": [3.0, 2.0, 4.0], "best_s": 1.0, "mean_s": 3.0}, "/best_s"),
        ({"retries": [3, 4, 5, 4], "mean_retries": 4.2}, "/mean_retries"),
        ({"samples_ms": [900.0, *S], "warmup_runs": 1, "mean_ms": 433.92}, "/mean_ms"),
        ({"samples_ms": [*S[:2], 900.0, *S[2:]], "outliers_dropped": 1, "mean_ms": 350.0}, "/mean_ms"),
    ],
)
def test_wrong(document: object, pointer: str) -> None:
    assert wrong(document) == [pointer]


@pytest.mark.parametrize(
    "document",
    [
        {"samplesMs": S, "meanMs": 411.92, "p50Ms": 411.47, "stdDevMs": 1.94},
        {"samples_ms": S, "mean_s": 0.41192},
        {"ttft_ms": S, "tpot_ms": T, "mean_ms": 5.0},
        {"runs": [{"ms": 900.0, "warmup": True}, *({"ms": x} for x in S)], "mean_ms": 411.92},
        {"runs": [{"ms": 900.0, "status": "failed"}, *({"ms": x, "status": "ok"} for x in S)], "mean_ms": 411.92},
        {"samples_ms": [900.0, *S], "discarded": [0], "mean_ms": 411.92},
        {"samples_ms": [900.0, *S], "warmup": [True, False, False, False, False, False], "mean_ms": 411.92},
        {"samples_ms": [*S[:2], 900.0, *S[2:]], "outliers_dropped": 1, "mean_ms": 411.92},
        {"samples_ms": [900.0, *S], "预热次数": 1, "mean_ms": 411.92},
        {"samples_ms": [900.0, *S], "note": "the first run is a warm-up and is not counted", "mean_ms": 411.92},
        {"id": "latency", "max": 400, "observed": S},
        {"samples_ms": S, "max_ms": 400},
        {"batch_sizes": [1, 2, 4, 8], "mean_ms": 41.2},
        {"seeds": [1234, 5678, 91011], "mean": 41.2},
        {"rows": [{"batch": 1, "before_ms": 91.4}, {"batch": 8, "before_ms": 310.5}], "mean_ms": 5},
        {"samples_s": T, "total_s": 7.0},
        {"samples_ms": S, "trimmed_mean_ms": 400.0, "weighted_mean_ms": 3.0, "stderr_ms": 1.0},
        {"tokens_per_s": [100.0, 25.0], "mean_tokens_per_s": 40.0},
        {"values": [1, 2], "mean": 2},
        {"values": [1, 2], "mean": 1},
        {"samples": [0.1, 0.2, 0.3], "mean": 0.20000000000000004},
        {"samples_ms": [412, 409, 415], "mean_ms": 412.3},
        {"runs": [{"mean_ms": 5.0}, {"mean_ms": 7.0}], "mean_ms": 6.5},
        {"trials": [{"arm": "a", "ms": 1.0}, {"arm": "b", "ms": 3.0}], "mean_ms": 2.5},
        {"samples_ms": [1.0, None, 3.0], "mean_ms": 2.0},
    ],
)
def test_right_or_not_to_be_told(document: object) -> None:
    assert wrong(document) == []


CSV = "run,ms\n1,41.2\n2,40.8\n3,41.9\n"
LINES = '{"i": 1, "ms": 41.2}\n{"i": 2, "ms": 40.8}\n{"i": 3, "ms": 41.9}\n'


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({"results/l.csv": CSV, "results/s.json": {"source": "results/l.csv", "mean_ms": 41.5}}, 1),
        ({"results/l.csv": CSV, "results/s.json": {"source": "l.csv", "mean_ms": 41.3}}, 0),
        ({"results/l.csv": CSV + "mean,41.8\n"}, 1),
        ({"results/l.csv": CSV + "mean,41.3\n"}, 0),
        ({"results/l.jsonl": LINES + '{"type": "summary", "mean_ms": 41.8}\n'}, 1),
        ({"results/l.jsonl": '{"ms": 91.2, "warmup": true}\n' + LINES + '{"type": "summary", "mean_ms": 41.3}\n'}, 0),
        ({"results/l.jsonl": LINES, "results/s.yaml": "raw: results/l.jsonl\nsummary:\n  mean_ms: 41.8\n"}, 1),
        ({"results/s.yml": "samples_ms: [1.0, 2.0, 3.0]\nmean_ms: 2.5\n"}, 1),
        ({"plan/runspec.json": {"warmups": 1}, "results/s.json": {"samples_ms": [900.0, *S], "mean_ms": 411.92}}, 0),
    ],
)
def test_tables_records_and_named_files(files: dict[str, object], count: int) -> None:
    assert len(findings(RULE, snapshot(bundle(files)))) == count


def test_what_agrees_is_confirmed_with_its_receipt() -> None:
    items = run(RULE, snapshot(bundle({"results/r.json": {"samples_ms": S, "mean_ms": 411.92}})))
    assert [(c.value, c.claim.pointer, c.receipt.pointer) for c in items if isinstance(c, Confirmed)] == [("mean 411.92", "/mean_ms", "/samples_ms")]


def test_a_finding_says_both_values() -> None:
    (found,) = findings(RULE, snapshot(bundle({"results/r.json": {"samples_ms": S, "mean_ms": 413.92}})))
    assert found.severity is Severity.BLOCKING
    assert "413.92" in found.problem and "411.92" in found.problem
    assert [at.pointer for at in found.locations] == ["/mean_ms", "/samples_ms"]
