"""Heartbeats: who is dead, and that one alone takes over."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import sqlalchemy as sa

from bot.store import executors
from bot.store.database import Database
from bot.store.executors import Executor, myself
from bot.store.models import executors as table


def _elsewhere(name: str) -> Executor:
    return Executor(name, "worker", f"machine of {name}", "1@1")


def _silent(database: Database, id: str, seconds: float) -> None:
    with database.write() as connection:
        connection.execute(sa.update(table).where(table.c.id == id).values(beat=table.c.beat - seconds))


def test_one_that_has_not_beaten_for_30_seconds_is_dead(database: Database) -> None:
    me, other = myself("worker"), _elsewhere("other")
    for one in (me, other):
        executors.join(database, one)
    _silent(database, "other", 29)
    assert executors.claim_dead(database, me) == ()
    _silent(database, "other", 2)
    assert executors.claim_dead(database, me) == ("other",)


def test_whose_jobs_were_taken_over_may_write_no_more(database: Database) -> None:
    me, other = myself("worker"), _elsewhere("other")
    for one in (me, other):
        executors.join(database, one)
    assert executors.beat(database, other)
    _silent(database, "other", 31)
    executors.claim_dead(database, me)
    assert not executors.beat(database, other)
    # It may have taken another job before it knew.
    assert executors.claim_dead(database, me) == ("other",)
    executors.bury(database)
    assert executors.claim_dead(database, me) == ("other",)
    _silent(database, "other", 4_000)
    executors.bury(database)
    assert executors.claim_dead(database, me) == ()
    assert not executors.beat(database, other)


def test_one_alone_takes_over(database: Database) -> None:
    many = [_elsewhere(f"e{n}") for n in range(6)]
    for one in (*many, _elsewhere("dead")):
        executors.join(database, one)
    _silent(database, "dead", 60)
    with ThreadPoolExecutor(6) as pool:
        claims = list(pool.map(lambda one: executors.claim_dead(database, one), many))
    assert sorted(claims) == [()] * 5 + [("dead",)]


def test_who_dies_while_taking_over_is_taken_over_with_all_it_had(database: Database) -> None:
    me = myself("worker")
    for one in (me, _elsewhere("first"), _elsewhere("second")):
        executors.join(database, one)
    _silent(database, "first", 60)
    assert executors.claim_dead(database, _elsewhere("second")) == ("first",)
    assert executors.claim_dead(database, me) == ()
    _silent(database, "second", 60)
    assert executors.claim_dead(database, me) == ("first", "second")


def test_a_process_of_this_machine_that_has_ended_is_dead_at_once(database: Database) -> None:
    me = myself("worker")
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    name = executors.process_name(process.pid)
    assert name
    other = replace(me, id="other", process=name)
    for one in (me, other):
        executors.join(database, one)
    assert executors.claim_dead(database, me) == ()
    process.kill()
    process.wait()
    assert executors.claim_dead(database, me) == ("other",)


def test_who_leaves_in_order_can_be_taken_over_at_once(database: Database) -> None:
    me, other = myself("worker"), _elsewhere("other")
    for one in (me, other):
        executors.join(database, one)
    executors.leave(database, other)
    assert executors.claim_dead(database, me) == ("other",)
    assert [one[0] for one in executors.living(database)] == [me.id]
