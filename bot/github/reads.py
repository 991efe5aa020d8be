"""Reads conversations and checks of one repository into small values. Every function may raise what `bot.github.errors` lists.

`repo` is `owner/name`; lists are read to their last page, oldest first unless said otherwise; times are ISO 8601 as GitHub prints them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from bot.github import pick
from bot.github.client import Client
from bot.github.errors import NotFound, Unavailable
from rules.core.model import Comment, Issue, Pull
from rules.reading.conversation import Unusable, read_issue, read_pull

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Me:
    """The app itself; `login` is what its comments are signed with (`assay[bot]`)."""

    app_id: int
    slug: str
    login: str


@dataclass(frozen=True, slots=True)
class Repo:
    """A repository as it is now: its name (renames are followed), default branch, size in KiB."""

    id: int
    full_name: str
    default_branch: str
    private: bool
    archived: bool
    size_kib: int


@dataclass(frozen=True, slots=True)
class PullState:
    """A pull and what its object tells beyond the core's `Pull`. `url` is its page; `maintainer` things are left out."""

    pull: Pull
    base_ref: str
    head_ref: str
    url: str
    updated_at: str
    merged: bool
    changed_files: int


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment of an issue's or pull's conversation; `app_id` is the app that wrote it, None for a person."""

    comment: Comment
    updated_at: str
    url: str
    app_id: int | None


@dataclass(frozen=True, slots=True)
class Review:
    """A review. `commit_id` is moved by GitHub on a force-push: it never tells what was reviewed (max-sixty/tend#884)."""

    id: int
    login: str
    is_bot: bool
    state: str
    body: str
    commit_id: str
    submitted_at: str
    url: str


@dataclass(frozen=True, slots=True)
class LineComment:
    """An inline or file comment (`subject` `line` or `file`). `line` is None where it is outdated; `original_line` never moves."""

    id: int
    review_id: int | None
    login: str
    is_bot: bool
    body: str
    path: str
    subject: str
    side: str
    line: int | None
    start_line: int | None
    original_line: int | None
    original_commit_id: str
    in_reply_to: int | None
    created_at: str
    updated_at: str
    url: str


@dataclass(frozen=True, slots=True)
class Thread:
    """A review thread by its first comment's id, and whether somebody resolved it."""

    first_comment: int
    resolved: bool
    outdated: bool
    path: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Moment:
    """One entry of a timeline. `source` is the number of the pull (or issue) of the same repository that mentions this one."""

    event: str
    login: str
    at: str
    label: str = ""
    source: int | None = None
    source_is_pull: bool = False


# ---------------------------------------------------------------- the app and its repositories


async def me(app: Client) -> Me:
    """Who we are; `app` is the client of the app itself."""
    raw = await app.get("/app")
    slug = pick.text(raw, "slug")
    return Me(pick.number(raw, "id"), slug, f"{slug}[bot]")


async def repository(client: Client, repo: str) -> Repo:
    raw = await client.get(f"/repos/{repo}")
    flags = pick.true(raw, "private"), pick.true(raw, "archived")
    return Repo(pick.number(raw, "id"), pick.text(raw, "full_name"), pick.text(raw, "default_branch"), *flags, pick.number(raw, "size"))


async def role(client: Client, repo: str, login: str) -> str:
    """`admin`, `maintain`, `write`, `triage`, `read` or `none`: `role_name`, as `permission` maps maintain to write and triage to read."""
    try:
        raw = await client.get(f"/repos/{repo}/collaborators/{quote(login, safe='')}/permission")
    except NotFound:
        return "none"
    return pick.text(raw, "role_name") or pick.text(raw, "permission") or "none"


# ---------------------------------------------------------------- conversations


async def pull(client: Client, repo: str, number: int) -> PullState:
    return _pull(await client.get(f"/repos/{repo}/pulls/{number}"))


async def open_pulls(client: Client, repo: str) -> tuple[PullState, ...]:
    """Every open pull, oldest first: to find what a lost webhook has left out."""
    return tuple([_pull(raw) async for raw in client.getiter(f"/repos/{repo}/pulls?state=open&sort=created&direction=asc")])


async def pulls_of_commit(client: Client, repo: str, sha: str) -> tuple[PullState, ...]:
    """The open pulls of `repo` whose head is `sha`: what a re-run on a fork's head does not name."""
    found = [_pull(raw) async for raw in client.getiter(f"/repos/{repo}/commits/{sha}/pulls")]
    mine = [one for one in found if one.pull.head_sha == sha and one.pull.state == "open"]
    return tuple(one for one in mine if (one.pull.base_repository or "").lower() == repo.lower())


async def issue(client: Client, repo: str, number: int, linked: tuple[Pull, ...] = ()) -> Issue:
    """An issue with all its comments."""
    raw = await client.get(f"/repos/{repo}/issues/{number}")
    said = [one async for one in client.getiter(f"/repos/{repo}/issues/{number}/comments")]
    found = _usable(read_issue, {**_object(raw), "comments": said, "linked_pulls": []})
    return Issue(found.number, found.title, found.body, found.user, found.state, found.labels, found.comments, linked)


async def comments(client: Client, repo: str, number: int) -> tuple[Remark, ...]:
    return tuple([_remark(raw) async for raw in client.getiter(f"/repos/{repo}/issues/{number}/comments")])


async def reviews(client: Client, repo: str, number: int) -> tuple[Review, ...]:
    """All reviews that we may see, a pending one of our own included."""
    return tuple([_review(raw) async for raw in client.getiter(f"/repos/{repo}/pulls/{number}/reviews")])


async def review_comments(client: Client, repo: str, number: int) -> tuple[LineComment, ...]:
    return tuple([_line_comment(raw) async for raw in client.getiter(f"/repos/{repo}/pulls/{number}/comments")])


_THREADS = """query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { reviewThreads(first: 100, after: $after) {
    pageInfo { hasNextPage endCursor }
    nodes { isResolved isOutdated path line comments(first: 1) { nodes { fullDatabaseId databaseId } } } } } } }"""


async def threads(client: Client, repo: str, number: int) -> tuple[Thread, ...]:
    """Review threads with their state, which only GraphQL tells."""
    owner, _, name = repo.partition("/")
    found: list[Thread] = []
    after: str | None = None
    while True:
        data = await client.graphql(_THREADS, {"owner": owner, "name": name, "number": number, "after": after})
        page = pick.anything(data, "repository", "pullRequest", "reviewThreads")
        found += [_thread(raw) for raw in pick.items(page, "nodes")]
        after = pick.text(page, "pageInfo", "endCursor")
        if pick.anything(page, "pageInfo", "hasNextPage") is not True or not after:
            return tuple(found)


async def timeline(client: Client, repo: str, number: int) -> tuple[Moment, ...]:
    return tuple([_moment(raw, repo) async for raw in client.getiter(f"/repos/{repo}/issues/{number}/timeline")])


# ---------------------------------------------------------------- JSON → values


def _pull(raw: Any) -> PullState:
    core = _usable(read_pull, raw)
    merged = pick.true(raw, "merged") or bool(pick.text(raw, "merged_at"))
    refs = pick.text(raw, "base", "ref"), pick.text(raw, "head", "ref")
    return PullState(core, *refs, pick.text(raw, "html_url"), pick.text(raw, "updated_at"), merged, pick.number(raw, "changed_files"))


def _remark(raw: Any) -> Remark:
    held = _usable(read_issue, {"number": 1, "comments": [raw]}).comments
    if not held:
        raise Unavailable("a comment is no object")
    return Remark(held[0], pick.text(raw, "updated_at"), pick.text(raw, "html_url"), pick.anything(raw, "performed_via_github_app", "id"))


def _review(raw: Any) -> Review:
    who = pick.text(raw, "user", "login") or "ghost", pick.text(raw, "user", "type") == "Bot"
    state = pick.text(raw, "state"), pick.text(raw, "body"), pick.text(raw, "commit_id")
    return Review(pick.number(raw, "id"), *who, *state, pick.text(raw, "submitted_at"), pick.text(raw, "html_url"))


def _line_comment(raw: Any) -> LineComment:
    return LineComment(
        id=pick.number(raw, "id"),
        review_id=pick.maybe(raw, "pull_request_review_id"),
        login=pick.text(raw, "user", "login") or "ghost",
        is_bot=pick.text(raw, "user", "type") == "Bot",
        body=pick.text(raw, "body"),
        path=pick.text(raw, "path"),
        subject=pick.text(raw, "subject_type") or "line",
        side=pick.text(raw, "side") or "RIGHT",
        line=pick.maybe(raw, "line"),
        start_line=pick.maybe(raw, "start_line"),
        original_line=pick.maybe(raw, "original_line"),
        original_commit_id=pick.text(raw, "original_commit_id"),
        in_reply_to=pick.maybe(raw, "in_reply_to_id"),
        created_at=pick.text(raw, "created_at"),
        updated_at=pick.text(raw, "updated_at"),
        url=pick.text(raw, "html_url"),
    )


def _thread(raw: Any) -> Thread:
    first = next(iter(pick.items(raw, "comments", "nodes")), None)
    told = pick.text(first, "fullDatabaseId")
    number = int(told) if told.isascii() and told.isdigit() else pick.number(first, "databaseId")
    return Thread(number, pick.true(raw, "isResolved"), pick.true(raw, "isOutdated"), pick.text(raw, "path"), pick.maybe(raw, "line"))


def _moment(raw: Any, repo: str) -> Moment:
    source = pick.anything(raw, "source", "issue")
    here = pick.text(source, "repository", "full_name").lower() == repo.lower()
    return Moment(
        event=pick.text(raw, "event"),
        login=pick.text(raw, "actor", "login") or pick.text(raw, "user", "login"),
        at=pick.text(raw, "created_at") or pick.text(raw, "submitted_at"),
        label=pick.text(raw, "label", "name"),
        source=pick.maybe(source, "number") if here else None,
        source_is_pull=pick.anything(source, "pull_request") is not None,
    )


def _usable(read: Any, raw: Any) -> Any:
    try:
        return read(raw)
    except Unusable as error:
        raise Unavailable(f"an unusable answer: {error}") from error


def _object(raw: Any) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise Unavailable("an unusable answer: no object")
    return raw
