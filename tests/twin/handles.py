"""What a test holds in its hand: repositories, issues and pulls with the moves that people make on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.twin import actions, checks, conversations, git, git_http, payloads_talk, pulls, reviews
from tests.twin.actions import WorkflowRun
from tests.twin.git import Content, Signature
from tests.twin.state import CheckRun, Comment, Issue, Json, Pull, Repository, Review, ReviewComment, Role, Status, User, World


@dataclass(frozen=True)
class IssueHandle:
    """One conversation. Logins name who acts; what happens is announced as GitHub would."""

    world: World
    issue: Issue

    @property
    def number(self) -> int:
        return self.issue.number

    @property
    def comments(self) -> list[Comment]:
        return self.issue.comments

    def payload(self) -> Json:
        """The REST issue object."""
        return payloads_talk.issue(self.world, self.issue)

    def comment(self, body: str, user: str) -> Comment:
        return conversations.add_comment(self.world, self.issue, self.world.user(user), body)

    def edit_comment(self, comment: Comment, body: str, user: str) -> None:
        conversations.edit_comment(self.world, self.issue, comment, self.world.user(user), body)

    def delete_comment(self, comment: Comment, user: str) -> None:
        conversations.delete_comment(self.world, self.issue, comment, self.world.user(user))

    def edit(self, user: str | None = None, **changes: Any) -> None:
        """`title`, `body`."""
        conversations.edit(self.world, self.issue, self._by(user), changes)

    def close(self, user: str | None = None) -> None:
        conversations.set_state(self.world, self.issue, self._by(user), "closed")

    def reopen(self, user: str | None = None) -> None:
        conversations.set_state(self.world, self.issue, self._by(user), "open")

    def label(self, *names: str, user: str | None = None) -> None:
        conversations.add_labels(self.world, self.issue, self._by(user), names)

    def lock(self, locked: bool = True) -> None:
        self.issue.locked = locked

    def _by(self, login: str | None) -> User:
        return self.world.user(login) if login else self.issue.user


@dataclass(frozen=True)
class PullHandle(IssueHandle):
    """A pull's conversation, its head and its reviews."""

    @property
    def pull(self) -> Pull:
        assert self.issue.pull
        return self.issue.pull

    @property
    def head_sha(self) -> str:
        return self.pull.head_sha

    @property
    def reviews(self) -> list[Review]:
        return self.pull.reviews

    @property
    def review_comments(self) -> list[ReviewComment]:
        return self.pull.comments

    def payload(self) -> Json:
        """The REST pull object."""
        return payloads_talk.full_pull(self.world, self.pull)

    def commit(self, files: Mapping[str, Content], message: str = "Change", user: str | None = None, parent: str | None = None) -> str:
        """Push a commit to the head's branch; another `parent` than the head makes it a force-push. The new head."""
        return self._head().commit(self.pull.head_ref, files, message, user or self.issue.user.login, parent or self.head_sha)

    def push(self, sha: str, user: str | None = None) -> None:
        """Move the head's branch to a commit that is in its repository."""
        self._head().move(self.pull.head_ref, sha, user or self.issue.user.login)

    def _head(self) -> RepositoryHandle:
        assert self.pull.head_repository
        return RepositoryHandle(self.world, self.pull.head_repository)

    def to_draft(self, user: str | None = None) -> None:
        pulls.set_draft(self.world, self.pull, self._by(user), True)

    def ready(self, user: str | None = None) -> None:
        pulls.set_draft(self.world, self.pull, self._by(user), False)

    def set_base(self, base: str, user: str | None = None) -> None:
        pulls.set_base(self.world, self.pull, self._by(user), base)

    def merge(self, user: str | None = None) -> str:
        return pulls.merge(self.world, self.pull, self._by(user))

    def enqueue(self, user: str | None = None) -> str:
        """Into the merge queue; the group's head."""
        return pulls.enqueue(self.world, self.pull, self._by(user))

    def review(self, user: str, event: str | None = "COMMENT", body: str = "Looks fine.", comments: Iterable[Json] = ()) -> Review:
        """A person's review; `event` None leaves it pending."""
        request = {"body": body, "comments": list(comments), **({"event": event} if event else {})}
        return reviews.create_review(self.world, self.pull, self.world.user(user), request)

    def inline(self, user: str, body: str, path: str, line: int, **where: Any) -> ReviewComment:
        request = {"body": body, "path": path, "line": line, "commit_id": self.head_sha, **where}
        return reviews.create_comment(self.world, self.pull, self.world.user(user), request)

    def resolve(self, comment: ReviewComment, user: str | None = None) -> None:
        reviews.resolve_thread(self.world, self.pull, comment, self._by(user))


@dataclass(frozen=True)
class RepositoryHandle:
    """One repository: its branches, people, issues and pulls."""

    world: World
    repository: Repository

    @property
    def full_name(self) -> str:
        return self.repository.full_name

    @property
    def git_dir(self) -> Path:
        return self.repository.git_dir

    def tip(self, branch: str) -> str | None:
        return pulls.branch_tip(self.repository, branch)

    def commit(self, branch: str, files: Mapping[str, Content], message: str = "Change", user: str | None = None, parent: str | None = None) -> str:
        """Push a commit: text, bytes, (mode, bytes) or None (delete) per path. A new branch starts from `parent`, or from nothing."""
        login = user or self.repository.owner.login
        before = self.tip(branch)
        who = Signature(login, f"{login}@example.com", self.world.clock.now())
        after = git.commit_files(self.git_dir, branch, files, message, who, parent or before)
        pulls.pushed(self.world, self.repository, branch, before, after, self.world.user(login))
        return after

    def move(self, branch: str, sha: str, user: str | None = None) -> None:
        """Push an existing commit to a branch, forced if need be."""
        before = self.tip(branch)
        git.update_ref(self.git_dir, f"refs/heads/{branch}", sha)
        pulls.pushed(self.world, self.repository, branch, before, sha, self._by(user))

    def bring(self, source: Path, *refspecs: str) -> None:
        """Fetch objects and refs from another repository on disk; nothing is announced."""
        git.fetch(self.git_dir, source, *refspecs)

    def delete_branch(self, branch: str, user: str | None = None) -> None:
        before = self.tip(branch)
        git.update_ref(self.git_dir, f"refs/heads/{branch}", None)
        pulls.pushed(self.world, self.repository, branch, before, None, self._by(user))

    def open_pull(
        self, *, head: str, base: str = "main", title: str = "A change", body: str | None = "", user: str = "author", draft: bool = False
    ) -> PullHandle:
        """`head`: a branch, or `owner:branch` of a fork."""
        made = pulls.open_pull(self.world, self.repository, self.world.user(user), title, body, head, base, draft)
        return PullHandle(self.world, made.issue)

    def open_issue(self, *, title: str = "An issue", body: str | None = "", user: str = "author", labels: Iterable[str] = ()) -> IssueHandle:
        return IssueHandle(self.world, conversations.open_issue(self.world, self.repository, self.world.user(user), title, body, labels))

    def pull(self, number: int) -> PullHandle:
        return PullHandle(self.world, pulls.pull_of(self.repository, number).issue)

    def issue(self, number: int) -> IssueHandle:
        return IssueHandle(self.world, conversations.issue_of(self.repository, number))

    def grant(self, login: str, role: Role) -> None:
        self.repository.roles[self.world.user(login).login.lower()] = role

    def require_checks(self, branch: str, *names: str) -> None:
        self.repository.required_checks[branch] = list(names)

    def check_run(self, sha: str, name: str, conclusion: str | None = "success", **request: Any) -> CheckRun:
        """A run of the repository's own CI."""
        wanted = {"name": name, "head_sha": sha, "status": "completed" if conclusion else "in_progress", "conclusion": conclusion, **request}
        return checks.create_run(self.world, self.repository, self.world.app, self._by(None), wanted, actions.ACTIONS_APP_ID)

    def status(self, sha: str, state: str, context: str = "ci", description: str = "", user: str | None = None) -> Status:
        request = {"state": state, "context": context, "description": description}
        return checks.create_status(self.world, self.repository, sha, self._by(user), request)

    def workflow(self, path: str = ".github/workflows/device.yml") -> int:
        """A workflow that can be dispatched; its id."""
        return self.repository.workflows.setdefault(path, self.world.next_id())

    def workflow_run(
        self, sha: str, jobs: Mapping[str, tuple[str | None, str | None]], name: str = "CI", path: str = ".github/workflows/ci.yml"
    ) -> WorkflowRun:
        """A run of CI on a commit: job → (conclusion, log), with a check run each."""
        run = actions.start(self.world, self.repository, path, sha, "pull_request", self.repository.owner, name=name)
        for job, (conclusion, log) in jobs.items():
            actions.add_job(self.world, self.repository, run, job, conclusion, log, ("ubuntu-latest",))
        return run

    def finish(
        self, run: WorkflowRun, conclusion: str = "success", artifacts: Mapping[str, Mapping[str, bytes]] | None = None, log: str = ""
    ) -> None:
        """A dispatched run ends: one job on the device's runner, and what it leaves behind."""
        actions.add_job(self.world, self.repository, run, "device", conclusion, log, ("self-hosted", "910b"))
        for name, files in (artifacts or {}).items():
            actions.add_artifact(self.world, run, name, files)

    @property
    def workflow_runs(self) -> list[WorkflowRun]:
        return list(self.repository.workflow_runs.values())

    @property
    def check_runs(self) -> list[CheckRun]:
        return list(self.repository.runs.values())

    def rerequest(self, run: CheckRun, user: str | None = None) -> None:
        """Somebody pressed *Re-run*."""
        checks.rerequest_run(self.world, self.repository, run, self._by(user))

    def rerequest_suite(self, run: CheckRun, user: str | None = None) -> None:
        checks.rerequest_suite(self.world, self.repository, run.suite, self._by(user))

    def lag(self, fetches: int | None = 1) -> None:
        """Git over HTTP keeps showing what is there now, for that many fetches or (None) until `catch_up`."""
        git_http.lag(self.repository, fetches)

    def catch_up(self) -> None:
        git_http.catch_up(self.repository)

    def delete(self) -> None:
        self.repository.deleted = True

    def _by(self, login: str | None) -> User:
        return self.world.user(login) if login else self.repository.owner
