"""What is written, against the twin: once and only once, with GitHub's limits, and found again where GitHub does not say what it did."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.github import writes
from bot.github.errors import Forbidden, NotFound, NotKept, Refused, Unavailable
from bot.github.writes import Annotation, Check, Inline
from tests.bot.github.scene import REPO, Scene, scene

MARK = "<!-- assay:v1:abc -->"
BODY = f"Two findings.\n\n{MARK}"


async def post(at: Scene, comments: tuple[Inline, ...] = (), **changes: object) -> writes.Posted:
    wanted: dict[str, object] = {"commit": at.pull.head_sha, "body": BODY, "mark": MARK, "comments": comments, **changes}
    return await writes.review(at.client, REPO, 1, at.me, **wanted)  # type: ignore[arg-type]


async def test_a_review_with_comments_on_lines(tmp_path: Path) -> None:
    async with scene(tmp_path, contract=True) as at:
        posted = await post(at, (Inline("notes.md", "here", 3), Inline("notes.md", "there", 31, 30), Inline("notes.md", "gone", 35, side="LEFT")))
        [review] = at.pull.reviews
        assert (posted.id, posted.left_out, review.state, review.body) == (review.id, (), "COMMENTED", BODY)
        spots = [(one.line, one.start_line, one.side) for one in at.pull.review_comments]
        assert spots == [(3, None, "RIGHT"), (31, 30, "RIGHT"), (35, None, "LEFT")]
        assert (at.twin.violations, at.twin.unknown) == ([], [])


async def test_t05_a_range_of_one_line_is_a_line(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        assert (await post(at, (Inline("notes.md", "x", 3, 3), Inline("notes.md", "y", 3, 9)))).left_out == ()


async def test_t04_t07_one_comment_that_is_refused_does_not_lose_the_review(tmp_path: Path) -> None:
    async with scene(tmp_path, contract=True) as at:
        wanted = (
            Inline("notes.md", "fine", 3),
            Inline("notes.md", "outside", 20),
            Inline("picture.bin", "binary", 1),
            Inline("absent.md", "nowhere", 1),
        )
        posted = await post(at, wanted)
        assert posted.left_out == wanted and len(at.pull.reviews) == 1 and at.pull.review_comments == []
        for one in wanted[:3]:
            await writes.inline(at.client, REPO, 1, at.me, commit=at.pull.head_sha, comment=one, mark=one.body)
        assert [(one.path, one.subject, one.line) for one in at.pull.review_comments] == [
            ("notes.md", "line", 3),
            ("notes.md", "file", None),
            ("picture.bin", "file", None),
        ]
        with pytest.raises(Refused):
            await writes.inline(at.client, REPO, 1, at.me, commit=at.pull.head_sha, comment=wanted[3], mark="nowhere")
        assert (at.twin.violations, at.twin.unknown) == ([], [])


async def test_t09_stored_and_yet_answered_with_502(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        at.twin.faults.stored_502("*/reviews")
        posted = await post(at, (Inline("notes.md", "here", 3),))
        assert [one.id for one in at.pull.reviews] == [posted.id] and len(at.pull.review_comments) == 1 and at.slept == [writes.LOOK_AFTER]
        at.twin.faults.reset("*/reviews", "POST")
        again = await post(at, body="Other\n<!-- assay:v1:def -->", mark="<!-- assay:v1:def -->")
        assert [one.id for one in at.pull.reviews] == [posted.id, again.id]


async def test_t09_more_than_thirty_comments_do_not_go_along(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        posted = await post(at, tuple(Inline("notes.md", f"{number}", 3) for number in range(40)))
        assert len(at.pull.review_comments) == 30 and [one.body for one in posted.left_out] == [str(number) for number in range(30, 40)]


async def test_t41_a_review_survives_an_outage_or_says_so(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        at.twin.faults.unavailable("*/reviews", "POST")
        await post(at)
        assert len(at.pull.reviews) == 1
        at.twin.faults.unavailable("*/reviews", "POST", times=2)
        with pytest.raises(Unavailable) as caught:
            await post(at, mark="<!-- other -->")
        assert caught.value.unsure and len(at.pull.reviews) == 1


async def test_somebody_elses_copy_of_a_mark_is_not_taken_for_ours(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        at.pull.review("mia", "COMMENT", f"I quote: {MARK}")
        at.pull.comment(f"quoted {MARK}", "mia")
        at.twin.faults.reset("*/reviews", "POST")
        await post(at)
        at.twin.faults.reset("*/comments", "POST")
        await writes.comment(at.client, REPO, 1, at.me, body=BODY, mark=MARK)
        assert [one.user.login for one in at.pull.reviews] == ["mia", at.me] and [one.user.login for one in at.pull.comments] == ["mia", at.me]


async def test_t11_a_review_that_was_left_pending_is_taken_away(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.client.post(f"/repos/{REPO}/pulls/1/reviews", {"body": "left over"})
        posted = await post(at, (Inline("notes.md", "here", 3),))
        assert [one.id for one in at.pull.reviews] == [posted.id] and posted.left_out == () and len(at.pull.review_comments) == 1
        await at.client.post(f"/repos/{REPO}/pulls/1/reviews", {"body": "left over"})
        assert len((await post(at, (Inline("notes.md", "outside", 20),), mark="<!-- 2 -->")).left_out) == 1
        await at.client.post(f"/repos/{REPO}/pulls/1/reviews", {"body": "left over"})
        await writes.inline(at.client, REPO, 1, at.me, commit=at.pull.head_sha, comment=Inline("notes.md", "alone", 3), mark="alone")
        assert {one.state for one in at.pull.reviews} == {"COMMENTED"}


async def test_t12_t16_a_head_that_was_forced_away_is_refused_with_githubs_reason(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        old = at.pull.head_sha
        at.pull.commit({"notes.md": "forced\n"}, parent=at.repo.tip("main"))
        with pytest.raises(Refused) as caught:
            await post(at, (Inline("notes.md", "here", 1),), commit=old)
        assert caught.value.says("not part of the pull request") and "not part of the pull request" in str(caught.value) and at.pull.reviews == []


async def test_changes_are_requested_and_taken_back(tmp_path: Path) -> None:
    async with scene(tmp_path, contract=True) as at:
        posted = await post(at, event="REQUEST_CHANGES")
        await writes.edit_review(at.client, REPO, 1, posted.id, "Edited.\r\n")
        assert (at.pull.reviews[0].state, at.pull.reviews[0].body) == ("CHANGES_REQUESTED", "Edited.\r\n")
        for _ in range(2):
            await writes.dismiss_review(at.client, REPO, 1, posted.id, "Resolved.")
        assert at.pull.reviews[0].state == "DISMISSED"
        comment = await post(at, mark="<!-- 2 -->")
        with pytest.raises(Refused):
            await writes.dismiss_review(at.client, REPO, 1, comment.id, "x")
        assert (at.twin.violations, at.twin.unknown) == ([], [])


async def test_comments_come_change_and_go(tmp_path: Path) -> None:
    async with scene(tmp_path, contract=True) as at:
        at.twin.faults.stored_502("*/comments")
        comment = await writes.comment(at.client, REPO, 1, at.me, body=BODY, mark=MARK)
        assert [one.id for one in at.pull.comments] == [comment]
        await writes.edit_comment(at.client, REPO, comment, "Edited.")
        reactions = {await writes.react(at.client, REPO, comment, "eyes") for _ in range(2)}
        assert at.pull.comments[0].body == "Edited." and len(reactions) == 1
        for _ in range(2):
            await writes.unreact(at.client, REPO, comment, min(reactions))
            await writes.delete_comment(at.client, REPO, comment)
        assert at.pull.comments == []
        inline = await writes.inline(at.client, REPO, 1, at.me, commit=at.pull.head_sha, comment=Inline("notes.md", "x", 3), mark="x")
        await writes.edit_inline(at.client, REPO, inline, "resolved")
        assert at.pull.review_comments[0].body == "resolved"
        with pytest.raises(NotFound):
            await writes.edit_comment(at.client, REPO, comment, "x")
        assert (at.twin.violations, at.twin.unknown) == ([], [])


async def test_t17_a_mark_is_found_beyond_the_first_page(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        for number in range(130):
            at.pull.comment(f"c{number}", "mia")
        at.twin.faults.stored_502("*/comments")
        found = await writes.comment(at.client, REPO, 1, at.me, body=BODY, mark=MARK)
        assert len(at.pull.comments) == 131 and at.pull.comments[-1].id == found


async def test_an_issues_body_is_read_again(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        issue = at.repo.open_issue(title="Budget", body="old", user="ann")
        await writes.edit_issue(at.client, REPO, issue.number, "new\r\ntext\n")
        assert issue.issue.body == "new\r\ntext\n"
        at.twin.world.keep_old_issue_body = True
        with pytest.raises(NotKept):
            await writes.edit_issue(at.client, REPO, issue.number, "x" * 70_000)


# ---------------------------------------------------------------- checks


def annotated(at: Scene, count: int, **changes: object) -> Check:
    marks = tuple(Annotation("notes.md", number + 1, number, "warning", "t" * 300, f"m{number}") for number in range(1, count + 1))
    wanted: dict[str, object] = {"conclusion": "failure", "external_id": "4#1", "annotations": marks, "actions": (("Re-run", "Once more", "rerun"),)}
    return Check("assay", at.pull.head_sha, "Two findings", "Summary.", **{**wanted, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [0, 1, 50, 51, 120])
async def test_annotations_go_in_portions_of_fifty(tmp_path: Path, count: int) -> None:
    async with scene(tmp_path, contract=True) as at:
        id = await writes.check(at.client, REPO, at.me, annotated(at, count))
        [run] = at.repo.check_runs
        assert (run.id, run.conclusion, run.external_id, len(run.annotations)) == (id, "failure", "4#1", count)
        assert len(at.twin.calls("POST")) + len(at.twin.calls("PATCH")) == max(1, -(-count // 50))
        assert (at.twin.violations, at.twin.unknown) == ([], [])


async def test_a_run_begins_and_ends(tmp_path: Path) -> None:
    async with scene(tmp_path, contract=True) as at:
        id = await writes.check(at.client, REPO, at.me, annotated(at, 0, conclusion=None))
        assert at.repo.check_runs[0].status == "in_progress"
        for _ in range(2):
            assert await writes.check(at.client, REPO, at.me, annotated(at, 70, text="More."), id) == id
        run = at.repo.check_runs[0]
        assert (run.status, len(run.annotations), run.output["text"]) == ("completed", 70, "More.")
        assert (at.twin.violations, at.twin.unknown) == ([], [])


async def test_annotations_are_not_appended_twice(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        at.twin.faults.stored_502("*/check-runs", "POST")
        at.twin.faults.stored_502("*/check-runs/*", "PATCH")
        id = await writes.check(at.client, REPO, at.me, annotated(at, 120))
        [run] = at.repo.check_runs
        assert run.id == id and [one["message"] for one in run.annotations] == [f"m{number}" for number in range(1, 121)]
        at.twin.faults.unavailable("*/check-runs/*", "PATCH")
        second = await writes.check(at.client, REPO, at.me, annotated(at, 60, external_id="4#2"))
        assert len(at.repo.repository.runs[second].annotations) == 60


async def test_texts_are_cut_to_what_a_check_run_holds(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        long = Check("assay", at.pull.head_sha, "t" * 400, "s" * 70_000, "success", "x" * 70_000)
        await writes.check(at.client, REPO, at.me, long)
        assert len(at.repo.check_runs[0].output["summary"]) == 65_535


async def test_a_missing_permission_names_itself(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        at.twin.world.installations[at.installation].permissions = {"metadata": "read", "contents": "read", "pull_requests": "read"}
        with pytest.raises(Forbidden) as caught:
            await post(at)
        assert "pull_requests=write" in str(caught.value)
