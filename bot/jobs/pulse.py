"""The heartbeat of this process, and what it means to have missed it: another process does this one's work, so this one writes nothing more."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy.exc import SQLAlchemyError

from bot.store import executors
from bot.store.database import Database
from bot.store.executors import BEAT, DEAD_AFTER, Executor

log = logging.getLogger("assay.pulse")


class Pulse:
    """Beats in a thread of its own, so that a busy event loop does not look dead. `on_lost` is called once, from that thread or a writer's."""

    def __init__(self, database: Database, me: Executor, on_lost: Callable[[], None] = lambda: None) -> None:
        self.me = me
        self._database, self._on_lost = database, on_lost
        self._stop, self._lost = threading.Event(), threading.Event()
        self._last = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="assay-pulse", daemon=True)

    def start(self) -> None:
        executors.join(self._database, self.me)
        self._last = time.monotonic()
        self._thread.start()

    def stop(self) -> None:
        """End in order: what is left undone can be taken over at once."""
        self._stop.set()
        self._thread.join(timeout=2 * BEAT)
        try:
            executors.leave(self._database, self.me)
        except SQLAlchemyError as error:
            log.warning("the heartbeat could not be ended: %s", type(error).__name__)

    @property
    def age(self) -> float:
        """Seconds since the database last took a beat."""
        return time.monotonic() - self._last

    def beat(self) -> bool:
        """Beat now. False when this process may write no more: its jobs were taken over, or nobody can be told that it lives."""
        if self._lost.is_set():
            return False
        try:
            if not executors.beat(self._database, self.me):
                self._lose()
                return False
        except SQLAlchemyError as error:
            log.warning("no heartbeat: %s", type(error).__name__)
            return self.age < DEAD_AFTER - BEAT
        self._last = time.monotonic()
        return True

    async def may_write(self) -> bool:
        """Asked right before every write."""
        return await asyncio.to_thread(self.beat)

    def _run(self) -> None:
        while not self._stop.wait(BEAT):
            self.beat()

    def _lose(self) -> None:
        if not self._lost.is_set():
            self._lost.set()
            log.error("this process missed its heartbeat, and another one has taken its jobs over; it writes nothing more")
            self._on_lost()
