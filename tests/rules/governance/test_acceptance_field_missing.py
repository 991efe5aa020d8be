from __future__ import annotations

import pytest

from rules.core.config import Config
from rules.core.model import Unchecked
from rules.governance.acceptance_field_missing import RULE
from tests.talk import issue
from tests.worlds import findings, run, snapshot

PATH = ".github/ISSUE_TEMPLATE/campaign.yml"
FORM = """name: Campaign
title: "[Campaign] "
labels: [campaign]
body:
  - type: input
    id: cid
    attributes: {label: Campaign identifier}
    validations: {required: true}
  - type: input
    id: candidate
    attributes: {label: Candidate commit}
    validations: {required: true}
  - type: textarea
    id: gates
    attributes: {label: Acceptance criteria, value: "- [ ] gate"}
    validations: {required: true}
  - type: input
    id: owner
    attributes: {label: Responsible person}
    validations: {required: true}
  - type: checkboxes
    id: agreed
    attributes: {label: Confirmations, options: [{label: Gates are frozen, required: true}, {label: other}]}
  - type: textarea
    id: end
    attributes: {label: When does it stop?}
    validations:
      required: true
"""
ANSWERS = {
    "Campaign identifier": "abc-12",
    "Candidate commit": "39ca157e14b2ed98799c330c0749052a72721eff",
    "Acceptance criteria": "- latency 30% lower",
    "Responsible person": "@lnovak",
    "Confirmations": "- [X] Gates are frozen\n- [ ] other",
    "When does it stop?": "After 40 h",
}


def body(**changes: str) -> str:
    return "\n\n".join(f"### {label}\n\n{text}" for label, text in {**ANSWERS, **changes}.items())


def missing(
    text: str, title: str = "[Campaign] x", labels: tuple[str, ...] = (), files: dict[str, object] | None = None, config: Config | None = None
) -> list[str]:
    held = snapshot(
        {"README.md": "x", **(files if files is not None else {PATH: FORM})}, issue=issue(text, title=title, labels=labels), config=config
    )
    return [dict(found.evidence)["field"] for found in findings(RULE, held)]


@pytest.mark.parametrize(
    "answer",
    ["_No response_", "TBD", "to be decided after bringup", "待定", "N/A", "-", "<owner>", "", "TBD by the requester", "@login", "<!-- who? -->"],
)
def test_a_placeholder_is_no_answer(answer: str) -> None:
    assert missing(body(**{"Responsible person": answer})) == ["Responsible person"]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"Candidate commit": "unselected, see plan/candidate.json"},
        {"Candidate commit": "Not yet selected"},
        {"Acceptance criteria": "## Latency\n\nat least 30%\n\n# Quality\n\nequal"},
        {"Acceptance criteria": "```yaml\nlatency: -30%\n```"},
    ],
)
def test_an_answer_is_an_answer(changes: dict[str, str]) -> None:
    assert missing(body(**changes)) == []
    assert missing(body(**changes).replace("\n", "\r\n")) == []


def test_prefilled_text_and_empty_boxes_are_no_answers() -> None:
    assert missing(body(**{"Acceptance criteria": "- [ ] gate"})) == ["Acceptance criteria"]
    assert missing(body(Confirmations="- [ ] Gates are frozen\n- [X] other")) == ["Confirmations"]


def test_free_forms_answer_under_other_headings() -> None:
    english = "Campaign: abc-12\n**Candidate revision:** 39ca157e14\n- Owner: @x\n- Gates: 30%\n- Stop rule: 40 h\n\n## Confirmations\n- [x] Gates are frozen"
    chinese = "## 活动编号\nabc-12\n\n## 候选提交\n39ca157e14\n\n## 验收标准\n延迟降低 30%\n\n## 负责人\n@x\n\n## 停止条件\n40 小时\n\n## Confirmations\n- [x] Gates are frozen"
    assert missing(english) == [] and missing(chinese) == []


def test_an_alias_of_the_config_answers() -> None:
    text = body().replace("When does it stop?", "Horizon")
    assert missing(text) == ["When does it stop?"]
    assert missing(text, config=Config.model_validate({"forms": {"aliases": {"end": ["Horizon"]}}})) == []


def test_the_form_applies_by_label_prefix_or_headings_only() -> None:
    assert len(missing("hello", title="Decode", labels=("campaign",))) == 6
    assert len(missing("hello", title="[campaign] Decode")) == 6
    assert missing(body(**{"Responsible person": "-"}), title="Decode") == ["Responsible person"]
    assert missing("hello", title="Bug", labels=("bug",)) == []


def test_a_broken_form_is_not_checked() -> None:
    held = snapshot({PATH: "labels: [campaign]\ntitle: '[Campaign] '\n"}, issue=issue("hello", title="[Campaign] x"))
    assert [type(item) for item in run(RULE, held)] == [Unchecked]


def test_without_a_form_a_campaign_declares_six_things() -> None:
    assert len(missing("hello", files={})) == 6
    assert len(missing("hello", title="x", labels=("kind:acceptance",), files={})) == 6
    assert missing("hello", title="Fix a typo in the campaign guide", files={}) == []
    assert "Candidate revision" in missing("Candidate sources, not qualified results:\n\n- a list", files={})


def test_the_campaigns_own_bundle_answers_three_of_them() -> None:
    own: dict[str, object] = {
        "evidence/abc-12/plan/runspec.json": {"campaign_id": "abc-12", "issue": 320},
        "evidence/abc-12/plan/gates.json": {"gates": []},
    }
    other: dict[str, object] = {"evidence/abc-12/plan/runspec.json": {"campaign_id": "abc-12", "tracking_issue": "#99"}}
    assert missing("Nothing here", files=own) == ["Candidate revision", "Owner", "Stop condition"]
    assert len(missing("See evidence/abc-12 of #99", files=other)) == 6


def test_the_forms_line_is_the_norm() -> None:
    (found,) = findings(RULE, snapshot({PATH: FORM}, issue=issue(body(**{"When does it stop?": "TBD"}), title="[Campaign] x")))
    assert [(at.path, at.role) for at in found.locations] == [("issue:body", "claim"), (PATH, "norm")]
    assert found.locations[1].line == len(FORM.splitlines()) and found.locations[0].line == 22
