"""Routes of issues, comments, labels, reactions and timelines."""

from __future__ import annotations

from typing import Any

from tests.twin import conversations, payloads, payloads_talk, reviews
from tests.twin.http import Answer, Call, Page, route
from tests.twin.state import Comment, Issue, ReviewComment, invalid, stamp

REPO = "/repos/{owner}/{repo}"
TALK = ("issues:write", "pull_requests:write")
LISTEN = ("issues:read", "pull_requests:read")


def _issue(call: Call) -> Issue:
    return conversations.issue_of(call.home, call.number("issue_number"))


def _show_comment(call: Call, issue: Issue, comment: Comment) -> Any:
    return payloads_talk.comment(call.world, issue, comment)


@route("GET", REPO + "/issues", *LISTEN)
async def list_issues(call: Call) -> Page:
    """Newest first; pulls are among them."""
    wanted, labels = call.query.get("state", "open"), [one for one in call.query.get("labels", "").lower().split(",") if one]
    since = call.query.get("since", "")
    found = [one for one in call.home.issues.values() if wanted in ("all", one.state) and (stamp(one.updated_at) or "") >= since]
    found = [one for one in found if all(name in {label.name.lower() for label in one.labels} for name in labels)]
    key = {"updated": lambda one: one.updated_at, "comments": lambda one: len(one.comments)}.get(call.query.get("sort", ""), lambda one: one.number)
    found.sort(key=key, reverse=call.query.get("direction", "desc") == "desc")
    return Page(found, lambda one: payloads_talk.issue(call.world, one))


@route("POST", REPO + "/issues", "issues:write")
async def create_issue(call: Call) -> Answer:
    body = call.body
    issue = conversations.open_issue(call.world, call.home, call.user, body.get("title"), body.get("body"), body.get("labels") or ())
    return Answer(payloads_talk.issue(call.world, issue), 201)


@route("GET", REPO + "/issues/comments", *LISTEN)
async def list_all_comments(call: Call) -> Page:
    since = call.query.get("since", "")
    found = [(issue, one) for issue in call.home.issues.values() for one in issue.comments if (stamp(one.updated_at) or "") >= since]
    found.sort(key=lambda pair: pair[1].id, reverse=call.query.get("direction") == "desc")
    return Page(found, lambda pair: _show_comment(call, *pair))


@route("GET", REPO + "/issues/comments/{comment_id}", *LISTEN)
async def get_comment(call: Call) -> Answer:
    return Answer(_show_comment(call, *conversations.find_comment(call.home, call.number("comment_id"))))


@route("PATCH", REPO + "/issues/comments/{comment_id}", *TALK)
async def update_comment(call: Call) -> Answer:
    issue, comment = conversations.find_comment(call.home, call.number("comment_id"))
    conversations.edit_comment(call.world, issue, comment, call.user, call.body.get("body"))
    return Answer(_show_comment(call, issue, comment))


@route("DELETE", REPO + "/issues/comments/{comment_id}", *TALK)
async def delete_comment(call: Call) -> Answer:
    conversations.delete_comment(call.world, *conversations.find_comment(call.home, call.number("comment_id")), call.user)
    return Answer(status=204)


@route("GET", REPO + "/issues/{issue_number}", *LISTEN)
async def get_issue(call: Call) -> Answer:
    return Answer(payloads_talk.issue(call.world, _issue(call)))


@route("PATCH", REPO + "/issues/{issue_number}", *TALK)
async def update_issue(call: Call) -> Answer:
    issue, body = _issue(call), call.body
    conversations.edit(call.world, issue, call.user, body)
    if "labels" in body:
        conversations.set_labels(call.world, issue, call.user, _names(body["labels"]))
    if "state" in body:
        conversations.set_state(call.world, issue, call.user, body["state"], body.get("state_reason"))
    return Answer(payloads_talk.issue(call.world, issue))


@route("GET", REPO + "/issues/{issue_number}/comments", *LISTEN)
async def list_comments(call: Call) -> Page:
    issue, since = _issue(call), call.query.get("since", "")
    found = [one for one in issue.comments if (stamp(one.updated_at) or "") >= since]
    return Page(found, lambda one: _show_comment(call, issue, one))


@route("POST", REPO + "/issues/{issue_number}/comments", *TALK)
async def create_comment(call: Call) -> Answer:
    issue = _issue(call)
    comment = conversations.add_comment(call.world, issue, call.user, call.body.get("body"), call.by_app)
    shown = _show_comment(call, issue, comment)
    return Answer(shown, 201, {"Location": shown["url"]})


@route("GET", REPO + "/issues/{issue_number}/timeline", *LISTEN)
async def timeline(call: Call) -> Page:
    return Page(payloads_talk.timeline(call.world, _issue(call), call.who.user), lambda one: one)


# ---------------------------------------------------------------- labels


def _names(given: Any) -> list[Any]:
    """Labels come as names or as objects with a name."""
    if not isinstance(given, list):
        raise invalid("Label", "labels")
    return [one.get("name") if isinstance(one, dict) else one for one in given]


def _labels(call: Call, issue: Issue) -> Answer:
    return Answer([payloads.label(call.world, call.home, one) for one in issue.labels])


@route("GET", REPO + "/labels", *LISTEN)
async def list_labels(call: Call) -> Page:
    return Page(list(call.home.labels.values()), lambda one: payloads.label(call.world, call.home, one))


@route("POST", REPO + "/labels", *TALK)
async def create_label(call: Call) -> Answer:
    made = conversations.create_label(call.world, call.home, call.body.get("name"), call.body.get("color"), call.body.get("description"))
    return Answer(payloads.label(call.world, call.home, made), 201)


@route("GET", REPO + "/issues/{issue_number}/labels", *LISTEN)
async def issue_labels(call: Call) -> Page:
    return Page(_issue(call).labels, lambda one: payloads.label(call.world, call.home, one))


@route("POST", REPO + "/issues/{issue_number}/labels", *TALK)
async def add_labels(call: Call) -> Answer:
    conversations.add_labels(call.world, _issue(call), call.user, _names(call.body.get("labels")))
    return _labels(call, _issue(call))


@route("PUT", REPO + "/issues/{issue_number}/labels", *TALK)
async def set_labels(call: Call) -> Answer:
    conversations.set_labels(call.world, _issue(call), call.user, _names(call.body.get("labels")))
    return _labels(call, _issue(call))


@route("DELETE", REPO + "/issues/{issue_number}/labels/{name}", *TALK)
async def remove_label(call: Call) -> Answer:
    conversations.remove_label(call.world, _issue(call), call.user, call.text("name"))
    return _labels(call, _issue(call))


# ---------------------------------------------------------------- reactions

Target = Issue | Comment | ReviewComment


def _on_issue(call: Call) -> Target:
    return _issue(call)


def _on_comment(call: Call) -> Target:
    return conversations.find_comment(call.home, call.number("comment_id"))[1]


def _on_review_comment(call: Call) -> Target:
    return reviews.find_comment(call.world, call.home.full_name, call.number("comment_id"))[1]


def _reactions(path: str, target: Any, needs: tuple[str, ...], listen: tuple[str, ...]) -> None:
    """The three routes of one kind of thing that can be reacted to."""

    @route("GET", path, *listen)
    async def list_reactions(call: Call) -> Page:
        wanted = call.query.get("content")
        found = [one for one in target(call).reactions if wanted in (None, one.content)]
        return Page(found, lambda one: payloads.reaction(call.world, one))

    @route("POST", path, *needs)
    async def create_reaction(call: Call) -> Answer:
        made, new = conversations.react(call.world, target(call), call.user, call.body.get("content"))
        return Answer(payloads.reaction(call.world, made), 201 if new else 200)

    @route("DELETE", path + "/{reaction_id}", *needs)
    async def delete_reaction(call: Call) -> Answer:
        conversations.unreact(target(call), call.number("reaction_id"))
        return Answer(status=204)


_reactions(REPO + "/issues/{issue_number}/reactions", _on_issue, TALK, LISTEN)
_reactions(REPO + "/issues/comments/{comment_id}/reactions", _on_comment, TALK, LISTEN)
_reactions(REPO + "/pulls/comments/{comment_id}/reactions", _on_review_comment, ("pull_requests:write",), ("pull_requests:read",))
