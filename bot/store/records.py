"""What reviews leave behind: finished reports, ledgers of stories, positive answers about revisions, and the writes that were begun."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.store.database import Database, insert, now
from bot.store.models import commits, deliveries, ledgers, runs, stories, turns, writes

Json = dict[str, Any]
# GitHub redelivers what is at most three days old (docs.github.com/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks).
KEPT_DELIVERIES = 30 * 86_400.0
KEPT_WRITES = 7 * 86_400.0
KEPT_RUNS = 90 * 86_400.0


@dataclass(frozen=True, slots=True)
class Run:
    """One finished review. `report` is the JSON contract; `seconds` is what it took."""

    conversation: str
    version: int
    head: str
    base: str
    verdict: str
    seconds: float
    report: str


def keep_run(database: Database, run: Run) -> int:
    """Keep a finished report; its number."""
    row = {name: getattr(run, name) for name in ("conversation", "version", "head", "base", "verdict", "seconds")}
    packed = zlib.compress(run.report.encode())
    with database.write() as connection:
        made = connection.execute(sa.insert(runs).values(row | {"report": packed, "at": now(connection)}))
        return int(made.inserted_primary_key[0])  # type: ignore[index]


def last_run(database: Database, conversation: str) -> Run | None:
    """The newest finished review of a conversation."""
    query = sa.select(runs).where(runs.c.conversation == conversation).order_by(runs.c.id.desc()).limit(1)
    with database.read() as connection:
        row = connection.execute(query).mappings().one_or_none()
    if row is None:
        return None
    report = zlib.decompress(row["report"]).decode()
    return Run(**{name: row[name] for name in ("conversation", "version", "head", "base", "verdict", "seconds")}, report=report)


def note_posted(database: Database, run: int) -> None:
    """All that this review had to say is on GitHub."""
    with database.write() as connection:
        connection.execute(sa.update(runs).where(runs.c.id == run).values(posted_at=now(connection)))


# ---------------------------------------------------------------- ledgers


def keep_ledger(database: Database, conversation: str, ledger: Json) -> None:
    """Replace what a conversation remembers (`bot.review.ledger.ledger_object`)."""
    rest = {name: value for name, value in ledger.items() if name != "standings"}
    with database.write() as connection:
        row = {"ledger": rest, "at": now(connection)}
        made = insert(connection, ledgers).values(conversation=conversation, **row)
        connection.execute(made.on_conflict_do_update(index_elements=["conversation"], set_=row))
        connection.execute(sa.delete(stories).where(stories.c.conversation == conversation))
        rows = [_story(conversation, standing) for standing in ledger.get("standings", ())]
        if rows:
            connection.execute(sa.insert(stories), rows)


def _story(conversation: str, standing: Json) -> Json:
    seen = {name: standing.get(name) for name in ("number", "state", "severity", "override")}
    return {"conversation": conversation, **seen, "story": standing}


def kept_ledger(database: Database, conversation: str) -> Json | None:
    """What `keep_ledger` was given last."""
    with database.read() as connection:
        rest = connection.execute(sa.select(ledgers.c.ledger).where(ledgers.c.conversation == conversation)).scalar()
        if rest is None:
            return None
        rows = connection.execute(sa.select(stories.c.story).where(stories.c.conversation == conversation).order_by(stories.c.number)).scalars()
        return {**rest, "standings": list(rows)}


# ---------------------------------------------------------------- revisions


def known_commits(database: Database, asked: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those of the (owner/name, revision) pairs that were resolved before."""
    wanted: dict[str, list[str]] = {}
    for repository, sha in asked:
        wanted.setdefault(repository, []).append(sha)
    with database.read() as connection:
        found = set()
        for repository, shas in wanted.items():
            query = sa.select(commits.c.sha).where(commits.c.repository == repository, commits.c.sha.in_(shas))
            found |= {(repository, sha) for sha in connection.execute(query).scalars()}
        return found


def keep_commits(database: Database, resolved: Sequence[tuple[str, str]]) -> None:
    """A commit that is there stays there: only such answers are kept."""
    if not resolved:
        return
    with database.write() as connection:
        at = now(connection)
        rows = [{"repository": repository, "sha": sha, "at": at} for repository, sha in sorted(resolved)]
        connection.execute(insert(connection, commits).values(rows).on_conflict_do_nothing())


# ---------------------------------------------------------------- writes


def begin_write(database: Database, id: str) -> bool:
    """Note that a write begins. False when it was begun before and did not come to its end: it may be on GitHub."""
    with database.write() as connection:
        made = insert(connection, writes).values(id=id, at=now(connection)).on_conflict_do_nothing().returning(writes.c.id)
        return connection.execute(made).scalar() is not None


def take_turn(database: Database, installation: int, gap: float) -> float:
    """Seconds to wait before the next content write of an installation, which is then taken: no two begin within `gap` seconds."""
    with database.write() as connection:
        at = now(connection)
        made = insert(connection, turns).values(installation=installation, at=at)
        later = sa.case((turns.c.at + gap > at, turns.c.at + gap), else_=at)
        turn = connection.execute(made.on_conflict_do_update(index_elements=["installation"], set_={"at": later}).returning(turns.c.at))
        return float(max(0.0, turn.scalar_one() - at))


def undo_write(database: Database, id: str) -> None:
    """The write was refused for certain: nothing of it is on GitHub."""
    with database.write() as connection:
        connection.execute(sa.delete(writes).where(writes.c.id == id))


def tidy(database: Database) -> None:
    """Drop what nobody will ask for any more."""
    with database.write() as connection:
        at = now(connection)
        connection.execute(sa.delete(deliveries).where(deliveries.c.at < at - KEPT_DELIVERIES))
        connection.execute(sa.delete(writes).where(writes.c.at < at - KEPT_WRITES))
        newest = sa.select(sa.func.max(runs.c.id)).group_by(runs.c.conversation)
        connection.execute(sa.delete(runs).where(runs.c.at < at - KEPT_RUNS, runs.c.id.notin_(newest)))
