"""What is posted against what is wanted: a pure difference, as a list of actions in the order in which they are to be done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from bot.review.compose import Check, Inline, Words
from bot.review.ledger import Ledger
from bot.review.scene import Scene


class ReviewLike(Protocol):
    """A review as GitHub lists it."""

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
    """Our newest check run on the head. `digest` is that of its annotations, "" where it has none or does not tell."""

    id: int
    conclusion: str | None
    title: str
    summary: str
    digest: str


@dataclass(frozen=True, slots=True)
class PostedState:
    """What of ours is on GitHub: told by genuine markers in our own posts alone.

    review   id of the newest summary, None before the first; `body` and `ledger` are its
    pending  reviews of ours that were never submitted (they block the next one: github/app#3371)
    requested  reviews of ours that still request changes
    """

    review: int | None = None
    body: str = ""
    ledger: Ledger | None = None
    inlines: tuple[PostedInline, ...] = ()
    check: PostedCheck | None = None
    pending: tuple[int, ...] = ()
    requested: tuple[int, ...] = ()


def posted_state(
    *,
    key: bytes,
    conversation: str,
    me: str,
    app_id: int | None,
    head: str,
    reviews: Iterable[ReviewLike],
    comments: Iterable[CommentLike],
    runs: Iterable[RunLike] = (),
) -> PostedState:
    """What stands on GitHub now. Give every page of reviews and comments (ihnatz/ducalis#112)."""
    raise NotImplementedError


@dataclass(frozen=True, slots=True)
class DropPending:
    """Delete a review that was never submitted."""

    review_id: int


@dataclass(frozen=True, slots=True)
class PostReview:
    """Post a review of `commit` with at most 30 comments."""

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
    """Post one comment on a file, which a review cannot carry."""

    commit: str
    comment: Inline


@dataclass(frozen=True, slots=True)
class EditInline:
    """Replace the words of an inline comment: its story ended, came back or changed."""

    comment_id: int
    body: str


@dataclass(frozen=True, slots=True)
class DismissReview:
    """Take back a request for changes that has nothing left to request."""

    review_id: int
    message: str


@dataclass(frozen=True, slots=True)
class WriteCheck:
    """Create the check run (`run_id` None) or bring it up to date. `annotate` is False where its annotations are there already."""

    run_id: int | None
    check: Check
    annotate: bool


Action = DropPending | PostReview | EditReview | PostInline | EditInline | DismissReview | WriteCheck


def plan(posted: PostedState, wanted: Words, scene: Scene) -> tuple[Action, ...]:
    """What to do; nothing where all is there already."""
    raise NotImplementedError
