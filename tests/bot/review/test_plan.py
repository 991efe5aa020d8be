"""What is done on GitHub: no more than what is not there yet."""

from dataclasses import replace

from bot.review.compose import Words, failed
from bot.review.ledger import Ledger, newest
from bot.review.markers import without
from bot.review.plan import Action, DismissReview, DropPending, EditInline, EditReview, PostInline, PostReview, WriteCheck, plan, posted_state
from bot.review.scene import Scene
from rules.core.config import Config
from rules.core.model import Report
from tests.bot.review.talks import (
    COUNT,
    DECISION,
    FIRST,
    KEY,
    LIFECYCLE,
    ME,
    RECEIPT,
    SECOND,
    TALK,
    THIRD,
    Comment,
    GitHub,
    Review,
    found,
    report,
    scene,
    words,
)

START = Ledger(TALK)


def names(actions: tuple[Action, ...]) -> list[str]:
    return [type(action).__name__ for action in actions]


def step(github: GitHub, before: Ledger, held: Report, at: Scene | None = None) -> tuple[tuple[Action, ...], GitHub, Words]:
    """One review against what is there: (actions, GitHub afterwards, the words)."""
    at = at or scene()
    wanted = words(newest(before, github.state(held.head or "").ledger) or START, held, {}, at)
    actions = plan(github.state(held.head or ""), wanted, at)
    return actions, github.after(actions), wanted


def test_a_first_review_with_its_comments_and_its_check() -> None:
    actions, github, wanted = step(GitHub(), START, report(FIRST, COUNT, LIFECYCLE, DECISION))
    assert names(actions) == ["PostReview", "PostInline", "WriteCheck"]
    posted, on_file, check = actions
    assert (
        isinstance(posted, PostReview) and [one.number for one in posted.comments] == [2] and posted.event == "COMMENT" and posted.mark in posted.body
    )
    assert isinstance(on_file, PostInline) and on_file.comment.number == 1 and isinstance(check, WriteCheck) and check.annotate
    assert github.state().ledger == wanted.ledger


def test_done_twice_nothing_is_left_to_do() -> None:
    held = report(FIRST, COUNT, LIFECYCLE, DECISION)
    _, github, wanted = step(GitHub(), START, held)
    assert step(github, wanted.ledger, held)[0] == ()


def test_a_lost_database_posts_nothing_twice() -> None:
    """Also T13, T15: a redelivery, and two workers after each other, find what is there."""
    held = report(FIRST, COUNT, LIFECYCLE, DECISION)
    _, github, _ = step(GitHub(), START, held)
    assert step(github, START, held)[0] == ()


def test_a_crash_between_the_review_and_the_rest_is_made_up_for() -> None:
    held = report(FIRST, COUNT, LIFECYCLE)
    wanted = words(START, held)
    actions = plan(GitHub().state(), wanted, scene())
    github = GitHub().after(actions[:1])
    assert names(plan(github.state(), wanted, scene())) == ["PostInline", "WriteCheck"]
    assert names(step(github, START, held)[0]) == ["PostInline", "WriteCheck"]


def test_t01_a_commit_id_that_a_force_push_moved_says_nothing() -> None:
    held = report(FIRST, LIFECYCLE)
    _, github, wanted = step(GitHub(), START, held)
    moved = replace(github, reviews=tuple(replace(one, commit_id=SECOND) for one in github.reviews))
    state = moved.state(SECOND)
    assert state.ledger and state.ledger.head == FIRST
    actions, _, _ = step(moved, wanted.ledger, report(SECOND, DECISION))
    assert names(actions)[0] == "PostReview"


def test_t11_a_pending_review_is_dropped_before_the_next() -> None:
    github = GitHub(reviews=(Review(9, "half", state="PENDING"), Review(10, "not ours", "alice", "PENDING")))
    assert plan(github.state(), words(START, report(FIRST, LIFECYCLE)), scene())[0] == DropPending(9)


def test_t17_markers_beyond_the_first_page() -> None:
    stories = [found(f"{n}", locations=LIFECYCLE[1].locations) for n in range(45)]
    _, github, wanted = step(GitHub(), START, report(FIRST, *stories))
    chatter = tuple(Comment(5000 + n, f"chatter {n}", "alice") for n in range(300))
    posted = github.state()
    assert len(posted.inlines) == 30
    later = replace(github, comments=(*chatter, *github.comments), reviews=(*(Review(2000 + n, "LGTM", "bob") for n in range(120)), *github.reviews))
    assert later.state().inlines == posted.inlines and later.state().ledger == posted.ledger
    assert "PostReview" not in names(step(later, wanted.ledger, report(FIRST, *stories))[0])


def test_forged_markers_in_other_peoples_comments_do_not_count() -> None:
    held = report(FIRST, LIFECYCLE)
    _, github, wanted = step(GitHub(), START, held)
    theirs = GitHub(tuple(replace(one, login="mallory") for one in github.reviews), tuple(replace(one, login="mallory") for one in github.comments))
    assert theirs.state().review is None and theirs.state().inlines == ()
    assert names(plan(theirs.state(), wanted, scene()))[0] == "PostReview"


def test_forged_a_copied_older_marker_loses() -> None:
    _, github, first = step(GitHub(), START, report(FIRST, LIFECYCLE))
    _, github, second = step(github, first.ledger, report(SECOND, LIFECYCLE, DECISION))
    edited = replace(github, reviews=(*github.reviews, Review(999, first.body), Review(1000, second.body)))
    state = edited.state(SECOND)
    assert state.ledger == second.ledger and state.review == github.state(SECOND).review


def test_quiet_an_unchanged_push_edits_the_summary() -> None:
    _, github, wanted = step(GitHub(), START, report(FIRST, LIFECYCLE))
    actions, github, _ = step(github, wanted.ledger, report(SECOND, LIFECYCLE))
    assert names(actions) == ["EditReview", "WriteCheck"] and len(github.reviews) == 1


def test_quiet_no_evidence_touched_is_a_green_check() -> None:
    at = scene(evidence=False)
    actions, _, _ = step(GitHub(), START, report(FIRST), at)
    assert names(actions) == ["WriteCheck"] and isinstance(actions[0], WriteCheck) and actions[0].check.conclusion == "success"
    assert actions[0].check.title == "pass: no evidence is touched"


def test_quiet_a_draft_has_one_summary_and_no_inline_comment() -> None:
    draft = scene(draft=True)
    actions, github, wanted = step(GitHub(), START, report(FIRST, LIFECYCLE), draft)
    assert names(actions) == ["PostReview", "WriteCheck"] and isinstance(actions[0], PostReview) and not actions[0].comments
    actions, github, wanted = step(github, wanted.ledger, report(SECOND, LIFECYCLE, COUNT), draft)
    assert names(actions) == ["EditReview", "WriteCheck"]
    actions, github, _ = step(github, wanted.ledger, report(SECOND, LIFECYCLE, COUNT))
    assert names(actions)[:2] == ["PostReview", "PostInline"] and len(github.reviews) == 2


def test_quiet_mode_check_posts_the_check_alone() -> None:
    assert names(step(GitHub(), START, report(FIRST, LIFECYCLE), scene(check_only=True))[0]) == ["WriteCheck"]


def test_a_resolved_story_edits_its_comment() -> None:
    _, github, wanted = step(GitHub(), START, report(FIRST, LIFECYCLE, DECISION))
    actions, github, wanted = step(github, wanted.ledger, report(SECOND, DECISION))
    assert names(actions) == ["PostReview", "EditInline", "WriteCheck"]
    edit = actions[1]
    assert isinstance(edit, EditInline) and "**F1** — resolved" in edit.body
    actions, _, _ = step(github, wanted.ledger, report(THIRD, LIFECYCLE, DECISION))
    back = actions[1]
    assert names(actions)[:2] == ["PostReview", "EditInline"] and isinstance(back, EditInline) and "must-fix" in back.body


def test_a_deleted_summary_is_posted_again() -> None:
    held = report(FIRST, LIFECYCLE)
    _, github, wanted = step(GitHub(), START, held)
    assert names(step(replace(github, reviews=()), wanted.ledger, held)[0]) == ["PostReview"]


def test_changes_are_requested_and_the_request_is_taken_back() -> None:
    at = scene(config=Config(request_changes=True))
    actions, github, wanted = step(GitHub(), START, report(FIRST, COUNT), at)
    assert isinstance(actions[0], PostReview) and actions[0].event == "REQUEST_CHANGES"
    actions, github, wanted = step(github, wanted.ledger, report(SECOND, RECEIPT), at)
    assert isinstance(actions[0], PostReview) and actions[0].event == "COMMENT" and any(isinstance(one, DismissReview) for one in actions)
    assert not any(one.state == "CHANGES_REQUESTED" for one in github.reviews)


def test_a_failure_is_told_once_and_leaves_the_comments_alone() -> None:
    _, github, wanted = step(GitHub(), START, report(FIRST, LIFECYCLE))
    failure = failed(wanted.ledger, SECOND, "time", "the review took longer than 120 s.", scene(), KEY)
    actions = plan(github.state(SECOND), failure, scene())
    assert names(actions) == ["PostReview", "WriteCheck"] and failure.check.conclusion == "action_required"
    github = github.after(actions)
    again = failed(failure.ledger, THIRD, "time", "the review took longer than 120 s.", scene(), KEY)
    assert names(plan(github.state(THIRD), again, scene())) == ["EditReview", "WriteCheck"]
    actions, _, _ = step(github, again.ledger, report(THIRD, LIFECYCLE))
    assert names(actions) == ["PostReview", "WriteCheck"]


def test_new_annotations_need_a_new_check_run() -> None:
    _, github, wanted = step(GitHub(), START, report(FIRST, LIFECYCLE))
    actions, _, _ = step(github, wanted.ledger, report(FIRST, LIFECYCLE, COUNT))
    check = actions[-1]
    assert isinstance(check, WriteCheck) and check.run_id is None and check.annotate
    actions, _, _ = step(github, wanted.ledger, report(FIRST, LIFECYCLE, DECISION))
    check = actions[-1]
    assert isinstance(check, WriteCheck) and check.run_id is not None and not check.annotate


def test_another_apps_run_of_our_name_is_not_ours() -> None:
    held = report(FIRST, LIFECYCLE)
    _, github, wanted = step(GitHub(), START, held)
    other = replace(github, runs=tuple(replace(one, app_id=6) for one in github.runs))
    assert other.state().check is None and names(step(other, wanted.ledger, held)[0]) == ["WriteCheck"]


def test_a_run_without_a_marker_is_brought_up_to_date() -> None:
    """`rerequested` and what was only queued: our run is there, empty."""
    _, github, wanted = step(GitHub(), START, report(FIRST, LIFECYCLE))
    empty = replace(github, runs=tuple(replace(one, summary="", title="", conclusion=None) for one in github.runs))
    check = plan(empty.state(), wanted, scene())[-1]
    assert isinstance(check, WriteCheck) and check.run_id == github.runs[0].id and check.annotate


def test_line_ends_that_github_changes_are_no_reason_to_edit() -> None:
    held = report(FIRST, LIFECYCLE)
    _, github, wanted = step(GitHub(), START, held)
    crlf = replace(github, reviews=tuple(replace(one, body=one.body.replace("\n", "\r\n")) for one in github.reviews))
    assert step(crlf, wanted.ledger, held)[0] == ()


def test_nothing_of_ours_is_nothing() -> None:
    state = posted_state(key=KEY, conversation=TALK, me=ME, head=FIRST)
    assert state.review is None and without("") == "" and EditReview(1, "x").review_id == 1
