"""What is wanted of each conversation: which have no wake-up yet, the newest version of one, and that a version was carried out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Row

from bot.store.database import Database, now
from bot.store.inbox import Want, ask
from bot.store.models import commands, conversations, installations


@dataclass(frozen=True, slots=True)
class Wanted:
    """The newest state of one conversation. `version` counts what was asked, `done` what was carried out; times are the database's.

    `woken` above `begun`: a wake-up is in the queue that will see the newest version, whatever that is then.
    """

    key: str
    kind: str
    installation: int
    repository: int
    full_name: str
    number: int
    head: str
    base: str
    reason: str
    closed: bool
    version: int
    woken: int
    begun: int
    done: int
    settle: bool
    first_at: float
    changed_at: float
    starts: int


@dataclass(frozen=True, slots=True)
class Command:
    """One comment with commands that have not run; `seq` is their order."""

    seq: int
    comment: int
    login: str
    association: str
    body: str
    before: str | None


def to_wake(database: Database, most: int = 200) -> tuple[Wanted, ...]:
    """Conversations whose newest version has no wake-up in the queue."""
    query = sa.select(conversations).where(conversations.c.woken < conversations.c.wanted).order_by(conversations.c.changed_at).limit(most)
    with database.read() as connection:
        return tuple(_wanted(row) for row in connection.execute(query))


def unfinished(database: Database, older_than: float, most: int = 200) -> tuple[Wanted, ...]:
    """Conversations that were woken more than `older_than` seconds ago and are not carried out: their wake-up may be lost."""
    old = conversations.c
    with database.read() as connection:
        before = now(connection) - older_than
        query = sa.select(conversations).where(old.done < old.wanted, old.woken >= old.wanted, old.changed_at < before).limit(most)
        return tuple(_wanted(row) for row in connection.execute(query))


def waiting(database: Database) -> int:
    """Of how many conversations something is wanted that is not carried out."""
    with database.read() as connection:
        return connection.execute(sa.select(sa.func.count()).where(conversations.c.done < conversations.c.wanted)).scalar_one()


def current(database: Database, key: str) -> Wanted | None:
    """The newest state of the conversation `key`."""
    with database.read() as connection:
        row = connection.execute(sa.select(conversations).where(conversations.c.key == key)).one_or_none()
        return _wanted(row) if row else None


def version(database: Database, key: str) -> int:
    """The number of the newest version: cheap enough to be asked all the time."""
    with database.read() as connection:
        return connection.execute(sa.select(conversations.c.wanted).where(conversations.c.key == key)).scalar() or 0


def note_woken(database: Database, woken: Sequence[Wanted]) -> None:
    """The wake-ups of these versions are in the queue."""
    old = conversations.c
    with database.write() as connection:
        for one in woken:
            update = sa.update(conversations).where(old.key == one.key, old.woken < one.version).values(woken=one.version)
            connection.execute(update)


def note_done(database: Database, key: str, version: int) -> None:
    """`version` was carried out. What was asked since stays to be done."""
    old = conversations.c
    newer = {"done": version, "starts": 0, "first_at": sa.case((old.wanted > version, old.changed_at), else_=old.first_at)}
    with database.write() as connection:
        connection.execute(sa.update(conversations).where(old.key == key, old.done < version).values(newer))


def begin(database: Database, key: str) -> tuple[Wanted, int, float] | None:
    """A wake-up looks: the newest state, how many looks before it came to no end (they took the process with them), and the database's time."""
    mine = conversations.c.key == key
    with database.write() as connection:
        seen = {"begun": conversations.c.wanted, "starts": conversations.c.starts + 1}
        connection.execute(sa.update(conversations).where(mine).values(seen))
        row = connection.execute(sa.select(conversations).where(mine)).one_or_none()
        return (_wanted(row), row.starts - 1, now(connection)) if row else None


def note_end(database: Database, key: str) -> None:
    """The look ended in order, whatever came of it."""
    with database.write() as connection:
        connection.execute(sa.update(conversations).where(conversations.c.key == key).values(starts=0))


def want(database: Database, wants: Sequence[Want]) -> None:
    """Ask for conversations without a delivery: by a sweep, or because a head was looked up."""
    with database.write(durable=True) as connection:
        at = now(connection)
        for one in sorted(wants, key=lambda w: w.key):
            ask(connection, one, at)


def is_active(database: Database, installation: int) -> bool:
    """False where the app was suspended or taken off. An installation that was never told of is active: it delivers."""
    with database.read() as connection:
        found = connection.execute(sa.select(installations.c.active).where(installations.c.id == installation)).scalar()
        return found is not False


def waiting_commands(database: Database, key: str) -> tuple[Command, ...]:
    """Commands that have not run, in the order in which they came."""
    old = commands.c
    query = sa.select(old.seq, old.comment, old.login, old.association, old.body, old.before)
    with database.read() as connection:
        rows = connection.execute(query.where(old.conversation == key, old.done_at.is_(None)).order_by(old.seq))
        return tuple(Command(*row) for row in rows)


def note_command(database: Database, seq: int) -> None:
    """The command ran."""
    with database.write() as connection:
        connection.execute(sa.update(commands).where(commands.c.seq == seq).values(done_at=now(connection)))


def _wanted(row: Row[tuple[object, ...]]) -> Wanted:
    held = row._mapping
    names = [name for name in Wanted.__slots__ if name != "version"]
    return Wanted(version=held["wanted"], **{name: held[name] for name in names})
