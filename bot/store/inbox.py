"""Takes deliveries in: one transaction stores that a delivery came and what it wants, so that there is never the one without the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bot.store.database import Database, insert, now
from bot.store.models import commands, conversations, deliveries, installations, repositories


@dataclass(frozen=True, slots=True)
class Want:
    """A conversation is to be looked at. `settle`: more may follow, wait for it. `closed`: nothing is to be done, and what runs can stop.

    `kind` is `pull`, `issue`, `group` (a merge group's `head`) or `head` (whatever has this head, to be looked up).
    """

    kind: str
    installation: int
    repository: int
    full_name: str
    number: int = 0
    head: str = ""
    base: str = ""
    reason: str = ""
    at: str = ""
    settle: bool = True
    closed: bool = False

    @property
    def key(self) -> str:
        """The conversation's name here, and its partition among the jobs."""
        return f"{self.repository}#{self.number}" if self.number else f"{self.repository}@{self.kind}:{self.head}"


@dataclass(frozen=True, slots=True)
class Said:
    """A comment that holds commands, for the conversation `key`."""

    key: str
    comment: int
    login: str
    association: str
    body: str
    before: str | None


@dataclass(frozen=True, slots=True)
class Presence:
    """The app came to an account or left it. Repositories are (id, full name); `active` None leaves the installation as it is.

    `added` are new to the app, `seen` only had a delivery.
    """

    installation: int
    account: str
    active: bool | None
    added: tuple[tuple[int, str], ...] = ()
    removed: tuple[tuple[int, str], ...] = ()
    seen: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery and all that it wants."""

    id: str
    event: str
    action: str
    wants: tuple[Want, ...] = ()
    said: tuple[Said, ...] = ()
    presence: tuple[Presence, ...] = ()


def take(database: Database, batch: Sequence[Delivery]) -> list[bool]:
    """Store them; which of them are new. Durable when it returns. A delivery that came before, or comes at once elsewhere, changes nothing."""
    fresh = [False] * len(batch)
    with database.write(durable=True) as connection:
        at = now(connection)
        # Always in the same order: two processes that lock rows of PostgreSQL in different orders would stop each other.
        for index in sorted(range(len(batch)), key=lambda i: (batch[i].id, [want.key for want in batch[i].wants])):
            fresh[index] = _take(connection, batch[index], at)
    return fresh


def _take(connection: Connection, delivery: Delivery, at: float) -> bool:
    row = {"id": delivery.id, "event": delivery.event, "action": delivery.action, "at": at}
    new = insert(connection, deliveries).values(row).on_conflict_do_nothing().returning(deliveries.c.id)
    if connection.execute(new).scalar() is None:
        return False
    for presence in delivery.presence:
        _note_presence(connection, presence)
    for want in delivery.wants:
        ask(connection, want, at)
    for said in delivery.said:
        _note_said(connection, said, at)
    return True


def ask(connection: Connection, want: Want, at: float) -> None:
    """Count one more version of what is wanted of a conversation. What is older than the newest that was told changes nothing."""
    old = conversations.c
    told = {"head": want.head, "base": want.base, "reason": want.reason, "at": want.at, "full_name": want.full_name}
    fixed = {"installation": want.installation, "closed": want.closed, "settle": want.settle, "changed_at": at, "starts": 0}
    first = {"key": want.key, "kind": want.kind, "repository": want.repository, "number": want.number, "wanted": 1, "first_at": at}
    nothing_to_do = {"woken": 1, "begun": 1, "done": 1} if want.closed else {}
    made = insert(connection, conversations).values(told | fixed | first | nothing_to_do)
    counted = {"wanted": old.wanted + 1, "first_at": sa.case((old.done >= old.wanted, at), else_=old.first_at)}
    ended = {"woken": old.wanted + 1, "begun": old.wanted + 1, "done": old.wanted + 1} if want.closed else {}
    not_older = sa.or_(old.at == "", old.at <= want.at) if want.at else sa.true()
    # Not every event tells everything: what is not told stays.
    kept = {name: value for name, value in told.items() if value}
    connection.execute(made.on_conflict_do_update(index_elements=["key"], set_=kept | fixed | counted | ended, where=not_older))


def _note_said(connection: Connection, said: Said, at: float) -> None:
    row = {"conversation": said.key, "comment": said.comment, "login": said.login, "association": said.association, "body": said.body}
    connection.execute(sa.insert(commands).values(row | {"before": said.before, "at": at}))


def _note_presence(connection: Connection, presence: Presence) -> None:
    if presence.active is not None:
        row = {"account": presence.account, "active": presence.active}
        made = insert(connection, installations).values(id=presence.installation, **row)
        connection.execute(made.on_conflict_do_update(index_elements=["id"], set_=row))
    for id, full_name in presence.added:
        row = {"installation": presence.installation, "full_name": full_name, "active": True, "swept_at": None, "backlog": {}}
        made = insert(connection, repositories).values(id=id, **row)
        connection.execute(made.on_conflict_do_update(index_elements=["id"], set_=row))
    for id, full_name in presence.seen:
        row = {"installation": presence.installation, "full_name": full_name, "active": True}
        made = insert(connection, repositories).values(id=id, backlog={}, **row)
        connection.execute(made.on_conflict_do_update(index_elements=["id"], set_=row, where=_differs(row)))
    for id, _ in presence.removed:
        connection.execute(sa.update(repositories).where(repositories.c.id == id).values(active=False))


def _differs(row: dict[str, object]) -> sa.ColumnElement[bool]:
    """Whether the row that is there has other values: what stays the same is not written."""
    return sa.or_(*(repositories.c[name] != value for name, value in row.items()))
