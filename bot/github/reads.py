"""Reads conversations and checks of one repository into small values. Every function may raise what `bot.github.errors` lists.

`repo` is `owner/name`; lists are read to their last page, oldest first unless said otherwise; times are ISO 8601 as GitHub prints them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from bot.github.client import Client
from bot.github.errors import Forbidden, NotFound, Unavailable
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
class CheckRun:
    """A check run. `conclusion` is None while it runs; `annotations` is how many it has."""

    id: int
    name: str
    status: str
    conclusion: str | None
    head_sha: str
    external_id: str
    app_id: int | None
    app_slug: str
    suite_id: int | None
    details_url: str
    url: str
    annotations: int
    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class CommitStatus:
    """The newest status of one context on a commit."""

    context: str
    state: str
    description: str
    url: str


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file of a pull or comparison. `patch` is None for binary, very large, renamed-only and mode-only changes: that says nothing about it."""

    path: str
    previous: str | None
    status: str
    sha: str | None
    additions: int
    deletions: int
    patch: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`status` is `ahead`, `behind`, `identical` or `diverged`, of head seen from base."""

    status: str
    ahead_by: int
    behind_by: int
    merge_base: str


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
    slug = _text(raw, "slug")
    return Me(_number(raw, "id"), slug, f"{slug}[bot]")


async def repository(client: Client, repo: str) -> Repo:
    raw = await client.get(f"/repos/{repo}")
    flags = _get(raw, "private") is True, _get(raw, "archived") is True
    return Repo(_number(raw, "id"), _text(raw, "full_name"), _text(raw, "default_branch"), *flags, _number(raw, "size"))


async def role(client: Client, repo: str, login: str) -> str:
    """`admin`, `maintain`, `write`, `triage`, `read` or `none`: `role_name`, as `permission` maps maintain to write and triage to read."""
    try:
        raw = await client.get(f"/repos/{repo}/collaborators/{quote(login, safe='')}/permission")
    except NotFound:
        return "none"
    return _text(raw, "role_name") or _text(raw, "permission") or "none"


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
        page = _get(data, "repository", "pullRequest", "reviewThreads")
        found += [_thread(raw) for raw in _list(page, "nodes")]
        after = _text(page, "pageInfo", "endCursor")
        if _get(page, "pageInfo", "hasNextPage") is not True or not after:
            return tuple(found)


async def timeline(client: Client, repo: str, number: int) -> tuple[Moment, ...]:
    return tuple([_moment(raw, repo) async for raw in client.getiter(f"/repos/{repo}/issues/{number}/timeline")])


# ---------------------------------------------------------------- code and checks


async def files(client: Client, repo: str, number: int) -> tuple[ChangedFile, ...]:
    """The pull's files, at most 3,000 as GitHub lists them."""
    return tuple([_file(raw) async for raw in client.getiter(f"/repos/{repo}/pulls/{number}/files")])


async def compare(client: Client, repo: str, base: str, head: str) -> Comparison:
    raw = await client.get(f"/repos/{repo}/compare/{quote(base, safe='')}...{quote(head, safe='')}?per_page=1")
    return Comparison(_text(raw, "status"), _number(raw, "ahead_by"), _number(raw, "behind_by"), _text(raw, "merge_base_commit", "sha"))


async def check_runs(client: Client, repo: str, sha: str, name: str = "", *, fresh: bool = False) -> tuple[CheckRun, ...]:
    """The newest run of each name on a commit; `name` narrows."""
    wanted = f"?check_name={quote(name, safe='')}" if name else ""
    path = f"/repos/{repo}/commits/{sha}/check-runs{wanted}"
    return tuple([_check_run(raw) async for raw in client.getiter(path, "check_runs", fresh=fresh)])


async def check_run(client: Client, repo: str, id: int) -> CheckRun:
    return _check_run(await client.get(f"/repos/{repo}/check-runs/{id}", fresh=True))


async def statuses(client: Client, repo: str, sha: str) -> tuple[CommitStatus, ...]:
    """The newest status of each context."""
    found = [raw async for raw in client.getiter(f"/repos/{repo}/commits/{sha}/status", "statuses")]
    return tuple(CommitStatus(_text(raw, "context"), _text(raw, "state"), _text(raw, "description"), _text(raw, "target_url")) for raw in found)


async def required_checks(client: Client, repo: str, branch: str) -> tuple[str, ...]:
    """Names of the checks without which nothing is merged into `branch`, by rule sets and by branch protection; () where neither is visible."""
    at = quote(branch, safe="")
    names: list[str] = []
    try:
        async for rule in client.getiter(f"/repos/{repo}/rules/branches/{at}"):
            names += [_text(check, "context") for check in _list(rule, "parameters", "required_status_checks")]
        held = await client.get(f"/repos/{repo}/branches/{at}")
    except (NotFound, Forbidden):
        return tuple(dict.fromkeys(names))
    contexts = _list(held, "protection", "required_status_checks", "contexts")
    return tuple(dict.fromkeys([*names, *(name for name in contexts if isinstance(name, str))]))


async def job_log(client: Client, repo: str, job_id: int, most: int = 64 * 1024) -> str | None:
    """The last `most` bytes of an Actions job's log; None where it is gone, not ready or not ours to read."""
    try:
        data = await client.download(f"/repos/{repo}/actions/jobs/{job_id}/logs")
    except (NotFound, Forbidden, Unavailable):
        return None
    return data[-most:].decode("utf-8", "replace")


# ---------------------------------------------------------------- JSON → values


def _pull(raw: Any) -> PullState:
    core = _usable(read_pull, raw)
    merged = _get(raw, "merged") is True or bool(_text(raw, "merged_at"))
    refs = _text(raw, "base", "ref"), _text(raw, "head", "ref")
    return PullState(core, *refs, _text(raw, "html_url"), _text(raw, "updated_at"), merged, _number(raw, "changed_files"))


def _remark(raw: Any) -> Remark:
    held = _usable(read_issue, {"number": 1, "comments": [raw]}).comments
    if not held:
        raise Unavailable("a comment is no object")
    return Remark(held[0], _text(raw, "updated_at"), _text(raw, "html_url"), _get(raw, "performed_via_github_app", "id"))


def _review(raw: Any) -> Review:
    who = _text(raw, "user", "login") or "ghost", _text(raw, "user", "type") == "Bot"
    state = _text(raw, "state"), _text(raw, "body"), _text(raw, "commit_id")
    return Review(_number(raw, "id"), *who, *state, _text(raw, "submitted_at"), _text(raw, "html_url"))


def _line_comment(raw: Any) -> LineComment:
    return LineComment(
        id=_number(raw, "id"),
        review_id=_maybe(raw, "pull_request_review_id"),
        login=_text(raw, "user", "login") or "ghost",
        is_bot=_text(raw, "user", "type") == "Bot",
        body=_text(raw, "body"),
        path=_text(raw, "path"),
        subject=_text(raw, "subject_type") or "line",
        side=_text(raw, "side") or "RIGHT",
        line=_maybe(raw, "line"),
        start_line=_maybe(raw, "start_line"),
        original_line=_maybe(raw, "original_line"),
        original_commit_id=_text(raw, "original_commit_id"),
        in_reply_to=_maybe(raw, "in_reply_to_id"),
        created_at=_text(raw, "created_at"),
        updated_at=_text(raw, "updated_at"),
        url=_text(raw, "html_url"),
    )


def _thread(raw: Any) -> Thread:
    first = next(iter(_list(raw, "comments", "nodes")), None)
    told = _text(first, "fullDatabaseId")
    number = int(told) if told.isascii() and told.isdigit() else _number(first, "databaseId")
    return Thread(number, _get(raw, "isResolved") is True, _get(raw, "isOutdated") is True, _text(raw, "path"), _maybe(raw, "line"))


def _check_run(raw: Any) -> CheckRun:
    return CheckRun(
        id=_number(raw, "id"),
        name=_text(raw, "name"),
        status=_text(raw, "status"),
        conclusion=_text(raw, "conclusion") or None,
        head_sha=_text(raw, "head_sha"),
        external_id=_text(raw, "external_id"),
        app_id=_maybe(raw, "app", "id"),
        app_slug=_text(raw, "app", "slug"),
        suite_id=_maybe(raw, "check_suite", "id"),
        details_url=_text(raw, "details_url"),
        url=_text(raw, "html_url"),
        annotations=_number(raw, "output", "annotations_count"),
        title=_text(raw, "output", "title"),
        summary=_text(raw, "output", "summary"),
    )


def _file(raw: Any) -> ChangedFile:
    names = _text(raw, "filename"), _text(raw, "previous_filename") or None, _text(raw, "status"), _text(raw, "sha") or None
    patch = _get(raw, "patch")
    return ChangedFile(*names, _number(raw, "additions"), _number(raw, "deletions"), patch if isinstance(patch, str) else None)


def _moment(raw: Any, repo: str) -> Moment:
    source = _get(raw, "source", "issue")
    here = _text(source, "repository", "full_name").lower() == repo.lower()
    return Moment(
        event=_text(raw, "event"),
        login=_text(raw, "actor", "login") or _text(raw, "user", "login"),
        at=_text(raw, "created_at") or _text(raw, "submitted_at"),
        label=_text(raw, "label", "name"),
        source=_maybe(source, "number") if here else None,
        source_is_pull=_get(source, "pull_request") is not None,
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


def _get(raw: Any, *keys: str) -> Any:
    for key in keys:
        raw = raw.get(key) if isinstance(raw, Mapping) else None
    return raw


def _text(raw: Any, *keys: str) -> str:
    found = _get(raw, *keys)
    return found if isinstance(found, str) else ""


def _maybe(raw: Any, *keys: str) -> int | None:
    found = _get(raw, *keys)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _number(raw: Any, *keys: str) -> int:
    return _maybe(raw, *keys) or 0


def _list(raw: Any, *keys: str) -> list[Any]:
    found = _get(raw, *keys)
    return found if isinstance(found, list) else []
