import hashlib
import json

import pytest

from rules.core.model import Confirmed, Finding
from rules.freeze.gate_frozen_after_search import RULE
from tests.worlds import Step, bundle, findings, run, snapshot, story, tree

GATE = {"metric": "p99_ms", "rule": "at most 0.9 of the baseline"}
LAXER = {"metric": "p99_ms", "rule": "at most 0.95 of the baseline"}
CANDIDATE = {"arm": "candidate", "p99_ms": [3.1, 3.2]}


def step(files: dict[str, object], subject: str = "a step", **more: int) -> Step:
    return Step(bundle(files), subject, **more)


def severities(*steps: Step, **more: object) -> list[str]:
    return [str(f.severity) for f in findings(RULE, story(*steps, **more))]  # type: ignore[arg-type]


def test_proven_is_confirmed() -> None:
    items = run(RULE, story(step({"plan/gates.json": GATE}), step({"results/a.json": CANDIDATE})))
    assert [type(item) for item in items] == [Confirmed]


@pytest.mark.parametrize(
    "result",
    [
        {"results/a.json": {"variant": "optimised", "p99_ms": 3.1}},
        {"results/run.json": {"组别": "候选", "耗时_ms": 3.1}},
        {"results/candidates/tiered.json": {"p99_ms": 3.1}},
        {"results/compare.json": {"control": {"mean_ms": 3.4}, "treatment": {"mean_ms": 3.1}}},
        {"results/runs.csv": "arm,p99_ms\ncontrol,3.4\ntreatment,3.1\n"},
        {"results/runs.jsonl": '{"arm": "patched", "p99_ms": 3.1}\n'},
        {"results/a.yaml": "arm: candidate\np99_ms: [3.1, 3.2]\n"},
    ],
)
def test_violated_whatever_the_shape_of_the_result(result: dict[str, object]) -> None:
    found = findings(RULE, story(step(result), step({"plan/acceptance.yaml": "metric: p99_ms\nmax: 3.3\n"})))
    assert [str(f.severity) for f in found] == ["blocking"]
    assert "violated" in found[0].problem
    assert found[0].locations[0].path.endswith("plan/acceptance.yaml")


@pytest.mark.parametrize(
    "result",
    [
        {"results/a.json": {"arm": "baseline", "p99_ms": 3.4}},
        {"results/control-1.json": {"p99_ms": 3.4}},
        {"results/a.json": {"arm": "candidate", "state": "queued"}},
        {"results/status.json": {"arm": "candidate", "samples": 0}},
        {"results/candidate-preflight.json": {"p99_ms": 3.4}},
        {"results/session.json": {"p99_ms": 3.4}},
    ],
)
def test_what_is_no_candidate_result_may_come_first(result: dict[str, object]) -> None:
    assert not severities(step(result), step({"plan/gates.json": GATE}))


def test_the_operative_bytes_count() -> None:
    assert severities(step({"plan/gates.json": GATE}), step({"results/a.json": CANDIDATE}), step({"plan/gates.json": LAXER})) == ["blocking"]


def test_a_manifest_that_lists_the_digest_carries_it() -> None:
    digest = hashlib.sha256((json.dumps(GATE, indent=2) + "\n").encode()).hexdigest()
    listed = {"plan/preflight-integrity.json": {"files": {"plan/gates.json": digest}}}
    assert not severities(step(listed), step({"results/a.json": CANDIDATE}), step({"plan/gates.json": GATE}))


def test_same_commit_and_squash() -> None:
    both = {"plan/gates.json": GATE, "results/a.json": CANDIDATE}
    assert severities(step({"README.md": "x"}), step(both)) == ["high"]
    assert severities(step({"README.md": "x"}), step(both, "Qualify the cache (#12)"), step({"README.md": "y"}), base=1) == ["medium"]
    assert severities(step({"README.md": "x"}), step(both, "Qualify the cache (#12)"), base=0) == ["high"]


def test_shallow_and_rewritten_histories_prove_nothing() -> None:
    both = {"plan/gates.json": GATE, "results/a.json": CANDIDATE}
    assert severities(step(both), complete=False) == ["medium"]
    moved = (step({"plan/gates.json": GATE}, minute=60, author_minute=50), step({"results/a.json": CANDIDATE}, minute=61, author_minute=10))
    found = findings(RULE, story(*moved))
    assert "unprovable" in found[0].problem
    assert "force-push" in found[0].problem


def test_recorded_at_speaks_only_where_history_proves_nothing() -> None:
    late = {**GATE, "recorded_at": "2026-10-20T09:00:00Z"}
    ran = {**CANDIDATE, "started_at": "2026-10-18T09:00:00+02:00"}
    assert not severities(step({"plan/gates.json": late}), step({"results/a.json": ran}))
    assert severities(step({"plan/gates.json": late, "results/a.json": ran}), complete=False) == ["high"]
    folder = snapshot(bundle({"plan/gates.json": late, "results/a.json": ran}))
    assert [str(f.severity) for f in findings(RULE, folder)] == ["high"]
    naive = snapshot(bundle({"plan/gates.json": {**GATE, "recorded_at": "2026-10-20 09:00"}, "results/a.json": ran}))
    assert not findings(RULE, naive)


def test_a_witness_commit_is_proof_where_it_carries_the_gate_and_no_result() -> None:
    digest = hashlib.sha256((json.dumps(GATE, indent=2) + "\n").encode()).hexdigest()
    both = {
        "plan/gates.json": GATE,
        "results/a.json": CANDIDATE,
        "plan/integrity.json": {"files": {"plan/gates.json": digest}, "witness": {"commit": "f" * 40}},
    }
    with_gate = tree(bundle({"plan/gates.json": GATE}), "f" * 40)
    with_result = tree(bundle({"plan/gates.json": GATE, "results/a.json": CANDIDATE}), "f" * 40)
    other_gate = tree(bundle({"plan/gates.json": LAXER}), "f" * 40)
    assert not severities(step({"README.md": "x"}), step(both), others={"f" * 40: with_gate})
    for bad in ({}, {"f" * 40: with_result}, {"f" * 40: other_gate}):
        assert severities(step({"README.md": "x"}), step(both), others=bad) == ["high"]


def test_superseded_gates_only_while_they_govern() -> None:
    newer = {"supersedes": "gates-v1.json", **LAXER}
    partial = {"supersedes_quality_clause_only": "gates-v1.json", **LAXER}
    first = (step({"plan/gates-v1.json": GATE}), step({"results/a.json": CANDIDATE}))
    assert [f.locations[0].path.rpartition("/")[2] for f in findings(RULE, story(*first, step({"plan/gates-v2.json": newer})))] == ["gates-v2.json"]
    late = (step({"results/a.json": CANDIDATE}), step({"plan/gates-v1.json": GATE}))
    assert len(severities(*late, step({"plan/gates-v2.json": newer}))) == 1
    assert len(severities(*late, step({"plan/gates-v2.json": partial}))) == 2


def test_late_validators_are_told_once() -> None:
    found = findings(
        RULE,
        story(
            step({"plan/gates.json": GATE}),
            step({"results/a.json": CANDIDATE}),
            step({"validator/check.py": "print(1)\n", "validator/README.md": "x"}),
        ),
    )
    assert len(found) == 1
    assert isinstance(found[0], Finding)
    assert found[0].locations[0].path.endswith("validator/check.py")
