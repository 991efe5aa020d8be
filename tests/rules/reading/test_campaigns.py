from __future__ import annotations

import pytest

from rules.reading.campaigns import bundles_of_issue, ids_of, issues_of, named_bundles, names
from rules.reading.layout import bundles
from tests.talk import issue
from tests.worlds import bundle, snapshot


@pytest.mark.parametrize(
    ("text", "found"),
    [("see h3-29.", True), ("`h3-29`", True), ("h3-293", False), ("x-h3-29", False), ("h3-29.json", False), ("evidence/h3-29/plan", True)],
)
def test_names_stand_alone(text: str, found: bool) -> None:
    assert names(text, "h3-29") is found


@pytest.mark.parametrize(
    "files",
    [
        {"plan/runspec.json": {"issue": 293}},
        {"plan/runspec.yaml": "trackingIssue: '#293'\n"},
        {"campaign.json": {"campaign": {"id": "camp", "issue": "https://github.com/acme/evidence/issues/293"}}},
        {"README.md": "# camp\n\nThe bundle of issue #293, eight devices.\n"},
        {"README.md": "# camp\n\nSee #12.\n\n**Tracking issue:** #293\n"},
    ],
)
def test_the_issue_of_a_bundle(files: dict[str, object]) -> None:
    held = snapshot(bundle(files), repository="acme/evidence")
    assert {stated.value for stated in issues_of(held, bundles(held)[0])} == {"293"}


def test_issues_of_other_repositories_are_not_its_own() -> None:
    held = snapshot(bundle({"plan/runspec.json": {"issue": "other/repo#293"}}), repository="acme/evidence")
    assert issues_of(held, bundles(held)[0]) == ()


def test_ids_stand_at_the_top_or_under_campaign() -> None:
    held = snapshot(bundle({"plan/runspec.json": {"campaign": {"id": "a"}}, "results/r.json": {"campaign_id": "b", "inner": {"campaign": "c"}}}))
    assert [stated.value for stated in ids_of(held, bundles(held)[0])] == ["a", "b"]


def test_the_bundles_of_an_issue() -> None:
    files = {
        **bundle({"plan/r.json": {"issue": 1}}, "a-1"),
        **bundle({"plan/r.json": {"x": 1}}, "b-2"),
        **bundle({"plan/r.json": {"issue": 3}}, "c-3"),
    }
    held = snapshot(files)
    said = issue("evidence/b-2, and the related evidence/c-3", number=1)
    assert [one.id for one, _ in bundles_of_issue(held, said)] == ["a-1", "b-2"]
    assert [one.id for one in named_bundles(held, said.body)] == ["b-2", "c-3"]
