"""The inventory and the bundles: bundle-unregistered, inventory-count-stale."""

import pytest

from rules.core.config import Config
from rules.core.model import Finding, Merge, Severity, Unchecked
from rules.integrity.bundle_unregistered import RULE as UNREGISTERED
from rules.integrity.inventory_count_stale import RULE as COUNT
from tests.worlds import bundle, findings, run, snapshot, tree

PATH = "tools/evidence_inventory.json"
D = "ab" * 32


def inventory(*ids: str, **more: object) -> dict[str, object]:
    return {PATH: {"bundles": [{"id": id, "path": f"evidence/{id}"} for id in ids], **more}}


def held(*ids: str) -> dict[str, object]:
    return {path: value for id in ids for path, value in bundle({"README.md": "x"}, id).items()}


# ---------------------------------------------------------------- bundle-unregistered


def test_a_directory_without_an_entry_and_an_entry_without_a_directory() -> None:
    found = findings(UNREGISTERED, snapshot({**inventory("a", "gone"), **held("a", "b")}))
    assert [one.title for one in found] == ["The bundle b is not in the inventory", "The inventory lists gone, and there is no such directory"]
    assert {one.severity for one in found} == {Severity.BLOCKING} and {one.roots for one in found} == {("inventory",)}
    assert found[1].locations[0].pointer == "/bundles/1" and all(one.searched for one in found)


def test_nothing_is_said_where_both_agree_or_the_config_says_so() -> None:
    assert findings(UNREGISTERED, snapshot({**inventory("a"), **held("a")})) == []
    ignored = Config.model_validate({"ignore": ["templates"]})
    assert findings(UNREGISTERED, snapshot({**inventory("a"), **held("a", "templates")}, config=ignored)) == []
    off = Config.model_validate({"roots": [{"inventory": None}]})
    assert run(UNREGISTERED, snapshot(held("a"), config=off)) == []


def test_an_inventory_that_cannot_be_used_or_is_not_there_is_not_checked() -> None:
    assert [type(item) for item in run(UNREGISTERED, snapshot({PATH: "[[]", **held("a")}))] == [Unchecked]
    (item,) = run(UNREGISTERED, snapshot(held("a", "b")))
    assert isinstance(item, Unchecked) and PATH in item.why


def test_a_pull_answers_for_its_own_bundles_and_entries() -> None:
    base = {**inventory("a", "lost"), **held("a", "old")}
    assert findings(UNREGISTERED, snapshot({**base, "docs/x.md": "x"}, base=base)) == []
    added = findings(UNREGISTERED, snapshot({**base, **held("new")}, base=base))
    assert [one.title for one in added] == ["The bundle new is not in the inventory"]
    removed = findings(UNREGISTERED, snapshot({path: value for path, value in base.items() if "/a/" not in path}, base=base))
    assert [one.evidence[0][1] for one in removed] == ["evidence/a"]


def test_next_asks_for_nothing_dishonest() -> None:
    (found,) = findings(UNREGISTERED, snapshot({**inventory(), **held("b")}))
    assert "do not invent hashes" in found.next and "external" in found.next


# ---------------------------------------------------------------- inventory-count-stale


def counts(files: dict[str, object], **more: object) -> list[tuple[str, str, Severity]]:
    found = findings(COUNT, snapshot(files, **more))  # type: ignore[arg-type]
    return [(one.locations[0].path, dict(one.evidence)["declared"], one.severity) for one in found]


def test_declared_counts_of_the_inventory() -> None:
    files = {**inventory("a", "b", bundle_count=2, hash_count=1), **held("a", "b"), **bundle({"m.json": {"files": {"README.md": D}}}, "a")}
    assert counts(files) == []
    files[PATH] = {**files[PATH], "bundle_count": 3, "hash_count": 2}  # type: ignore[dict-item]
    assert counts(files) == [(PATH, "3", Severity.BLOCKING), (PATH, "2", Severity.BLOCKING)]


def test_only_registered_bundles_count_for_hashes_and_all_directories_for_bundles() -> None:
    files = {**inventory("a", bundle_count=2, hash_count=0), **held("a", "b"), **bundle({"m.json": {"files": {"README.md": D}}}, "b")}
    assert counts(files) == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ('    assert len(report["bundles"]) == 3', True),
        ('    assert len(report["bundles"]) == 2', False),
        ("    assert 3 == len(inventory.bundles)", True),
        ('    self.assertEqual(len(data["bundles"]), 3)', True),
        ("    expected_bundles = 3", True),
        ("    # assert len(bundles) == 3", False),
        ("    assert len(rows) == 3", False),
        ("    assert len(bundles) >= 3", False),
    ],
)
def test_what_the_inventory_s_test_expects(line: str, wrong: bool) -> None:
    files = {**inventory("a", "b"), **held("a", "b"), "tests/test_evidence_inventory.py": f"def test_it():\n{line}\n"}
    assert [severity for _, _, severity in counts(files)] == [Severity.BLOCKING] * wrong


def test_a_test_of_made_up_bundles_expects_nothing() -> None:
    text = "def test_made(tmp_path):\n    (tmp_path / 'x').write_text('')\n    assert len(bundles) == 7\n"
    assert counts({**inventory("a"), **held("a"), "tests/test_evidence_inventory.py": text}) == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("There are 22 bundles.", True),
        ("The archive holds two bundles.", False),
        ("共 9 个证据包。", True),
        ("At that time there were 22 bundles.", False),
        ("This pull adds 3 more bundles.", False),
        ("> There are 22 bundles.", False),
        ("Up to 22 bundles are read.", False),
    ],
)
def test_what_documents_state(text: str, wrong: bool) -> None:
    found = counts({**inventory("a", "b"), **held("a", "b"), "docs/archive.md": f"# Archive\n\n{text}\n"})
    assert [severity for _, _, severity in found] == [Severity.LOW] * wrong


def test_on_the_merge_two_raised_counts_are_one_too_few() -> None:
    base = {**inventory("a", bundle_count=1), **held("a")}
    head = {**inventory("a", "b", bundle_count=2), **held("a", "b")}
    merged = tree({**inventory("a", "b", "c", bundle_count=2), **held("a", "b", "c")})
    (found,) = run_count(head, base, Merge(True, merged))
    assert isinstance(found, Finding) and "which is right at head" in found.problem and "there are 3" in found.problem
    (conflict,) = [item for item in run_count(head, base, Merge(False, None, (PATH,))) if isinstance(item, Unchecked)]
    assert PATH in conflict.why


def run_count(head: dict[str, object], base: dict[str, object], merge: Merge) -> list[object]:
    return [item for item in run(COUNT, snapshot(head, base=base, merge=merge)) if isinstance(item, (Finding, Unchecked))]


def test_a_pull_that_touches_none_of_it_is_not_asked() -> None:
    base = {**inventory("a", bundle_count=9), **held("a")}
    assert run(COUNT, snapshot({**base, "src/x.py": "x"}, base=base)) == []
