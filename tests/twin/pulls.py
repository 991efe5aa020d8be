"""What can happen to a pull beside its conversation: opened, pushed to, turned to draft, merged, queued; and the refs that follow."""

from __future__ import annotations

from typing import Any

from tests.twin import diffs, git
from tests.twin.conversations import check_body, check_title, next_number, note, start, tell
from tests.twin.limits import PULL_COMMITS
from tests.twin.state import CheckSuite, Pull, Refused, Repository, User, World, invalid, not_found

ZERO = "0" * 40


def pull_of(repository: Repository, number: int) -> Pull:
    issue = repository.issues.get(number)
    if issue is None or issue.pull is None:
        raise not_found()
    return issue.pull


def branch_tip(repository: Repository, branch: str) -> str | None:
    return git.ref(repository.git_dir, f"refs/heads/{branch}")


def open_pull(world: World, repository: Repository, user: User, title: Any, body: Any, head: Any, base: Any, draft: bool = False) -> Pull:
    """`head` is a branch, or `owner:branch` of a fork. Raises `Refused` 422 as GitHub does."""
    source, branch = _head(repository, head)
    head_sha, base_sha = branch_tip(source, branch), branch_tip(repository, str(base))
    if head_sha is None:
        raise invalid("PullRequest", "head")
    if base_sha is None:
        raise invalid("PullRequest", "base")
    _refuse_twice(repository, source, branch, str(base))
    check_title(title)
    check_body("PullRequest", body, required=False)
    number = next_number(repository)
    _bring(repository, source, head_sha)
    if git.merge_base(repository.git_dir, base_sha, head_sha) in (None, head_sha):
        raise invalid("PullRequest", None, "custom", f"No commits between {base} and {branch}")
    issue = start(world, repository, user, title, body, number)
    issue.pull = Pull(issue, world.next_id(), source, branch, head_sha, str(base), base_sha, draft)
    keep_ref(repository, number, head_sha)
    settle_merge(world, issue.pull)
    tell(world, issue, "opened", user)
    return issue.pull


def _head(repository: Repository, head: Any) -> tuple[Repository, str]:
    owner, colon, branch = str(head).partition(":")
    if not colon:
        return repository, owner
    for candidate in (repository, *repository.forks):
        if candidate.owner.login.lower() == owner.lower():
            return candidate, branch
    raise invalid("PullRequest", "head")


def _refuse_twice(repository: Repository, source: Repository, branch: str, base: str) -> None:
    for issue in repository.issues.values():
        pull = issue.pull
        if pull and issue.state == "open" and pull.head_repository is source and (pull.head_ref, pull.base_ref) == (branch, base):
            message = f"A pull request already exists for {source.owner.login}:{branch}."
            raise invalid("PullRequest", None, "custom", message)


def _bring(repository: Repository, source: Repository, sha: str) -> None:
    if source is not repository:
        git.fetch(repository.git_dir, source.git_dir, sha)


def keep_ref(repository: Repository, number: int, sha: str | None) -> None:
    git.update_ref(repository.git_dir, f"refs/pull/{number}/head", sha)


def settle_merge(world: World, pull: Pull) -> None:
    """Work out whether it merges; `refs/pull/N/merge` holds the result, or nothing."""
    repository, number = pull.issue.repository, pull.issue.number
    tip = branch_tip(repository, pull.base_ref)
    who = git.Signature("GitHub", "noreply@github.com", world.clock.now())
    merged = tip and git.merge_commit(repository.git_dir, tip, pull.head_sha, f"Merge {pull.head_sha} into {tip}", who)
    pull.mergeable, pull.merge_commit_sha = merged is not None, merged or None
    if merged:
        git.update_ref(repository.git_dir, f"refs/pull/{number}/merge", merged)


# ---------------------------------------------------------------- pushes


def pushed(world: World, repository: Repository, branch: str, before: str | None, after: str | None, sender: User) -> None:
    """A branch moved (`before` None: new; `after` None: deleted): tell of it, open a check suite, move the pulls that follow it."""
    if before == after:
        return
    world.announce("push", None, repository, sender, {"ref": f"refs/heads/{branch}", "before": before or ZERO, "after": after or ZERO})
    if after is None:
        return
    open_suite(world, repository, after, branch, before, sender)
    for home in (repository, repository.fork_of):
        for issue in list(home.issues.values()) if home else ():
            if issue.pull and issue.state == "open" and issue.pull.head_repository is repository and issue.pull.head_ref == branch:
                synchronize(world, issue.pull, after, sender)


def open_suite(world: World, repository: Repository, sha: str, branch: str | None, before: str | None, sender: User) -> CheckSuite | None:
    """GitHub opens one suite per commit for an app that may write checks, and asks it to run."""
    installation = world.installation_of(repository)
    if installation is None or installation.permissions.get("checks") != "write":
        return None
    if any(one.head_sha == sha and one.app_id == world.app.id for one in repository.suites.values()):
        return None
    now = world.clock.now()
    suite = CheckSuite(world.next_id(), world.app.id, sha, branch, now, now, before)
    repository.suites[suite.id] = suite
    world.announce("check_suite", "requested", repository, sender, {"suite": suite})
    return suite


def synchronize(world: World, pull: Pull, sha: str, sender: User) -> None:
    """The head moved. A force-push moves the reviews' commit ids too, and outdates the comments that it touches."""
    repository, old = pull.issue.repository, pull.head_sha
    if pull.head_repository:
        _bring(repository, pull.head_repository, sha)
    forced = not git.is_ancestor(repository.git_dir, old, sha)
    pull.head_sha, pull.base_sha = sha, branch_tip(repository, pull.base_ref) or pull.base_sha
    keep_ref(repository, pull.issue.number, sha)
    settle_merge(world, pull)
    if forced:
        note(world, pull.issue, "head_ref_force_pushed", sender, sha=sha)
        for review in pull.reviews:
            review.commit_id = sha
    _move_comments(pull, old)
    pull.issue.updated_at = world.clock.now()
    tell(world, pull.issue, "synchronize", sender, before=old, after=sha)


def _move_comments(pull: Pull, old: str) -> None:
    git_dir = pull.issue.repository.git_dir
    now_changed = {change.path: change for change in files(pull)}
    for comment in pull.comments:
        if comment.subject == "file" or comment.line is None or comment.side != "RIGHT":
            continue
        new = diffs.follow(git_dir, old, pull.head_sha, comment.path, comment.line)
        place = now_changed[new[0]].places.get(("RIGHT", new[1])) if new and new[0] in now_changed else None
        if new is None or place is None:
            comment.line = comment.start_line = comment.position = None
            continue
        shift = new[1] - comment.line
        comment.path, comment.line, comment.position, comment.commit_id = new[0], new[1], place.position, pull.head_sha
        comment.start_line = comment.start_line + shift if comment.start_line else None


# ---------------------------------------------------------------- reading


def merge_base(pull: Pull) -> str:
    """The commit that the pull's diff starts from."""
    git_dir = pull.issue.repository.git_dir
    return git.merge_base(git_dir, branch_tip(pull.issue.repository, pull.base_ref) or pull.base_sha, pull.head_sha) or pull.base_sha


def files(pull: Pull) -> tuple[diffs.FileChange, ...]:
    """The changed files, merge base against head. A merged pull keeps its own."""
    start_at = pull.base_sha if pull.merged_at else merge_base(pull)
    return diffs.changes(pull.issue.repository.git_dir, start_at, pull.head_sha)


def commits(pull: Pull) -> list[str]:
    """Commit ids, oldest first, at most GitHub's 250."""
    start_at = pull.base_sha if pull.merged_at else merge_base(pull)
    return list(git.between(pull.issue.repository.git_dir, start_at, pull.head_sha)[:PULL_COMMITS])


def holding(repository: Repository, sha: str) -> list[Pull]:
    """The pulls that a commit belongs to."""
    pulls = [issue.pull for issue in repository.issues.values() if issue.pull]
    return [pull for pull in pulls if sha == pull.merge_commit_sha or sha in commits(pull)]


# ---------------------------------------------------------------- draft, base, merge, queue


def set_draft(world: World, pull: Pull, sender: User, draft: bool) -> None:
    if pull.draft == draft:
        return
    pull.draft = draft
    action = "converted_to_draft" if draft else "ready_for_review"
    note(world, pull.issue, "convert_to_draft" if draft else "ready_for_review", sender)
    tell(world, pull.issue, action, sender)


def set_base(world: World, pull: Pull, sender: User, base: str) -> None:
    tip = branch_tip(pull.issue.repository, base)
    if tip is None:
        raise invalid("PullRequest", "base")
    changes = {"base": {"ref": {"from": pull.base_ref}, "sha": {"from": pull.base_sha}}}
    pull.base_ref, pull.base_sha = base, tip
    settle_merge(world, pull)
    tell(world, pull.issue, "edited", sender, changes=changes)


def merge(world: World, pull: Pull, sender: User) -> str:
    """Merge with a merge commit. Raises `Refused` 405 where that cannot be."""
    issue, repository = pull.issue, pull.issue.repository
    settle_merge(world, pull)
    if issue.state != "open" or pull.draft or not pull.merge_commit_sha:
        raise Refused(405, "Pull Request is not mergeable")
    before, pull.base_sha = branch_tip(repository, pull.base_ref), merge_base(pull)
    git.update_ref(repository.git_dir, f"refs/heads/{pull.base_ref}", pull.merge_commit_sha)
    pull.merged_at, pull.merged_by, issue.state = world.clock.now(), sender, "closed"
    issue.closed_at, issue.closed_by = pull.merged_at, sender
    note(world, issue, "merged", sender, sha=pull.merge_commit_sha)
    note(world, issue, "closed", sender, reason=None)
    tell(world, issue, "closed", sender)
    pushed(world, repository, pull.base_ref, before, pull.merge_commit_sha, sender)
    return pull.merge_commit_sha


def enqueue(world: World, pull: Pull, sender: User) -> str:
    """Put it into the merge queue: a read-only branch with the merge result, and `merge_group`. The group's head."""
    repository = pull.issue.repository
    settle_merge(world, pull)
    if not pull.merge_commit_sha:
        raise Refused(422, "Pull request is not mergeable")
    branch = f"gh-readonly-queue/{pull.base_ref}/pr-{pull.issue.number}-{branch_tip(repository, pull.base_ref)}"
    git.update_ref(repository.git_dir, f"refs/heads/{branch}", pull.merge_commit_sha)
    parts = {"head_sha": pull.merge_commit_sha, "head_ref": f"refs/heads/{branch}", "base_ref": f"refs/heads/{pull.base_ref}"}
    world.announce("merge_group", "checks_requested", repository, sender, parts)
    return pull.merge_commit_sha
