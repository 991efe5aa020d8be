"""Who is at work: one row with a heartbeat per process. A row that has not beaten for 30 s is dead, and exactly one other takes its jobs over."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

import sqlalchemy as sa

from bot.store.database import Database, now
from bot.store.models import executors

BEAT = 5.0
DEAD_AFTER = 30.0
FORGOTTEN_AFTER = 3_600.0


@dataclass(frozen=True, slots=True)
class Executor:
    """This process, as others see it."""

    id: str
    role: str
    place: str
    process: str


def myself(role: str) -> Executor:
    """A new identity; it is never used twice, so a restarted process does not take its own old jobs for running ones."""
    return Executor(f"{socket.gethostname()[:60]}-{os.getpid()}-{uuid4().hex[:12]}", role, _place(), process_name(os.getpid()) or str(os.getpid()))


def join(database: Database, me: Executor) -> None:
    with database.write() as connection:
        at = now(connection)
        row = {"id": me.id, "role": me.role, "place": me.place, "process": me.process, "started": at, "beat": at}
        connection.execute(sa.insert(executors).values(row))


def beat(database: Database, me: Executor) -> bool:
    """Show that this process lives. False when another has taken its jobs over: from then on it may write nothing."""
    with database.write() as connection:
        mine = sa.update(executors).where(executors.c.id == me.id, executors.c.taken_by.is_(None)).values(beat=now(connection))
        return connection.execute(mine).rowcount == 1


def leave(database: Database, me: Executor) -> None:
    """This process ends in order; what it leaves undone can be taken over at once."""
    with database.write() as connection:
        connection.execute(sa.update(executors).where(executors.c.id == me.id).values(beat=now(connection) - DEAD_AFTER - 1.0))


def claim_dead(database: Database, me: Executor) -> tuple[str, ...]:
    """The dead whose jobs are this process's to take over, now and from now on. Those that a since deceased process had claimed are among them."""
    with database.write() as connection:
        before = now(connection) - DEAD_AFTER
        rows = connection.execute(sa.select(executors).where(executors.c.id != me.id)).mappings().all()
        dead = {row["id"]: row["taken_by"] for row in rows if row["beat"] < before or (row["place"] == me.place and is_gone(row["process"], me))}
        mine = [id for id, taker in dead.items() if taker is None or taker in dead or taker == me.id or taker not in {row["id"] for row in rows}]
        claimed = [id for id in sorted(mine) if _claim(connection, id, dead[id], me.id)]
        return tuple(claimed)


def _claim(connection: sa.Connection, id: str, seen: str | None, mine: str) -> bool:
    """Put our name down, unless somebody was quicker."""
    unchanged = executors.c.taken_by.is_(None) if seen is None else executors.c.taken_by == seen
    return connection.execute(sa.update(executors).where(executors.c.id == id, unchanged).values(taken_by=mine)).rowcount == 1


def bury(database: Database) -> None:
    """Forget who has been dead for long. Until then it is looked after: one that only stood still may take another job before it knows."""
    with database.write() as connection:
        connection.execute(sa.delete(executors).where(executors.c.beat < now(connection) - FORGOTTEN_AFTER, executors.c.taken_by.isnot(None)))


def living(database: Database) -> tuple[tuple[str, str, float], ...]:
    """(id, role, seconds since the last beat) of every process that counts as alive."""
    with database.read() as connection:
        at = now(connection)
        rows = connection.execute(sa.select(executors.c.id, executors.c.role, executors.c.beat).where(executors.c.beat >= at - DEAD_AFTER))
        return tuple((row.id, row.role, at - row.beat) for row in rows)


# ---------------------------------------------------------------- processes of this machine


@lru_cache(maxsize=1)
def _place() -> str:
    """The kernel's boot and the process namespace: within one of them a process id tells who lives. "" where that cannot be told."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def process_name(pid: int) -> str | None:
    """The process id and the tick at which it started (proc(5), field 22 of stat), which no other process has had. None where there is none."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if after_name[0] in ("Z", "X") else f"{pid}@{after_name[19]}"


def is_gone(process: str, me: Executor) -> bool:
    """Whether a process of this place has ended for certain."""
    pid, _, start = process.partition("@")
    return bool(me.place and start and pid.isdigit()) and process_name(int(pid)) != process
