"""The rules' questions, answered from what is known already and from GitHub's commit API."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.github.client import Client, Sleep
from bot.github.commits import Lookup
from bot.jobs.desk import Desk
from bot.store import records
from bot.store.conversations import Wanted
from bot.store.database import Database
from rules.core.model import Answer, Facts, Question, Unchecked

NO_SUCH_COMMIT = 422


async def answers(desk: Desk, client: Client, wanted: Wanted, questions: Sequence[Question]) -> tuple[Facts, tuple[Unchecked, ...]]:
    """Facts, and what could not be looked up. Raises `Superseded`: a revision that is not there is looked for again after a minute.

    One that was not there a minute after it was first asked for needs no such minute in the next review.
    """
    doubted = [one for one in questions if desk.recent.get(("absent", one))]
    others = [one for one in questions if one not in doubted]

    async def rest(seconds: float) -> None:
        await desk.rest(seconds, wanted.key, wanted.version)

    found = [await _asked(desk, client, some, sleep) for some, sleep in ((others, rest), (doubted, _at_once)) if some]
    facts = {question: answer for some, _ in found for question, answer in some.items()}
    for question, answer in facts.items():
        if answer.status == NO_SUCH_COMMIT:
            desk.recent.put(("absent", question), True)
    return Facts(facts), tuple(note for _, notes in found for note in notes)


async def _asked(desk: Desk, client: Client, some: Sequence[Question], sleep: Sleep) -> tuple[Mapping[Question, Answer], tuple[Unchecked, ...]]:
    lookup = Lookup(client, sleep, time.time, lambda _: None, Kept(desk.database))
    return await lookup.answers(some)


async def _at_once(_: float) -> None:
    return


@dataclass(frozen=True, slots=True)
class Kept:
    """Revisions that were there once, in the store."""

    database: Database

    async def find(self, questions: Sequence[Question]) -> Mapping[Question, Answer]:
        """Those of the questions that need not be asked."""
        pairs = [(one.repository, one.sha) for one in questions]
        known = await asyncio.to_thread(records.known_commits, self.database, pairs)
        return {one: Answer(200, True, "commit") for one in questions if (one.repository, one.sha) in known}

    async def keep(self, answers: Mapping[Question, Answer]) -> None:
        await asyncio.to_thread(records.keep_commits, self.database, [(one.repository, one.sha) for one in answers])
