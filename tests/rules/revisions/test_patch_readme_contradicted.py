import pytest

from rules.revisions.patch_readme_contradicted import RULE
from tests.rules.revisions.test_revision_uncovered import OTHER, PIN, patch
from tests.worlds import bundle, findings, snapshot


def said(text: str, path: str = "patch/README.md", diff: str = "engine/placement.py", name: str = "0001-placement.patch", **files: object) -> int:
    held = {"plan/runspec.json": {"revision": PIN}, f"patch/{name}": patch(OTHER, PIN, diff), path: f"# Patch\n\n{text}\n", **files}
    return len(findings(RULE, snapshot(bundle(held))))


@pytest.mark.parametrize(
    "text",
    [
        "No engine change is made by this preparation.",
        "The engine is not changed.",
        "The engine source is unmodified.",
        "There are no source changes.",
        "No changes to the engine.",
        "All runs use the stock engine.",
        "This campaign does not modify the engine.",
        "Nothing in the engine is patched.",
        "No code changes are needed.",
        "The upstream code remains untouched.",
        "This directory contains no patches.",
        "引擎未做任何修改。",
        "本次准备不修改引擎源码。",
        "没有对引擎做任何改动。",
        "无引擎改动。",
    ],
)
def test_denials_beside_an_engine_diff(text: str) -> None:
    assert said(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        "`0001-placement.patch` changes the engine's buffer placement. It is not merged.",
        'This file previously said "no engine change is made", which was wrong.',
        "The baseline runs the unmodified engine.",
        "No engine change is merged yet.",
        "Besides `0001-placement.patch`, no engine change is made.",
        "No other engine change is made.",
        "No interface change is made.",
        "The harness is not changed.",
        "Every engine change must be listed here.",
        "> No engine change is made.",
        "除该补丁外，未修改引擎。",
        "补丁修改了引擎的缓冲区放置。",
    ],
)
def test_what_is_no_denial(text: str) -> None:
    assert not said(text)


def test_a_part_that_the_diff_touches() -> None:
    assert said("The allocator is unchanged.", diff="src/allocator/arena.c") == 1
    assert not said("The parser is unchanged.", diff="src/allocator/arena.c")


def test_harness_diffs_change_no_engine() -> None:
    assert not said("No engine change is made.", diff="benchmarks/timer.py")
    assert not said("No engine change is made.", name="harness-timer.patch")
    assert not said("No engine change is made. `0001-placement.patch` only adds timing to the harness.")


def test_the_plan_speaks_too() -> None:
    assert said("The engine is not changed.", path="plan/protocol.md") == 1
    assert said("Ok.", **{"plan/design.json": {"engine_changes": []}}) == 1
    assert said("Ok.", **{"plan/design.json": {"engine_changed": False}}) == 1
    assert not said("Ok.", **{"plan/design.json": {"engine_changed": True}})


@pytest.mark.parametrize(
    ("text", "arm", "fires"),
    [
        ("Original source is pinned in the RunSpec.", "baseline", True),
        ("The source revision is recorded in `plan/runspec.json`.", "candidate", True),
        ("源码版本已在 RunSpec 中固定。", "candidate", True),
        ("The baseline source is pinned in the run spec.", "candidate", False),
        ("The source is not pinned in the run spec.", "candidate", False),
        ("The source must be pinned in the run spec.", "candidate", False),
    ],
)
def test_source_pinned_in_the_run_spec(text: str, arm: str, fires: bool) -> None:
    held = {"plan/runspec.json": {"revision": PIN}, "patch/README.md": text + "\n", "results/a.json": {"arm": arm, "revision": OTHER, "s": 1.0}}
    assert bool(findings(RULE, snapshot(bundle(held)))) == fires
