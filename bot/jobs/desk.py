"""Everything that the jobs of one process share: settings, store, GitHub, mirrors, boxes, heartbeat."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

from bot.box import Answer, Box, Failure, Request
from bot.checkout.fetch import Mirrors
from bot.github.auth import GitHub
from bot.github.reads import Me
from bot.jobs.pulse import Pulse
from bot.settings import Settings
from bot.store import conversations
from bot.store.database import Database

T = TypeVar("T")
# How often a running review looks whether something newer is wanted, in seconds.
WATCH = 0.2
# How many conversations are read, fetched and judged at the same time.
LOOKS = 12


class Superseded(Exception):
    """Something newer is wanted of the conversation."""


class Recent:
    """The last answers that never change, so that they are not asked for again. Keys name all that they depend on."""

    def __init__(self, most: int = 500) -> None:
        self._most, self._held = most, OrderedDict[Hashable, Any]()

    def get(self, key: Hashable) -> Any:
        """None where nothing is kept."""
        if key in self._held:
            self._held.move_to_end(key)
        return self._held.get(key)

    def put(self, key: Hashable, value: T) -> T:
        self._held[key] = value
        self._held.move_to_end(key)
        while len(self._held) > self._most:
            self._held.popitem(last=False)
        return value


class Boxes:
    """A few review processes. A repository prefers always the same one, because that one has read its files already."""

    def __init__(self, boxes: list[Box]) -> None:
        self._boxes = [(box, asyncio.Lock()) for box in boxes]

    @asynccontextmanager
    async def one(self, repository: int) -> AsyncIterator[Box]:
        """A box for one review alone."""
        preferred = self._boxes[repository % len(self._boxes)]
        box, lock = preferred if not preferred[1].locked() else next((one for one in self._boxes if not one[1].locked()), preferred)
        async with lock:
            yield box

    def close(self) -> None:
        for box, _ in self._boxes:
            box.close()


@dataclass
class Desk:
    """One process's share. It belongs to the event loop that the jobs run in."""

    settings: Settings
    database: Database
    github: GitHub
    mirrors: Mirrors
    boxes: Boxes
    pulse: Pulse
    me: Me
    recent: Recent = field(default_factory=Recent)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    looks: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(LOOKS))
    writing: int = 0

    async def version(self, key: str) -> int:
        """The newest version that is wanted of a conversation."""
        return await asyncio.to_thread(conversations.version, self.database, key)

    async def must_be_newest(self, key: str, version: int) -> None:
        """Raises `Superseded` where something newer is wanted."""
        if await self.version(key) > version:
            raise Superseded(key)

    async def run(self, box: Box, request: Request, key: str, version: int) -> Answer:
        """One pass in the box. Raises `Superseded`, and kills the box, as soon as something newer is wanted."""
        passing = asyncio.wrap_future(box.submit(request))
        try:
            while not (await asyncio.wait([passing], timeout=WATCH))[0]:
                if self.stopping.is_set():
                    await asyncio.to_thread(box.kill, "the service stops")
                    await self.forever()
                if await self.version(key) > version:
                    await asyncio.to_thread(box.kill)
                    raise Superseded(key)
        finally:
            # Whoever waits no longer must not leave a review running for nobody.
            if not passing.done():
                passing.cancel()
        return passing.result()

    async def rest(self, seconds: float, key: str, version: int) -> None:
        """Sleep. Raises `Superseded` as soon as something newer is wanted."""
        end = asyncio.get_running_loop().time() + seconds
        while (left := end - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(min(left, 2 * WATCH))
            if self.stopping.is_set():
                await self.forever()
            await self.must_be_newest(key, version)

    async def forever(self) -> NoReturn:
        """Do nothing until the process ends: whatever would be returned or raised now would count as the job's end."""
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")

    async def permission(self) -> None:
        """Returns where this process may write. Otherwise it never returns: the job belongs to another process now, or to the next."""
        if self.stopping.is_set() or not await self.pulse.may_write():
            await self.forever()


__all__ = ["Answer", "Boxes", "Desk", "Failure", "Recent", "Superseded"]
