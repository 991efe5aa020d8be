"""What is read of a conversation and of its checks, held against the twin's state and GitHub's own description of its API."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.github import reads, reads_checks
from bot.github.errors import NotFound, Unavailable
from rules.core.model import User
from tests.bot.github.scene import REPO, scene


async def test_who_we_are_and_where(tmp_path: Path) -> None:
    async with scene(tmp_path, contract=True) as at:
        me = await reads.me(at.github.app)
        assert (me.app_id, me.login) == (at.twin.app.id, at.me)
        home = await reads.repository(at.client, REPO)
        assert (home.id, home.full_name, home.default_branch, home.private) == (at.repo.repository.id, REPO, "main", True)
        at.repo.grant("tim", "triage")
        roles = {login: await reads.role(at.client, REPO, login) for login in ("mia", "tim", "stranger", "a/../b")}
        assert roles == {"mia": "maintain", "tim": "triage", "stranger": "none", "a/../b": "none"}
        assert (at.twin.violations, at.twin.unknown) == ([], [])


async def test_a_conversation(tmp_path: Path) -> None:
    async with scene(tmp_path, contract=True) as at:
        at.pull.label("ready")
        state = await reads.pull(at.client, REPO, 1)
        assert (state.pull.number, state.pull.head_sha, state.pull.user, state.pull.labels) == (1, at.pull.head_sha, User("ann", False), ("ready",))
        assert (state.base_ref, state.head_ref, state.merged, state.changed_files) == ("main", "topic", False, 4)
        for number in range(205):
            at.pull.comment(f"c{number}", "mia")
        await at.client.post(f"/repos/{REPO}/issues/1/comments", {"body": "ours"})
        said = await reads.comments(at.client, REPO, 1)
        assert [one.comment.body for one in said] == [*(f"c{number}" for number in range(205)), "ours"]
        assert (said[0].app_id, said[-1].app_id, said[-1].comment.user) == (None, at.twin.app.id, User(at.me, True))
        assert said[0].comment.id > 2**32
        issue = await reads.issue(at.client, REPO, 1, (state.pull,))
        assert (len(issue.comments), issue.linked_pulls) == (206, (state.pull,))
        with pytest.raises(NotFound):
            await reads.pull(at.client, REPO, 99)
        assert (at.twin.violations, at.twin.unknown) == ([], [])


async def test_reviews_comments_on_lines_and_threads(tmp_path: Path) -> None:
    async with scene(tmp_path, contract=True) as at:
        first = at.pull.inline("mia", "why?", "notes.md", 3)
        at.pull.inline("mia", "whole file", "picture.bin", None, subject_type="file")  # type: ignore[arg-type]
        at.pull.review("mia", "REQUEST_CHANGES", "No.")
        at.pull.resolve(first)
        found = await reads.reviews(at.client, REPO, 1)
        assert [(one.login, one.state, one.body) for one in found][-1] == ("mia", "CHANGES_REQUESTED", "No.")
        inline, file = await reads.review_comments(at.client, REPO, 1)
        assert (inline.path, inline.line, inline.side, inline.subject, inline.original_commit_id) == (
            "notes.md",
            3,
            "RIGHT",
            "line",
            at.pull.head_sha,
        )
        assert (file.path, file.line, file.subject, file.is_bot) == ("picture.bin", None, "file", False)
        assert [(one.first_comment, one.resolved) for one in await reads.threads(at.client, REPO, 1)] == [(first.id, True), (file.id, False)]
        # GraphQL is no part of that description.
        assert [one for one in at.twin.violations if "graphql" not in one] == [] and at.twin.unknown == []


async def test_more_threads_than_one_page(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        for _ in range(101):
            at.pull.inline("mia", "again", "notes.md", 3)
        assert len(await reads.threads(at.client, REPO, 1)) == 101


async def test_t01_a_force_push_moves_a_reviews_commit_but_not_a_comments_original(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        old = at.pull.head_sha
        at.pull.inline("mia", "why?", "notes.md", 3)
        new = at.pull.commit({"notes.md": "forced\n"}, parent=at.repo.tip("main"))
        assert [one.commit_id for one in await reads.reviews(at.client, REPO, 1)] == [new]
        assert [one.original_commit_id for one in await reads.review_comments(at.client, REPO, 1)] == [old]


async def test_open_pulls_and_the_pulls_of_a_commit(tmp_path: Path) -> None:
    async with scene(tmp_path, contract=True) as at:
        fork = at.twin.fork(at.repo, "zoe/evidence")
        sha = fork.commit("patch", {"z": "1"}, parent=at.repo.tip("main"), user="zoe")
        second = at.repo.open_pull(head="zoe:patch", title="Fork", user="zoe")
        assert [one.pull.number for one in await reads.open_pulls(at.client, REPO)] == [1, second.number]
        assert [one.pull.number for one in await reads.pulls_of_commit(at.client, REPO, sha)] == [second.number]
        second.close()
        assert await reads.pulls_of_commit(at.client, REPO, sha) == ()
        assert (at.twin.violations, at.twin.unknown) == ([], [])


async def test_a_timeline_names_the_pulls_that_mention_an_issue(tmp_path: Path) -> None:
    async with scene(tmp_path, contract=True) as at:
        issue = at.repo.open_issue(title="Budget", user="ann")
        at.pull.edit(body=f"Part of #{issue.number}.")
        issue.label("ready")
        found = await reads.timeline(at.client, REPO, issue.number)
        assert [one.label for one in found if one.event == "labeled"] == ["ready"]
        assert [(one.source, one.source_is_pull) for one in found if one.event == "cross-referenced"] == [(1, True)]
        assert (at.twin.violations, at.twin.unknown) == ([], [])


async def test_t08_t25_t27_t42_files_without_a_patch_and_renames(tmp_path: Path) -> None:
    async with scene(tmp_path, contract=True) as at:
        at.pull.commit({"one-line.json": '{"a": "' + "x" * 520_000 + '"}'})
        found = {one.path: one for one in await reads_checks.files(at.client, REPO, 1)}
        assert found["picture.bin"].patch is None and found["one-line.json"].patch is None and found["notes.md"].patch
        assert (found["new.txt"].previous, found["new.txt"].status, found["new.txt"].patch) == ("old.txt", "renamed", None)
        assert (at.twin.violations, at.twin.unknown) == ([], [])


async def test_checks_statuses_and_what_is_required(tmp_path: Path) -> None:
    async with scene(tmp_path, contract=True) as at:
        head = at.pull.head_sha
        at.repo.check_run(head, "tests", "failure")
        at.repo.check_run(head, "lint", None)
        at.repo.status(head, "pending", "ci/old")
        at.repo.status(head, "success", "ci/old", "done")
        at.repo.require_checks("main", "tests", "ci/old")
        runs = await reads_checks.check_runs(at.client, REPO, head)
        assert {one.name: (one.status, one.conclusion) for one in runs} == {"tests": ("completed", "failure"), "lint": ("in_progress", None)}
        assert [one.name for one in await reads_checks.check_runs(at.client, REPO, head, "lint")] == ["lint"]
        assert [(one.context, one.state) for one in await reads_checks.statuses(at.client, REPO, head)] == [("ci/old", "success")]
        assert await reads_checks.required_checks(at.client, REPO, "main") == ("tests", "ci/old")
        assert await reads_checks.required_checks(at.client, REPO, "gone") == ()
        compared = await reads_checks.compare(at.client, REPO, "main", head)
        assert (compared.status, compared.ahead_by, compared.merge_base) == ("ahead", 1, at.repo.tip("main"))
        assert (at.twin.violations, at.twin.unknown) == ([], [])


async def test_the_end_of_a_jobs_log_from_another_host_without_our_token(tmp_path: Path) -> None:
    async with scene(tmp_path, contract=True) as at:
        at.repo.workflow_run(at.pull.head_sha, {"tests": ("failure", "line 1\n" * 5000 + "2 failed, 3 passed in 4 s\n")})
        [run] = await reads_checks.check_runs(at.client, REPO, at.pull.head_sha)
        [job] = await reads_checks.jobs(at.client, REPO, at.pull.head_sha)
        assert (job.name, job.workflow, job.conclusion, job.check_run_id) == ("tests", "CI", "failure", run.id)
        told = await reads_checks.job_log(at.client, REPO, job.id, 100)
        assert told is not None and len(told) == 100 and told.endswith("3 passed in 4 s\n")
        assert await reads_checks.job_log(at.client, REPO, 1) is None
        assert (at.twin.violations, at.twin.unknown) == ([], [])


async def test_an_unchanged_conversation_is_read_for_nothing(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:

        async def look() -> None:
            await reads.pull(at.client, REPO, 1)
            await reads.comments(at.client, REPO, 1)
            await reads.reviews(at.client, REPO, 1)
            await reads.review_comments(at.client, REPO, 1)
            await reads_checks.check_runs(at.client, REPO, at.pull.head_sha)

        await look()
        at.twin.forget()
        await look()
        assert [one.status for one in at.twin.calls()] == [304] * 5


async def test_an_answer_of_another_shape_is_an_outage_and_no_crash(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        for body in ([], "x", {"number": "one"}, None):
            at.client.get = _answers(body)  # type: ignore[method-assign]
            with pytest.raises(Unavailable):
                await reads.pull(at.client, REPO, 1)


def _answers(body: object):  # type: ignore[no-untyped-def]
    async def get(*_: object, **__: object) -> object:
        return body

    return get
