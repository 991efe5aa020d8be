import hashlib

import pytest

from rules.core.model import Issue, User
from rules.freeze.validator_unpinned import RULE
from tests.worlds import bundle, findings, snapshot

CODE = "print(1)\n"
DIGEST = hashlib.sha256(CODE.encode()).hexdigest()
SHA = "c85c339fc49794f100fe162e6cd21efbe5c5ab9e"


def world(gate: object, pinned: bool = False, **files: object) -> list[str]:
    listed = {"validator/check.py": DIGEST} if pinned else {"plan/protocol.md": "0" * 63 + "1"}
    held = {"validator/check.py": CODE, "plan/gates.json": gate, "plan/integrity.json": {"files": listed}, **files}
    return [f"{f.locations[0].path.rpartition('/')[2]}{f.locations[0].pointer or ''} {f.problem}" for f in findings(RULE, snapshot(bundle(held)))]


@pytest.mark.parametrize(
    "named",
    [
        {"validator": "validator/check.py"},
        {"validator": "evidence/camp/validator/check.py"},
        {"validator": {"script": "validator/check.py"}},
        {"validators": ["validator/check.py"]},
        {"judge": "python3 validator/check.py results/"},
        {"gates": [{"id": "G1", "metric": "x", "check": "validator/check.py"}]},
        {"校验脚本": "validator/check.py"},
        {"validator": "validator/"},
        {"rule": "validator/check.py exits 0"},
    ],
)
def test_a_file_that_no_manifest_lists(named: dict[str, object]) -> None:
    gate = {"metric": "x", **named}
    assert len(world(gate)) == 1
    assert not world(gate, pinned=True)


@pytest.mark.parametrize(
    "named",
    [
        {"validator": "https://github.com/acme/judges/blob/main/t.py"},
        {"validator": "https://raw.githubusercontent.com/acme/judges/main/t.py"},
        {"validator": {"repository": "acme/judges", "branch": "main", "path": "t.py"}},
        {"validator": {"source": "draft pull acme/judges#318", "file": "t.py"}},
        {"validator": "https://github.com/acme/judges/pull/318"},
        {"validator": "PR #318"},
        {"rule": "judged by the checker of draft PR #318"},
        {"验证器": "草稿 #318 中的脚本"},
    ],
)
def test_what_can_still_change(named: dict[str, object]) -> None:
    assert len(world({"metric": "x", **named}, pinned=True)) == 1


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"validator": None},
        {"validator": f"https://github.com/acme/judges/blob/{SHA}/t.py"},
        {"validator": {"repository": "acme/judges", "commit": SHA, "path": "t.py"}},
        {"validator": {"path": "validator/check.py", "sha256": DIGEST}},
        {"rule": "median below 180"},
    ],
)
def test_what_is_fixed(named: dict[str, object]) -> None:
    assert not world({"metric": "x", **named}, pinned=True)


def test_loose_code_beside_a_gate_that_names_none() -> None:
    assert len(world({"metric": "x", "max": 3})) == 1


def test_a_pointer_with_digests() -> None:
    pointer = {"files": [{"path": "validator-v2/check.py", "sha256": DIGEST}]}
    assert not world(
        {"metric": "x", "validator": "validator/pointer.json"}, pinned=True, **{"validator-v2/check.py": CODE, "validator/pointer.json": pointer}
    )


def test_another_document_of_the_plan() -> None:
    spec = {"plan/runspec.json": {"validator": "tools/judge.py"}, "tools/judge.py": CODE}
    assert len(world({"metric": "x", "max": 3}, pinned=True, **spec)) == 1


def test_a_text_of_the_plan() -> None:
    text = {"plan/protocol.md": "# P\n\nA candidate is accepted when the validation script `tools/judge.py` passes.\n", "tools/judge.py": CODE}
    assert len(world({"metric": "x", "max": 3}, pinned=True, **text)) == 1


@pytest.mark.parametrize(
    ("body", "fires"),
    [
        ("Acceptance relies on the validator of draft PR #318.", True),
        ("Reuse the scorer identity checks from #318.", True),
        ("The candidate is judged by the checker on the `dev` branch of acme/judges.", True),
        ("验收使用草稿 PR #318 中的校验脚本。", True),
        ("Candidates are verified with https://github.com/acme/judges/blob/main/check.py, our validator.", True),
        ("The local adaptation and CPU checks from #293 require independent qualification.", False),
        ("The validator of #318 was merged; we use it as merged.", False),
        (f"The validator of PR #318 is used at commit {SHA}.", False),
        ("Acceptance is decided by `compare.py` on the branch `dev`.", True),
        ("See #318 for the earlier campaign.", False),
        ("> Reuse the validator of draft #318.", False),
    ],
)
def test_the_issue(body: str, fires: bool) -> None:
    issue = Issue(5, "[Campaign]", f"{body}\n", User("mara", False), "open", (), (), ())
    assert bool(findings(RULE, snapshot({"README.md": "x"}, issue=issue))) == fires
