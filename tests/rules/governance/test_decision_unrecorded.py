from __future__ import annotations

import pytest

from rules.core.config import Config
from rules.core.model import Unchecked
from rules.governance.decision_unrecorded import RULE
from tests.talk import comment, issue, pull
from tests.worlds import findings, run, snapshot

WANTS = "The requester asks for at least 30% lower latency."


def fires(body: str, *comments: object, config: Config | None = None) -> bool:
    return bool(findings(RULE, snapshot({"README.md": "x"}, issue=issue(body, comments=comments), config=config)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body",
    [
        WANTS,
        "As requested by the product owner, the campaign is limited to two cards.",
        "需求方要求首包延迟降低至少 30%。",
        "最终验收由需求方决定。",
        "The stop condition was set by the requester: forty device hours.",
        "Acceptance owner: the maintainers",
        "Final sign-off lies with the platform team.",
        "Per the requester's instruction we only use four devices.",
        "Scope (as given by the requester): four devices only.",
        "The 12 ms target comes from the requester.",
    ],
)
def test_a_decision_in_somebody_elses_mouth_needs_a_record(body: str) -> None:
    assert fires(body)


@pytest.mark.parametrize(
    "body",
    [
        "Acceptance owner: @mkessler",
        "The requester has not decided on a target yet.",
        "We need the requester to confirm the target of 30%.",
        "The target of 30% is my proposal; the requester must still accept it.",
        "No requester decision is recorded for the 30% target.",
        "Pending requester decision: 30% target.",
        "The requester asks how the figures were obtained.",
        "The client sends a request every 200 ms and expects an answer.",
        "> The requester selected four devices.",
    ],
)
def test_what_is_not_attributed_needs_none(body: str) -> None:
    assert not fires(body)


@pytest.mark.parametrize(
    ("said", "recorded"),
    [
        ("I confirm the 30% target.", True),
        ("Accepted as described.", True),
        ("同意，目标为至少降低 30%。", True),
        ("Please rebase on main.", False),
        ("I want at least 20% lower latency.", False),
        ("I did not ask for 30%; nothing is agreed.", False),
        ("Why 30%?", False),
    ],
)
def test_a_comment_records_what_it_states(said: str, recorded: bool) -> None:
    assert fires(WANTS, comment(said)) is not recorded


def test_bots_authors_and_strangers_record_nothing() -> None:
    said = "Target of 30% accepted."
    assert fires(WANTS, comment(said, "ci[bot]", is_bot=True), comment(said, "author"), comment(said, "passer", "NONE"))


def test_a_configured_login_outranks_the_association() -> None:
    config = Config.model_validate({"decisions": {"requesters": ["Kim"]}})
    assert fires(WANTS, comment("Target of 30% accepted."), config=config)
    assert not fires(WANTS, comment("Target of 30% accepted.", "kim", "NONE"), config=config)


def test_a_linked_comment_elsewhere_is_not_checked() -> None:
    body = f"{WANTS} See https://github.com/acme/evidence/issues/9#issuecomment-5."
    items = run(RULE, snapshot({"README.md": "x"}, issue=issue(body), repository="acme/evidence"))
    assert [type(item) for item in items] == [Unchecked]


def test_the_finding_waits_for_a_person_and_says_what_was_searched() -> None:
    held = snapshot({"README.md": "x"}, issue=issue(WANTS, comments=(comment("review", is_bot=True),), linked=(pull(),)))
    (found,) = findings(RULE, held)
    assert found.decision == "human" and found.roots == ("decision",)
    assert found.searched == "1 comment (1 by bots), 1 cross-reference of #320"
    assert found.next.endswith("Neither the author nor a bot should record this.")
