"""Runs the service: the web server, the jobs, or both in one process, until it is told to stop or has lost its work to another process."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from sqlalchemy.exc import SQLAlchemyError

from bot.box import Box
from bot.checkout.fetch import Mirrors
from bot.github import reads
from bot.github.auth import GitHub, open_github
from bot.github.errors import Forbidden, GitHubError, NotFound
from bot.github.reads import Me
from bot.jobs import engine, workflows
from bot.jobs.desk import Boxes, Desk
from bot.jobs.ingest import Inbox
from bot.jobs.pulse import Pulse
from bot.jobs.watch import watch
from bot.server import application, serving
from bot.settings import Settings, SettingsError
from bot.store import executors
from bot.store.database import Database, open_database

log = logging.getLogger("assay")
LOST_ITS_WORK = 75
# How long writes that have begun may take when the process is told to stop.
LAST_WRITES = 15.0
MOST_BOXES = 4


async def run(settings: Settings, *, web: bool, work: bool, started: Callable[[str], None] = lambda _: None) -> int:
    """Serve until SIGTERM or SIGINT; the exit status. `started` hears the web server's address ("" without one). Raises `SettingsError`."""
    stop = _Stop()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set, 0)
    database = await asyncio.to_thread(_opened, settings)
    inbox = Inbox(database)
    async with AsyncExitStack() as stack:
        stack.callback(database.close)
        github = await stack.enter_async_context(open_github(settings.github_api_url, settings.app_id, settings.private_key.get_secret_value()))
        address = await stack.enter_async_context(_web(settings, database, inbox)) if web else ""
        started(address)
        me = await _me(github, stop)
        if me is not None:
            inbox.me = me.login
            if work:
                await stack.enter_async_context(_working(settings, database, github, me, inbox, stop))
        return await stop.wait()


class _Stop:
    """Why and when to stop; may be set from any thread."""

    def __init__(self) -> None:
        self._loop, self._event, self._status = asyncio.get_running_loop(), asyncio.Event(), 0

    def set(self, status: int) -> None:
        self._status = self._status or status
        self._loop.call_soon_threadsafe(self._event.set)

    async def wait(self) -> int:
        await self._event.wait()
        return self._status

    async def within(self, seconds: float) -> bool:
        """Whether it is time to stop, at most `seconds` from now."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._event.wait(), seconds)
        return self._event.is_set()


def _opened(settings: Settings) -> Database:
    try:
        return open_database(settings.database)
    except (SQLAlchemyError, OSError) as error:
        cause = getattr(error, "orig", None) or error
        raise SettingsError(f"ASSAY_DATABASE_URL: the database cannot be opened ({str(cause).splitlines()[0][:200]}).") from error


async def _me(github: GitHub, stop: _Stop) -> Me | None:
    """Who we are, asked until GitHub answers; None when it is time to stop first. Raises `SettingsError` where GitHub does not know the app."""
    while True:
        try:
            return await reads.me(github.app)
        except (Forbidden, NotFound) as error:
            raise SettingsError("ASSAY_APP_ID and ASSAY_PRIVATE_KEY are not those of an app that GitHub knows.") from error
        except GitHubError as error:
            log.warning("%s; deliveries are taken, and wait", error)
        if await stop.within(5.0):
            return None


@asynccontextmanager
async def _web(settings: Settings, database: Database, inbox: Inbox) -> AsyncIterator[str]:
    async def ready() -> str | None:
        try:
            alive = await asyncio.to_thread(executors.living, database)
        except SQLAlchemyError:
            return "the database does not answer"
        return None if alive else "no worker is alive"

    app = application(settings.webhook_secrets, inbox.ingest, ready)
    async with serving(app, settings.host, settings.port) as address:
        yield address


@asynccontextmanager
async def _working(settings: Settings, database: Database, github: GitHub, me: Me, inbox: Inbox, stop: _Stop) -> AsyncIterator[None]:
    """The jobs, for the life of the context. At its end what was begun to be written is written, and all else is left to the next process."""
    pulse = Pulse(database, executors.myself("worker"), lambda: stop.set(LOST_ITS_WORK))
    boxes = Boxes([Box() for _ in range(min(MOST_BOXES, os.cpu_count() or 1))])
    desk = Desk(settings, database, github, Mirrors(settings.data_dir, settings.github_url), boxes, pulse, me)
    workflows.at_desk(desk)
    await asyncio.to_thread(pulse.start)
    await engine.launch(database, pulse.me)
    watching = asyncio.create_task(watch(desk, inbox.stored))
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
