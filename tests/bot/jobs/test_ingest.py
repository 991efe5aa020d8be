"""From deliveries to what is wanted, and what is answered where that cannot be kept."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import socket
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.github.webhooks import Event
from bot.jobs.ingest import Inbox, delivery_of
from bot.server import application, serving
from bot.store import conversations
from bot.store.database import Database, open_database
from bot.store.inbox import Delivery, Want

HEAD = "a" * 40
HOME = {"repository": {"id": 5, "full_name": "acme/evidence"}, "installation": {"id": 7}, "sender": {"login": "ann", "type": "User"}}


def _delivery(name: str, me: str = "", **payload: Any) -> Delivery:
    return delivery_of(Event("d1", name, {**HOME, **payload}), me)


def _comment(body: str, **payload: Any) -> Delivery:
    comment = {"id": 2**40, "body": body, "user": {"login": "ann", "type": "User"}, "author_association": "OWNER", "updated_at": ""}
    return _delivery("issue_comment", action="created", issue={"number": 12, "pull_request": {}}, comment=comment, **payload)


def _run(**about: Any) -> Delivery:
    run = {"id": 1, "head_sha": HEAD, "external_id": "", "pull_requests": [], "check_suite": {"head_branch": "topic"}, **about}
    return _delivery("check_run", action="rerequested", check_run=run)


def test_a_push_wants_its_pull_after_it_has_settled() -> None:
    pull = {"number": 12, "head": {"sha": HEAD}, "base": {"ref": "main"}, "updated_at": "2026-11-30T10:00:00Z"}
    made = _delivery("pull_request", action="synchronize", pull_request=pull)
    assert made.wants == (Want("pull", 7, 5, "acme/evidence", 12, HEAD, "main", "synchronize", "2026-11-30T10:00:00Z"),)
    assert made.wants[0].settle and made.wants[0].key == "5#12"


def test_a_closed_pull_ends_what_runs() -> None:
    assert [want.closed for want in _delivery("pull_request", action="closed", pull_request={"number": 12}).wants] == [True]


def test_t21_what_the_bot_does_itself_wants_nothing() -> None:
    pull = {"number": 12, "head": {"sha": HEAD}}
    assert _delivery("pull_request", "ann", action="edited", pull_request=pull).wants == ()


@pytest.mark.parametrize("body", ["/assay rerun", "Thanks.\r\n\r\n/assay waive F1 known\r\n", "PTAL", "  /assay help"])
def test_a_comment_with_a_command_is_kept_and_does_not_wait(body: str) -> None:
    made = _comment(body)
    assert [one.body for one in made.said] == [body] and [want.settle for want in made.wants] == [False]


@pytest.mark.parametrize("body", ["Looks fine.", "see /assay rerun", "PTAL at this", "> /assay rerun", "    /assay rerun"])
def test_another_comment_is_nobodys_business(body: str) -> None:
    assert _comment(body).said == () and _comment(body).wants == ()


def test_our_check_run_names_its_conversation() -> None:
    assert [want.number for want in _run(external_id="5#12").wants] == [12]


def test_another_repositorys_conversation_is_not_believed() -> None:
    assert [want.kind for want in _run(external_id="6#12").wants] == ["head"]


def test_t30_a_run_that_names_no_pull_is_looked_up_by_its_head() -> None:
    assert [(want.kind, want.head, want.key) for want in _run().wants] == [("head", HEAD, f"5@head:{HEAD}")]


def test_a_run_on_the_merge_queue_wants_its_group() -> None:
    made = _run(check_suite={"head_branch": "gh-readonly-queue/release/1.0/pr-12-abc"})
    assert [(want.kind, want.base) for want in made.wants] == [("group", "release/1.0")]


# ---------------------------------------------------------------- keeping


async def test_deliveries_that_come_together_are_stored_together(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'assay.sqlite'}")
    inbox = Inbox(database)
    wants = [(Want("pull", 7, 5, "acme/evidence", number),) for number in range(1, 51)]
    taken = await asyncio.gather(*(inbox.take(Delivery(f"d{n % 40}", "pull_request", "opened", want)) for n, want in enumerate(wants)))
    assert taken.count(True) == 40 and len(conversations.to_wake(database)) == 40 and inbox.stored.is_set()
    database.close()


async def test_one_delivery_that_cannot_be_stored_does_not_fail_the_others(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'assay.sqlite'}")
    bad = Delivery("bad", "pull_request", "opened", (Want("pull", 2**70, 5, "acme/evidence", 1),))
    good = [Delivery(f"d{n}", "pull_request", "opened", (Want("pull", 7, 5, "acme/evidence", n + 1),)) for n in range(5)]
    inbox = Inbox(database)
    results = await asyncio.gather(*(inbox.take(one) for one in [*good[:2], bad, *good[2:]]), return_exceptions=True)
    assert [one is True for one in results] == [True, True, False, True, True, True]
    database.close()


async def test_a_read_only_database_is_no_acknowledgement(tmp_path: Path) -> None:
    path = tmp_path / "assay.sqlite"
    open_database(f"sqlite:///{path}").close()
    database = Database(f"sqlite:///{path}")
    with database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA query_only=ON")
    assert await _answered(database) == 503
    with database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA query_only=OFF")
    assert await _answered(database) == 202
    database.close()


async def _answered(database: Database) -> int:
    """The status of a signed delivery."""
    body = json.dumps({**HOME, "action": "opened", "pull_request": {"number": 12, "head": {"sha": HEAD}}}).encode()
    signature = "sha256=" + hmac.new(b"secret", body, hashlib.sha256).hexdigest()
    own = {"X-GitHub-Event": "pull_request", "X-GitHub-Delivery": "d1", "X-Hub-Signature-256": signature, "Content-Type": "application/json"}
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    app = application([b"secret"], Inbox(database).ingest)
    async with (
        serving(app, "127.0.0.1", port) as url,
        aiohttp.ClientSession() as session,
        session.post(f"{url}/webhook", data=body, headers=own) as answer,
    ):
        return answer.status
