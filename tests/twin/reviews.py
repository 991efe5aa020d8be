"""Reviews and inline comments with GitHub's rules: a review is taken as a whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.twin import pulls
from tests.twin.conversations import check_body, note
from tests.twin.diffs import FileChange, Place, hunk_up_to
from tests.twin.limits import REVIEW_COMMENTS_AT_ONCE
from tests.twin.state import Json, Pull, Refused, Review, ReviewComment, User, World, invalid, not_found

STATES = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}
COMMENT_KEYS = {"path", "body", "position", "line", "side", "start_line", "start_side"}
THREAD = "pull_request_review_thread"


@dataclass(frozen=True)
class Spot:
    """Where a comment goes, checked against the diff."""

    path: str
    subject: str
    side: str = "RIGHT"
    line: int | None = None
    start_line: int | None = None
    start_side: str | None = None
    position: int | None = None
    hunk: str = ""


def create_review(world: World, pull: Pull, user: User, request: Mapping[str, Any]) -> Review:
    """Without `event` it stays pending. Raises `Refused` 422; then nothing is stored."""
    event, given = request.get("event"), request.get("comments") or []
    commit_id = _commit_of(pull, request.get("commit_id"))
    _check_event(pull, user, event, request.get("body"))
    _refuse_second_pending(pull, user)
    if len(given) > REVIEW_COMMENTS_AT_ONCE:
        raise invalid("PullRequestReview", "base", "custom", "was submitted too quickly")
    spots = [(_spot_of_review(pull, one), check_body("PullRequestReviewComment", one.get("body"))) for one in given]
    review = _store(world, pull, user, request.get("body") or "", commit_id)
    for spot, body in spots:
        _add(world, pull, review, user, body, spot)
    if event is not None:
        _publish(world, pull, review, STATES[event])
    return review


def _commit_of(pull: Pull, commit_id: Any) -> str:
    """The commit reviewed: the head by default; one that a force-push took out of the pull is refused."""
    if commit_id is None:
        return pull.head_sha
    if commit_id != pull.head_sha and commit_id not in pulls.commits(pull):
        raise Refused(422, "Unprocessable Entity", ["Commit is not part of the pull request"])
    return str(commit_id)


def _check_event(pull: Pull, user: User, event: Any, body: Any) -> None:
    if event is None:
        return
    if event not in STATES:
        raise Refused(422, "Unprocessable Entity", ["Variable $event of type PullRequestReviewEvent was provided invalid value"])
    if event in ("COMMENT", "REQUEST_CHANGES") and (not isinstance(body, str) or not body.strip()):
        raise Refused(422, "Unprocessable Entity", ["Body can't be blank"])
    if event != "COMMENT" and user.id == pull.issue.user.id:
        verb = "approve" if event == "APPROVE" else "request changes on"
        raise Refused(422, "Unprocessable Entity", [f"Can not {verb} your own pull request"])
    if body is not None:
        check_body("PullRequestReview", body, required=False)


def _refuse_second_pending(pull: Pull, user: User) -> None:
    if any(one.user.id == user.id and one.state == "PENDING" for one in pull.reviews):
        raise Refused(422, "Unprocessable Entity", ["User can only have one pending review per pull request"])


def _store(world: World, pull: Pull, user: User, body: str, commit_id: str) -> Review:
    review = Review(world.next_id(), user, body, "PENDING", commit_id, None, world.clock.now())
    pull.reviews.append(review)
    return review


def _publish(world: World, pull: Pull, review: Review, state: str) -> None:
    review.state, review.submitted_at = state, world.clock.now()
    note(world, pull.issue, "reviewed", review.user, review=review)
    world.announce("pull_request_review", "submitted", pull.issue.repository, review.user, {"pull": pull, "review": review})
    for comment in comments_of(pull, review):
        _tell(world, pull, comment, "created", review.user)


# ---------------------------------------------------------------- where a comment may stand


def _spot_of_review(pull: Pull, given: Any) -> Spot:
    """A comment inside a review speaks in sentences, unlike one made alone."""
    if not isinstance(given, dict):
        raise Refused(422, "Invalid request.\n\nFor 'items', item is not an object.")
    if unknown := sorted(set(given) - COMMENT_KEYS):
        raise Refused(422, f'Invalid request.\n\n"{unknown[0]}" is not a permitted key.')
    change = next((one for one in pulls.files(pull) if one.path == given.get("path")), None)
    if change is None:
        raise Refused(422, "Unprocessable Entity", ["Path could not be resolved"])
    try:
        return _line_spot(change, given)
    except Refused as refused:
        sentence = "Line could not be resolved" if refused.message == "Validation Failed" else refused.message
        raise Refused(422, "Unprocessable Entity", [sentence]) from refused


def _line_spot(change: FileChange, given: Mapping[str, Any]) -> Spot:
    if given.get("line") is None and given.get("position") is not None:
        return _by_position(change, given["position"])
    side, line = given.get("side") or "RIGHT", given.get("line")
    end = _place(change, side, line, "line")
    start_line = given.get("start_line")
    if start_line is None:
        return Spot(change.path, "line", side, line, None, None, end.position, hunk_up_to(change, end.position))
    start_side = given.get("start_side") or side
    begin = _place(change, start_side, start_line, "start_line")
    if begin.hunk != end.hunk:
        raise invalid("PullRequestReviewComment", f"{THREAD}.start_line", "custom", f"{THREAD}.start_line must be part of the same hunk as the line.")
    if (start_line >= line) if start_side == side else begin.position >= end.position:
        raise invalid("PullRequestReviewComment", f"{THREAD}.start_line", "custom", f"{THREAD}.start_line must precede the end line.")
    return Spot(change.path, "line", side, line, start_line, start_side, end.position, hunk_up_to(change, end.position))


def _place(change: FileChange, side: Any, line: Any, name: str) -> Place:
    if side not in ("LEFT", "RIGHT"):
        raise invalid("PullRequestReviewComment", f"{THREAD}.side")
    place = change.places.get((side, line)) if isinstance(line, int) and not isinstance(line, bool) else None
    if place is None:
        raise invalid("PullRequestReviewComment", f"{THREAD}.{name}", "custom", f"{THREAD}.{name} must be part of the diff")
    return place


def _by_position(change: FileChange, position: Any) -> Spot:
    at = [(key, place) for key, place in change.places.items() if place.position == position]
    if not at:
        raise invalid("PullRequestReviewComment", "position")
    (side, line), place = next((one for one in at if one[0][0] == "RIGHT"), at[0])
    return Spot(change.path, "line", side, line, None, None, place.position, hunk_up_to(change, place.position))


# ---------------------------------------------------------------- single comments and replies


def create_comment(world: World, pull: Pull, user: User, request: Mapping[str, Any]) -> ReviewComment:
    """One comment on a line, or on a file (`subject_type: file`), in a review of its own."""
    if request.get("in_reply_to") is not None:
        return reply(world, pull, user, request["in_reply_to"], request.get("body"))
    if not isinstance(request.get("commit_id"), str):
        raise invalid("PullRequestReviewComment", "commit_id", "missing_field")
    commit_id, body = _commit_of(pull, request["commit_id"]), check_body("PullRequestReviewComment", request.get("body"))
    spot = _spot_alone(pull, request)
    _refuse_second_pending(pull, user)
    review = _store(world, pull, user, "", commit_id)
    comment = _add(world, pull, review, user, body, spot)
    _publish(world, pull, review, "COMMENTED")
    return comment


def _spot_alone(pull: Pull, request: Mapping[str, Any]) -> Spot:
    change = next((one for one in pulls.files(pull) if one.path == request.get("path")), None)
    if change is None:
        raise invalid("PullRequestReviewComment", f"{THREAD}.path", "invalid", f"{THREAD}.path is invalid")
    if request.get("subject_type") == "file":
        return Spot(change.path, "file", hunk=(change.patch or "").split("\n")[0])
    if request.get("line") is None and request.get("position") is None:
        raise invalid("PullRequestReviewComment", "line", "missing_field")
    return _line_spot(change, request)


def reply(world: World, pull: Pull, user: User, parent_id: Any, body: Any) -> ReviewComment:
    """A reply joins the thread's first comment; a reply to a reply is refused."""
    parent = next((one for one in pull.comments if one.id == parent_id), None)
    if parent is None or parent.in_reply_to is not None:
        raise not_found()
    text = check_body("PullRequestReviewComment", body)
    review = _store(world, pull, user, "", pull.head_sha)
    spot = Spot(parent.path, parent.subject, parent.side, parent.line, parent.start_line, parent.start_side, parent.position, parent.diff_hunk)
    comment = _add(world, pull, review, user, text, spot)
    comment.in_reply_to, comment.original_commit_id = parent.id, parent.original_commit_id
    _publish(world, pull, review, "COMMENTED")
    return comment


def _add(world: World, pull: Pull, review: Review, user: User, body: str, spot: Spot) -> ReviewComment:
    now = world.clock.now()
    comment = ReviewComment(
        id=world.next_id(), review_id=review.id, user=user, body=body, path=spot.path, commit_id=review.commit_id,
        original_commit_id=review.commit_id, created_at=now, updated_at=now, subject=spot.subject, side=spot.side,
        line=spot.line, start_line=spot.start_line, start_side=spot.start_side, original_line=spot.line,
        original_start_line=spot.start_line, position=spot.position, original_position=spot.position, diff_hunk=spot.hunk,
    )  # fmt: skip
    pull.comments.append(comment)
    return comment


def _tell(world: World, pull: Pull, comment: ReviewComment, action: str, sender: User, **parts: Any) -> None:
    about: Json = {"pull": pull, "review_comment": comment, **parts}
    world.announce("pull_request_review_comment", action, pull.issue.repository, sender, about)


# ---------------------------------------------------------------- later


def review_of(pull: Pull, review_id: int) -> Review:
    found = next((one for one in pull.reviews if one.id == review_id), None)
    if found is None:
        raise not_found()
    return found


def visible(pull: Pull, user: User | None) -> list[Review]:
    """Reviews as that person sees them: somebody else's pending one is hidden."""
    return [one for one in pull.reviews if one.state != "PENDING" or (user and one.user.id == user.id)]


def comments_of(pull: Pull, review: Review) -> list[ReviewComment]:
    return [one for one in pull.comments if one.review_id == review.id]


def published(pull: Pull) -> list[ReviewComment]:
    """Comments that everybody sees."""
    pending = {one.id for one in pull.reviews if one.state == "PENDING"}
    return [one for one in pull.comments if one.review_id not in pending]


def submit(world: World, pull: Pull, user: User, review: Review, event: Any, body: Any) -> None:
    if review.state != "PENDING":
        raise Refused(422, "Unprocessable Entity", ["Can not submit a review that is not pending"])
    if event is None:
        raise invalid("PullRequestReview", "event", "missing_field")
    _check_event(pull, user, event, body if body is not None else review.body)
    review.body = body if body is not None else review.body
    _publish(world, pull, review, STATES[event])


def update(world: World, pull: Pull, review: Review, sender: User, body: Any) -> None:
    old, review.body = review.body, check_body("PullRequestReview", body)
    review.updated_at = world.clock.now()
    parts: Json = {"pull": pull, "review": review, "changes": {"body": {"from": old}}}
    world.announce("pull_request_review", "edited", pull.issue.repository, sender, parts)


def delete_pending(pull: Pull, review: Review) -> None:
    if review.state != "PENDING":
        raise Refused(422, "Unprocessable Entity", ["Can not delete a non-pending pull request review"])
    pull.reviews.remove(review)
    pull.comments = [one for one in pull.comments if one.review_id != review.id]


def dismiss(world: World, pull: Pull, review: Review, sender: User, message: Any) -> None:
    """Only a verdict can be dismissed; a comment cannot."""
    if review.state not in ("APPROVED", "CHANGES_REQUESTED"):
        raise Refused(422, "Unprocessable Entity", [f"Can not dismiss a {review.state.lower()} pull request review"])
    check_body("PullRequestReview", message)
    was, review.state = review.state, "DISMISSED"
    note(world, pull.issue, "review_dismissed", sender, review=review, message=message, was=was.lower())
    world.announce("pull_request_review", "dismissed", pull.issue.repository, sender, {"pull": pull, "review": review})


def find_comment(world: World, repository_name: str, comment_id: int) -> tuple[Pull, ReviewComment]:
    for issue in world.repository(repository_name).issues.values():
        for comment in issue.pull.comments if issue.pull else ():
            if comment.id == comment_id and issue.pull:
                return issue.pull, comment
    raise not_found()


def edit_comment(world: World, pull: Pull, comment: ReviewComment, sender: User, body: Any) -> None:
    old, comment.body = comment.body, check_body("PullRequestReviewComment", body)
    comment.updated_at = world.clock.now()
    _tell(world, pull, comment, "edited", sender, changes={"body": {"from": old}})


def delete_comment(world: World, pull: Pull, comment: ReviewComment, sender: User) -> None:
    pull.comments.remove(comment)
    _tell(world, pull, comment, "deleted", sender)


def resolve_thread(world: World, pull: Pull, comment: ReviewComment, sender: User, resolved: bool = True) -> None:
    first = comment.in_reply_to or comment.id
    (pull.resolved.add if resolved else pull.resolved.discard)(first)
    action = "resolved" if resolved else "unresolved"
    world.announce("pull_request_review_thread", action, pull.issue.repository, sender, {"pull": pull, "thread": first})
