"""Deliveries as values: signatures, headers, bodies, and what each event wants."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.github.webhooks import (
    BadDelivery,
    ClosePull,
    Command,
    Event,
    Installation,
    Nothing,
    Rerun,
    ReviewGroup,
    ReviewIssue,
    ReviewPull,
    event_of,
    events,
    looks_signed,
    verify,
    wishes,
)
from tests.bot.making import ROOT
from tests.twin.corpus import examples, folder
from tests.twin.server import ALWAYS
from tests.twin.state import APP_PERMISSIONS
from tests.twin_tests.stage import stage

BODY = b'{"action": "opened"}'
HEADERS = {"x-github-event": "pull_request", "x-github-delivery": "0-1", "content-type": "application/json"}
SHA = "a" * 40
HOME = {"installation": {"id": 3}, "repository": {"id": 4, "full_name": "o/r"}, "sender": {"login": "ann", "type": "User"}}


def sign(secret: bytes, body: bytes = BODY) -> str:
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


# ---------------------------------------------------------------- bytes


def test_signatures() -> None:
    assert verify([b"one"], BODY, sign(b"one")) and verify([b"new", b"old"], BODY, sign(b"old"))
    wrong = [
        None,
        "",
        "sha256=",
        sign(b"two"),
        sign(b"one").upper(),
        sign(b"one")[:-1],
        "sha1=" + "0" * 40,
        "sha256=" + "é" * 64,
        "\udcff",
        "sha256=é",
    ]
    assert not any(verify([b"one"], BODY, signature) for signature in wrong)
    assert not verify([b"one"], BODY + b" ", sign(b"one"))


def test_t45_an_empty_secret_or_none_verifies_nothing() -> None:
    assert not verify([], BODY, sign(b"")) and not verify([b""], BODY, sign(b""))


@given(st.text(max_size=80))
def test_no_signature_is_an_error(signature: str) -> None:
    assert not verify([b"one"], BODY, signature) and looks_signed(signature) in (True, False)


def test_an_event_is_read() -> None:
    assert event_of({**HEADERS, "content-type": "application/json; charset=utf-8"}, BODY) == Event("0-1", "pull_request", {"action": "opened"})


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"x-github-event": None}, BODY, 400),
        ({"x-github-event": "Pull Request\n"}, BODY, 400),
        ({"x-github-delivery": None}, BODY, 400),
        ({"x-github-delivery": "../../x"}, BODY, 400),
        ({"x-github-delivery": "é"}, BODY, 400),
        ({"content-type": None}, BODY, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, b"payload=%7B%7D", 415),
        ({}, BODY[:-1], 400),
        ({}, b"", 400),
        ({}, b"[]", 400),
        ({}, b"\xff\xfe{", 400),
        ({}, b"[" * 200_000, 400),
        ({}, b"9" * 10_000, 400),
    ],
)
def test_what_is_no_event(headers: dict[str, str | None], body: bytes, status: int) -> None:
    given = {key: value for key, value in {**HEADERS, **headers}.items() if value is not None}
    with pytest.raises(BadDelivery) as caught:
        event_of(given, body)
    assert caught.value.status == status and caught.value.sentence.endswith(".")


# ---------------------------------------------------------------- wishes


def want(name: str, me: str = "", **payload: Any) -> Any:
    found = wishes(Event("1", name, {**HOME, **payload}), me)
    assert len(found) == 1
    return found[0]


PULL = {"number": 7, "draft": True, "updated_at": "2026-11-01T09:00:00Z", "head": {"sha": SHA.upper()}, "base": {"ref": "main"}}


@pytest.mark.parametrize("action", ["opened", "synchronize", "reopened", "edited", "ready_for_review", "converted_to_draft"])
def test_a_pull_is_to_be_reviewed(action: str) -> None:
    wish = want("pull_request", action=action, pull_request=PULL, changes={"title": {"from": "x"}, "body": {"from": "y"}})
    assert wish == ReviewPull(3, 4, "o/r", 7, SHA, action, "main", True, "2026-11-01T09:00:00Z", "ann", ("body", "title"))


def test_t22_enterprise_server_omits_changes() -> None:
    assert want("pull_request", action="edited", pull_request=PULL).changes == ()
    comment = {"id": 1, "body": "/assay rerun", "user": {"login": "ann"}}
    assert want("issue_comment", action="edited", issue={"number": 7}, comment=comment).before == ""


def test_a_closed_pull_stops() -> None:
    assert want("pull_request", action="closed", pull_request={**PULL, "merged": True}) == ClosePull(3, 4, "o/r", 7, True, "2026-11-01T09:00:00Z")


def test_t28_a_comment_with_a_large_id() -> None:
    comment = {"id": 2**40, "body": "/assay status\r\n", "user": {"login": "ann", "type": "User"}, "author_association": "MEMBER", "updated_at": "t"}
    wish = want("issue_comment", action="created", issue={"number": 7, "pull_request": {}}, comment=comment)
    assert wish == Command(3, 4, "o/r", 7, True, 2**40, "ann", "MEMBER", "/assay status\r\n", None, "t")


def test_t21_the_bots_own_doings_and_other_bots_comments_want_nothing() -> None:
    mine = {"login": "assay[bot]", "type": "Bot"}
    assert isinstance(want("pull_request", "Assay[bot]", action="edited", pull_request=PULL, sender=mine), Nothing)
    assert isinstance(
        want("pull_request", "assay[bot]", action="edited", pull_request=PULL, sender={"login": "renovate[bot]", "type": "Bot"}), ReviewPull
    )
    comment = {"id": 1, "body": "/assay rerun", "user": {"login": "other[bot]", "type": "Bot"}}
    assert isinstance(want("issue_comment", action="created", issue={"number": 7}, comment=comment), Nothing)
    edited_by_bot = {"issue": {"number": 7}, "comment": {**comment, "user": {"login": "ann", "type": "User"}}, "sender": mine}
    assert isinstance(want("issue_comment", action="edited", **edited_by_bot), Nothing)


def test_t30_a_rerun_of_a_forks_head_names_no_pull_but_the_runs_own_note_does() -> None:
    run = {"id": 9, "head_sha": SHA, "external_id": "4#7", "pull_requests": [], "check_suite": {"head_branch": None}}
    assert want("check_run", action="rerequested", check_run=run) == Rerun(3, 4, "o/r", SHA, (), 9, "4#7", "", "ann")
    named = {**run, "pull_requests": [{"number": 7}, {"number": 8}]}
    assert want("check_run", action="rerequested", check_run=named).numbers == (7, 8)
    suite = {"head_sha": SHA, "head_branch": "topic", "pull_requests": []}
    assert want("check_suite", action="rerequested", check_suite=suite) == Rerun(3, 4, "o/r", SHA, (), None, "", "topic", "ann")


def test_buttons() -> None:
    run = {"id": 9, "head_sha": SHA}
    assert isinstance(want("check_run", action="requested_action", check_run=run, requested_action={"identifier": "rerun"}), Rerun)
    assert isinstance(want("check_run", action="requested_action", check_run=run, requested_action={"identifier": "other"}), Nothing)


def test_merge_groups_issues_and_installations() -> None:
    group = {"head_sha": SHA, "base_sha": "b" * 40, "head_ref": "refs/heads/gh-readonly-queue/main/pr-7-x", "base_ref": "refs/heads/main"}
    wish = want("merge_group", action="checks_requested", merge_group=group)
    assert wish == ReviewGroup(3, 4, "o/r", SHA, "gh-readonly-queue/main/pr-7-x", "b" * 40, "main")
    assert want("issues", action="opened", issue={"number": 5, "updated_at": "t"}) == ReviewIssue(3, 4, "o/r", 5, "opened", "t", "ann")
    installation = {"id": 3, "account": {"login": "o"}}
    repositories = [{"id": 4, "full_name": "o/r"}]
    assert want("installation", action="created", installation=installation, repositories=repositories).added == ((4, "o/r"),)
    assert want("installation", action="suspend", installation=installation, repositories=repositories) == Installation(3, "suspend", "o")
    moved = want("installation_repositories", action="removed", installation=installation, repositories_removed=repositories, repositories_added=[])
    assert moved == Installation(3, "removed", "o", (), ((4, "o/r"),))


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("pull_request", {"action": "labeled", "pull_request": PULL}),
        ("pull_request", {"action": ["opened"]}),
        ("pull_request", {}),
        ("ping", {"zen": "x"}),
        ("check_run", {"action": "completed"}),
        ("pull_request", {"action": "opened", "pull_request": None}),
        ("pull_request", {"action": "opened", "pull_request": {**PULL, "head": {"sha": "../x"}}}),
        ("pull_request", {"action": "opened", "pull_request": {**PULL, "number": True}}),
        ("pull_request", {"action": "opened", "pull_request": PULL, "repository": None}),
        ("pull_request", {"action": "opened", "pull_request": PULL, "installation": None}),
        ("check_run", {"action": "rerequested", "check_run": {"id": 9, "head_sha": SHA, "pull_requests": [{}]}}),
        ("installation", {"action": "created", "installation": None}),
    ],
)
def test_what_wants_nothing_says_why(name: str, payload: dict[str, Any]) -> None:
    found = want(name, **payload)
    assert isinstance(found, Nothing) and found.why


@pytest.mark.skipif(folder() is None, reason="npm's @octokit/webhooks-examples is not installed")
def test_every_example_of_the_corpus_is_read() -> None:
    """Every payload that GitHub documents, Enterprise Server's too. One that we listen to and cannot read lacks only the installation."""
    for name, payload in examples(enterprise=True):
        for wish in wishes(event_of({**HEADERS, "x-github-event": name}, json.dumps(payload).encode())):
            assert not isinstance(wish, Nothing) or "lacks" not in wish.why or wish.why.endswith("lacks installation.id"), (name, wish)


async def test_what_the_twin_delivers(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.pull.commit({"x": "1"})
        on.pull.comment("/assay help", "zoe")
        fork = on.repo.check_run(on.pull.head_sha, "assay")
        on.repo.rerequest(fork)
        on.pull.enqueue()
        seen = {type(wish) for event in on.twin.events for wish in wishes(Event("1", event.name, event.payload))}
        assert {ReviewPull, Command, Rerun, ReviewGroup, Installation} <= seen


# ---------------------------------------------------------------- the manifest


def test_the_manifest_asks_for_what_is_listened_to_and_no_more() -> None:
    manifest = yaml.safe_load((ROOT / "app.yml").read_text("utf-8"))
    assert manifest["default_events"] == [name for name in events() if name not in ALWAYS]
    assert manifest["default_permissions"] == APP_PERMISSIONS
