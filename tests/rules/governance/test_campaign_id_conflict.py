from __future__ import annotations

import pytest

from rules.governance.campaign_id_conflict import RULE
from tests.talk import issue, pull
from tests.worlds import findings, snapshot

OLD: dict[str, object] = {"evidence/a-1/plan/runspec.json": {"campaign_id": "a-1", "issue": 1}}


@pytest.mark.parametrize(
    "body",
    [
        "Campaign ID: a-1",
        "### Campaign identifier\n\n`A-1`",
        "Evidence directory: evidence/a-1/",
        "活动编号：a-1",
        "The evidence lives in `evidence/a-1/`, campaign id `a-1`.",
    ],
)
def test_an_issue_cannot_take_the_id_of_another(body: str) -> None:
    assert len(findings(RULE, snapshot(OLD, issue=issue(body, number=2)))) == 1
    assert findings(RULE, snapshot(OLD, issue=issue(body, number=1))) == []


def test_related_work_and_longer_ids_are_no_conflict() -> None:
    assert findings(RULE, snapshot(OLD, issue=issue("Campaign ID: a-12\n\nRelated: `evidence/a-1` of #1", number=2))) == []


def test_the_owner_of_a_bundle_is_read_from_readme_and_inventory() -> None:
    readme = {"evidence/a-1/README.md": "# a-1\n\nTracking issue: #1\n"}
    listed = {"tools/evidence_inventory.json": {"bundles": [{"id": "a-1", "path": "evidence/a-1", "issue": 1}]}, "evidence/a-1/README.md": "x"}
    for files in (readme, listed):
        assert findings(RULE, snapshot(files, issue=issue("Campaign ID: a-1", number=2)))
    assert findings(RULE, snapshot({"evidence/a-1/README.md": "# a-1\n"}, issue=issue("Campaign ID: a-1", number=2))) == []


@pytest.mark.parametrize(
    ("record", "conflict"),
    [
        ({"campaign": {"id": "a-1"}, "tracking_issue": "#2"}, True),
        ({"campaign_id": "b-2", "evidence_path": "evidence/a-1"}, True),
        ({"campaign_id": "b-2", "related_campaign": "a-1"}, False),
        ({"campaign_id": "a-1", "issue": 1}, False),
    ],
)
def test_a_record_copied_from_another_bundle(record: dict[str, object], conflict: bool) -> None:
    held = snapshot({**OLD, "evidence/b-2/plan/runspec.json": record}, base=OLD)
    assert bool(findings(RULE, held)) is conflict


def test_two_bundles_of_one_declared_id() -> None:
    def both(second: int) -> dict[str, object]:
        return {f"evidence/{name}/plan/runspec.json": {"campaign_id": "z-9", "issue": n} for name, n in (("a-1", 1), ("b-2", second))}

    assert findings(RULE, snapshot(both(2))) and not findings(RULE, snapshot(both(1)))


@pytest.mark.parametrize(
    ("entries", "conflict"), [((("x", "a-1"), ("x", "b-2")), True), ((("x", "a-1"), ("y", "a-1")), True), ((("x", "a-1"), ("y", "b-2")), False)]
)
def test_the_inventory_lists_an_id_and_a_path_once(entries: tuple[tuple[str, str], ...], conflict: bool) -> None:
    inventory = {"bundles": [{"id": id, "path": f"evidence/{name}"} for id, name in entries]}
    files = {**OLD, "evidence/b-2/plan/protocol.json": {"a": 1}, "tools/evidence_inventory.json": inventory}
    assert bool(findings(RULE, snapshot(files))) is conflict


@pytest.mark.parametrize(("number", "conflict"), [(1, True), (2, False)])
def test_a_linked_pull_uses_the_id_for_another_issue(number: int, conflict: bool) -> None:
    held = snapshot({"README.md": "x"}, issue=issue("Campaign ID: a-1", number=2, linked=(pull(f"Bundle evidence/a-1 for #{number}", number=8),)))
    assert bool(findings(RULE, held)) is conflict


def test_one_contested_id_is_one_finding_with_all_places() -> None:
    files = {**OLD, "evidence/b-2/plan/runspec.json": {"campaign_id": "a-1", "issue": 2}}
    (found,) = findings(RULE, snapshot(files, issue=issue("### Campaign ID\n\na-1\n\n### Evidence path\n\nevidence/b-2/", number=2)))
    assert {place.path for place in found.locations} == {"issue:body", "evidence/a-1/plan/runspec.json", "evidence/b-2/plan/runspec.json"}
    assert "#1" in found.problem and "evidence/b-2" in found.problem


def test_two_contested_ids_are_two_findings() -> None:
    files = {**OLD, "evidence/c-3/plan/runspec.json": {"campaign_id": "c-3", "issue": 3}}
    body = "Campaign ID: a-1\n\nEvidence path: evidence/c-3/"
    assert len(findings(RULE, snapshot(files, issue=issue(body, number=2)))) == 2
