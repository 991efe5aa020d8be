"""What every process of the service does alike: open the store, learn who it is on GitHub, and stop when it is told to."""

from __future__ import annotations

import asyncio
import logging
import signal
from contextlib import suppress

from sqlalchemy.exc import SQLAlchemyError

from bot.github import reads
from bot.github.auth import GitHub
from bot.github.errors import Forbidden, GitHubError, NotFound
from bot.github.reads import Me
from bot.settings import Settings, SettingsError
from bot.store.database import Database, open_database

log = logging.getLogger("assay")
# Seconds between two attempts to reach a GitHub that does not answer.
AGAIN = 5.0


class Stop:
    """Why and when to stop: a signal, or `set` from any thread. Made in the running event loop."""

    def __init__(self) -> None:
        self._loop, self._event, self._status = asyncio.get_running_loop(), asyncio.Event(), 0
        for name in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(name, self.set, 0)

    def set(self, status: int) -> None:
        """The first status that is no 0 counts."""
        self._status = self._status or status
        self._loop.call_soon_threadsafe(self._event.set)

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    async def wait(self) -> int:
        """The exit status."""
        await self._event.wait()
        return self._status

    async def within(self, seconds: float) -> bool:
        """Whether it is time to stop, at most `seconds` from now."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._event.wait(), seconds)
        return self._event.is_set()


def opened(settings: Settings) -> Database:
    """The store, at the newest version of its schema. Raises `SettingsError`."""
    try:
        return open_database(settings.database)
    except (SQLAlchemyError, OSError) as error:
        cause = str(getattr(error, "orig", None) or error).splitlines()[0][:200]
        raise SettingsError(f"ASSAY_DATABASE_URL: the database cannot be opened ({cause}).") from error


async def who_we_are(github: GitHub, stop: Stop) -> Me | None:
    """Asked until GitHub answers; None when it is time to stop first. Raises `SettingsError` where GitHub does not know the app."""
    while True:
        try:
            return await reads.me(github.app)
        except (Forbidden, NotFound) as error:
            raise SettingsError("ASSAY_APP_ID and ASSAY_PRIVATE_KEY are not those of an app that GitHub knows.") from error
        except GitHubError as error:
            log.warning("%s; deliveries are taken, and wait", error)
        if await stop.within(AGAIN):
            return None
