"""Which declared counts are not what is listed."""

from __future__ import annotations

from typing import Any

import pytest

from rules.consistency.count_mismatch import RULE
from rules.core.model import Severity
from tests.worlds import bundle, findings, snapshot

S9 = [41.2, 40.8, 41.9, 41.1, 40.9, 41.4, 41.0, 41.3, 41.2]


def ranks(count: int) -> list[dict[str, int]]:
    return [{"rank": i, "exit_code": 0} for i in range(count)]


def runs(count: int) -> dict[str, Any]:
    return {f"results/run-{i}.json": {"run": i, "elapsed_s": 12.1 + i / 10} for i in range(1, count + 1)}


@pytest.mark.parametrize(
    "document",
    [
        {"num_samples": 10, "latency_ms": S9},
        {"sampleCount": 10, "samplesMs": S9},
        {"n": 10, "samples_s": S9},
        {"samples": "10", "samples_ms": S9},
        {"runs": 10, "timings_s": S9},
        {"repeat": 5, "timings_s": S9},
        {"重复次数": 10, "耗时_ms": S9},
        {"config": {"repetitions": 10}, "results": {"samples_ms": S9}},
        {"repetitions": 3, "control": {"samples_ms": [1.5, 2.5, 3.5]}, "candidate": {"samples_ms": [1.5, 2.5]}},
        {"num_workers": 4, "workers": {"0": {"exit": 0}, "1": {"exit": 0}, "2": {"exit": 0}}},
        {"workers": 4, "worker_exits": [0, 0, 0]},
        {"workers": 4, "per_worker": {"worker-0": 1.5, "worker-1": 1.6, "worker-2": 1.7}},
        {"world_size": 4, "exit_codes": {"rank0": 0, "rank1": 0, "rank2": 0}},
        {"world_size": 8, "workers": ranks(6)},
        {"launch": {"world_size": 8}, "lifecycle": {"ranks": ranks(7)}},
        {"num_devices": 4, "devices": ["npu:0", "npu:1", "npu:2"]},
        {"runs": 12, "discarded": 1, "samples_s": S9},
        {"repetitions": 5, "warmup_runs": 2, "samples_s": S9},
        {"num_runs": 5, "runs": [{"run": i, "seconds": 1.5 + i} for i in range(4)]},
        {"repetitions": 5, "receipts": [f"results/run-{i}.json" for i in range(1, 5)]},
    ],
)
def test_wrong(document: object) -> None:
    (found,) = findings(RULE, snapshot(bundle({"results/r.json": document})))
    assert found.severity is Severity.BLOCKING


@pytest.mark.parametrize(
    "document",
    [
        {"n": 10, "mean_ms": 3.2},
        {"repeat": 3, "timings_s": S9},
        {"runs": 3, "requests_per_run": 3, "latency_ms": S9},
        {"iterations": 1000, "samples_us": S9},
        {"sample_rate": 48000, "batch_size": 16, "threads": 8, "samples_ms": S9},
        {"num_workers": 4, "workers": {"total": 4, "exit_zero": 4}},
        {"num_ranks": 4, "ranks": [8, 16, 32]},
        {"nodes": 2, "world_size": 16, "ranks": ranks(8)},
        {"tp": 4, "workers": ranks(8)},
        {"rank": 3, "ranks": ranks(8)},
        {"world_size": 8, "ranks": ranks(7), "lost_ranks": 1},
        {"world_size": 8, "ranks": ranks(7), "note": "rank 7 crashed and left no record"},
        {"attempted": 10, "failures": [{"run": 3, "reason": "oom"}], "samples_s": S9},
        {"repetitions": 7, "warmup_runs": 2, "samples_s": S9},
        {"repetitions": 11, "warmup_runs": 2, "samples_s": S9},
        {"runs": 10, "measured": 9, "samples_ms": S9},
        {"runs": 10, "status": "interrupted", "samples_s": S9},
        {"num_runs": 4, "runs": [{"run": i, "seconds": 1.5 + i, "warmup": i == 0} for i in range(5)]},
        {"num_runs": 5, "runs": [*({"run": i, "seconds": 1.5 + i} for i in range(4)), {"run": 5, "status": "failed"}]},
        {"repetitions": 9, "prefill_ms": S9, "decode_ms": S9[:8]},
        {"runs": 3, "batch_sizes": [1, 2, 4, 8]},
    ],
)
def test_right_or_explained(document: object) -> None:
    assert findings(RULE, snapshot(bundle({"results/r.json": document}))) == []


@pytest.mark.parametrize(
    ("files", "severities"),
    [
        ({"README.md": "# c\n\nFive repetitions, one receipt each (`results/run-*.json`).", **runs(4)}, ["medium"]),
        ({"README.md": "# c\n\nFive repetitions, one receipt each (`results/run-*.json`).", **runs(5)}, []),
        ({"README.md": "# c\n\nFive receipts, `results/run-1.json` to `results/run-5.json`.", **runs(4)}, ["medium"]),
        ({"README.md": "# c\n\nFive receipts, `results/run-<n>.json`.", **runs(4)}, ["medium"]),
        ({"README.md": "# c\n\n共重复五次，每次一份回执（`results/run-*.json`）。", **runs(4)}, ["medium"]),
        ({"README.md": "# c\n\nFive repetitions. The fourth failed and has no receipt (`results/run-*.json`).", **runs(4)}, []),
        ({"README.md": "# c\n\nWe ran five repetitions.", "results/r.json": {"samples_ms": [1.5, 2.5, 3.5]}}, ["medium"]),
        ({"README.md": "# c\n\nThe four samples are in `results/a.json`.", "results/a.json": {"samples_ms": [1.5, 2.5, 3.5]}}, ["medium"]),
        ({"README.md": "# c\n\nSix runs in total.", "results/a.json": {"s_ms": [1.5, 2.5, 3.5]}, "results/b.json": {"s_ms": [1.5, 2.5, 3.5]}}, []),
        ({"plan/runspec.json": {"repetitions": 5}, "results/a.json": {"samples_ms": [1.5, 2.5, 3.5]}}, ["blocking"]),
        ({"plan/runspec.json": {"repetitions": 5, "warmups": 1}, "results/a.json": {"samples_ms": [1.5, 2.5, 3.5, 1, 1, 1]}}, []),
        ({"results/s.json": {"repetitions": 5, "receipts": "results/run-*.json"}, **runs(4)}, ["blocking"]),
        ({"results/s.yaml": "world_size: 8\nranks:\n- {rank: 0, exit: 0}\n- {rank: 1, exit: 0}\n"}, ["blocking"]),
    ],
)
def test_files_and_text(files: dict[str, object], severities: list[str]) -> None:
    assert [f.severity.value for f in findings(RULE, snapshot(bundle(files)))] == severities


def test_a_missing_rank_is_named() -> None:
    (found,) = findings(RULE, snapshot(bundle({"results/r.json": {"world_size": 4, "ranks": [{"rank": 0}, {"rank": 1}, {"rank": 3}]}})))
    assert "without 2" in found.problem
