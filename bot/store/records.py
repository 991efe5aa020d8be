"""What reviews leave behind: finished reports, stories, positive answers about revisions, and the writes that were begun."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.store.database import Database, insert, now
from bot.store.models import commits, deliveries, runs, stories, writes

Json = dict[str, Any]
# GitHub redelivers what is at most three days old (docs.github.com/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks).
KEPT_DELIVERIES = 30 * 86_400.0
KEPT_WRITES = 7 * 86_400.0
KEPT_RUNS = 90 * 86_400.0


@dataclass(frozen=True, slots=True)
class Run:
    """One finished review. `inputs` is a digest of all that the report depends on; `seconds` is what the box took."""

    conversation: str
    version: int
    inputs: str
    head: str
    base: str
    verdict: str
    seconds: float
    report: Json
    id: int = 0
    posted: bool = False


def keep_run(database: Database, run: Run) -> int:
    """Keep a finished report before it is posted, so that an outage of GitHub does not cost it; its number."""
    row = {name: getattr(run, name) for name in ("conversation", "version", "inputs", "head", "base", "verdict", "seconds")}
    packed = zlib.compress(json.dumps(run.report, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    with database.write() as connection:
        made = connection.execute(sa.insert(runs).values(row | {"report": packed, "at": now(connection)}))
        return int(made.inserted_primary_key[0])  # type: ignore[index]


def kept_run(database: Database, conversation: str, inputs: str) -> Run | None:
    """The newest finished report of exactly these inputs."""
    query = sa.select(runs).where(runs.c.conversation == conversation, runs.c.inputs == inputs).order_by(runs.c.id.desc()).limit(1)
    with database.read() as connection:
        row = connection.execute(query).mappings().one_or_none()
    if row is None:
        return None
    report = json.loads(zlib.decompress(row["report"]).decode("utf-8", "surrogatepass"))
    fields = {name: row[name] for name in ("conversation", "version", "inputs", "head", "base", "verdict", "seconds", "id")}
    return Run(**fields, report=report, posted=row["posted_at"] is not None)


def last_posted(database: Database, conversation: str) -> tuple[str, str] | None:
    """(head, inputs) of the review that was posted last."""
    query = sa.select(runs.c.head, runs.c.inputs).where(runs.c.conversation == conversation, runs.c.posted_at.isnot(None))
    with database.read() as connection:
        row = connection.execute(query.order_by(runs.c.posted_at.desc(), runs.c.id.desc()).limit(1)).one_or_none()
        return (row.head, row.inputs) if row else None


def note_posted(database: Database, run: int) -> None:
    """All that this review had to say is on GitHub."""
    with database.write() as connection:
        connection.execute(sa.update(runs).where(runs.c.id == run).values(posted_at=now(connection)))


# ---------------------------------------------------------------- stories


def keep_stories(database: Database, conversation: str, held: Mapping[int, tuple[str, Json]]) -> None:
    """Replace what is known about the stories of a conversation: number → (state, story)."""
    with database.write() as connection:
        at = now(connection)
        for number, (state, story) in sorted(held.items()):
            row = {"state": state, "story": story, "changed_at": at}
            made = insert(connection, stories).values(conversation=conversation, number=number, **row)
            connection.execute(made.on_conflict_do_update(index_elements=["conversation", "number"], set_=row))


def kept_stories(database: Database, conversation: str) -> dict[int, tuple[str, Json]]:
    """Number → (state, story)."""
    with database.read() as connection:
        rows = connection.execute(sa.select(stories).where(stories.c.conversation == conversation).order_by(stories.c.number))
        return {row.number: (row.state, row.story) for row in rows}


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
        made = insert(connection, writes).values(id=id, at=now(connection)).on_conflict_do_nothing()
        return connection.execute(made).rowcount == 1


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
