"""Deliveries and what they want: once each, in any order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from bot.store import conversations, inbox, repositories
from bot.store.database import Database
from bot.store.inbox import Delivery, Presence, Said, Want

PUSH = Want("pull", 7, 5_000_000_001, "acme/evidence", 12, "a" * 40, "main", "synchronize", "2026-11-30T10:00:00Z")


def _push(id: str, **changes: object) -> Delivery:
    return Delivery(id, "pull_request", "synchronize", (replace(PUSH, **changes),))  # type: ignore[arg-type]


def test_t13_a_redelivery_changes_nothing(database: Database) -> None:
    assert inbox.take(database, [_push("d1")]) == [True]
    assert inbox.take(database, [_push("d1")]) == [False]
    assert conversations.version(database, PUSH.key) == 1


def test_t15_the_same_delivery_at_the_same_moment_counts_once(database: Database) -> None:
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _: inbox.take(database, [_push("d1")])[0], range(8)))
    assert sorted(taken) == [False] * 7 + [True]
    assert conversations.version(database, PUSH.key) == 1


def test_the_same_delivery_twice_in_one_batch_counts_once(database: Database) -> None:
    assert sorted(inbox.take(database, [_push("d1"), _push("d1"), _push("d2")])) == [False, True, True]
    assert conversations.version(database, PUSH.key) == 2


def test_many_deliveries_at_once_are_all_counted(database: Database) -> None:
    batches = [[_push(f"{n}-{m}", number=m % 3 + 1) for m in range(9)] for n in range(6)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda batch: inbox.take(database, batch), batches))
    assert [conversations.version(database, f"5000000001#{n}") for n in (1, 2, 3)] == [18, 18, 18]


def test_the_newest_head_counts_whatever_the_order_of_the_deliveries(database: Database) -> None:
    inbox.take(database, [_push("d2", head="b" * 40, at="2026-11-30T10:00:05Z")])
    inbox.take(database, [_push("d1")])
    wanted = conversations.current(database, PUSH.key)
    assert wanted and (wanted.head, wanted.version) == ("b" * 40, 1)


def test_what_an_event_does_not_tell_stays(database: Database) -> None:
    inbox.take(
        database, [_push("d1"), Delivery("d2", "check_run", "rerequested", (replace(PUSH, head="", base="", at="", reason="re-run", settle=False),))]
    )
    wanted = conversations.current(database, PUSH.key)
    assert wanted and (wanted.head, wanted.base, wanted.reason, wanted.version, wanted.settle) == ("a" * 40, "main", "re-run", 2, False)


def test_a_closed_pull_has_nothing_left_to_do_and_what_runs_is_out_of_date(database: Database) -> None:
    inbox.take(database, [_push("d1")])
    inbox.take(database, [_push("d2", closed=True, reason="closed")])
    wanted = conversations.current(database, PUSH.key)
    assert wanted and wanted.closed and (wanted.version, wanted.done) == (2, 2)
    assert conversations.to_wake(database) == ()
    inbox.take(database, [_push("d3", reason="reopened")])
    assert [one.version for one in conversations.to_wake(database)] == [3]


def test_what_is_woken_is_not_woken_again_until_more_is_wanted(database: Database) -> None:
    inbox.take(database, [_push("d1")])
    found = conversations.to_wake(database)
    inbox.take(database, [_push("d2")])
    conversations.note_woken(database, found)
    assert [one.version for one in conversations.to_wake(database)] == [2]


def test_carrying_out_an_older_version_leaves_the_newer_one_to_do(database: Database) -> None:
    inbox.take(database, [_push("d1"), _push("d2")])
    conversations.note_done(database, PUSH.key, 1)
    wanted = conversations.current(database, PUSH.key)
    assert wanted and (wanted.version, wanted.done) == (2, 1)
    conversations.note_done(database, PUSH.key, 2)
    conversations.note_done(database, PUSH.key, 1)
    wanted = conversations.current(database, PUSH.key)
    assert wanted and wanted.done == 2


def test_t46_commands_are_kept_in_their_order(database: Database) -> None:
    said = [Said(PUSH.key, 2**40 + n, "ann", "OWNER", f"/assay rerun {n}", None) for n in range(3)]
    for number, one in enumerate(said):
        inbox.take(database, [Delivery(f"d{number}", "issue_comment", "created", said=(one,))])
    waiting = conversations.waiting_commands(database, PUSH.key)
    assert [one.comment for one in waiting] == [one.comment for one in said]
    conversations.note_command(database, waiting[0].seq)
    assert len(conversations.waiting_commands(database, PUSH.key)) == 2


def test_a_suspended_installation_is_not_active(database: Database) -> None:
    assert conversations.is_active(database, 7)
    for id, active in (("d1", False), ("d2", True)):
        inbox.take(database, [Delivery(id, "installation", "", presence=(Presence(7, "acme", active),))])
        assert conversations.is_active(database, 7) is active


def test_a_repository_is_swept_once_in_a_while_by_one_worker(database: Database) -> None:
    seen = Presence(7, "", None, seen=((1, "acme/evidence"),))
    inbox.take(database, [Delivery("d1", "pull_request", "opened", presence=(seen,))])
    with ThreadPoolExecutor(4) as pool:
        found = [one for some in pool.map(lambda _: repositories.to_sweep(database, 600.0), range(4)) for one in some]
    assert [(one.id, one.backlog) for one in found] == [(1, None)]
    repositories.keep_backlog(database, 1, {3: "c" * 40})
    assert [one.backlog for one in repositories.to_sweep(database, 0.0)] == [{3: "c" * 40}]
    inbox.take(database, [Delivery("d2", "installation", "", presence=(Presence(7, "acme", False),))])
    assert repositories.to_sweep(database, 0.0) == ()
