"""Which values stand at a factor of units in a second place."""

from __future__ import annotations

import pytest

from rules.consistency.unit_mismatch import RULE
from tests.worlds import bundle, findings, snapshot


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({"results/a.json": {"encode": {"elapsed_s": 41.235}}, "results/summary.json": {"encode": {"elapsed_ms": 41.235}}}, 1),
        ({"results/a.json": {"encode": {"elapsed_s": 41.235}}, "results/summary.json": {"encode": {"elapsed_s": 41235}}}, 1),
        ({"results/a.json": {"encode": {"elapsed_s": 41.235}}, "results/summary.json": {"decode": {"elapsed_s": 41235}}}, 0),
        ({"results/decode.json": {"latency_s": 1.237}, "results/summary.json": {"decode": {"latency_s": 1237}}}, 1),
        ({"results/解码.json": {"耗时_秒": 1.237}, "results/summary.json": {"解码": {"耗时_秒": 1237}}}, 1),
        ({"results/vacuum.json": {"duration_minutes": 12.45}, "results/summary.yaml": "vacuum:\n  duration_minutes: 747.0\n"}, 1),
        ({"results/r.json": {"prefill": {"hitRate": 0.8731}}, "results/summary.json": {"prefill": {"hitRate": 87.31}}}, 1),
        ({"results/run-1.json": {"run": "r1", "p50_ms": 31.41}, "results/summary.json": {"runs": [{"run": "r1", "p50_ms": 0.03141}]}}, 1),
        ({"results/run-1.json": {"run": "r1", "p50_ms": 31.41}, "results/run-2.json": {"run": "r2", "p50_ms": 0.03141}}, 0),
        ({"results/a.csv": "table,elapsed_s\nevents,12.45\n", "results/b.json": {"rows": [{"table": "events", "elapsed_s": 12450}]}}, 1),
        ({"results/a.json": {"elapsed_s": 41.235, "elapsed_ms": 41.235}}, 1),
        ({"results/a.json": {"elapsed_s": 41.235, "elapsed_ms": 41235}}, 0),
        ({"results/small.json": {"bytes_out": 48213}, "results/large.json": {"bytes_out": 48213000}}, 0),
        ({"results/control.json": {"elapsed_s": 12.45}, "results/candidate.json": {"elapsed_s": 747.0}}, 0),
        ({"results/s.json": {"control": {"elapsed_s": 12.45}, "candidate": {"elapsed_s": 0.01245}}}, 0),
        ({"results/r.json": {"rows": [{"batch": 1, "ms": 48.213}, {"batch": 8, "ms": 48213}]}}, 0),
        ({"results/r.json": {"hit_rate": 0.8731, "hit_rate_pct": 87.31}}, 0),
        ({"results/vacuum.json": {"time_s": 5.0}, "results/summary.yaml": "vacuum:\n  time_s: 5000\n"}, 0),
        # one subject, named by a field, in files of whatever name and kind
        ({"results/tiles.json": {"tiles": [{"tile": "31UFT", "warp_s": 18.64}]}, "results/tiles.csv": "tile,warp_s\n31UFT,18640\n"}, 1),
        ({"results/align.csv": "sample,align_min\nNA12878,42.35\n", "results/digest.yaml": "- sample: NA12878\n  align_min: 2541\n"}, 1),
        (
            {
                "results/gateway.json": {"flow": "refund", "approval_ratio": 0.9731},
                "results/dashboard.json": {"flow": "refund", "approval_ratio": 97.31},
            },
            1,
        ),
        ({"results/明细.json": {"机型": "M1", "取放耗时_ms": 38.46}, "results/统计.json": {"机型": "M1", "取放耗时_ms": 0.03846}}, 1),
        ({"results/a.json": {"lane": 3, "ocr_ms": 128.4}, "results/b.json": {"lanes": [{"lane": 3, "ocr_ms": 128400}]}}, 1),
        ({"results/rows.csv": "board,route_s\nb1,41.27\nb2,38.61\n", "results/x.json": {"b1": {"route_s": 41270}, "b2": {"route_s": 38610}}}, 1),
        # names that say the same
        ({"results/a.json": {"run": "x1", "tok_per_s": 812.4}, "results/b.json": {"run": "x1", "tokens_per_second": 0.8124}}, 1),
        ({"results/a.json": {"run": "x1", "p95_latency_ms": 81.24}, "results/b.json": {"run": "x1", "latencyMsP95": 0.08124}}, 1),
        (
            {
                "results/a.json": {"metric": "encode", "value": 2417, "unit": "ms"},
                "results/b.json": {"metric": "encode", "value": 2.417, "unit": "ms"},
            },
            1,
        ),
        ({"results/汇总.json": {"compile_seconds": 43.57}, "results/明细.json": {"compile_seconds": 2614.2}}, 1),
        ({"results/a.json": {"run": "x1", "hit_ratio": 0.9312}, "results/b.json": {"run": "x1", "hit_pct": 0.9312}}, 1),
        # quiet neighbours
        (
            {
                "results/a.json": {"metric": "encode", "value": 2417, "unit": "ms"},
                "results/b.json": {"metric": "encode", "value": 2.417, "unit": "s"},
            },
            0,
        ),
        ({"results/a.json": {"run": "x1", "hit_ratio": 0.9312}, "results/b.json": {"run": "x1", "hit_pct": 93.12}}, 0),
        ({"results/a.json": {"run": "x1", "hit_rate": 0.9312}, "results/b.json": {"run": "x1", "hit_rate_pct": 93.12}}, 0),
        ({"results/run-1.json": {"warp_s": 18.64}, "results/run-2.json": {"warp_s": 18640}}, 0),
        ({"results/tiles.csv": "tile,warp_s\n31UFT,18.64\n32UMA,18640\n"}, 0),
        ({"results/cold.json": {"flow": "refund", "wait_ms": 18.64}, "results/warm.json": {"flow": "refund", "wait_ms": 18640}}, 0),
        ({"results/s.json": {"decode": {"wait_ms": 18.64}}, "results/t.json": {"prefill": {"wait_ms": 18640}}}, 0),
        ({"results/冷.json": {"负载": "甲", "耗时_ms": 18.64}, "results/热.json": {"负载": "甲", "耗时_ms": 18640}}, 0),
    ],
)
def test_pairs(files: dict[str, object], count: int) -> None:
    assert len(findings(RULE, snapshot(bundle(files)))) == count


def test_both_places_and_values_are_named() -> None:
    (found,) = findings(RULE, snapshot(bundle({"results/a.json": {"x": {"wait_s": 41.235}}, "results/b.json": {"x": {"wait_s": 41235}}})))
    assert "41.235" in found.problem and "41235" in found.problem
    assert {at.path.rpartition("/")[2] for at in found.locations} == {"a.json", "b.json"}
