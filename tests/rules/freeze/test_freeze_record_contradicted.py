import hashlib

import pytest

from rules.freeze.freeze_record_contradicted import RULE
from tests.worlds import bundle, findings, snapshot, tree

CODE = "print(1)\n"
GATE = {"metric": "p99_ms", "max": 3.3}
FILES: dict[str, object] = {"plan/gates.json": GATE, "validator/check.py": CODE, "results/tiered.json": {"arm": "candidate", "p99_ms": 3.1}}


def world(files: dict[str, object], pinned: tuple[str, ...] = ("plan/gates.json", "validator/check.py"), without: str = "") -> list[object]:
    held = {path: value for path, value in FILES.items() if path != without} | files
    blobs = tree(held).blobs
    listed = {path: hashlib.sha256(blobs[path]).hexdigest() for path in pinned if path in blobs}
    return list(findings(RULE, snapshot(bundle({**held, "plan/integrity.json": {"files": listed}}))))


@pytest.mark.parametrize(
    "text",
    [
        "No validator has been frozen so far.",
        "The validator is not yet frozen.",
        "The validators have not been pinned.",
        "We have not frozen the acceptance criteria yet.",
        "The acceptance gates remain to be frozen.",
        "There is no frozen gate.",
        "Gates: not frozen.",
        "The gate isn't fixed yet.",
        "The thresholds are still unfrozen.",
        "Nothing is frozen yet.",
        "| item | state |\n|---|---|\n| Validator | not frozen |",
        "- Gates: none yet",
        "The baseline is measured, but no candidate has been run.",
        "As of this commit neither gate is pinned.",
        "No acceptance rule has been fixed.",
        "The gate checklist has yet to be frozen.",
        "We haven't started the candidate search.",
        "None of the gates are locked.",
        "So far only the baseline has been measured.",
        "The thresholds are not set yet.",
        "候选搜索：未开始",
        "目前校验脚本仍未锁定，候选搜索也没有启动。",
        "The candidate search has not begun.",
        "No candidate has been measured.",
        "No candidate runs have been made yet.",
        "Candidate search: not started",
        "The search is yet to start.",
        "No treatment run exists yet.",
        "校验器尚未冻结。",
        "验收标准还没有冻结。",
        "目前尚无冻结的门槛。",
        "尚未开始候选搜索。",
        "候选实验尚未运行。",
        "目前没有任何候选结果。",
    ],
)
def test_denials_are_contradicted(text: str) -> None:
    assert len(world({"plan/README.md": f"# Plan\n\n{text}\n"})) == 1


@pytest.mark.parametrize(
    "text",
    [
        "No candidate search may begin before the validator is frozen.",
        "A comparison without a frozen gate stays INCONCLUSIVE.",
        "The gates are frozen. The candidate search has begun.",
        "The gate was not changed after it was frozen.",
        "No frozen gate was changed.",
        'This file previously said "no validator is frozen yet", which was wrong.',
        "> No candidate validator is frozen yet.",
        "If no gate is frozen, the result is void.",
        "On 2026-10-01 no validator was frozen.",
        "At that time no candidate search had begun.",
        "No candidate was measured on eight devices.",
        "No candidate met the target.",
        "Do not start the search until the gates are frozen.",
        "门槛冻结之前不得开始候选搜索。",
        "校验器已冻结，候选搜索已开始。",
    ],
)
def test_rules_corrections_and_true_sentences_are_not(text: str) -> None:
    assert not world({"plan/README.md": f"# Plan\n\n{text}\n"})


def test_each_denial_needs_its_own_contradiction() -> None:
    assert not world({"plan/README.md": "No validator is frozen yet.\n"}, pinned=("plan/gates.json",))
    assert not world({"plan/README.md": "No gate is frozen yet.\n"}, pinned=("validator/check.py",))
    assert not world({"plan/README.md": "No candidate search has begun.\n"}, without="results/tiered.json")


def test_plain_text_speaks_too() -> None:
    found = world({"validator/NOTES.txt": "Notes\n\nNo validator is frozen yet.\n"})
    assert [f.locations[0].line for f in found] == [3]  # type: ignore[attr-defined]


def test_documents_speak_too() -> None:
    assert world({"plan/record.json": {"validator_frozen": False}})
    assert world({"plan/record.json": {"candidate_search": "not started"}})
    assert world({"plan/record.yaml": "note: No candidate validator is frozen yet.\n"})
    assert not world({"plan/record.json": {"validator_frozen": True, "search_started": True}})


def test_the_manifest_that_pins_the_text_is_named() -> None:
    found = world({"validator/README.md": "No validator is frozen yet.\n"}, pinned=("validator/check.py", "validator/README.md"))
    assert "plan/integrity.json" in found[0].problem  # type: ignore[attr-defined]


def test_a_labelled_snapshot_needs_a_newer_record() -> None:
    old = "# Preflight snapshot\n\nNo candidate validator is frozen yet.\n"
    assert world({"validator/README.md": old})
    assert not world({"validator/README.md": old, "plan/freeze.md": "The validator and the gates are frozen since today.\n"})
    assert not world({"validator/README.md": old + "\nNow see `plan/record.json`.\n", "plan/record.json": {"gates": "frozen"}})
