"""Writes into conversations and checks. What GitHub may have done without saying so is looked up before it is done again.

Pacing (one content write per second and installation) is the caller's business. `repo` is `owner/name`. Every function may raise what
`bot.github.errors` lists. `mark` is a text that occurs in the body and in nothing else that the bot has posted there: by it a write that was
answered with an error, and stored all the same, is found again (reviewdog/reviewdog#355).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from bot.github import pick, reads_checks
from bot.github.client import Client
from bot.github.errors import NotFound, NotKept, Refused, Unavailable

Json = dict[str, Any]
T = TypeVar("T")
# docs.github.com/rest/checks/runs: "a maximum of 50 annotations per API request", and updates append.
ANNOTATIONS_AT_ONCE = 50
# Measured by others (reviewdog/reviewdog#355): with more than 32 GitHub answers "was submitted too quickly".
COMMENTS_AT_ONCE = 30
CHECK_TITLE = 255
CHECK_TEXT = 65_535
# Seconds after an unsure write before it is looked for: it can become visible a little later.
LOOK_AFTER = 2.0
Conclusion = Literal["success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required"]
ReviewEvent = Literal["COMMENT", "REQUEST_CHANGES"]
Reaction = Literal["+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"]


@dataclass(frozen=True, slots=True)
class Inline:
    """An inline comment: on `line` (of the new file, or with side LEFT of the old one), on `start_line`..`line`, or with `line` None on the file."""

    path: str
    body: str
    line: int | None = None
    start_line: int | None = None
    side: Literal["LEFT", "RIGHT"] = "RIGHT"


@dataclass(frozen=True, slots=True)
class Posted:
    """A review that is on GitHub, and the comments that did not go with it: post them alone (`inline`), or name them in the body."""

    id: int
    url: str
    left_out: tuple[Inline, ...] = ()


@dataclass(frozen=True, slots=True)
class Annotation:
    """A mark of a check run in a file, lines 1-based and inclusive."""

    path: str
    start_line: int
    end_line: int
    level: Literal["notice", "warning", "failure"]
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class Check:
    """A check run as it should be. `conclusion` None: it runs. `external_id` names the conversation, so that a re-run finds it again."""

    name: str
    head_sha: str
    title: str
    summary: str
    conclusion: Conclusion | None = None
    text: str = ""
    external_id: str = ""
    details_url: str = ""
    annotations: tuple[Annotation, ...] = ()
    actions: tuple[tuple[str, str, str], ...] = ()  # (label, description, identifier)


# ---------------------------------------------------------------- reviews


async def review(
    client: Client,
    repo: str,
    number: int,
    me: str,
    *,
    commit: str,
    body: str,
    mark: str,
    event: ReviewEvent = "COMMENT",
    comments: Sequence[Inline] = (),
) -> Posted:
    """Post a review of `commit` as `me` (our login). Where a comment is refused the review goes without them all; more than thirty never go along.

    Raises `Refused` when a force-push took `commit` out of the pull.
    """
    path = f"/repos/{repo}/pulls/{number}/reviews"
    taken, left_out = tuple(comments[:COMMENTS_AT_ONCE]), tuple(comments[COMMENTS_AT_ONCE:])

    async def post(some: Sequence[Inline]) -> Posted:
        wanted = {"commit_id": commit, "body": body, "event": event, "comments": [_spot(one) for one in some]}
        raw = await client.post(path, wanted)
        return Posted(raw["id"], raw.get("html_url", ""))

    async def find() -> Posted | None:
        found = [one async for one in client.getiter(path, fresh=True)]
        return next((Posted(one["id"], one.get("html_url", "")) for one in found if _is_ours(one, me, mark) and one.get("state") != "PENDING"), None)

    async def sure(some: Sequence[Inline]) -> Posted:
        return await _surely(client, lambda: post(some), find)

    try:
        return replace(await _unblocked(client, path, me, lambda: sure(taken)), left_out=left_out)
    except Refused as refused:
        if refused.status != 422 or not taken:
            raise
    return replace(await sure(()), left_out=tuple(comments))


async def _unblocked(client: Client, reviews: str, me: str, work: Callable[[], Awaitable[T]]) -> T:
    """`work`, also where a review of ours that was left pending blocks it (github/app#3371): that one is taken away."""
    try:
        return await work()
    except Refused as refused:
        if not refused.says("pending review"):
            raise
    async for one in client.getiter(reviews, fresh=True):
        if pick.text(one, "state") == "PENDING" and _login(one) == me.lower():
            await _gone(client.delete(f"{reviews}/{one['id']}"))
    return await work()


async def drop_review(client: Client, repo: str, number: int, review_id: int) -> None:
    """Delete a review that was never submitted. Nothing happens where it is gone already."""
    await _gone(client.delete(f"/repos/{repo}/pulls/{number}/reviews/{review_id}"))


async def edit_review(client: Client, repo: str, number: int, review_id: int, body: str) -> None:
    """Replace a review's body."""
    path = f"/repos/{repo}/pulls/{number}/reviews/{review_id}"
    await _stays(client, path, body, await client.put(path, {"body": body}))


async def dismiss_review(client: Client, repo: str, number: int, review_id: int, message: str) -> None:
    """Take back a REQUEST_CHANGES; a later comment never does. Nothing happens where it is taken back already."""
    path = f"/repos/{repo}/pulls/{number}/reviews/{review_id}"
    try:
        await client.put(f"{path}/dismissals", {"message": message})
    except Refused:
        if (await client.get(path, fresh=True)).get("state") != "DISMISSED":
            raise


async def inline(client: Client, repo: str, number: int, me: str, *, commit: str, comment: Inline, mark: str) -> int:
    """Post one comment on its line or, where GitHub does not take that, on its file; its id. Raises `Refused` where the file is not in the diff."""
    try:
        return await _inline(client, repo, number, me, commit, comment, mark)
    except Refused as refused:
        if refused.status != 422 or comment.line is None:
            raise
    return await _inline(client, repo, number, me, commit, replace(comment, line=None, start_line=None), mark)


async def _inline(client: Client, repo: str, number: int, me: str, commit: str, comment: Inline, mark: str) -> int:
    path = f"/repos/{repo}/pulls/{number}"
    # `subject_type` is known to this endpoint only.
    wanted = {**_spot(comment), "commit_id": commit, **({"subject_type": "file"} if comment.line is None else {})}
    return await _unblocked(client, f"{path}/reviews", me, lambda: _post(client, f"{path}/comments", wanted, me, mark))


async def edit_inline(client: Client, repo: str, comment_id: int, body: str) -> None:
    """Replace the body of a comment on a line or file."""
    path = f"/repos/{repo}/pulls/comments/{comment_id}"
    await _stays(client, path, body, await client.patch(path, {"body": body}))


def _spot(one: Inline) -> Json:
    """`start_line` must lie before `line` (ubuntu/WSL#244)."""
    wanted: Json = {"path": one.path, "body": one.body}
    if one.line is None:
        return wanted
    several = one.start_line is not None and one.start_line < one.line
    return {**wanted, "line": one.line, "side": one.side, **({"start_line": one.start_line, "start_side": one.side} if several else {})}


# ---------------------------------------------------------------- conversations


async def comment(client: Client, repo: str, number: int, me: str, *, body: str, mark: str) -> int:
    """Post a comment in an issue's or pull's conversation; its id."""
    return await _post(client, f"/repos/{repo}/issues/{number}/comments", {"body": body}, me, mark)


async def edit_comment(client: Client, repo: str, comment_id: int, body: str) -> None:
    """Replace the body of a conversation's comment."""
    path = f"/repos/{repo}/issues/comments/{comment_id}"
    await _stays(client, path, body, await client.patch(path, {"body": body}))


async def delete_comment(client: Client, repo: str, comment_id: int) -> None:
    """Nothing happens where it is gone already."""
    await _gone(client.delete(f"/repos/{repo}/issues/comments/{comment_id}"))


async def edit_issue(client: Client, repo: str, number: int, body: str) -> None:
    """Replace an issue's body and read it again. Raises `NotKept` where GitHub keeps the old one (it does with oversize bodies, and answers 200)."""
    path = f"/repos/{repo}/issues/{number}"
    await client.patch(path, {"body": body})
    await _stays(client, path, body, {})


async def react(client: Client, repo: str, comment_id: int, content: Reaction) -> int:
    """React to a conversation's comment; the reaction's id, also where it is there already."""
    found: int = (await client.post(f"/repos/{repo}/issues/comments/{comment_id}/reactions", {"content": content}, again=True))["id"]
    return found


async def unreact(client: Client, repo: str, comment_id: int, reaction_id: int) -> None:
    """Nothing happens where it is gone already."""
    await _gone(client.delete(f"/repos/{repo}/issues/comments/{comment_id}/reactions/{reaction_id}"))


# ---------------------------------------------------------------- checks


async def check(client: Client, repo: str, me: str, wanted: Check, run_id: int | None = None) -> int:
    """Create the check run, or bring `run_id` up to date; its id. Annotations only grow: those that the run has already are taken for the first."""
    sent = 0
    if run_id is None:
        run_id = await _create_check(client, repo, me, wanted)
        sent = min(len(wanted.annotations), ANNOTATIONS_AT_ONCE)
        if sent == len(wanted.annotations):
            return run_id
    elif wanted.annotations:
        sent = (await reads_checks.check_run(client, repo, run_id)).annotations
    while True:
        await _grow(client, repo, run_id, wanted, sent)
        sent += ANNOTATIONS_AT_ONCE
        if sent >= len(wanted.annotations):
            return run_id


async def _create_check(client: Client, repo: str, me: str, wanted: Check) -> int:
    async def post() -> int:
        first = _output(wanted, wanted.annotations[:ANNOTATIONS_AT_ONCE])
        made: int = (await client.post(f"/repos/{repo}/check-runs", {"head_sha": wanted.head_sha, **_state(wanted), "output": first}))["id"]
        return made

    async def find() -> int | None:
        # A run of an earlier time has another text or more annotations; taking it for ours does no harm, as it is brought up to date next.
        held = await reads_checks.check_runs(client, repo, wanted.head_sha, wanted.name, fresh=True)
        ours = [one for one in held if f"{one.app_slug}[bot]" == me and one.external_id == wanted.external_id and one.summary == wanted.summary]
        return ours[0].id if ours else None

    return await _surely(client, post, find)


async def _grow(client: Client, repo: str, run_id: int, wanted: Check, sent: int) -> None:
    """One update with the next annotations. It is not repeated blindly: GitHub would append them twice."""
    some = wanted.annotations[sent : sent + ANNOTATIONS_AT_ONCE]

    async def post() -> bool:
        await client.patch(f"/repos/{repo}/check-runs/{run_id}", {**_state(wanted), "output": _output(wanted, some)}, again=not some)
        return True

    async def find() -> bool:
        return (await reads_checks.check_run(client, repo, run_id)).annotations >= sent + len(some)

    await _surely(client, post, find)


def _state(wanted: Check) -> Json:
    told: Json = {"name": wanted.name, "external_id": wanted.external_id, "status": "completed" if wanted.conclusion else "in_progress"}
    buttons = [dict(zip(("label", "description", "identifier"), one, strict=True)) for one in wanted.actions]
    extra = {"conclusion": wanted.conclusion, "details_url": wanted.details_url, "actions": buttons}
    return told | {key: value for key, value in extra.items() if value}


def _output(wanted: Check, some: Sequence[Annotation]) -> Json:
    text = {"text": wanted.text[:CHECK_TEXT]} if wanted.text else {}
    return {
        "title": wanted.title[:CHECK_TITLE],
        "summary": wanted.summary[:CHECK_TEXT],
        **text,
        "annotations": [_annotation(one) for one in some],
    }


def _annotation(one: Annotation) -> Json:
    lines = {"path": one.path, "start_line": one.start_line, "end_line": max(one.start_line, one.end_line)}
    return {**lines, "annotation_level": one.level, "title": one.title[:CHECK_TITLE], "message": one.message}


# ---------------------------------------------------------------- being sure


async def _post(client: Client, path: str, wanted: Json, me: str, mark: str) -> int:
    """Post one thing with a body to a list; its id."""

    async def post() -> int:
        made: int = (await client.post(path, wanted))["id"]
        return made

    async def find() -> int | None:
        found = [one["id"] async for one in client.getiter(path, fresh=True) if _is_ours(one, me, mark)]
        return found[-1] if found else None

    return await _surely(client, post, find)


async def _surely(client: Client, post: Callable[[], Awaitable[T]], find: Callable[[], Awaitable[T | None]]) -> T:
    """Post; where GitHub does not say whether it did, look for it first, and post once more only if it is not there."""
    for last in (False, True):
        try:
            return await post()
        except Unavailable as error:
            if not error.unsure:
                raise
            await client.pause(LOOK_AFTER)
            found = await find()
            if found:
                return found
            if last:
                raise
    raise AssertionError("the last attempt always ends")


async def _stays(client: Client, path: str, body: str, answer: Any) -> None:
    """Raises `NotKept` unless GitHub shows the text that was written."""
    if _same(answer, body):
        return
    if not _same(await client.get(path, fresh=True), body):
        raise NotKept(path)


def _same(shown: Any, body: str) -> bool:
    held = pick.anything(shown, "body")
    return isinstance(held, str) and _plain(held) == _plain(body)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").strip()


async def _gone(deleting: Awaitable[Any]) -> None:
    try:
        await deleting
    except NotFound:
        return


def _is_ours(raw: Any, me: str, mark: str) -> bool:
    return _login(raw) == me.lower() and mark in pick.text(raw, "body")


def _login(raw: Any) -> str:
    return pick.text(raw, "user", "login").lower()
