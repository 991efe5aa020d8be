"""What the twin knows: people, apps, repositories, conversations, checks. Values only: no network, no git, no wall clock of its own."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from tests.twin.actions import WorkflowRun

Json = dict[str, Any]
Role = Literal["admin", "maintain", "write", "triage", "read", "none"]

APP_PERMISSIONS = {
    "metadata": "read",
    "contents": "read",
    "statuses": "read",
    "merge_queues": "read",
    "pull_requests": "write",
    "checks": "write",
    "issues": "write",
    "actions": "write",
}
APP_EVENTS = ("check_run", "check_suite", "issue_comment", "issues", "merge_group", "pull_request", "push")
FIRST_ID = 5_000_000_001  # ids of comments have passed 32 bits


class Refused(Exception):
    """GitHub says no: `status`, `message`, and `errors` as GitHub prints them (objects or sentences)."""

    def __init__(self, status: int, message: str, errors: Sequence[Any] = (), headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"{status} {message} {list(errors)}")
        self.status, self.message, self.errors, self.headers = status, message, list(errors), dict(headers or {})


def invalid(resource: str, field_name: str | None, code: str = "invalid", message: str | None = None) -> Refused:
    """The usual 422 with one entry in `errors`."""
    entry = {"resource": resource, "code": code, "field": field_name, "message": message}
    return Refused(422, "Validation Failed", [{key: value for key, value in entry.items() if value is not None}])


def not_found() -> Refused:
    return Refused(404, "Not Found")


@dataclass
class Clock:
    """The twin's time: the wall clock plus what a test has skipped, in seconds."""

    offset: float = 0.0

    def seconds(self) -> float:
        return time.time() + self.offset

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds(), UTC).replace(microsecond=0)

    def advance(self, seconds: float) -> None:
        self.offset += seconds


@dataclass(frozen=True)
class User:
    """An account. `kind` is GitHub's `type`: User, Bot or Organization."""

    id: int
    login: str
    kind: str = "User"


@dataclass
class App:
    """The GitHub App whose keys the tested service holds."""

    id: int
    slug: str
    owner: User
    bot: User
    private_key: str
    public_key: str
    webhook_secret: str
    permissions: dict[str, str] = field(default_factory=lambda: dict(APP_PERMISSIONS))
    events: tuple[str, ...] = APP_EVENTS
    created_at: datetime = field(default_factory=lambda: datetime(2024, 1, 1, tzinfo=UTC))


@dataclass
class Installation:
    """The app on one account. `repositories` None stands for all of the account's."""

    id: int
    account: User
    permissions: dict[str, str]
    repositories: set[int] | None
    created_at: datetime
    suspended_at: datetime | None = None
    deleted: bool = False

    def sees(self, repository: Repository) -> bool:
        return repository.owner.id == self.account.id and (self.repositories is None or repository.id in self.repositories)


@dataclass(frozen=True)
class Token:
    """A bearer token. An installation's has `installation` and an expiry; a person's (`ghp_…`) has neither."""

    value: str
    user: User
    installation: Installation | None = None
    permissions: Mapping[str, str] = field(default_factory=dict)
    repositories: frozenset[int] | None = None
    expires_at: datetime | None = None

    @property
    def owner(self) -> str:
        """Whose rate limit it uses."""
        return f"installation {self.installation.id}" if self.installation else f"user {self.user.login}"


@dataclass(frozen=True)
class Label:
    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass(frozen=True)
class Reaction:
    id: int
    user: User
    content: str
    created_at: datetime


@dataclass
class Comment:
    """A comment of an issue's or pull's conversation."""

    id: int
    user: User
    body: str
    created_at: datetime
    updated_at: datetime
    by_app: bool = False
    reactions: list[Reaction] = field(default_factory=list)


@dataclass
class Review:
    """A review. `commit_id` moves on a force-push, as GitHub's does; None of `submitted_at` is a pending one."""

    id: int
    user: User
    body: str
    state: str
    commit_id: str
    submitted_at: datetime | None
    updated_at: datetime


@dataclass
class ReviewComment:
    """An inline or file comment. `line` None and `position` None on an outdated one; `original_*` never move."""

    id: int
    review_id: int
    user: User
    body: str
    path: str
    commit_id: str
    original_commit_id: str
    created_at: datetime
    updated_at: datetime
    subject: str = "line"
    side: str = "RIGHT"
    line: int | None = None
    start_line: int | None = None
    start_side: str | None = None
    original_line: int | None = None
    original_start_line: int | None = None
    position: int | None = None
    original_position: int | None = None
    diff_hunk: str = ""
    in_reply_to: int | None = None
    reactions: list[Reaction] = field(default_factory=list)


@dataclass(frozen=True)
class Moment:
    """One entry of a timeline; `parts` holds what its kind adds, as entities or plain values."""

    id: int
    event: str
    actor: User
    at: datetime
    parts: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Issue:
    """An issue, or the conversation of a pull (`pull` is then set)."""

    repository: Repository
    id: int
    number: int
    title: str
    body: str | None
    user: User
    created_at: datetime
    updated_at: datetime
    state: str = "open"
    state_reason: str | None = None
    closed_at: datetime | None = None
    closed_by: User | None = None
    locked: bool = False
    labels: list[Label] = field(default_factory=list)
    assignees: list[User] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)
    timeline: list[Moment] = field(default_factory=list)
    pull: Pull | None = None


@dataclass
class Pull:
    """What a pull adds to its conversation. `base_sha` is the base's tip at the last update of the head, as on GitHub."""

    issue: Issue
    id: int
    head_repository: Repository | None
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
    draft: bool = False
    merged_at: datetime | None = None
    merged_by: User | None = None
    merge_commit_sha: str | None = None
    mergeable: bool | None = None
    reviews: list[Review] = field(default_factory=list)
    comments: list[ReviewComment] = field(default_factory=list)
    resolved: set[int] = field(default_factory=set)  # first comments of resolved threads


@dataclass
class CheckSuite:
    id: int
    app_id: int
    head_sha: str
    head_branch: str | None
    created_at: datetime
    updated_at: datetime
    before: str | None = None
    status: str = "queued"
    conclusion: str | None = None


@dataclass
class CheckRun:
    """A check run; `annotations` grow by updates and never shrink."""

    id: int
    suite: CheckSuite
    name: str
    head_sha: str
    app_id: int
    app_slug: str
    status: str = "queued"
    conclusion: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    details_url: str | None = None
    external_id: str = ""
    output: Json = field(default_factory=dict)
    annotations: list[Json] = field(default_factory=list)
    actions: list[Json] = field(default_factory=list)


@dataclass(frozen=True)
class Status:
    id: int
    sha: str
    state: str
    context: str
    description: str | None
    target_url: str | None
    creator: User
    created_at: datetime


@dataclass
class Repository:
    """A repository; its bytes live in the bare repository `git_dir`. `served_dir` differs from it while fetches lag behind."""

    id: int
    owner: User
    name: str
    git_dir: Path
    created_at: datetime
    private: bool = True
    default_branch: str = "main"
    fork_of: Repository | None = None
    deleted: bool = False
    archived: bool = False
    served_dir: Path | None = None
    lagging_fetches: int | None = None
    forks: list[Repository] = field(default_factory=list)
    roles: dict[str, Role] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    required_checks: dict[str, list[str]] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    suites: dict[int, CheckSuite] = field(default_factory=dict)
    runs: dict[int, CheckRun] = field(default_factory=dict)
    statuses: list[Status] = field(default_factory=list)
    workflows: dict[str, int] = field(default_factory=dict)  # path → id
    workflow_runs: dict[int, WorkflowRun] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        return f"{self.owner.login}/{self.name}"

    @property
    def git_dirs(self) -> tuple[Path, ...]:
        """Where its objects are looked for: GitHub keeps one object store for a repository and its forks."""
        return (self.git_dir, *(fork.git_dir for fork in self.forks))


@dataclass
class World:
    """Everything. `announce` is told of each event as it happens: (name, action, repository, sender, parts)."""

    app: App
    api: str = "https://api.github.com"  # what addresses in payloads begin with
    html: str = "https://github.com"
    clock: Clock = field(default_factory=Clock)
    users: dict[str, User] = field(default_factory=dict)
    repositories: dict[str, Repository] = field(default_factory=dict)
    installations: dict[int, Installation] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    announce: Callable[[str, str | None, Repository | None, User, Json], None] = lambda *_: None
    keep_old_issue_body: bool = False  # an oversize edit of an issue answers 200 and changes nothing
    ids: count[int] = field(default_factory=lambda: count(FIRST_ID))

    def next_id(self) -> int:
        return next(self.ids)

    def user(self, login: str, kind: str = "User") -> User:
        """The account of that login, made on first mention."""
        found = self.users.get(login.lower())
        if found is None:
            found = self.users[login.lower()] = User(self.next_id(), login, kind)
        return found

    def repository(self, full_name: str) -> Repository:
        """Raises `Refused` 404 where there is none (any more)."""
        found = self.repositories.get(full_name.lower())
        if found is None or found.deleted:
            raise not_found()
        return found

    def installation_of(self, repository: Repository) -> Installation | None:
        return next((one for one in self.installations.values() if not one.deleted and one.sees(repository)), None)


def node_id(kind: str, number: int) -> str:
    return b64encode(f"{kind}:{number}".encode()).decode()


def stamp(moment: datetime | None) -> str | None:
    """GitHub's way to print a time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None
