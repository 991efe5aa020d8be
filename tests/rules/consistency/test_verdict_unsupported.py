"""Verdicts over what is a gate, and over what only looks like one."""

from __future__ import annotations

import pytest

from rules.consistency.verdict_unsupported import RULE
from tests.worlds import bundle, findings, snapshot

FAILED = {"gates": [{"id": "p99", "observed": 263.4, "max": 250}]}


@pytest.mark.parametrize(
    ("document", "count"),
    [
        ({"verdict": "PASS", **FAILED}, 1),
        ({"decision": {"verdict": "PASS"}, **FAILED}, 1),
        ({"verdict": "GO", **FAILED}, 1),
        ({"verdict": "HOLD", **FAILED}, 0),
        ({"ready_for_decision": True, **FAILED}, 0),
        ({"screen_17": {"verdict": "PASS"}, "screen_18": FAILED}, 0),
        ({"verdict": "PASS", "thresholds": {"min_runs": 3, "min_pairs": 12}}, 0),
        ({"verdict": "PASS", "agreement_by_gate": [{"gate": "G2", "compared": 207, "rate": 0.9}]}, 0),
        ({"verdict": "PASS", "power_gate": {"method": "A simulation of the design.", "parameters": "alpha 0.05"}}, 0),
        ({"verdict": "PASS", "gates": {"training_allowed": False, "leak_detected": False}}, 0),
        ({"verdict": "PASS", "gates": {"no_regression": False}}, 1),
        ({"verdict": "PASS", "future_gates": [{"id": "p99", "max": 250}]}, 0),
        (
            {
                "verdict": "PASS",
                "banks": [{"bank_id": "a", "max_bucket_ratio": 6.5, "passed": False}, {"bank_id": "b", "max_bucket_ratio": 1.5, "passed": True}],
            },
            0,
        ),
        ({"verdict": "FAIL", "primary_gate": {"controls_clean": True, "accepted": 3}}, 0),
        ({"verdict": "FAIL", "gates": {"p99": True, "quality": True}}, 1),
    ],
)
def test_verdicts(document: object, count: int) -> None:
    assert len(findings(RULE, snapshot(bundle({"results/verdict.json": document})))) == count


def test_a_schema_holds_no_gates() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"gates": {"type": "object", "additionalProperties": False}},
    }
    assert not findings(RULE, snapshot(bundle({"results/verdict.json": {"verdict": "PASS"}, "results/verdict.schema.json": schema})))


def test_two_studies_do_not_judge_each_other() -> None:
    files = {"study-a/status.json": {"verdict": "PASS"}, "study-b/gates.json": {"gates": {"p99": "FAIL"}}}
    assert not findings(RULE, snapshot(bundle(files)))
    assert findings(RULE, snapshot(bundle({"results/verdict.json": {"verdict": "PASS"}, "results/gates/latency.json": {"gates": {"p99": "FAIL"}}})))
