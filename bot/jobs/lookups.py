"""The rules' questions, answered from what is known already and from GitHub's commit API."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from bot.github.client import Client
from bot.github.commits import Lookup
from bot.jobs.desk import Desk
from bot.store import records
from rules.core.model import Answer, Facts, Question, Unchecked


async def answers(desk: Desk, client: Client, questions: Sequence[Question]) -> tuple[Facts, tuple[Unchecked, ...]]:
    """Facts, and what could not be looked up. A commit that was there once is not asked for again."""
    if not questions:
        return Facts(), ()
    pairs = [(question.repository, question.sha) for question in questions]
    known = await asyncio.to_thread(records.known_commits, desk.database, pairs)
    held = {question: Answer(200, True, "commit") for question in questions if (question.repository, question.sha) in known}
    open_ones = [question for question in questions if question not in held]
    found, notes = await Lookup(client, asyncio.sleep, time.time, lambda _: None).answers(open_ones)
    sure = [(q.repository, q.sha) for q, answer in found.items() if answer.status == 200 and answer.reachable]
    await asyncio.to_thread(records.keep_commits, desk.database, sure)
    return Facts({**held, **found}), notes
