"""From a delivery to what is wanted, stored before it is acknowledged. Deliveries that come at the same moment share one transaction.

This is not a workflow of DBOS but one transaction of the store: the delivery's id is the key, so that what comes twice counts once, and what is
wanted is there with it or not at all. A workflow takes five commits; at 50 deliveries a second, each with an fsync of 6 ms, they would not be
done in time. The wake-ups are made from what is stored (`bot.jobs.wake`), so that none is lost with the process that took the delivery.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence

from bot.github.webhooks import ClosePull, Command, Event, Installation, Json, Rerun, ReviewGroup, ReviewIssue, ReviewPull, Wish, wishes
from bot.store import inbox
from bot.store.database import Database
from bot.store.inbox import Delivery, Presence, Said, Want

MOST_AT_ONCE = 200
QUEUE_PREFIX = "gh-readonly-queue/"
# A command stands on a line of its own; what is inside code or quotes is told apart when it is read.
_COMMAND = re.compile(r"^[ \t]{0,3}(?:/assay\b|PTAL[ \t]*\r?$)", re.MULTILINE)
_KEY = re.compile(r"(\d{1,20})#(\d{1,10})\Z", re.ASCII)
_ACTIVE = {"created": True, "unsuspend": True, "new_permissions_accepted": True, "deleted": False, "suspend": False}


def delivery_of(event: Event, me: str = "") -> Delivery:
    """All that a delivery wants, as the store keeps it. `me` is the bot's login ("" while it is not known)."""
    wants: list[Want] = []
    said: list[Said] = []
    presence: list[Presence] = []
    for wish in wishes(event, me):
        wants += _wants(wish)
        said += _said(wish)
        presence += _presence(wish)
    return Delivery(event.delivery, event.name, event.action, tuple(wants), tuple(said), tuple(presence))


def _wants(wish: Wish) -> Iterator[Want]:
    match wish:
        case ReviewPull():
            yield Want("pull", *_place(wish), wish.number, wish.head, wish.base_ref, wish.reason, wish.at)
        case ClosePull():
            yield Want("pull", *_place(wish), wish.number, reason="closed", at=wish.at, closed=True)
        case ReviewIssue():
            yield Want("issue", *_place(wish), wish.number, reason=wish.reason, at=wish.at)
        case ReviewGroup():
            yield Want("group", *_place(wish), head=wish.head, base=wish.base_ref, reason="merge_group", settle=False)
        case Rerun():
            yield from _again(wish)
        case Command() if _COMMAND.search(wish.body):
            yield Want("pull" if wish.on_pull else "issue", *_place(wish), wish.number, reason=f"command by {wish.login}", settle=False)


def _again(wish: Rerun) -> Iterator[Want]:
    """A re-run names its pulls, or our own check run names its conversation; a fork's head names neither and is looked up."""
    reason = f"re-run by {wish.sender}" if wish.sender else "re-run"
    known = _KEY.match(wish.external_id)
    numbers = (int(known[2]),) if known and int(known[1]) == wish.repository_id else wish.numbers
    for number in numbers:
        yield Want("pull", *_place(wish), number, reason=reason, settle=False)
    if numbers:
        return
    if wish.head_ref.startswith(QUEUE_PREFIX):
        base = wish.head_ref.removeprefix(QUEUE_PREFIX).rpartition("/pr-")[0]
        yield Want("group", *_place(wish), head=wish.head, base=base, reason=reason, settle=False)
    else:
        yield Want("head", *_place(wish), head=wish.head, reason=reason, settle=False)


def _said(wish: Wish) -> Iterator[Said]:
    if isinstance(wish, Command) and _COMMAND.search(wish.body):
        yield Said(f"{wish.repository_id}#{wish.number}", wish.comment_id, wish.login, wish.association, wish.body, wish.before)


def _presence(wish: Wish) -> Iterator[Presence]:
    if isinstance(wish, Installation):
        yield Presence(wish.installation, wish.account, _ACTIVE.get(wish.action), wish.added, wish.removed)
    elif isinstance(wish, ReviewPull | ReviewIssue | Command):
        # Deliveries from before the store, or after a lost one, make a repository known as well.
        yield Presence(wish.installation, "", None, seen=((wish.repository_id, wish.full_name),))


def _place(wish: ReviewPull | ClosePull | ReviewIssue | ReviewGroup | Rerun | Command) -> tuple[int, int, str]:
    return wish.installation, wish.repository_id, wish.full_name


class Inbox:
    """Takes deliveries for the web server. `me` is the bot's login, as soon as it is known."""

    def __init__(self, database: Database) -> None:
        self.me = ""
        self.stored = asyncio.Event()
        self._database = database
        self._waiting: list[tuple[Delivery, asyncio.Future[bool]]] = []
        self._task: asyncio.Task[None] | None = None

    async def ingest(self, delivery: str, name: str, payload: Json) -> bool:
        """Whether the delivery is new; it is durable when this returns. Raises what the database raises."""
        return await self.take(delivery_of(Event(delivery, name, payload), self.me))

    async def take(self, delivery: Delivery) -> bool:
        """Store a delivery, together with those that are waiting at the same time."""
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((delivery, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())
        return await future

    async def _work(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST_AT_ONCE], self._waiting[MOST_AT_ONCE:]
            await self._store(batch)

    async def _store(self, batch: Sequence[tuple[Delivery, asyncio.Future[bool]]]) -> None:
        """One transaction for all; where it fails, one for each, so that no delivery fails for another."""
        try:
            fresh = await asyncio.to_thread(inbox.take, self._database, [delivery for delivery, _ in batch])
        except Exception as error:  # noqa: BLE001 - it is handed on to whoever waits
            if len(batch) > 1:
                for one in batch:
                    await self._store([one])
                return
            self._settle(batch[0][1], error)
            return
        for (_, future), new in zip(batch, fresh, strict=True):
            self._settle(future, new)
        self.stored.set()

    @staticmethod
    def _settle(future: asyncio.Future[bool], result: bool | Exception) -> None:
        """Whoever waited may have left."""
        if future.done():
            return
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)
