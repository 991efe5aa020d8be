"""Clean ends that the record contradicts, in records and in texts."""

from __future__ import annotations

from typing import Any

import pytest

from rules.consistency.lifecycle_contradiction import RULE
from rules.core.model import Confirmed, Finding, Severity
from rules.reading.conversation import read_pull
from tests.worlds import bundle, findings, run, snapshot

KILLED = {"worker_exits": [0, -9], "forced_signals": 1}


def found(**files: Any) -> list[Finding]:
    return findings(
        RULE, snapshot(bundle({path.replace("__", "/").replace("_json", ".json").replace("_md", ".md"): value for path, value in files.items()}))
    )


def test_the_summary_beside_the_raw_block() -> None:
    record = {"lifecycle": {"container_exit": 1, **KILLED}, "analysis": {"lifecycle": "All workers exited zero, but container exit1 fails it"}}
    (one,) = found(results__r_json=record)
    assert one.severity is Severity.HIGH and one.locations[0].pointer == "/analysis/lifecycle"
    assert one.roots == ("record:evidence/camp/results/r.json#/lifecycle",)
    assert "-9" in one.problem and "container_exit" not in one.problem


@pytest.mark.parametrize(
    "record",
    [
        {"control": {"note": "all workers exited zero", "worker_exits": [0, 0]}, "candidate": {"note": "killed", **KILLED}},
        {"jobs": [{"note": "all workers exited zero"}, KILLED]},
        {"client_exit": 0, "server_exit": -6, "note": "The client exited with 0; the server aborted (-6)."},
        {"encoders": [{"id": 0, "returncode": 0}, {"id": 1, "returncode": -11}], "note": "Encoder 0 exited with status 0."},
        {"note": "All workers exited with code 143, i.e. a clean stop.", "worker_exits": [143, 143]},
        {"requirement": "All workers exit zero.", **KILLED},
    ],
)
def test_other_jobs_other_subjects_and_what_is_told_openly(record: dict[str, Any]) -> None:
    assert found(results__r_json=record) == []


def test_a_flag_and_a_word_claim_as_well() -> None:
    assert len(found(results__r_json={"cleanShutdown": True, "containerExitCode": 1})) == 1
    assert len(found(results__r_json={"lifecycle": {"status": "clean"}, "exit_code": -9})) == 1


def test_a_sentence_is_held_against_the_run_that_it_names() -> None:
    files = {"results__a_json": {"arm": "control", "worker_exits": [0, 0]}, "results__b_json": {"arm": "candidate", **KILLED}}
    assert found(**files, README_md="In the control run all workers exited zero.\n") == []
    (one,) = found(**files, README_md="The candidate's workers all exited zero.\n")
    assert one.severity is Severity.MEDIUM and one.roots[0] == "record:evidence/camp/results/b.json#/lifecycle"
    assert len(found(**files, README_md="Every run ended cleanly.\n")) == 1


def test_a_run_without_a_record_of_its_end_contradicts_nothing() -> None:
    files = {"results__hybrid_json": KILLED, "results__queue-plan_json": {"state": "waiting", "screen": "queue"}}
    assert found(**files, README_md="The queue control ended with a clean lifecycle.\n") == []


def test_the_pull_and_the_record_are_one_story() -> None:
    pull = read_pull({"number": 7, "title": "t", "body": "The run had clean exits.", "user": {"login": "mara", "type": "User"}})
    held = snapshot(bundle({"results/r.json": {"note": "clean exits", **KILLED}}), base={}, pull=pull)
    one, other = findings(RULE, held)
    assert {one.locations[0].path, other.locations[0].path} == {"evidence/camp/results/r.json", "pull:body"}
    assert set(one.roots) & set(other.roots)


def test_a_table_is_a_record_too() -> None:
    held = snapshot(bundle({"README.md": "Both workers exited with code 0.\n", "results/exits.csv": "worker,exit_code\n0,0\n1,-15\n"}))
    (one,) = findings(RULE, held)
    assert (one.locations[1].path, one.locations[1].line) == ("evidence/camp/results/exits.csv", 3)


def test_what_held_is_confirmed() -> None:
    items = run(RULE, snapshot(bundle({"results/r.json": {"note": "All workers exited 0.", "worker_exits": [0, 0]}})))
    assert [type(item) for item in items] == [Confirmed]
