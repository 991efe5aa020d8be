"""What can happen in a conversation, issue or pull alike: text, comments, labels, reactions, closing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tests.twin.limits import BODY_CHARACTERS, TITLE_CHARACTERS
from tests.twin.state import Comment, Issue, Json, Label, Moment, Reaction, Refused, Repository, ReviewComment, User, World, invalid, not_found

CONTENTS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")
STAFF = ("admin", "maintain", "write")
MENTION = re.compile(r"(?<![\w/&])#(\d{1,9})\b")


def role_of(repository: Repository, user: User) -> str:
    """The `role_name` of a person; the owner is admin, a stranger reads what is public."""
    if user.id == repository.owner.id:
        return "admin"
    return repository.roles.get(user.login.lower(), "none" if repository.private else "read")


def association(repository: Repository, user: User) -> str:
    """`author_association`."""
    if user.id == repository.owner.id:
        return "OWNER"
    if user.login.lower() in repository.roles:
        return "MEMBER" if repository.owner.kind == "Organization" else "COLLABORATOR"
    wrote = any(issue.pull and issue.pull.merged_at and issue.user.id == user.id for issue in repository.issues.values())
    return "CONTRIBUTOR" if wrote else "NONE"


def issue_of(repository: Repository, number: int) -> Issue:
    found = repository.issues.get(number)
    if found is None:
        raise not_found()
    return found


def check_body(resource: str, body: Any, required: bool = True) -> str:
    """The text if GitHub would take it. Raises `Refused` 422."""
    if body is None and not required:
        return ""
    if not isinstance(body, str):
        raise invalid(resource, "body", "missing_field" if body is None else "invalid")
    if required and not body.strip():
        raise invalid(resource, "body", "custom", "body cannot be blank")
    if len(body) > BODY_CHARACTERS:
        raise invalid(resource, "body", "custom", f"body is too long (maximum is {BODY_CHARACTERS} characters)")
    return body


def check_title(title: Any) -> str:
    if not isinstance(title, str) or not title.strip():
        raise invalid("Issue", "title", "missing_field")
    if len(title) > TITLE_CHARACTERS:
        raise invalid("Issue", "title", "custom", f"title is too long (maximum is {TITLE_CHARACTERS} characters)")
    return title


def next_number(repository: Repository) -> int:
    """Issues and pulls share their numbers."""
    return max(repository.issues, default=0) + 1


def note(world: World, issue: Issue, event: str, actor: User, **parts: Any) -> None:
    """Put an event on the timeline; `updated_at` moves with it."""
    issue.updated_at = world.clock.now()
    issue.timeline.append(Moment(world.next_id(), event, actor, issue.updated_at, parts))


def start(world: World, repository: Repository, user: User, title: Any, body: Any, number: int | None = None) -> Issue:
    """A new conversation, not announced yet. Mentions are cross-referenced."""
    now = world.clock.now()
    text = check_body("Issue", body, required=False) if body is not None else None
    issue = Issue(repository, world.next_id(), number or next_number(repository), check_title(title), text, user, now, now)
    repository.issues[issue.number] = issue
    cross_reference(world, issue, user, text)
    return issue


def cross_reference(world: World, source: Issue, actor: User, body: str | None) -> None:
    """Every conversation that the text cites learns of it, once."""
    for number in dict.fromkeys(int(found) for found in MENTION.findall(body or "")):
        target = source.repository.issues.get(number)
        if target is None or target is source:
            continue
        if not any(one.event == "cross-referenced" and one.parts["source"] is source for one in target.timeline):
            note(world, target, "cross-referenced", actor, source=source)


def subject(issue: Issue) -> tuple[str, Json]:
    """The name of the event that tells of a change to it, and the part that it carries."""
    return ("pull_request", {"pull": issue.pull}) if issue.pull else ("issues", {"issue": issue})


def tell(world: World, issue: Issue, action: str, sender: User, **parts: Any) -> None:
    name, about = subject(issue)
    world.announce(name, action, issue.repository, sender, {**about, **parts})


def open_issue(world: World, repository: Repository, user: User, title: Any, body: Any = None, labels: Iterable[str] = ()) -> Issue:
    issue = start(world, repository, user, title, body)
    issue.labels = [label_of(world, repository, name) for name in labels]
    tell(world, issue, "opened", user)
    return issue


def edit(world: World, issue: Issue, sender: User, changes: Mapping[str, Any]) -> None:
    """Title and body. An oversize body of an issue can be dropped silently (`World.keep_old_issue_body`), as has been seen on GitHub."""
    before: Json = {}
    if "title" in changes and changes["title"] != issue.title:
        title = check_title(changes["title"])
        before["title"] = {"from": issue.title}
        note(world, issue, "renamed", sender, old=issue.title, new=title)
        issue.title = title
    if "body" in changes and changes["body"] != issue.body:
        before |= _edit_body(world, issue, sender, changes["body"])
    if before:
        issue.updated_at = world.clock.now()
        tell(world, issue, "edited", sender, changes=before)


def _edit_body(world: World, issue: Issue, sender: User, body: Any) -> Json:
    if world.keep_old_issue_body and isinstance(body, str) and len(body) > BODY_CHARACTERS:
        return {}
    old, issue.body = issue.body, check_body("Issue", body, required=False) if body is not None else None
    cross_reference(world, issue, sender, issue.body)
    return {"body": {"from": old or ""}}


def set_state(world: World, issue: Issue, sender: User, state: Any, reason: str | None = None) -> None:
    """Close or reopen. Raises `Refused` 422 for any other word, and for reopening a merged pull."""
    if state not in ("open", "closed"):
        raise invalid(_resource(issue), "state")
    if issue.pull and issue.pull.merged_at and state == "open":
        raise invalid("PullRequest", "state", "custom", "state cannot be changed. The pull request is already merged.")
    if state == issue.state:
        return
    closed = state == "closed"
    issue.state, issue.closed_at = state, world.clock.now() if closed else None
    issue.closed_by, issue.state_reason = (sender, reason or "completed") if closed else (None, None if issue.pull else "reopened")
    if issue.pull:
        issue.state_reason = None
    note(world, issue, "closed" if closed else "reopened", sender, reason=issue.state_reason)
    tell(world, issue, "closed" if closed else "reopened", sender)


def _resource(issue: Issue) -> str:
    return "PullRequest" if issue.pull else "Issue"


# ---------------------------------------------------------------- comments


def add_comment(world: World, issue: Issue, user: User, body: Any, by_app: bool = False) -> Comment:
    if issue.locked and role_of(issue.repository, user) not in STAFF:
        raise Refused(403, "Unable to create comment because issue is locked.")
    now = world.clock.now()
    comment = Comment(world.next_id(), user, check_body("IssueComment", body), now, now, by_app)
    issue.comments.append(comment)
    note(world, issue, "commented", user, comment=comment)
    cross_reference(world, issue, user, comment.body)
    world.announce("issue_comment", "created", issue.repository, user, {"issue": issue, "comment": comment})
    return comment


def find_comment(repository: Repository, comment_id: int) -> tuple[Issue, Comment]:
    for issue in repository.issues.values():
        for comment in issue.comments:
            if comment.id == comment_id:
                return issue, comment
    raise not_found()


def edit_comment(world: World, issue: Issue, comment: Comment, sender: User, body: Any) -> None:
    old, comment.body = comment.body, check_body("IssueComment", body)
    comment.updated_at = issue.updated_at = world.clock.now()
    parts = {"issue": issue, "comment": comment, "changes": {"body": {"from": old}}}
    world.announce("issue_comment", "edited", issue.repository, sender, parts)


def delete_comment(world: World, issue: Issue, comment: Comment, sender: User) -> None:
    issue.comments.remove(comment)
    issue.timeline = [one for one in issue.timeline if one.parts.get("comment") is not comment]
    world.announce("issue_comment", "deleted", issue.repository, sender, {"issue": issue, "comment": comment})


# ---------------------------------------------------------------- labels and reactions


def label_of(world: World, repository: Repository, name: Any) -> Label:
    """The repository's label, made on first use, as GitHub does when one is put on an issue."""
    if not isinstance(name, str) or not name.strip():
        raise invalid("Label", "name")
    found = repository.labels.get(name.lower())
    if found is None:
        found = repository.labels[name.lower()] = Label(world.next_id(), name)
    return found


def create_label(world: World, repository: Repository, name: Any, color: str | None, description: str | None) -> Label:
    if isinstance(name, str) and name.lower() in repository.labels:
        raise invalid("Label", "name", "already_exists")
    made = label_of(world, repository, name)
    repository.labels[made.name.lower()] = Label(made.id, made.name, color or made.color, description)
    return repository.labels[made.name.lower()]


def add_labels(world: World, issue: Issue, sender: User, names: Iterable[Any]) -> None:
    for label in [label_of(world, issue.repository, name) for name in names]:
        if label not in issue.labels:
            issue.labels.append(label)
            note(world, issue, "labeled", sender, label=label)
            tell(world, issue, "labeled", sender, label=label)


def remove_label(world: World, issue: Issue, sender: User, name: str) -> None:
    label = next((one for one in issue.labels if one.name.lower() == name.lower()), None)
    if label is None:
        raise Refused(404, "Label does not exist")
    issue.labels.remove(label)
    note(world, issue, "unlabeled", sender, label=label)
    tell(world, issue, "unlabeled", sender, label=label)


def set_labels(world: World, issue: Issue, sender: User, names: Iterable[Any]) -> None:
    wanted = [label_of(world, issue.repository, name) for name in names]
    for label in [one for one in issue.labels if one not in wanted]:
        remove_label(world, issue, sender, label.name)
    add_labels(world, issue, sender, [label.name for label in wanted])


def react(world: World, target: Issue | Comment | ReviewComment, user: User, content: Any) -> tuple[Reaction, bool]:
    """The reaction, and whether it is new."""
    if content not in CONTENTS:
        raise invalid("Reaction", "content")
    found = next((one for one in target.reactions if one.user.id == user.id and one.content == content), None)
    if found:
        return found, False
    made = Reaction(world.next_id(), user, content, world.clock.now())
    target.reactions.append(made)
    return made, True


def unreact(target: Issue | Comment | ReviewComment, reaction_id: int) -> None:
    kept = [one for one in target.reactions if one.id != reaction_id]
    if len(kept) == len(target.reactions):
        raise not_found()
    target.reactions = kept
