"""The durable workflows. A wake-up looks at one conversation and carries out what is wanted of it; each of its writes is a workflow of its own.

Their names, arguments and order of steps are a contract with the jobs in flight: `VERSION` is a constant, so that a process of another source
continues them. What cannot be continued goes through `DBOS.patch_async` (docs.dbos.dev/python/tutorials/upgrading-workflows).

wakes    partitioned by conversation, one at a time: what is wanted of one conversation never runs twice at once
writes   partitioned by installation, one a second: GitHub asks for that (docs.github.com/rest, best practices)
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from dbos import DBOS, SetEnqueueOptions, SetWorkflowID

from bot.checkout.fetch import AccessRefused, FetchError, NoBase, RepositoryGone
from bot.github import reads
from bot.github.errors import Forbidden, GitHubError, NotFound, RateLimited, Unavailable
from bot.jobs import wire
from bot.jobs.desk import Desk, Superseded
from bot.jobs.review import Outcome, review_group, review_pull
from bot.jobs.write import Order, carry_out
from bot.store import conversations, records
from bot.store.conversations import Wanted
from bot.store.inbox import Want

log = logging.getLogger("assay.jobs")
Json = dict[str, Any]
VERSION = "assay-1"
WAKES, WRITES = "wakes", "writes"
# An attempt that takes the process with it is given up after this many.
MOST_STARTS = 3
# Seconds before a job that failed comes again: doubled each time, up to half an hour, for about a day.
FIRST_PAUSE, LONGEST_PAUSE, MOST_ATTEMPTS = 5.0, 1_800.0, 50
# A conversation that never comes to rest is looked at all the same, after so many settling times. DBOS's delays are full seconds.
MOST_SETTLING, SOON = 10, 0.5
_desk: Desk | None = None


def at_desk(desk: Desk | None) -> None:
    """Give the workflows of this process what they work with."""
    global _desk
    _desk = desk


def desk() -> Desk:
    assert _desk is not None, "workflows run after the desk was set"
    return _desk


def pause(attempt: int) -> float:
    """Seconds before attempt number `attempt` + 1."""
    return float(min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(attempt, 20)))


async def enqueue_wake(key: str, version: int, attempt: int, delay: float) -> None:
    """Put a wake-up into the queue. The same one twice is one."""
    options = SetEnqueueOptions(queue_partition_key=key, delay_seconds=delay if delay > 0 else None)
    with SetWorkflowID(f"wake:{key}:{version}:{attempt}"), options:
        await DBOS.enqueue_workflow_async(WAKES, wake, key, version, attempt)


@DBOS.workflow(name="wake")
async def wake(key: str, version: int, attempt: int) -> str:
    """Carry out what is wanted of a conversation; what became of it, in a word."""
    found = await prepare(key, attempt)
    if found["kind"] == "later":
        await enqueue_wake(key, version, attempt + 1, found["delay"])
    if found["kind"] == "unsettled":
        await enqueue_wake(key, found["version"], attempt, found["delay"])
    if found["kind"] != "write":
        return str(found["kind"])
    for index, action in enumerate(found["actions"]):
        order = {"id": f"{key}:{found['version']}:{attempt}:{index}", "version": found["version"], **found["order"]}
        with SetWorkflowID(f"write:{order['id']}"), SetEnqueueOptions(queue_partition_key=str(found["installation"])):
            handle = await DBOS.enqueue_workflow_async(WRITES, write, key, order, action)
        if await handle.get_result(polling_interval_sec=0.05) == "stale":
            await again(key, found["version"])
            return "superseded"
    await finish(key, found["version"], found)
    return "done"


@DBOS.workflow(name="write")
async def write(key: str, order: Json, action: Json) -> str:
    """One write, attempted until GitHub answers or nobody wants it any more."""
    for attempt in range(MOST_ATTEMPTS):
        became, delay = await try_write(key, order, action)
        if became != "later":
            return str(became)
        await DBOS.sleep_async(delay or min(pause(attempt), 300.0))
    return "refused"


@DBOS.step(name="try_write")
async def try_write(key: str, order: Json, action: Json) -> tuple[str, float]:
    """(what became of it, seconds to wait where that is `later`)."""
    at = desk()
    try:
        wanted = await asyncio.to_thread(conversations.current, at.database, key)
        return await carry_out(at, wanted, Order(**order), wire.made(action)), 0.0
    except Superseded:
        return "stale", 0.0
    except RateLimited as limited:
        return "later", max(1.0, limited.retry_at - time.time())
    except Unavailable as error:
        log.warning("%s: %s", key, error)
        return "later", 0.0
    except Exception:
        # Ours: it must neither stop what else is to be written nor be tried for ever.
        log.exception("%s: a write failed", key)
        return "refused", 0.0


@DBOS.step(name="again")
async def again(key: str, version: int) -> None:
    """The conversation changed under the review. Where no delivery has said so yet, ask for it ourselves."""
    wanted = await asyncio.to_thread(conversations.current, desk().database, key)
    if wanted is not None and wanted.version == version and not wanted.closed:
        await asyncio.to_thread(conversations.want, desk().database, [_want(wanted, "changed while it was reviewed")])


@DBOS.step(name="finish")
async def finish(key: str, version: int, found: Json) -> None:
    """All is written: remember it."""
    at = desk()
    if found["ledger"] is not None:
        await asyncio.to_thread(records.keep_ledger, at.database, key, found["ledger"])
    if found["run"]:
        await asyncio.to_thread(records.note_posted, at.database, found["run"])
    await asyncio.to_thread(conversations.note_done, at.database, key, version)


@DBOS.step(name="prepare")
async def prepare(key: str, attempt: int) -> Json:
    """Look at the conversation as it is now: `write` with what is to be written, `later` with a delay, `done` or `superseded`."""
    at = desk()
    if at.stopping.is_set():
        await at.forever()
    begun = await asyncio.to_thread(conversations.begin, at.database, key)
    if begun is None or begun[0].done >= begun[0].version:
        return {"kind": "done"}
    wanted, starts, now = begun
    if starts >= MOST_STARTS:
        log.error("%s: given up at %s: it has ended the process %d times", key, wanted.head[:12], starts)
        return await _closed(at, wanted, "given up")
    rest = due(wanted, at.settings.settle_seconds) - now
    found = await _contained(at, wanted, attempt) if rest < SOON else {"kind": "unsettled", "version": wanted.version, "delay": rest}
    await asyncio.to_thread(conversations.note_end, at.database, key)
    return found


def due(wanted: Wanted, settle: float) -> float:
    """When to look: once nothing was added for `settle` seconds, but not for ever later."""
    return min(wanted.changed_at + settle, wanted.first_at + MOST_SETTLING * settle) if wanted.settle else 0.0


async def _contained(at: Desk, wanted: Wanted, attempt: int) -> Json:
    """One look, whatever happens in it."""
    began = time.monotonic()
    try:
        if not await asyncio.to_thread(conversations.is_active, at.database, wanted.installation):
            return await _closed(at, wanted, "the installation is not active")
        async with at.looks:
            outcome = await _LOOKS[wanted.kind](at, wanted)
    except Superseded:
        log.info("%s at %s: superseded", wanted.key, wanted.head[:12])
        await _ask_again(at, wanted)
        return {"kind": "superseded"}
    except RateLimited as limited:
        return _later(wanted, attempt, limited, max(1.0, limited.retry_at - time.time()))
    except (NotFound, RepositoryGone) as error:
        return await _closed(at, wanted, str(error))
    except (Forbidden, AccessRefused, NoBase) as error:
        log.error("%s: %s", wanted.key, error)
        return await _closed(at, wanted, str(error))
    except (GitHubError, FetchError) as error:
        return _later(wanted, attempt, error)
    except Exception as error:
        # Ours. It is said where an operator looks, and tried again: the next source may know better.
        log.exception("%s at %s: %s", wanted.key, wanted.head[:12], type(error).__name__)
        return _later(wanted, attempt, error)
    where = f"{outcome.full_name or wanted.full_name}#{wanted.number} at {wanted.head[:12]}"
    log.info("%s: %s; %d to write after %.2f s", where, outcome.said, len(outcome.actions), time.monotonic() - began)
    return _to_write(wanted, outcome)


def _later(wanted: Wanted, attempt: int, error: Exception, delay: float | None = None) -> Json:
    if attempt >= MOST_ATTEMPTS:
        log.error("%s: given up after %d attempts: %s", wanted.key, attempt, error)
        return {"kind": "superseded"}
    wait = pause(attempt) if delay is None else delay
    log.warning("%s: %s; again in %.0f s", wanted.key, error, wait)
    return {"kind": "later", "delay": wait}


async def _closed(at: Desk, wanted: Wanted, why: str) -> Json:
    """There is nothing to be done, now or later."""
    log.info("%s: nothing to do: %s", wanted.key, why)
    await asyncio.to_thread(conversations.note_done, at.database, wanted.key, wanted.version)
    return {"kind": "done"}


async def _ask_again(at: Desk, wanted: Wanted) -> None:
    """A review that broke off because GitHub shows a newer head: its delivery may still come, or be lost."""
    if await at.version(wanted.key) == wanted.version:
        await asyncio.to_thread(conversations.want, at.database, [_want(wanted, "changed while it was reviewed")])


def _want(wanted: Wanted, reason: str) -> Want:
    place = (wanted.installation, wanted.repository, wanted.full_name)
    return Want(wanted.kind, *place, wanted.number, wanted.head, wanted.base, reason)


def _to_write(wanted: Wanted, outcome: Outcome) -> Json:
    held = asdict(outcome)
    order = {"expect": held.pop("expect"), "full_name": held.pop("full_name") or wanted.full_name}
    return {"kind": "write", "version": wanted.version, "installation": wanted.installation, "order": order, **held}


# ---------------------------------------------------------------- what a conversation can be


async def _look_up(at: Desk, wanted: Wanted) -> Outcome:
    """A re-run names a head only (a fork's, where GitHub tells no pulls): ask which open pulls have it (tektoncd/pipelines-as-code#2597)."""
    client = at.github.installation(wanted.installation)
    found = await reads.pulls_of_commit(client, wanted.full_name, wanted.head)
    place = (wanted.installation, wanted.repository, wanted.full_name)
    wants = [Want("pull", *place, one.pull.number, wanted.head, one.base_ref, wanted.reason, settle=False) for one in found]
    await asyncio.to_thread(conversations.want, at.database, wants)
    return Outcome(said=f"{len(wants)} pulls have this head")


async def _issue(_: Desk, __: Wanted) -> Outcome:
    """Issues are known of, and not reviewed yet."""
    return Outcome(said="an issue")


_LOOKS: dict[str, Callable[[Desk, Wanted], Awaitable[Outcome]]] = {
    "pull": review_pull,
    "group": review_group,
    "head": _look_up,
    "issue": _issue,
}

__all__ = ["VERSION", "WAKES", "WRITES", "at_desk", "enqueue_wake", "wake", "write"]
