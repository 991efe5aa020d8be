"""What rules once took for defects in repositories that had none there, in invented words: each kind stays quiet, and its honest twin is found."""

from __future__ import annotations

import pytest

from rules.consistency.aggregate_miscomputed import RULE as AGGREGATE
from rules.consistency.bound_unsupported import RULE as BOUND
from rules.consistency.claim_without_receipt import RULE as CLAIM
from rules.consistency.count_mismatch import RULE as COUNT
from rules.consistency.lifecycle_contradiction import RULE as LIFECYCLE
from rules.consistency.mean_impossible import RULE as MEAN
from rules.consistency.unit_mismatch import RULE as UNIT
from rules.core.model import Rule, Severity
from rules.core.redact import private_name
from rules.integrity.artifact_missing import RULE as ARTIFACT
from rules.integrity.document_unreadable import RULE as UNREADABLE
from rules.integrity.hash_mismatch import RULE as HASH
from rules.reading.documents import number
from rules.reading.job_ids import job_ids, job_ids_at
from rules.reading.table_changes import table_changes
from rules.revisions.revision_unpinned import RULE as UNPINNED
from tests.worlds import Step, bundle, findings, snapshot, story

COMMIT = "4f2c9d1ab37e5086"


def count(rule: Rule, files: dict[str, object]) -> int:
    return len(findings(rule, snapshot(bundle(files))))


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("The old 18.4.0 floor silently used the slower path; the new floor guarantees the faster one.", 0),
        ("A step it could not complete is still named rather than left out.", 0),
        ("The network was unreachable, so the next attempt waits 1 hour, doubling to a 24-hour ceiling.", 0),
        ("A guard holds back a design that cannot reach its own target.", 0),
        ("The rule made the healthy state unreachable.", 0),
        ("A drop of 0.2 is unreachable at any effect size.", 0),
        ("A step cannot finish in less than 40 ms on this card.", 1),
        ("The decode latency cannot reach its target on this card.", 1),
        ("A faster scan is impossible on this disk.", 1),
    ],
)
def test_limits_are_of_performance(text: str, fires: int) -> None:
    assert len(findings(BOUND, snapshot({"docs/notes.md": f"# Notes\n\n{text}\n"}))) == fires


def test_two_named_runs_are_not_the_others() -> None:
    bad, good = {"run": 1, "exit": 1, "crashed": True}, [{"run": n, "exit": 0, "crashed": False} for n in (1, 2)]
    said = "Two runs of the tree exit 0 with zero crashes. The parallel mode is not used."
    assert count(LIFECYCLE, {"results/r.json": {"verdict": said, "parallel_runs": [bad], "serial_runs": good}}) == 0
    assert count(LIFECYCLE, {"results/r.json": {"verdict": said, "parallel_runs": [bad], "serial_runs": good[:1]}}) == 1
    assert count(LIFECYCLE, {"results/r.json": {"toolchain": "toolset 6.2, build exit 0", "test_runs": [bad]}}) == 0


def test_a_numbered_job_is_held_against_its_own_record() -> None:
    ledger = {"failed_jobs": [{"job_id": 710334, "exit_code": "1:0"}], "history": [{"event": "Slurm job 710221 completed 0:0"}]}
    assert count(LIFECYCLE, {"results/ledger.json": ledger}) == 0
    assert job_ids("710334 | encode-cold | COMPLETED 0:0") == {"710334"} == job_ids("the last job remains 710334")
    assert job_ids("1024 requests ended") == frozenset() == job_ids("2031-05-11 all exit 0")
    assert job_ids_at({"job_710334_failure": {"exit_code": 1}}, ("job_710334_failure", "exit_code")) == {"710334"}


def test_a_choice_of_samples_is_no_sample_array() -> None:
    best = [{"rate": 9.5}, {"rate": 9.25}, {"rate": 9.0}]
    assert count(AGGREGATE, {"results/a.json": {"best_by_rate": best, "metrics": {"rate": {"mean": 7.125, "min": 3.5}}}}) == 0
    assert count(AGGREGATE, {"results/a.json": {"rate_samples": [9.5, 9.25, 9.0], "rate_mean": 7.125}}) == 1


def test_values_that_occur_are_no_entries() -> None:
    assert count(COUNT, {"results/a.json": {"shard_count": 32, "rows_per_shard": [1024]}}) == 0
    assert count(COUNT, {"results/a.json": {"shard_count": 3, "rows_per_shard": [1024, 512]}}) == 1


def test_doubles_are_no_finer_than_doubles() -> None:
    assert count(MEAN, {"results/a.json": {"n": 144, "mean_errors": number("0.020833333333333332")}}) == 0
    assert number("0.020833333333333332").precision > number("0.020833333333333332").exact / 2**51  # type: ignore[operator]
    assert number("168.956").precision == number("0.001").exact


def test_what_all_rows_say_tells_none_of_them() -> None:
    one = "run,net,power_w\ncontrol,clk_a,0.3125\ncontrol,clk_b,0.4375\n"
    other = "run,block,power_w\ncontrol,core,31.25\ncontrol,io,12.75\n"
    assert count(UNIT, {"results/nets.csv": one, "results/blocks.csv": other}) == 0


def test_operands_are_those_that_most_rows_bear_out() -> None:
    header = ["domain", "a_value", "b_value", "delta_b_minus_a", "abs_delta"]
    rows = [
        ["video", "0.008", "0.007", "-0.001", "0.000"],
        ["reference_or_clocking", "0.004", "0.004", "0.000", "0.000"],
        ["core", "0.012", "0.015", "0.003", "0.003"],
    ]
    assert all(cell.column == 3 for cell in table_changes(header, rows))


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("The loader could not run, because the preserved script is not executable.", 0),
        ("| What | A | B |\n|---|---|---|\n| Full server log available | No | No |", 0),
        ("An audit of the output for the recorded detector.", 0),
        ("The raw logs are retained.", 1),
        ("It is verified with the retained raw logs.", 1),
    ],
)
def test_claims_of_artifacts(text: str, fires: int) -> None:
    assert count(ARTIFACT, {"README.md": f"# x\n\n{text}\n", "plan/a.json": {"x": 1}}) == fires


def test_dozens_of_absent_files_are_one_finding() -> None:
    (one,) = findings(ARTIFACT, snapshot(bundle({"results/index.json": {"files": [f"results/raw/{n}.log" for n in range(30)]}})))
    assert one.title.startswith("30 files") and len(one.evidence) == 20


def test_folders_and_globs_of_the_whole_repository() -> None:
    named = {"prompts": "evidence/other/prompts/", "all": "evidence/other/prompts/*.txt", "gone": "evidence/camp/raw/"}
    files = {**bundle({"results/a.json": named}), **bundle({"prompts/a.txt": "x"}, "other")}
    assert [one.evidence for one in findings(ARTIFACT, snapshot(files))] == [(("path", "evidence/camp/raw/"),)]
    text = bundle({"results/notes.md": "- `evidence/camp/prompts/`\n", "plan/a.json": {}})
    assert len(findings(ARTIFACT, snapshot(text))) == 1


def test_settings_with_comments_are_no_documents() -> None:
    assert count(UNREADABLE, {"harness/tsconfig.test.json": '{"a": 1,}', "results/a.json": '{"a": 1,}'}) == 1


def test_a_record_of_its_time_lists_an_older_version() -> None:
    import hashlib

    old = hashlib.sha256(b"old\n").hexdigest()
    sums = f"{old}  tools/run.sh\n{'a' * 64}  tools/other.sh\n"
    first = Step({"tools/run.sh": "old\n", "tools/other.sh": "x\n", "evidence/camp/results/SHA256SUMS": sums})
    made = findings(HASH, story(first, Step({"tools/run.sh": "new\n"})))
    assert sorted((one.severity, one.evidence[0][1].split()[0]) for one in made) == [
        (Severity.HIGH, "tools/other.sh"),
        (Severity.LOW, "tools/run.sh"),
    ]


def test_a_branch_beside_its_commit_is_a_label() -> None:
    pinned = {"repo_branch": "main", "repo_head": f"{COMMIT[:7]} Raise the limit", "remote_synced": True}
    assert count(UNPINNED, {"results/status.json": pinned}) == 0
    assert count(UNPINNED, {"plan/patch.json": {"repository": "acme/engine", "branch": "main"}}) == 1


def test_guides_speak_of_all_bundles() -> None:
    records = {**bundle({"results/a.json": {"p95_ms": 171.253}}, "north-1"), **bundle({"results/a.json": {"p95_ms": 12.5}}, "south-2")}
    guide = "Results of evidence/south-2:\n\n| arm | p95 latency (ms) |\n|---|---|\n| a | 171.253 |\n"
    assert findings(CLAIM, snapshot({**records, "README.md": guide})) == []
    assert len(findings(CLAIM, snapshot({**records, "README.md": guide.replace("171.253", "171.999")}))) == 1


@pytest.mark.parametrize(
    ("name", "private"),
    [("runner2", False), ("RUNNER~1", False), ("ci-builder", False), ("mlperftest", False), ("mwagner", True), ("ci-mwagner", True)],
)
def test_names_of_nobody(name: str, private: bool) -> None:
    assert private_name(name) is private
