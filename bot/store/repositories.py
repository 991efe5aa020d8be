"""The repositories that the app is installed on, for the sweep that finds what a lost webhook has left out."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from bot.store.database import Database, now
from bot.store.models import conversations, installations, repositories


@dataclass(frozen=True, slots=True)
class Known:
    """A repository; `backlog` holds the heads (by number) of the pulls that were open before it was first swept, None before that."""

    id: int
    installation: int
    full_name: str
    backlog: dict[int, str] | None


def to_sweep(database: Database, every: float, most: int = 20) -> tuple[Known, ...]:
    """Repositories that were not swept for `every` seconds. They count as swept from now on, so that only one worker does it."""
    old = repositories.c
    with database.write() as connection:
        at = now(connection)
        silent = sa.select(installations.c.id).where(installations.c.active.is_(False))
        due = sa.and_(old.active, sa.or_(old.swept_at.is_(None), old.swept_at < at - every), old.installation.notin_(silent))
        rows = connection.execute(sa.select(repositories).where(due).order_by(old.swept_at.nulls_first()).limit(most)).mappings().all()
        found = [row for row in rows if _claimed(connection, row["id"], row["swept_at"], at)]
    return tuple(
        Known(row["id"], row["installation"], row["full_name"], {int(n): head for n, head in row["backlog"].items()} if row["swept_at"] else None)
        for row in found
    )


def _claimed(connection: sa.Connection, id: int, seen: float | None, at: float) -> bool:
    unchanged = repositories.c.swept_at.is_(None) if seen is None else repositories.c.swept_at == seen
    return connection.execute(sa.update(repositories).where(repositories.c.id == id, unchanged).values(swept_at=at)).rowcount == 1


def keep_backlog(database: Database, id: int, heads: dict[int, str]) -> None:
    """These pulls were open, at these heads, before the app came: they are reviewed on a push or a command only."""
    with database.write() as connection:
        connection.execute(sa.update(repositories).where(repositories.c.id == id).values(backlog={str(n): head for n, head in heads.items()}))


def note_unswept(database: Database, id: int) -> None:
    """The sweep failed; the next one begins anew with it."""
    with database.write() as connection:
        connection.execute(sa.update(repositories).where(repositories.c.id == id).values(swept_at=None))


def note_gone(database: Database, id: int) -> None:
    """GitHub does not show it any more."""
    with database.write() as connection:
        connection.execute(sa.update(repositories).where(repositories.c.id == id).values(active=False))


def known_heads(database: Database, repository: int) -> dict[int, str]:
    """Number → newest head that was asked for, of the pulls of a repository."""
    old = conversations.c
    with database.read() as connection:
        rows = connection.execute(sa.select(old.number, old.head).where(old.repository == repository, old.kind == "pull"))
        return {row.number: row.head for row in rows}
