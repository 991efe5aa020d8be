from __future__ import annotations

import pytest

from rules.core.model import Severity
from rules.reading.pins import head_pins
from rules.status.head_pin_stale import RULE
from tests.talk import HEAD, OLD, issue, pull
from tests.worlds import MemoryTree, findings, snapshot, tree

OWN = "acme/evidence"


@pytest.mark.parametrize(
    "sentence",
    [
        f"Draft #7 ({OLD[:8]}) publishes the baseline.",
        f"Current head: {OLD}",
        f"Head | {OLD[:10]}",
        f"Reviewed at {OLD[:8]}.",
        f"当前 head 为 {OLD[:8]}。",
        f"The evidence in pull request #7 at {OLD[:8]} is what this issue describes.",
        f"{OLD[:8]} is the current head of #7.",
        f"The receipts of #7 are reviewed at {OLD}, which is its head.",
        f"HEAD: https://github.com/{OWN}/commit/{OLD}",
    ],
)
def test_what_is_called_the_head(sentence: str) -> None:
    assert [pin.sha for pin in head_pins(sentence, OWN)] in ([OLD], [OLD[:8]], [OLD[:10]])


@pytest.mark.parametrize(
    "sentence",
    [
        f"base = {OLD[:8]}",
        f"vllm-project/vllm-omni#9698 head {OLD[:8]}",
        f"The engine runs on {OLD[:8]}.",
        f"Reviewed at {OLD[:8]} on 2026-11-01; new commits followed.",
        f"At that time the head was {OLD[:8]}.",
        f"The head moved from {OLD[:8]} to the present one.",
        f"The previous head {OLD[:8]} lacked the receipts.",
        f"Candidate revision: {OLD[:8]}",
        f"See 663f3b32..{OLD[:8]} for the diff.",
        f"Fixed in {OLD[:8]}.",
        f"head: sha256:{'d' * 64}",
    ],
)
def test_other_roles_and_dated_history(sentence: str) -> None:
    assert list(head_pins(sentence, OWN)) == []


class _History:
    """A history that knows the old revision's tree."""

    complete = True

    def __init__(self, old: MemoryTree) -> None:
        self._old = old

    def tree(self, commit: str) -> MemoryTree | None:
        return self._old if OLD.startswith(commit) else None


@pytest.mark.parametrize(("before", "severity"), [("changed", Severity.MEDIUM), ("same", Severity.LOW)])
def test_a_cited_path_that_changed_weighs_more(before: str, severity: Severity) -> None:
    body = f"Draft #7 (head `{OLD[:8]}`) publishes `evidence/a/results/r.json`."
    held = snapshot(
        {"evidence/a/results/r.json": "same", "README.md": "new"},
        pull=pull(),
        issue=issue(body, linked=(pull(),)),
        history=_History(tree({"evidence/a/results/r.json": before})),
    )
    (found,) = findings(RULE, held)
    assert found.severity is severity and found.locations[0].line == 1


def test_the_present_head_and_unknown_pulls_are_silent() -> None:
    body = f"Draft #7 ({HEAD[:8]}) publishes it. #99 (head {OLD[:8]}) is another pull."
    assert findings(RULE, snapshot({"README.md": "x"}, pull=pull(), issue=issue(body, linked=(pull(),)))) == []
