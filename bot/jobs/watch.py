"""What a worker does beside its jobs: wakes conversations, takes over from the dead, sweeps for what a lost webhook left out, tidies up."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from bot.github import reads
from bot.github.errors import Forbidden, GitHubError, NotFound
from bot.jobs import engine
from bot.jobs.desk import Desk
from bot.jobs.workflows import enqueue_wake
from bot.store import conversations, records, repositories
from bot.store.inbox import Want
from bot.store.repositories import Known

log = logging.getLogger("assay.watch")
# Seconds. A delivery that this process took wakes at once; one that another took is seen by looking.
LOOK = 0.25
TAKE_OVER = 5.0
LOST = 60.0
SWEEP, SWEEP_LOOK = 600.0, 30.0
TIDY = 3_600.0
# A process that was killed cannot say which of its wake-ups it has lost: they get numbers of their own.
REWOKEN = 1_000


async def watch(desk: Desk, stored: asyncio.Event) -> None:
    """Run until cancelled. `stored` is set when this process has stored something that is wanted."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_waking(desk, stored))
        group.create_task(_every(TAKE_OVER, lambda: engine.take_over(desk.database, desk.pulse.me)))
        group.create_task(_every(LOST, lambda: wake_lost(desk)))
        group.create_task(_every(SWEEP_LOOK, lambda: sweep(desk)))
        group.create_task(_every(TIDY, lambda: _tidy(desk)))


async def _every(seconds: float, work: Callable[[], Awaitable[object]]) -> None:
    """Whatever goes wrong once goes better, or wrong again, the next time."""
    while True:
        try:
            await work()
        except Exception:
            log.exception("a watch failed")
        await asyncio.sleep(seconds)


async def _waking(desk: Desk, stored: asyncio.Event) -> None:
    while True:
        stored.clear()
        try:
            await wake_waiting(desk)
        except Exception:
            log.exception("conversations could not be woken")
            await asyncio.sleep(1.0)
        try:
            async with asyncio.timeout(LOOK):
                await stored.wait()
        except TimeoutError:
            continue


async def wake_waiting(desk: Desk) -> int:
    """See to it that there is a wake-up for all that is newly wanted; how much that is. The delay is what pushes and edits settle in.

    One that waits already will see the newest version: only what may not wait gets another one beside a delayed one.
    """
    found = await asyncio.to_thread(conversations.to_wake, desk.database)
    for one in found:
        if one.woken <= one.begun or not one.settle:
            await enqueue_wake(one.key, one.version, 0, desk.settings.settle_seconds if one.settle else 0.0)
    if found:
        await asyncio.to_thread(conversations.note_woken, desk.database, found)
    return len(found)


async def wake_lost(desk: Desk) -> int:
    """Wake again what has no wake-up any more, because a power failure or an error of ours took it; how many."""
    found = await asyncio.to_thread(conversations.unfinished, desk.database, LOST + desk.settings.settle_seconds)
    lost = [one for one in found if not await engine.is_in_queue(one.key, one.version)]
    for one in lost:
        log.warning("%s: its wake-up was lost", one.key)
        await enqueue_wake(one.key, one.version, REWOKEN + int(time.time()) % 1_000_000, 0.0)
    return len(lost)


# ---------------------------------------------------------------- sweeping


async def sweep(desk: Desk) -> None:
    """Hold the open pulls of repositories that are due against what was asked for: a webhook may be lost (channable/hoff#307)."""
    for known in await asyncio.to_thread(repositories.to_sweep, desk.database, SWEEP):
        try:
            await sweep_one(desk, known)
        except (NotFound, Forbidden) as error:
            log.info("%s is not swept any more: %s", known.full_name, error)
            await asyncio.to_thread(repositories.note_gone, desk.database, known.id)
        except GitHubError as error:
            log.warning("%s could not be swept: %s", known.full_name, error)
            if known.backlog is None:
                await asyncio.to_thread(repositories.note_unswept, desk.database, known.id)


async def sweep_one(desk: Desk, known: Known) -> int:
    """Ask for every open pull whose head nobody has asked for; how many. What was open before the first sweep is the backlog and stays."""
    pulls = await reads.open_pulls(desk.github.installation(known.installation), known.full_name)
    heads = await asyncio.to_thread(repositories.known_heads, desk.database, known.id)
    if known.backlog is None:
        backlog = {one.pull.number: one.pull.head_sha for one in pulls if one.pull.number not in heads}
        await asyncio.to_thread(repositories.keep_backlog, desk.database, known.id, backlog)
    else:
        backlog = known.backlog
    seen = backlog | heads
    place = (known.installation, known.id, known.full_name)
    missed = [one for one in pulls if seen.get(one.pull.number) != one.pull.head_sha]
    wants = [Want("pull", *place, one.pull.number, one.pull.head_sha, one.base_ref, "found by a sweep", one.updated_at) for one in missed]
    if wants:
        log.warning("%s: %d pulls were not told of", known.full_name, len(wants))
        await asyncio.to_thread(conversations.want, desk.database, wants)
    return len(wants)


async def _tidy(desk: Desk) -> None:
    await asyncio.to_thread(records.tidy, desk.database)
    before = (datetime.now(UTC) - timedelta(days=3)).isoformat()
    while await engine.tidy(before) == engine.MOST_DELETED:
        await asyncio.sleep(1.0)


__all__ = ["sweep", "sweep_one", "wake_lost", "wake_waiting", "watch"]
