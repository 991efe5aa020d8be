import json

import pytest

from rules.reading.documents import read_json
from rules.reading.layout import bundles
from rules.reading.outline import outline
from rules.reading.receipts import Names, Receipt, contents, read_receipt, receipts, source_revisions
from tests.worlds import bundle, snapshot

SHA = "c85c339fc49794f100fe162e6cd21efbe5c5ab9e"


def read(name: str, value: object, names: Names | None = None) -> Receipt:
    return read_receipt(f"results/{name}", f"evidence/x/results/{name}", read_json(json.dumps(value).encode()).outline, names or Names())


@pytest.mark.parametrize(
    ("name", "value", "arms"),
    [
        ("two-level.json", {"arm": "candidate", "decode_ms": [37.1, 36.9]}, {"candidate"}),
        ("x.json", {"variant": "baseline", "decode_ms": [37.1]}, {"baseline"}),
        ("x.json", {"组别": "对照", "耗时_s": 3.1}, {"baseline"}),
        ("x.json", {"arm": "候选", "耗时_s": 3.1}, {"candidate"}),
        ("x.json", {"label": "control", "seconds": 2.0}, {"baseline"}),
        ("x.json", {"control_s": 173.2, "candidate_s": 365.8}, {"baseline", "candidate"}),
        ("x.json", {"control": {"mean_ms": 3.1}, "treatment": {"mean_ms": 2.9}}, {"baseline", "candidate"}),
        ("x.json", {"candidate": {"task_queue": 2}}, set()),
        ("x.json", {"candidate_revision": SHA, "verdict": "PASS"}, set()),
        ("levelled-control.json", {"seconds": 2.0}, {"baseline"}),
        ("candidates/wide.json", {"encode_ms": [1.0]}, {"candidate"}),
        ("x.json", {"runs": [{"arm": "control", "s": 1.0}, {"arm": "optimized", "s": 2.0}]}, {"baseline", "candidate"}),
        ("session.json", {"elapsed_s": 2.0}, set()),
    ],
)
def test_arms(name: str, value: object, arms: set[str]) -> None:
    assert read(name, value).arms == arms


def test_arms_that_the_receipts_name_beside_a_baseline() -> None:
    files = {
        "results/a.json": {"label": "control", "s": 1.0},
        "results/b.json": {"label": "tiered", "s": 1.0},
        "results/c.json": {"label": "session 2", "s": 1},
    }
    held = snapshot(bundle(files))
    assert [sorted(receipt.arms) for receipt in receipts(held, bundles(held)[0])] == [["baseline"], ["candidate"], []]


def test_arms_by_the_run_spec() -> None:
    names = Names(baseline=frozenset({"levelled"}), candidate=frozenset({"tiered", SHA}))
    assert read("a.json", {"arm": "tiered", "s": 1.0}, names).arms == {"candidate"}
    assert read("a.json", {"revision": SHA, "s": 1.0}, names).arms == {"candidate"}
    assert read("a.json", {"arm": "levelled", "s": 1.0}, names).arms == {"baseline"}


@pytest.mark.parametrize(
    ("name", "value", "kind", "state"),
    [
        ("status.json", {"execution": "queued", "samples": 0}, "status", "pending"),
        ("queue-v3-prospective-revision.json", {"state": "not run", "verdict": "INCONCLUSIVE"}, "plan", "pending"),
        ("a.json", {"arm": "candidate", "state": "queued"}, "plan", "pending"),
        ("query-plan-cache.json", {"arm": "candidate", "p95_ms": 3.2}, "receipt", "completed"),
        ("a.json", {"arm": "candidate", "verdict": "REJECTED", "reason": "slower"}, "receipt", "completed"),
        ("a.json", {"arm": "candidate", "status": "running", "elapsed_s": 3.0}, "receipt", "running"),
        ("stage-trace.json", {"arm": "candidate", "elapsed_s": 3.0}, "diagnostic", "completed"),
        ("baseline15-profile-integrity.json", {"files": {}}, "manifest", "unknown"),
        ("preflight-1.json", {"http_status": 200}, "preflight", "completed"),
    ],
)
def test_kinds_and_states(name: str, value: object, kind: str, state: str) -> None:
    found = read(name, value)
    assert (found.kind, found.state) == (kind, state)


def test_candidate_results() -> None:
    assert read("a.json", {"arm": "candidate", "s": 1.0}).is_candidate_result
    assert not read("a.json", {"arm": "baseline", "s": 1.0}).is_candidate_result
    assert not read("a.json", {"arm": "candidate", "state": "queued"}).is_candidate_result
    assert not read("candidate-preflight.json", {"s": 1.0}).is_candidate_result


def test_tables_and_lines() -> None:
    table = contents("a.csv", b"arm,ms\ncontrol,3.1\ncandidate,2.9\n")
    assert read_receipt("results/a.csv", "a.csv", table).arms == {"baseline", "candidate"}
    assert read_receipt("results/a.csv", "a.csv", table).is_candidate_result
    lines = contents("a.jsonl", b'{"arm": "candidate", "ms": 3.1}\nnot json\n')
    assert read_receipt("results/a.jsonl", "a.jsonl", lines).is_candidate_result


def test_source_revisions() -> None:
    value = read_json(
        json.dumps(
            {"revision": SHA, "dataset": {"revision": SHA}, "harness_commit": SHA, "image_sha256": "a" * 64, "engine": {"commit": SHA[:12]}}
        ).encode()
    ).value
    assert [(node.pointer, sha) for node, sha in source_revisions(outline(value))] == [("/revision", SHA), ("/engine/commit", SHA[:12])]
