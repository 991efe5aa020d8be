"""Writes into conversations and checks. What GitHub may have done without saying so is looked up before it is done again.

Pacing (one content write per second and installation) is the caller's business. `repo` is `owner/name`. Every function may raise what
`bot.github.errors` lists. `mark` is a text that occurs in the body and in nothing else that the bot has posted there: by it a write that was
answered with an error, and stored all the same, is found again (reviewdog/reviewdog#355).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from bot.github import reads
from bot.github.client import Client
from bot.github.errors import Forbidden, NotFound, NotKept, Refused, Unavailable

Json = dict[str, Any]
# docs.github.com/rest/checks/runs: "a maximum of 50 annotations per API request", and updates append.
ANNOTATIONS_AT_ONCE = 50
# Measured by others (reviewdog/reviewdog#355): with more than 32 GitHub answers "was submitted too quickly".
COMMENTS_AT_ONCE = 30
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
    actions: tuple[tuple[str, str, str], ...] = field(default=())  # (label, description, identifier)


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
    """Post a review of `commit`. Where one of the comments is refused, the review goes without them. Raises `Refused` when the head has moved on."""
    raise NotImplementedError


async def edit_review(client: Client, repo: str, number: int, review_id: int, body: str) -> None:
    """Replace a review's body."""
    raise NotImplementedError


async def dismiss_review(client: Client, repo: str, number: int, review_id: int, message: str) -> None:
    """Take back a REQUEST_CHANGES; a later comment never does."""
    raise NotImplementedError


async def inline(client: Client, repo: str, number: int, me: str, *, commit: str, comment: Inline, mark: str) -> int:
    """Post one comment on a line or a file; its id."""
    raise NotImplementedError


async def edit_inline(client: Client, repo: str, comment_id: int, body: str) -> None:
    raise NotImplementedError


async def comment(client: Client, repo: str, number: int, me: str, *, body: str, mark: str) -> int:
    """Post a comment in an issue's or pull's conversation; its id."""
    raise NotImplementedError


async def edit_comment(client: Client, repo: str, comment_id: int, body: str) -> None:
    raise NotImplementedError


async def delete_comment(client: Client, repo: str, comment_id: int) -> None:
    """Nothing happens where it is gone already."""
    raise NotImplementedError


async def check(client: Client, repo: str, wanted: Check, run_id: int | None = None) -> int:
    """Create the check run, or bring `run_id` up to date (its annotations grow, they are never replaced); its id."""
    raise NotImplementedError


async def react(client: Client, repo: str, comment_id: int, content: Reaction) -> int:
    """React to a conversation's comment; the reaction's id, also where it is there already."""
    raise NotImplementedError


async def unreact(client: Client, repo: str, comment_id: int, reaction_id: int) -> None:
    raise NotImplementedError


async def edit_issue(client: Client, repo: str, number: int, body: str) -> None:
    """Replace an issue's body and read it again. Raises `NotKept` where GitHub keeps the old one (it does with oversize bodies, and answers 200)."""
    raise NotImplementedError
