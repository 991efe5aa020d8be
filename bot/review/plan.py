"""What is posted against what is wanted: a pure difference, as a list of actions in the order in which they are to be done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, Protocol

from bot.review.check import CHECK_NAME, Check
from bot.review.compose import Inline, Words
from bot.review.ledger import Ledger
from bot.review.markers import Marker, read, without
from bot.review.scene import Scene

# More are answered "was submitted too quickly" (reviewdog/reviewdog#355). Every story is in the body anyway.
MOST_INLINES = 30
# Each is a notification of its own.
MOST_FILE_COMMENTS = 10


class ReviewLike(Protocol):
    """A review as GitHub lists it. Its `commit_id` is not asked for: a force-push moves it (max-sixty/tend#884)."""

    @property
    def id(self) -> int: ...
    @property
    def login(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def body(self) -> str: ...


class CommentLike(Protocol):
    """An inline or file comment as GitHub lists it."""

    @property
    def id(self) -> int: ...
    @property
    def login(self) -> str: ...
    @property
    def body(self) -> str: ...


class RunLike(Protocol):
    """A check run as GitHub lists it."""

    @property
    def id(self) -> int: ...
    @property
    def app_id(self) -> int | None: ...
    @property
    def name(self) -> str: ...
    @property
    def head_sha(self) -> str: ...
    @property
    def conclusion(self) -> str | None: ...
    @property
    def title(self) -> str: ...
    @property
    def summary(self) -> str: ...


@dataclass(frozen=True, slots=True)
class PostedInline:
    """A comment of ours about F`number`."""

    id: int
    number: int
    body: str


@dataclass(frozen=True, slots=True)
class PostedCheck:
    """Our newest check run on the head. `digest` is that of its annotations, "" where it does not tell."""

    id: int
    conclusion: str | None
    title: str
    summary: str
    digest: str


@dataclass(frozen=True, slots=True)
class PostedState:
    """What of ours is on GitHub: told by genuine markers in our own posts alone.

    review     id of the newest summary, None before the first; `body` and `ledger` are its
    pending    reviews of ours that were never submitted: they block the next one (github/app#3371)
    requested  reviews of ours that still request changes
    """

    review: int | None = None
    body: str = ""
    ledger: Ledger | None = None
    inlines: tuple[PostedInline, ...] = ()
    check: PostedCheck | None = None
    pending: tuple[int, ...] = ()
    requested: tuple[int, ...] = ()


# ---------------------------------------------------------------- actions


@dataclass(frozen=True, slots=True)
class DropPending:
    """Delete a review that was never submitted."""

    review_id: int


@dataclass(frozen=True, slots=True)
class PostReview:
    """Post a review of `commit` with at most `MOST_INLINES` comments, each on a line."""

    commit: str
    body: str
    mark: str
    event: Literal["COMMENT", "REQUEST_CHANGES"]
    comments: tuple[Inline, ...] = ()


@dataclass(frozen=True, slots=True)
class EditReview:
    """Replace the last summary."""

    review_id: int
    body: str


@dataclass(frozen=True, slots=True)
class PostInline:
    """Post one comment by itself: on a file, which a review cannot carry, or on a line whose review is there already."""

    commit: str
    comment: Inline


@dataclass(frozen=True, slots=True)
class EditInline:
    """Replace the words of an inline comment: its story ended, came back or changed."""

    comment_id: int
    body: str


@dataclass(frozen=True, slots=True)
class DismissReview:
    """Take back a request for changes that has nothing left to request; a later comment never does."""

    review_id: int
    message: str


@dataclass(frozen=True, slots=True)
class WriteCheck:
    """Create the check run (`run_id` None) or bring it up to date. `annotate` is False where its annotations are there already."""

    run_id: int | None
    check: Check
    annotate: bool


# How the trigger begins where a person has asked for a review.
ASKED = ("re-run", "command", "/assay")
Action = DropPending | PostReview | EditReview | PostInline | EditInline | DismissReview | WriteCheck
DISMISSAL = "The findings that this review asked to change are resolved or set aside."

# ---------------------------------------------------------------- what is posted


def posted_state(
    *,
    key: bytes,
    conversation: str,
    me: str,
    head: str,
    app_id: int | None = None,
    reviews: Iterable[ReviewLike] = (),
    comments: Iterable[CommentLike] = (),
    runs: Iterable[RunLike] = (),
) -> PostedState:
    """What stands on GitHub now. Give every page of reviews and comments, or what is posted is posted again (ihnatz/ducalis#112)."""
    mine = [one for one in reviews if _same(one.login, me)]
    summaries = [found for one in mine if (found := _summary(one, key, conversation))]
    # The highest serial; of equal ones (somebody has copied it) the older post, which is the one that we made.
    newest = max(summaries, key=lambda one: (one.ledger.serial, -one.id), default=None)
    marked = [(one, read(one.body, key, conversation)) for one in comments if _same(one.login, me)]
    return PostedState(
        review=newest.id if newest else None,
        body=newest.body if newest else "",
        ledger=newest.ledger if newest else None,
        inlines=tuple(PostedInline(one.id, marker.number, one.body) for one, marker in marked if marker and marker.kind == "inline"),
        check=_check(key, conversation, head, app_id, runs),
        pending=tuple(one.id for one in mine if one.state.upper() == "PENDING"),
        requested=tuple(one.id for one in mine if one.state.upper() == "CHANGES_REQUESTED"),
    )


@dataclass(frozen=True, slots=True)
class _Summary:
    id: int
    body: str
    ledger: Ledger = field(repr=False)


def _summary(review: ReviewLike, key: bytes, conversation: str) -> _Summary | None:
    marker: Marker | None = read(review.body, key, conversation) if review.state.upper() != "PENDING" else None
    return _Summary(review.id, review.body, marker.ledger) if marker and marker.ledger else None


def _check(key: bytes, conversation: str, head: str, app_id: int | None, runs: Iterable[RunLike]) -> PostedCheck | None:
    """Another app may call its run as ours is called; the marker and the app's id tell."""
    ours = [one for one in runs if one.name == CHECK_NAME and one.head_sha == head and (app_id is None or one.app_id == app_id)]
    newest = max(ours, key=lambda one: one.id, default=None)
    if newest is None:
        return None
    marker = read(newest.summary, key, conversation)
    return PostedCheck(newest.id, newest.conclusion, newest.title, newest.summary, marker.digest if marker else "")


def _same(login: str, me: str) -> bool:
    return login.casefold() == me.casefold()


# ---------------------------------------------------------------- what is to be done


def plan(posted: PostedState, wanted: Words, scene: Scene) -> tuple[Action, ...]:
    """What to do; nothing where all is there already. The check run comes last: it tells that the rest is there."""
    return (*(_conversation(posted, wanted, scene) if _speaks(posted, wanted, scene) else ()), *_checked(posted, wanted))


def _speaks(posted: PostedState, wanted: Words, scene: Scene) -> bool:
    """Where no evidence is touched and nothing was ever said, a green check is enough."""
    if scene.check_only:
        return False
    return scene.evidence or posted.review is not None or bool(wanted.ledger.standings) or bool(wanted.ledger.failure)


def _conversation(posted: PostedState, wanted: Words, scene: Scene) -> Iterator[Action]:
    posts = posted.review is None or (wanted.news and not _told(posted, wanted))
    fresh = _fresh(posted, wanted, posts)
    lined = [one for one in fresh if one.spot and one.spot.line is not None][:MOST_INLINES]
    on_files = [one for one in fresh if one.spot and one.spot.line is None][:MOST_FILE_COMMENTS]
    if posts:
        yield from (DropPending(id) for id in posted.pending)
        yield PostReview(wanted.head, wanted.body, wanted.mark, _event(wanted, scene), tuple(lined))
    elif posted.review is not None and not _nothing_to_say(posted, wanted, scene) and without(posted.body) != without(wanted.body):
        yield EditReview(posted.review, wanted.body)
    yield from (PostInline(wanted.head, one) for one in (*(() if posts else lined), *on_files))
    yield from _edits(posted, wanted)
    if not wanted.ledger.failure and not (scene.config.request_changes and wanted.blocking):
        yield from (DismissReview(id, DISMISSAL) for id in posted.requested)


def _told(posted: PostedState, wanted: Words) -> bool:
    """The review was posted, and a crash kept us from noting it."""
    return posted.ledger is not None and posted.ledger.serial >= wanted.ledger.serial


def _nothing_to_say(posted: PostedState, wanted: Words, scene: Scene) -> bool:
    """The same head, and every story as it was: only the trigger has changed. What a person asks for is told all the same."""
    held = posted.ledger
    same = held is not None and (held.head, held.standings, held.failure) == (wanted.head, wanted.ledger.standings, wanted.ledger.failure)
    return same and not wanted.news and not scene.trigger.startswith(ASKED)


def _fresh(posted: PostedState, wanted: Words, posts: bool) -> list[Inline]:
    """Comments that are not there yet. Beside a posted review only those of its round: a crash may have come before them."""
    there = {one.number for one in posted.inlines}
    serial = wanted.ledger.serial
    told = {one.number for one in wanted.ledger.standings if posts or serial in (one.born, one.round)}
    return [one for one in wanted.inlines if one.spot is not None and one.number in told - there]


def _edits(posted: PostedState, wanted: Words) -> Iterator[EditInline]:
    words = {one.number: one.body for one in wanted.inlines}
    for one in posted.inlines:
        if one.number in words and without(one.body) != without(words[one.number]):
            yield EditInline(one.id, words[one.number])


def _event(wanted: Words, scene: Scene) -> Literal["COMMENT", "REQUEST_CHANGES"]:
    return "REQUEST_CHANGES" if scene.config.request_changes and wanted.blocking else "COMMENT"


def _checked(posted: PostedState, wanted: Words) -> Iterator[WriteCheck]:
    """Annotations are only ever appended: where they differ, a new run takes the old one's place."""
    now, check = posted.check, wanted.check
    if now is None or (now.digest and now.digest != check.digest):
        yield WriteCheck(None, check, bool(check.annotations))
    elif (now.conclusion, now.title, without(now.summary)) != (check.conclusion, check.title, without(check.summary)) or not now.digest:
        yield WriteCheck(now.id, check, not now.digest and bool(check.annotations))
