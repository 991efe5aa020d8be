"""Runs the web server and, in a process of its own, one worker: reviews never keep a delivery waiting, and a worker that dies is replaced."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from bot.github.auth import open_github
from bot.jobs.ingest import Inbox
from bot.process import Stop, opened, who_we_are
from bot.server import application, serving
from bot.settings import Settings
from bot.store import conversations, executors
from bot.store.database import Database

log = logging.getLogger("assay")
UNUSABLE = 2
RESTART = 2.0
# A worker finishes what it writes before it ends.
WORKER_SECONDS = 20.0


async def run(settings: Settings, work: bool, started: Callable[[str], None] = lambda _: None) -> int:
    """Serve until SIGTERM or SIGINT; the exit status. `started` hears the server's address. Raises `SettingsError` and `OSError`."""
    stop = Stop()
    database = await asyncio.to_thread(opened, settings)
    inbox = Inbox(database)
    async with AsyncExitStack() as stack:
        stack.callback(database.close)
        github = await stack.enter_async_context(open_github(settings.github_api_url, settings.app_id, settings.private_key.get_secret_value()))
        started(await stack.enter_async_context(_web(settings, database, inbox)))
        if work:
            await stack.enter_async_context(_worker(inbox, stop))
        me = await who_we_are(github, stop)
        inbox.me = me.login if me else ""
        return await stop.wait()


class Backlog(Collector):
    """What `/metrics` shows of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Nothing at all while the database does not answer: a made-up 0 would look fine."""
        with suppress(SQLAlchemyError):
            waiting, workers = conversations.waiting(self._database), len(executors.living(self._database))
            yield GaugeMetricFamily("assay_conversations_waiting", "Conversations of which something is wanted and not done", waiting)
            yield GaugeMetricFamily("assay_workers", "Workers with a heartbeat", workers)


@asynccontextmanager
async def _web(settings: Settings, database: Database, inbox: Inbox) -> AsyncIterator[str]:
    async def ready() -> str | None:
        try:
            alive = await asyncio.to_thread(executors.living, database)
        except SQLAlchemyError:
            return "the database does not answer"
        return None if alive else "no worker is alive"

    registry = CollectorRegistry()
    registry.register(Backlog(database))
    app = application(settings.webhook_secrets, inbox.ingest, ready, registry=registry)
    async with serving(app, settings.host, settings.port) as address:
        yield address


@asynccontextmanager
async def _worker(inbox: Inbox, stop: Stop) -> AsyncIterator[None]:
    """A worker for the life of the context, and another one whenever it dies."""
    keeping = asyncio.create_task(_keep(inbox, stop))
    try:
        yield
    finally:
        await keeping


async def _keep(inbox: Inbox, stop: Stop) -> None:
    while not stop.is_set:
        process = await asyncio.create_subprocess_exec(sys.executable, "-m", "bot.cli", "worker", "--beside", stdin=PIPE)
        telling = asyncio.create_task(_tell(inbox, process))
        ends = [asyncio.create_task(process.wait()), asyncio.create_task(stop.wait())]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in (telling, *ends):
            task.cancel()
        if stop.is_set:
            await _end(process)
        elif process.returncode == UNUSABLE:
            stop.set(UNUSABLE)
        else:
            log.error("the worker has ended (%s); another one starts", process.returncode)
            await stop.within(RESTART)


async def _tell(inbox: Inbox, process: Process) -> None:
    """One byte for everything that was stored since the last one."""
    assert process.stdin
    while True:
        await inbox.stored.wait()
        inbox.stored.clear()
        with suppress(ConnectionError):
            process.stdin.write(b".")
            await process.stdin.drain()


async def _end(process: Process) -> None:
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), WORKER_SECONDS)
    if process.returncode is None:
        process.kill()
        await process.wait()
