"""GitHub's JSON for issues, pulls, comments, reviews and timelines."""

from __future__ import annotations

from typing import Any

from tests.twin import git, pulls
from tests.twin.conversations import association
from tests.twin.payloads import app, git_commit, label, reactions, repository, repository_page, repository_url, user
from tests.twin.state import Comment, Issue, Json, Moment, Pull, Repository, Review, ReviewComment, User, World, node_id, stamp


def conversation_page(world: World, issue: Issue) -> str:
    return f"{repository_page(world, issue.repository)}/{'pull' if issue.pull else 'issues'}/{issue.number}"


def issue(world: World, one: Issue) -> Json:
    """An issue; for a pull's conversation it carries `pull_request`."""
    home = one.repository
    url, page = f"{repository_url(world, home)}/issues/{one.number}", conversation_page(world, one)
    people = [user(world, person) for person in one.assignees]
    return {
        "url": url, "repository_url": repository_url(world, home), "labels_url": f"{url}/labels{{/name}}", "comments_url": f"{url}/comments",
        "events_url": f"{url}/events", "timeline_url": f"{url}/timeline", "html_url": page, "id": one.id, "node_id": node_id("Issue", one.id),
        "number": one.number, "title": one.title, "user": user(world, one.user), "labels": [label(world, home, each) for each in one.labels],
        "state": one.state, "locked": one.locked, "assignee": people[0] if people else None, "assignees": people, "milestone": None,
        "comments": len(one.comments), "created_at": stamp(one.created_at), "updated_at": stamp(one.updated_at),
        "closed_at": stamp(one.closed_at), "closed_by": user(world, one.closed_by) if one.closed_by else None,
        "author_association": association(home, one.user), "active_lock_reason": None, "body": one.body, "state_reason": one.state_reason,
        "reactions": reactions(url, one.reactions), "performed_via_github_app": None, **_pull_links(world, one),
    }  # fmt: skip


def _pull_links(world: World, one: Issue) -> Json:
    if one.pull is None:
        return {}
    page = conversation_page(world, one)
    links = {"url": f"{repository_url(world, one.repository)}/pulls/{one.number}", "html_url": page}
    return {
        "draft": one.pull.draft,
        "pull_request": {**links, "diff_url": f"{page}.diff", "patch_url": f"{page}.patch", "merged_at": stamp(one.pull.merged_at)},
    }


def comment(world: World, one: Issue, said: Comment) -> Json:
    url = f"{repository_url(world, one.repository)}/issues/comments/{said.id}"
    return {
        "url": url, "html_url": f"{conversation_page(world, one)}#issuecomment-{said.id}", "id": said.id, "node_id": node_id("IssueComment", said.id),
        "issue_url": f"{repository_url(world, one.repository)}/issues/{one.number}", "user": user(world, said.user),
        "created_at": stamp(said.created_at), "updated_at": stamp(said.updated_at), "body": said.body,
        "author_association": association(one.repository, said.user), "reactions": reactions(url, said.reactions),
        "performed_via_github_app": app(world, world.app) if said.by_app else None,
    }  # fmt: skip


def _side(world: World, home: Repository | None, ref: str, sha: str) -> Json:
    """`head` or `base`; a deleted fork leaves nulls."""
    if home is None or home.deleted:
        return {"label": f"unknown repository:{ref}", "ref": ref, "sha": sha, "user": None, "repo": None}
    return {"label": f"{home.owner.login}:{ref}", "ref": ref, "sha": sha, "user": user(world, home.owner), "repo": repository(world, home)}


def pull(world: World, one: Pull) -> Json:
    """A pull as the list prints it."""
    talk, home = one.issue, one.issue.repository
    url, page = f"{repository_url(world, home)}/pulls/{talk.number}", conversation_page(world, talk)
    issue_url = f"{repository_url(world, home)}/issues/{talk.number}"
    links = {
        "self": url, "html": page, "issue": issue_url, "comments": f"{issue_url}/comments", "review_comments": f"{url}/comments",
        "review_comment": f"{repository_url(world, home)}/pulls/comments{{/number}}", "commits": f"{url}/commits",
        "statuses": f"{repository_url(world, home)}/statuses/{one.head_sha}",
    }  # fmt: skip
    people = [user(world, person) for person in talk.assignees]
    return {
        "url": url, "id": one.id, "node_id": node_id("PullRequest", one.id), "html_url": page, "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch", "issue_url": issue_url, "number": talk.number, "state": talk.state, "locked": talk.locked,
        "title": talk.title, "user": user(world, talk.user), "body": talk.body, "created_at": stamp(talk.created_at),
        "updated_at": stamp(talk.updated_at), "closed_at": stamp(talk.closed_at), "merged_at": stamp(one.merged_at),
        "merge_commit_sha": one.merge_commit_sha, "assignee": people[0] if people else None, "assignees": people,
        "requested_reviewers": [], "requested_teams": [], "labels": [label(world, home, each) for each in talk.labels], "milestone": None,
        "draft": one.draft, "commits_url": links["commits"], "review_comments_url": links["review_comments"],
        "review_comment_url": links["review_comment"], "comments_url": links["comments"], "statuses_url": links["statuses"],
        "head": _side(world, one.head_repository, one.head_ref, one.head_sha), "base": _side(world, home, one.base_ref, one.base_sha),
        "_links": {key: {"href": value} for key, value in links.items()}, "author_association": association(home, talk.user),
        "auto_merge": None, "active_lock_reason": None,
    }  # fmt: skip


def full_pull(world: World, one: Pull) -> Json:
    """What the single pull's endpoint and webhooks add."""
    changed = pulls.files(one)
    return {
        **pull(world, one), "merged": one.merged_at is not None, "mergeable": one.mergeable, "rebaseable": one.mergeable,
        "mergeable_state": _mergeable_state(one), "merged_by": user(world, one.merged_by) if one.merged_by else None,
        "comments": len(one.issue.comments), "review_comments": len(pulls_published(one)), "maintainer_can_modify": False,
        "commits": len(pulls.commits(one)), "additions": sum(each.additions for each in changed),
        "deletions": sum(each.deletions for each in changed), "changed_files": len(changed),
    }  # fmt: skip


def pulls_published(one: Pull) -> list[ReviewComment]:
    pending = {review.id for review in one.reviews if review.state == "PENDING"}
    return [said for said in one.comments if said.review_id not in pending]


def _mergeable_state(one: Pull) -> str:
    if one.mergeable is None:
        return "unknown"
    return "dirty" if not one.mergeable else "draft" if one.draft else "clean"


def minimal_pull(world: World, one: Pull) -> Json:
    """The pull as check runs and suites name it."""
    home = one.issue.repository

    def side(repository_of: Repository, ref: str, sha: str) -> Json:
        return {"ref": ref, "sha": sha, "repo": {"id": repository_of.id, "url": repository_url(world, repository_of), "name": repository_of.name}}

    head, base = side(one.head_repository or home, one.head_ref, one.head_sha), side(home, one.base_ref, one.base_sha)
    return {"url": f"{repository_url(world, home)}/pulls/{one.issue.number}", "id": one.id, "number": one.issue.number, "head": head, "base": base}


def review(world: World, one: Pull, given: Review) -> Json:
    home = one.issue.repository
    page, url = f"{conversation_page(world, one.issue)}#pullrequestreview-{given.id}", f"{repository_url(world, home)}/pulls/{one.issue.number}"
    submitted = {"submitted_at": stamp(given.submitted_at)} if given.submitted_at else {}
    return {
        "id": given.id, "node_id": node_id("PullRequestReview", given.id), "user": user(world, given.user), "body": given.body,
        "state": given.state, "html_url": page, "pull_request_url": url, "author_association": association(home, given.user),
        "_links": {"html": {"href": page}, "pull_request": {"href": url}}, "commit_id": given.commit_id, **submitted,
    }  # fmt: skip


def review_comment(world: World, one: Pull, said: ReviewComment) -> Json:
    home = one.issue.repository
    url, pull_url = f"{repository_url(world, home)}/pulls/comments/{said.id}", f"{repository_url(world, home)}/pulls/{one.issue.number}"
    page = f"{conversation_page(world, one.issue)}#discussion_r{said.id}"
    reply = {"in_reply_to_id": said.in_reply_to} if said.in_reply_to else {}
    return {
        "url": url, "pull_request_review_id": said.review_id, "id": said.id, "node_id": node_id("PullRequestReviewComment", said.id),
        "diff_hunk": said.diff_hunk, "path": said.path, "commit_id": said.commit_id, "original_commit_id": said.original_commit_id,
        "user": user(world, said.user), "body": said.body, "created_at": stamp(said.created_at), "updated_at": stamp(said.updated_at),
        "html_url": page, "pull_request_url": pull_url, "author_association": association(home, said.user),
        "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": pull_url}},
        "reactions": reactions(url, said.reactions), "start_line": said.start_line, "original_start_line": said.original_start_line,
        "start_side": said.start_side, "line": said.line, "original_line": said.original_line, "side": said.side,
        "original_position": said.original_position, "position": said.position, "subject_type": said.subject, **reply,
    }  # fmt: skip


def comment_in_review(world: World, one: Pull, said: ReviewComment) -> Json:
    """A review's own list tells positions only, without the lines."""
    hidden = ("line", "side", "start_line", "start_side", "original_line", "original_start_line", "subject_type")
    return {key: value for key, value in review_comment(world, one, said).items() if key not in hidden}


# ---------------------------------------------------------------- timeline


def timeline(world: World, one: Issue, asker: User | None) -> list[Json]:
    """Everything that happened, oldest first; a pull's commits stand before its other events of the same second."""
    commits = [_committed(world, one, sha) for sha in pulls.commits(one.pull)] if one.pull else []
    return commits + [_moment(world, one, entry) for entry in one.timeline if _shown(entry, asker)]


def _shown(entry: Moment, asker: User | None) -> bool:
    return entry.event != "reviewed" or entry.parts["review"].state != "PENDING"


def _committed(world: World, one: Issue, sha: str) -> Json:
    return {"event": "committed", **git_commit(world, one.repository, git.commit(one.repository.git_dir, sha))}


def _moment(world: World, one: Issue, entry: Moment) -> Json:
    special = {"commented": _commented, "reviewed": _reviewed, "cross-referenced": _cross_referenced}
    if entry.event in special:
        return special[entry.event](world, one, entry)
    url = f"{repository_url(world, one.repository)}/issues/events/{entry.id}"
    plain = {"id": entry.id, "node_id": node_id("Event", entry.id), "url": url, "actor": user(world, entry.actor), "event": entry.event}
    return {
        **plain,
        "commit_id": entry.parts.get("sha"),
        "commit_url": None,
        "created_at": stamp(entry.at),
        "performed_via_github_app": None,
        **_added(entry),
    }


def _added(entry: Moment) -> Json:
    parts = entry.parts
    if entry.event in ("labeled", "unlabeled"):
        return {"label": {"name": parts["label"].name, "color": parts["label"].color}}
    if entry.event == "renamed":
        return {"rename": {"from": parts["old"], "to": parts["new"]}}
    if entry.event in ("closed", "reopened"):
        return {"state_reason": parts.get("reason")}
    if entry.event == "review_dismissed":
        given: Review = parts["review"]
        return {"dismissed_review": {"state": parts["was"], "review_id": given.id, "dismissal_message": parts["message"]}}
    return {}


def _commented(world: World, one: Issue, entry: Moment) -> Json:
    said: Comment = entry.parts["comment"]
    return {"event": "commented", "actor": user(world, said.user), **comment(world, one, said)}


def _reviewed(world: World, one: Issue, entry: Moment) -> Json:
    assert one.pull
    return {"event": "reviewed", **review(world, one.pull, entry.parts["review"])}


def _cross_referenced(world: World, one: Issue, entry: Moment) -> Json:
    source: Any = {**issue(world, entry.parts["source"]), "repository": repository(world, entry.parts["source"].repository)}
    moment = stamp(entry.at)
    own = {"event": "cross-referenced", "actor": user(world, entry.actor), "created_at": moment, "updated_at": moment}
    return {**own, "source": {"type": "issue", "issue": source}}
