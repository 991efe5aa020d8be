from __future__ import annotations

from rules.core.config import Config
from rules.core.model import Unchecked
from rules.governance.label_suggested import RULE
from tests.talk import issue, pull
from tests.worlds import findings, run, snapshot

POLICY = [
    {"when": {"title": "^feat"}, "add": ["kind:feature"]},
    {"when": {"body": "(?i)urgent"}, "add": ["priority:high"], "requires": ["status:accepted", "status:proposed"]},
    {"when": {"paths": ["docs/**"], "title": "feat"}, "add": ["area:docs"]},
]
CONFIG = Config.model_validate({"labels": POLICY})


def suggested(title: str, body: str = "", labels: tuple[str, ...] = (), path: str = "docs/a.md") -> list[str]:
    held = snapshot({path: "x"}, base={"README.md": "x"}, pull=pull(body, title=title, labels=labels), config=CONFIG)
    return [dict(found.evidence)["label"] for found in findings(RULE, held)]


def test_every_key_of_when_must_hold() -> None:
    assert suggested("feat: x") == ["kind:feature", "area:docs"]
    assert suggested("feat: x", path="src/a.py") == ["kind:feature"]
    assert suggested("fix: x") == []


def test_labels_that_are_set_are_not_suggested() -> None:
    assert suggested("feat: x", labels=("KIND:feature", "area:docs", "other")) == []


def test_a_required_label_must_be_set_already() -> None:
    assert suggested("fix: x", "urgent") == []
    assert suggested("fix: x", "urgent", ("status:accepted",)) == ["priority:high"]


def test_a_withheld_label_is_named_beside_a_suggestion() -> None:
    held = snapshot({"README.md": "x"}, issue=issue("Urgent!", title="feat: x"), config=CONFIG)
    (found,) = findings(RULE, held)
    assert "No `priority:high`: it needs `status:accepted` or `status:proposed`" in found.problem
    assert found.numbered is False


def test_a_pattern_that_does_not_compile_is_not_checked() -> None:
    config = Config.model_validate({"labels": [{"when": {"title": "(a"}, "add": ["x"]}, {"when": {"title": "(?<=a)b"}, "add": ["x"]}]})
    items = run(RULE, snapshot({"README.md": "x"}, issue=issue(title="ab"), config=config))
    assert [type(item) for item in items] == [Unchecked, Unchecked]


def test_a_pattern_that_would_backtrack_is_harmless() -> None:
    config = Config.model_validate({"labels": [{"when": {"body": "(a+)+$"}, "add": ["x"]}]})
    assert findings(RULE, snapshot({"README.md": "x"}, issue=issue("a" * 60_000 + "!"), config=config)) == []
