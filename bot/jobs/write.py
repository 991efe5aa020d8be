"""Carries out one action of a plan. What may be on GitHub already, because a process died between the writing and the noting, is looked for first."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Literal

from bot.github import reads, writes
from bot.github.client import Client
from bot.github.errors import Forbidden, NotFound, NotKept, Refused, Unavailable
from bot.jobs.desk import Desk
from bot.jobs.review import expected_still
from bot.review import compose
from bot.review.plan import Action, DismissReview, DropPending, EditInline, EditReview, PostInline, PostReview, WriteCheck
from bot.review.positions import Spot
from bot.store import records
from bot.store.conversations import Wanted

log = logging.getLogger("assay.write")
# "Pause at least one second between each request" that writes (docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api).
# The queue starts one a second; what a write reads before it writes would bring two closer together.
GAP = 1.0
CHECK_NAME = "assay"
BUTTON = ("Re-run", "Review this head once more", "rerun")
# `stale`: something newer is wanted, or the conversation is not what the review has read. `refused`: GitHub does not take it, now or ever.
Written = Literal["written", "stale", "refused"]


@dataclass(frozen=True, slots=True)
class Order:
    """One write: its id (for ever the same), the conversation at which version, and what the review had read of it."""

    id: str
    version: int
    expect: str
    full_name: str


async def carry_out(desk: Desk, wanted: Wanted | None, order: Order, action: Action) -> Written:
    """Do it, if it is still to be done. Raises `RateLimited` and `Unavailable`: then it is worth another attempt."""
    if wanted is None or wanted.version > order.version or wanted.closed:
        return "stale"
    client = desk.github.installation(wanted.installation)
    try:
        if isinstance(action, PostReview | EditReview) and not await _unchanged(desk, client, wanted, order):
            return "stale"
        await asyncio.sleep(await asyncio.to_thread(records.take_turn, desk.database, wanted.installation, GAP))
        await desk.permission()
        # The last look comes last: all that was awaited before it took time.
        await desk.must_be_newest(wanted.key, order.version)
        desk.writing += 1
        try:
            return await _once(desk, client, wanted, order, action)
        finally:
            desk.writing -= 1
    except (Refused, Forbidden, NotFound, NotKept) as error:
        return await _refused(desk, client, wanted, order, action, error)


async def _unchanged(desk: Desk, client: Client, wanted: Wanted, order: Order) -> bool:
    """Head, texts and comments, read again right before they are answered."""
    if not order.expect:
        return True
    return await expected_still(client, order.full_name, wanted.number, order.expect, desk.me.login)


async def _once(desk: Desk, client: Client, wanted: Wanted, order: Order, action: Action) -> Written:
    """Write, unless an attempt that nobody saw the end of has done so."""
    first = await asyncio.to_thread(records.begin_write, desk.database, order.id)
    if first or not await _is_there(desk, client, wanted, order, action):
        await _write(desk, client, wanted, order, action)
    return "written"


async def _is_there(desk: Desk, client: Client, wanted: Wanted, order: Order, action: Action) -> bool:
    """Only what makes something new can be there twice; an edit is simply done again."""
    match action:
        case PostReview():
            posted = await reads.reviews(client, order.full_name, wanted.number)
            return any(one.login == desk.me.login and action.mark in one.body for one in posted)
        case PostInline():
            said = await reads.review_comments(client, order.full_name, wanted.number)
            return any(one.login == desk.me.login and action.comment.mark in one.body for one in said)
    return False


async def _write(desk: Desk, client: Client, wanted: Wanted, order: Order, action: Action) -> None:
    name, number, me = order.full_name, wanted.number, desk.me.login
    match action:
        case DropPending():
            await writes.drop_review(client, name, number, action.review_id)
        case PostReview():
            inlines = [_inline(one, one.spot) for one in action.comments if one.spot]
            posted = await writes.review(
                client, name, number, me, commit=action.commit, body=action.body, mark=action.mark, event=action.event, comments=inlines
            )
            if posted.left_out:
                log.info("%s#%d: %d comments stand in the body only", name, number, len(posted.left_out))
        case EditReview():
            await writes.edit_review(client, name, number, action.review_id, action.body)
        case PostInline(comment=comment) if comment.spot:
            await writes.inline(client, name, number, me, commit=action.commit, comment=_inline(comment, comment.spot), mark=comment.mark)
        case EditInline():
            await writes.edit_inline(client, name, action.comment_id, action.body)
        case DismissReview():
            await writes.dismiss_review(client, name, number, action.review_id, action.message)
        case WriteCheck():
            await writes.check(client, name, me, _check(wanted.key, action), action.run_id)


def _inline(one: compose.Inline, spot: Spot) -> writes.Inline:
    return writes.Inline(spot.path, one.body, spot.line, spot.start_line)


def _check(key: str, action: WriteCheck) -> writes.Check:
    check = action.check
    marks = [writes.Annotation(one.path, one.start_line, one.end_line, one.level, one.title, one.message) for one in check.annotations]
    return writes.Check(
        name=CHECK_NAME,
        head_sha=check.head,
        title=check.title,
        summary=check.summary,
        conclusion=check.conclusion,
        text=check.text,
        external_id=key,
        annotations=tuple(marks) if action.annotate else (),
        actions=(BUTTON,),
    )


async def _refused(
    desk: Desk, client: Client, wanted: Wanted, order: Order, action: Action, error: Refused | Forbidden | NotFound | NotKept
) -> Written:
    """GitHub does not take it. A head that was pushed away meanwhile is no error; all else is logged with GitHub's own reasons."""
    await asyncio.to_thread(records.undo_write, desk.database, order.id)
    if isinstance(error, Refused) and order.expect:
        try:
            if not await expected_still(client, order.full_name, wanted.number, order.expect, desk.me.login):
                return "stale"
        except (NotFound, Forbidden, Refused, Unavailable):
            pass
    log.error("%s: %s was not written: %s", wanted.key, type(action).__name__, error)
    return "refused"
