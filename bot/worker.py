"""Runs the jobs until told to stop, or until another process has taken them over. One worker is enough; several may share PostgreSQL."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from bot.box import Box
from bot.checkout.fetch import Mirrors
from bot.github.auth import GitHub, open_github
from bot.github.reads import Me
from bot.jobs import engine, workflows
from bot.jobs.desk import Boxes, Desk
from bot.jobs.pulse import Pulse
from bot.jobs.watch import watch
from bot.process import Stop, opened, who_we_are
from bot.settings import Settings
from bot.store import executors
from bot.store.database import Database

log = logging.getLogger("assay")
LOST_ITS_WORK = 75
# How long writes that have begun may take when the process is told to stop.
LAST_WRITES = 15.0
MOST_BOXES = 4
POLITE = 5


async def run(settings: Settings, started: Callable[[str], None] = lambda _: None, beside: bool = False) -> int:
    """Work until SIGTERM or SIGINT; the exit status. Raises `SettingsError`.

    `beside`: the web server holds the other end of standard input. A byte says that something is wanted, its end that the server is gone.
    """
    stop, stored = Stop(), asyncio.Event()
    database = await asyncio.to_thread(opened, settings)
    async with AsyncExitStack() as stack:
        stack.callback(database.close)
        if beside:
            # GitHub waits for the web server's answer, and for nobody else's.
            os.nice(POLITE)
            _listen(stop, stored)
        github = await stack.enter_async_context(open_github(settings.github_api_url, settings.app_id, settings.private_key.get_secret_value()))
        me = await who_we_are(github, stop)
        if me is not None:
            await stack.enter_async_context(_working(settings, database, github, me, stored, stop))
            if not beside:
                started("")
        return await stop.wait()


def _listen(stop: Stop, stored: asyncio.Event) -> None:
    def heard() -> None:
        if os.read(sys.stdin.fileno(), 65_536):
            stored.set()
        else:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            stop.set(0)

    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), heard)


@asynccontextmanager
async def _working(settings: Settings, database: Database, github: GitHub, me: Me, stored: asyncio.Event, stop: Stop) -> AsyncIterator[None]:
    """The jobs, for the life of the context. At its end what was begun to be written is written, and all else is left to the next process."""
    pulse = Pulse(database, executors.myself("worker"), lambda: stop.set(LOST_ITS_WORK))
    boxes = Boxes([Box() for _ in range(min(MOST_BOXES, os.cpu_count() or 1))])
    desk = Desk(settings, database, github, Mirrors(settings.data_dir, settings.github_url), boxes, pulse, me)
    workflows.at_desk(desk)
    await asyncio.to_thread(pulse.start)
    await engine.launch(database, pulse.me)
    watching = asyncio.create_task(watch(desk, stored))
    watching.add_done_callback(lambda done: stop.set(1) if not done.cancelled() else None)
    log.info("at work as %s", pulse.me.id)
    try:
        yield
    finally:
        watching.cancel()
        await _ended(desk)


async def _ended(desk: Desk) -> None:
    desk.stopping.set()
    with suppress(TimeoutError):
        async with asyncio.timeout(LAST_WRITES):
            while desk.writing:
                await asyncio.sleep(0.05)
    await asyncio.to_thread(desk.boxes.close)
    await asyncio.to_thread(desk.pulse.stop)
