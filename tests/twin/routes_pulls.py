"""Routes of pulls, reviews and review comments."""

from __future__ import annotations

from typing import Any

from tests.twin import conversations, diffs, git, payloads, payloads_talk, pulls, reviews
from tests.twin.http import Answer, Call, Page, route
from tests.twin.limits import DIFF_BYTES, DIFF_FILES, DIFF_LINES, PULL_FILES
from tests.twin.state import Pull, Refused, Review, ReviewComment, stamp

PULLS = "/repos/{owner}/{repo}/pulls"
ONE = PULLS + "/{pull_number}"
READ, WRITE = "pull_requests:read", "pull_requests:write"


def _pull(call: Call) -> Pull:
    return pulls.pull_of(call.home, call.number("pull_number"))


@route("GET", PULLS, READ)
async def list_pulls(call: Call) -> Page:
    wanted, head, base = call.query.get("state", "open"), call.query.get("head"), call.query.get("base")
    found = [issue.pull for issue in call.home.issues.values() if issue.pull and wanted in ("all", issue.state)]
    found = [one for one in found if base in (None, one.base_ref) and head in (None, _label(one))]
    newest = call.query.get("direction", "asc" if call.query.get("sort", "created") != "created" else "desc") == "desc"
    key = (lambda one: one.issue.updated_at) if call.query.get("sort") == "updated" else (lambda one: one.issue.number)
    return Page(sorted(found, key=key, reverse=newest), lambda one: payloads_talk.pull(call.world, one))


def _label(pull: Pull) -> str:
    return f"{pull.head_repository.owner.login if pull.head_repository else ''}:{pull.head_ref}"


@route("POST", PULLS, WRITE)
async def create_pull(call: Call) -> Answer:
    body = call.body
    made = pulls.open_pull(
        call.world, call.home, call.user, body.get("title"), body.get("body"), body.get("head"), body.get("base"), bool(body.get("draft"))
    )
    return Answer(payloads_talk.full_pull(call.world, made), 201)


# ---------------------------------------------------------------- review comments of the whole repository


def _found(call: Call) -> tuple[Pull, ReviewComment]:
    return reviews.find_comment(call.world, call.home.full_name, call.number("comment_id"))


@route("GET", PULLS + "/comments", READ)
async def list_repository_comments(call: Call) -> Page:
    pairs = [(issue.pull, one) for issue in call.home.issues.values() if issue.pull for one in reviews.published(issue.pull)]
    return Page(pairs, lambda pair: payloads_talk.review_comment(call.world, *pair))


@route("GET", PULLS + "/comments/{comment_id}", READ)
async def get_comment(call: Call) -> Answer:
    return Answer(payloads_talk.review_comment(call.world, *_found(call)))


@route("PATCH", PULLS + "/comments/{comment_id}", WRITE)
async def update_comment(call: Call) -> Answer:
    pull, comment = _found(call)
    reviews.edit_comment(call.world, pull, comment, call.user, call.body.get("body"))
    return Answer(payloads_talk.review_comment(call.world, pull, comment))


@route("DELETE", PULLS + "/comments/{comment_id}", WRITE)
async def delete_comment(call: Call) -> Answer:
    reviews.delete_comment(call.world, *_found(call), call.user)
    return Answer(status=204)


# ---------------------------------------------------------------- one pull


@route("GET", ONE, READ, "contents:read")
async def get_pull(call: Call) -> Answer:
    pull = _pull(call)
    if call.accepts("diff") or call.accepts("patch"):
        return _text(call, pull)
    return Answer(payloads_talk.full_pull(call.world, pull))


def _text(call: Call, pull: Pull) -> Answer:
    """The diff or the patch as text; 406 above GitHub's limits."""
    start, git_dir = pulls.merge_base(pull), call.home.git_dir
    text = (diffs.diff_text if call.accepts("diff") else diffs.patch_text)(git_dir, start, pull.head_sha)
    if len(pulls.files(pull)) > DIFF_FILES:
        raise _too_large(f"The diff exceeded the maximum number of files ({DIFF_FILES}).")
    if text.count("\n") > DIFF_LINES or len(text.encode()) > DIFF_BYTES:
        raise _too_large(f"The diff exceeded the maximum number of lines ({DIFF_LINES}).")
    return Answer(text, media=f"application/vnd.github.v3.{'diff' if call.accepts('diff') else 'patch'}; charset=utf-8")


def _too_large(sentence: str) -> Refused:
    return Refused(406, f"Sorry, the diff exceeded the maximum. {sentence}", [{"resource": "PullRequest", "field": "diff", "code": "too_large"}])


@route("PATCH", ONE, WRITE)
async def update_pull(call: Call) -> Answer:
    pull, body = _pull(call), call.body
    conversations.edit(call.world, pull.issue, call.user, body)
    if body.get("base") not in (None, pull.base_ref):
        pulls.set_base(call.world, pull, call.user, body["base"])
    if "state" in body:
        conversations.set_state(call.world, pull.issue, call.user, body["state"])
    return Answer(payloads_talk.full_pull(call.world, pull))


@route("GET", ONE + "/files", READ)
async def list_files(call: Call) -> Page:
    pull = _pull(call)
    return Page(pulls.files(pull)[:PULL_FILES], lambda one: payloads.file(call.world, call.home, pull.head_sha, one))


@route("GET", ONE + "/commits", READ)
async def list_commits(call: Call) -> Page:
    return Page(pulls.commits(_pull(call)), lambda sha: payloads.commit(call.world, call.home, git.commit(call.home.git_dir, sha)))


@route("GET", ONE + "/merge", READ)
async def is_merged(call: Call) -> Answer:
    if not _pull(call).merged_at:
        raise Refused(404, "Not Found")
    return Answer(status=204)


# ---------------------------------------------------------------- reviews


def _reviewed(call: Call) -> tuple[Pull, Review]:
    """The pull and the review in the path; somebody else's pending review is not there."""
    pull = _pull(call)
    review = reviews.review_of(pull, call.number("review_id"))
    if review not in reviews.visible(pull, call.who.user):
        raise Refused(404, "Not Found")
    return pull, review


def _shown(call: Call, pull: Pull, review: Review) -> Answer:
    return Answer(payloads_talk.review(call.world, pull, review))


@route("GET", ONE + "/reviews", READ)
async def list_reviews(call: Call) -> Page:
    pull = _pull(call)
    return Page(reviews.visible(pull, call.who.user), lambda one: payloads_talk.review(call.world, pull, one))


@route("POST", ONE + "/reviews", WRITE)
async def create_review(call: Call) -> Answer:
    pull = _pull(call)
    return _shown(call, pull, reviews.create_review(call.world, pull, call.user, call.body))


@route("GET", ONE + "/reviews/{review_id}", READ)
async def get_review(call: Call) -> Answer:
    return _shown(call, *_reviewed(call))


@route("PUT", ONE + "/reviews/{review_id}", WRITE)
async def update_review(call: Call) -> Answer:
    pull, review = _reviewed(call)
    reviews.update(call.world, pull, review, call.user, call.body.get("body"))
    return _shown(call, pull, review)


@route("DELETE", ONE + "/reviews/{review_id}", WRITE)
async def delete_review(call: Call) -> Answer:
    pull, review = _reviewed(call)
    shown = _shown(call, pull, review)
    reviews.delete_pending(pull, review)
    return shown


@route("GET", ONE + "/reviews/{review_id}/comments", READ)
async def list_review_comments_of_review(call: Call) -> Page:
    pull, review = _reviewed(call)
    return Page(reviews.comments_of(pull, review), lambda one: payloads_talk.comment_in_review(call.world, pull, one))


@route("POST", ONE + "/reviews/{review_id}/events", WRITE)
async def submit_review(call: Call) -> Answer:
    pull, review = _reviewed(call)
    reviews.submit(call.world, pull, call.user, review, call.body.get("event"), call.body.get("body"))
    return _shown(call, pull, review)


@route("PUT", ONE + "/reviews/{review_id}/dismissals", WRITE)
async def dismiss_review(call: Call) -> Answer:
    pull, review = _reviewed(call)
    reviews.dismiss(call.world, pull, review, call.user, call.body.get("message"))
    return _shown(call, pull, review)


# ---------------------------------------------------------------- review comments of one pull


@route("GET", ONE + "/comments", READ)
async def list_review_comments(call: Call) -> Page:
    pull, since = _pull(call), call.query.get("since", "")
    found = [one for one in reviews.published(pull) if (stamp(one.updated_at) or "") >= since]
    return Page(found, lambda one: payloads_talk.review_comment(call.world, pull, one))


@route("POST", ONE + "/comments", WRITE)
async def create_review_comment(call: Call) -> Answer:
    pull = _pull(call)
    return _made(call, pull, reviews.create_comment(call.world, pull, call.user, call.body))


@route("POST", ONE + "/comments/{comment_id}/replies", WRITE)
async def create_reply(call: Call) -> Answer:
    pull = _pull(call)
    return _made(call, pull, reviews.reply(call.world, pull, call.user, call.number("comment_id"), call.body.get("body")))


def _made(call: Call, pull: Pull, comment: ReviewComment) -> Answer:
    shown: Any = payloads_talk.review_comment(call.world, pull, comment)
    return Answer(shown, 201, {"Location": shown["url"]})
