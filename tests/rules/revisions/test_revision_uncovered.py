import pytest

from rules.revisions.revision_uncovered import RULE
from tests.worlds import bundle, findings, snapshot

PIN, OTHER, THIRD = "c85c339fc49794f100fe162e6cd21efbe5c5ab9e", "39ca157e14b2ed98799c330c0749052a72721eff", "d03a37f762da6488a6bfec69c59a6e74d9e0fab8"


def patch(commit: str, base: str | None, path: str = "engine/placement.py") -> str:
    tail = f"\nbase-commit: {base}\n" if base else ""
    return (
        f"From {commit} Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH] x\n\n---\n"
        f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n{tail}"
    )


def uncovered(files: dict[str, object], spec: object = None) -> list[str]:
    held = {"plan/runspec.json": spec if spec is not None else {"revision": PIN}, **files}
    return [dict(f.evidence)["used"] for f in findings(RULE, snapshot(bundle(held)))]


@pytest.mark.parametrize(
    "result",
    [
        {"revision": OTHER, "s": 1.0},
        {"source": {"commit": OTHER}, "s": 1.0},
        {"engineCommit": OTHER, "s": 1.0},
        {"runs": [{"git_sha": PIN}, {"git_sha": OTHER}], "s": 1.0},
        {"版本": OTHER, "耗时_s": 1.0},
        {"revision": OTHER[:10], "s": 1.0},
    ],
)
def test_a_result_on_another_revision(result: dict[str, object]) -> None:
    assert len(uncovered({"results/a.json": result})) == 1


@pytest.mark.parametrize(
    "result",
    [
        {"revision": PIN, "s": 1.0},
        {"revision": PIN[:8], "s": 1.0},
        {"revision": PIN.upper(), "s": 1.0},
        {"revision": PIN, "dataset": {"revision": OTHER}, "s": 1.0},
        {"revision": PIN, "harness_commit": OTHER, "s": 1.0},
        {"revision": PIN, "model_revision": OTHER, "s": 1.0},
        {"revision": PIN, "sources": [{"name": "harness", "commit": OTHER}], "s": 1.0},
        {"output_sha256": "a" * 64, "s": 1.0},
        {"state": "planned", "revision": OTHER},
    ],
)
def test_what_is_covered_or_no_source(result: dict[str, object]) -> None:
    assert not uncovered({"results/a.json": result})


@pytest.mark.parametrize(
    "spec",
    [
        {"pins": [{"rev": PIN}, {"rev": OTHER}]},
        {"durations": {"5s": PIN, "15s": f"acme/engine@{OTHER}"}},
        {"note": f"control {PIN}, candidate {OTHER}"},
    ],
)
def test_every_full_id_is_a_pin(spec: object) -> None:
    assert not uncovered({"results/a.json": {"revision": OTHER, "s": 1.0}}, spec)


def test_a_diff_covers_the_commit_it_names_from_a_pin() -> None:
    result = {"results/a.json": {"revision": OTHER, "s": 1.0}}
    assert not uncovered({**result, "patch/0001-x.patch": patch(OTHER, PIN)})
    assert uncovered({**result, "patch/0001-x.patch": patch(OTHER, THIRD)})
    assert uncovered({**result, "patch/0001-x.patch": patch(THIRD, PIN)})
    assert uncovered({**result, "patch/0001-x.patch": patch(OTHER, None)})
    series = {"patch/0001-x.patch": patch(THIRD, PIN), "patch/0002-y.patch": patch(OTHER, None)}
    assert not uncovered({**result, **series})


def test_a_record_covers_where_a_diff_is_committed() -> None:
    result = {"results/a.json": {"revision": OTHER, "s": 1.0}}
    diff = patch(THIRD, None).partition("---\n")[2]
    record = {"patch/record.json": {"parent": PIN, "commit": OTHER, "diff": "patch/x.diff"}}
    assert not uncovered({**result, **record, "patch/x.diff": diff})
    assert uncovered({**result, **record})
    assert uncovered({**result, "patch/record.json": {"parent": THIRD, "commit": OTHER}, "patch/x.diff": diff})


def test_without_a_run_spec_nothing_is_said() -> None:
    held = bundle({"plan/protocol.md": "x", "results/a.json": {"revision": OTHER, "s": 1.0}})
    assert not findings(RULE, snapshot(held))


def test_a_list_of_digests_has_its_own_revision() -> None:
    assert not uncovered({"results/integrity.json": {"revision": OTHER, "files": {"results/a.json": "a" * 64}}})


def test_one_finding_per_revision_with_all_places() -> None:
    found = findings(
        RULE,
        snapshot(
            bundle(
                {
                    "plan/runspec.yaml": f"revision: {PIN}\n",
                    "results/a.json": {"revision": OTHER, "s": 1},
                    "results/b.json": {"commit": OTHER, "s": 1},
                }
            )
        ),
    )
    assert len(found) == 1
    assert [at.path.rpartition("/")[2] for at in found[0].locations[:2]] == ["a.json", "b.json"]
