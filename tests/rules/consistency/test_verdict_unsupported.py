"""Verdicts that do not follow from their gates."""

from __future__ import annotations

from typing import Any

import pytest

from rules.consistency.verdict_unsupported import RULE
from rules.core.model import Finding, Severity
from tests.worlds import bundle, findings, snapshot

PLAN = {"gates": [{"id": "p50_ms", "max": 250}, {"id": "rows_equal", "equal": True}]}


def found(result: Any, plan: Any = None, **more: Any) -> list[Finding]:
    files = {"results/verdict.json": result, **({"plan/acceptance.json": plan} if plan else {}), **more}
    return findings(RULE, snapshot(bundle(files)))


@pytest.mark.parametrize(
    ("gate", "seen"),
    [
        ({"id": "a", "passed": False}, "a"),
        ({"id": "a", "status": None}, "a"),
        ({"id": "a", "status": "not measured"}, "not measured"),
        ({"metric": "p50_ms", "max": 250, "observed": 263.4, "passed": True}, "263.4"),
        ({"metric": "p99", "threshold": "<= 40 ms", "measured": "41.2 ms", "status": "PASS"}, "41.2 ms"),
        ({"metric": "gain", "threshold": 30, "op": ">=", "measured": 29.8, "passed": True}, "29.8"),
        ({"id": "exact", "equal": True, "observed": False, "passed": True}, "false"),
        ({"id": "a", "max": 10, "observed": None, "passed": True}, "null"),
        ({"名称": "时延", "上限": 250, "实测": 263.4}, "263.4"),
    ],
)
def test_a_pass_over_a_gate_that_does_not_hold(gate: dict[str, Any], seen: str) -> None:
    (one,) = found({"verdict": "PASS", "gates": [{"id": "other", "passed": True}, gate]})
    assert one.severity is Severity.BLOCKING and one.locations[0].pointer == "/verdict" and seen in one.problem


@pytest.mark.parametrize(
    "result",
    [
        {"verdict": "INCONCLUSIVE", "gates": [{"id": "a", "passed": False}, {"id": "b", "passed": None}]},
        {"verdict": "PASS", "gates": [{"id": "a", "passed": True}, {"id": "trace", "kind": "diagnostic", "passed": False}]},
        {"verdict": "PASS", "gates": [{"id": "a", "passed": True}], "software_checks": [{"id": "lint", "passed": False}]},
        {"verdict": "PASS", "gates": {"a": "pass", "b": "waived by @mara"}},
        {"verdict": "FAIL", "gates": [{"id": "a", "max": 2, "observed": 2.5, "passed": False}, {"id": "b", "passed": True}]},
        {"arms": [{"verdict": "PASS", "gates": [{"id": "a", "passed": True}]}, {"verdict": "FAIL", "gates": [{"id": "a", "passed": False}]}]},
        {"verdict": "PASS", "gates": [{"metric": "p99", "threshold": "<= 0.04 s", "measured": "39.2 ms", "status": "PASS"}]},
    ],
)
def test_what_follows_or_is_no_gate(result: dict[str, Any]) -> None:
    assert found(result) == []


def test_a_fail_that_no_gate_carries() -> None:
    assert len(found({"verdict": "FAIL", "gates": [{"id": "a", "passed": True}, {"id": "b", "passed": True}]})) == 1
    (one,) = found({"verdict": "FAIL", "gates": [{"id": "a", "max": 10, "observed": 9.2, "passed": False}]})
    assert "9.2" in dict(one.evidence)["a"]


@pytest.mark.parametrize(("passed", "wrong"), [((True, False, True), 0), ((True, False, False), 1)])
def test_the_stated_decision_rule(passed: tuple[bool, ...], wrong: int) -> None:
    gates = [{"id": name, "passed": ok} for name, ok in zip("abc", passed, strict=True)]
    assert len(found({"verdict": "PASS", "gates": gates, "decision_rule": "PASS when at least 2 of 3 gates hold"})) == wrong
    assert len(found({"verdict": "PASS", "gates": gates}, **{"plan/protocol.md": "The verdict is PASS when two of three gates pass.\n"})) == wrong


def test_a_frozen_gate_that_nothing_judges() -> None:
    (one,) = found({"verdict": "PASS", "gates": [{"id": "p50_ms", "observed": 231.8, "passed": True}]}, PLAN)
    assert "rows_equal" in one.problem
    assert found({"verdict": "PASS", "p50_ms": 231.8, "rows_equal": True}, PLAN) == []
    assert found({"verdict": "PASS", "p50_ms": 231.8}, PLAN, **{"results/rows.json": {"gates": {"rows_equal": True}}}) == []


def test_the_frozen_limit_outranks_the_result_s_own() -> None:
    gates = [{"id": "p50_ms", "max": 300, "observed": 263.4, "passed": True}, {"id": "rows_equal", "passed": True}]
    (one,) = found({"verdict": "PASS", "gates": gates}, PLAN)
    assert "max 250 in the plan" in one.problem


def test_a_text_that_says_more_than_the_record() -> None:
    record = {"verdict": "INCONCLUSIVE", "gates": [{"id": "a", "passed": None}]}
    (one,) = found(record, **{"README.md": "# x\n\nVerdict: PASS.\n"})
    assert one.severity is Severity.MEDIUM and one.locations[0].path.endswith("README.md")
    assert found(record, **{"README.md": "# x\n\nVerdict: INCONCLUSIVE.\n"}) == []
