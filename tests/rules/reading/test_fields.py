from __future__ import annotations

import pytest

from rules.reading.fields import concept, is_blank, parts


def test_headings_lines_rows_and_open_labels_are_parts() -> None:
    body = "## Plan\n\ntext\n\n- **Owner** — @x\nStop rule: 40 h\n| Gate | 30% |\nGates:\n- a\n- b\n\n```\n# no heading\nKey: value\n```\n<!--\n# hidden\n-->"
    assert [(part.label, part.line, part.text) for part in parts(body) if not part.level] == [
        ("Owner", 5, "@x"),
        ("Stop rule", 6, "40 h"),
        ("Gate", 7, "30%"),
        ("Gates", 8, "- a\n- b"),
    ]
    assert [part.label for part in parts(body) if part.level] == ["Plan"]


def test_headings_inside_a_rendered_answer_end_nothing() -> None:
    body = "### Gates\n\n# Latency\n\n30%\n\n### Owner\n\n@x"
    first = parts(body, ["Gates", "Owner"])[0]
    assert (first.first, first.last) == (3, 5)
    assert parts(body)[0].text == ""


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Campaign ID", "campaign_id"),
        ("活动编号", "campaign_id"),
        ("Evidence directory", "evidence_path"),
        ("Candidate commit (full)", "candidate"),
        ("Original source baseline", "baseline"),
        ("Acceptance criteria", "gates"),
        ("验收标准", "gates"),
        ("Acceptance owner", "acceptance_owner"),
        ("Accountable owner", "owner"),
        ("Abort criteria", "stop"),
        ("Acceptance plan", None),
        ("Candidate sources, not qualified results", None),
    ],
)
def test_concepts(label: str, name: str | None) -> None:
    assert concept(label) == name


def test_nothing_answers_a_declaration_but_may_answer_else() -> None:
    assert is_blank("None", "stop") and not is_blank("None")
    assert not is_blank("TBD: see plan/gates.json", "gates")
