"""The whole way from a signed delivery to what a person sees, with processes that are killed in the middle of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.bot import evidence
from tests.bot.service import Service, service, until
from tests.twin import PullHandle, RepositoryHandle, Twin


@dataclass
class Stage:
    twin: Twin
    home: RepositoryHandle
    data: Path

    def pull(self, branch: str = "topic") -> PullHandle:
        return evidence.pull(self.home, branch)


@asynccontextmanager
async def stage(folder: Path) -> AsyncIterator[Stage]:
    async with Twin.serve(folder / "twin") as twin:
        yield Stage(twin, evidence.repository(twin), folder / "data")


def ours(pull: PullHandle) -> list[str]:
    return [one.body for one in pull.reviews if one.user.login == "assay[bot]" and one.body]


def checks(stage: Stage, head: str) -> list[str | None]:
    return [one.conclusion for one in stage.home.check_runs if one.name == "assay" and one.head_sha == head]


async def opened(stage: Stage, at: Service, pull: PullHandle) -> None:
    sent = await stage.twin.deliver("pull_request", action="opened", pull=pull, to=at.hook)
    assert sent.status_code == 202, sent


async def pushed(stage: Stage, at: Service, pull: PullHandle) -> None:
    sent = await stage.twin.deliver("pull_request", action="synchronize", pull=pull, to=at.hook)
    assert sent.status_code == 202, sent


async def test_a_pull_is_reviewed_and_its_mended_head_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        pull = on.pull()
        await opened(on, at, pull)
        await until(lambda: checks(on, pull.head_sha) == ["failure"], at)
        assert len(ours(pull)) == 1 and "/home/ann" not in ours(pull)[0] and "F1" in ours(pull)[0]
        assert [one.path for one in pull.review_comments] == [evidence.GUIDE]
        evidence.mend(pull)
        await pushed(on, at, pull)
        await until(lambda: checks(on, pull.head_sha) == ["success"], at)
        assert len(ours(pull)) == 2 and "Resolved this round" in ours(pull)[1]
        assert on.twin.unknown == []
        assert await at.stop() == 0


async def test_t14_a_server_that_is_killed_after_the_acknowledgement_loses_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        pull = on.pull()
        async with service(on.twin, on.data) as first:
            await opened(on, first, pull)
            await first.kill()
        assert ours(pull) == []
        async with service(on.twin, on.data) as second:
            await until(lambda: checks(on, pull.head_sha) == ["failure"], second)
            assert len(ours(pull)) == 1


async def test_a_server_that_is_killed_while_it_posts_posts_nothing_twice(tmp_path: Path) -> None:
    """The review is on GitHub, its answer never came, and the process is gone."""
    async with stage(tmp_path) as on:
        pull = on.pull()
        async with service(on.twin, on.data) as first:
            on.twin.faults.late(20.0, "/repos/*/pulls/1/reviews", "POST")
            await opened(on, first, pull)
            await until(lambda: ours(pull), first)
            await first.kill()
        async with service(on.twin, on.data) as second:
            await until(lambda: checks(on, pull.head_sha) == ["failure"], second)
            assert len(ours(pull)) == 1
            assert len(pull.review_comments) == 1


async def test_t13_t15_the_same_delivery_twice_at_once_and_later_gives_one_review(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        pull = on.pull()
        both = await asyncio.gather(*(on.twin.deliver("pull_request", action="opened", pull=pull, to=at.hook, guid="same") for _ in range(5)))
        assert [one.status_code for one in both] == [202] * 5
        await until(lambda: checks(on, pull.head_sha) == ["failure"], at)
        await on.twin.redeliver(both[0], at.hook)
        await asyncio.sleep(1.5)
        assert len(ours(pull)) == 1 and checks(on, pull.head_sha) == ["failure"]
        assert at.log.count("to write after") == 1


async def test_two_pushes_within_a_second_give_one_review_of_the_newer(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data, ASSAY_SETTLE_SECONDS="2") as at:
        pull = on.pull()
        await opened(on, at, pull)
        first = evidence.spoil(pull, "once more")
        await pushed(on, at, pull)
        second = evidence.mend(pull)
        await pushed(on, at, pull)
        await until(lambda: checks(on, second) == ["success"], at)
        assert checks(on, first) == [] and len(ours(pull)) <= 1


async def test_t16_a_review_that_is_superseded_is_killed_and_says_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        pull = on.pull()
        pull.commit({f"evidence/alpha-1/results/{n}.json": _long(n) for n in range(60)}, "Much to read")
        old = pull.head_sha
        await opened(on, at, pull)
        await until(lambda: any(one.route == "git" for one in on.twin.requests), at)
        await asyncio.sleep(0.3)
        pull.commit({f"evidence/alpha-1/results/{n}.json": None for n in range(60)}, "Less to read")
        await pushed(on, at, pull)
        await until(lambda: checks(on, pull.head_sha) == ["failure"], at)
        assert "superseded" in at.log
        assert checks(on, old) == [] and len(ours(pull)) == 1


async def test_t12_a_force_push_just_before_the_posting_starts_the_review_again(tmp_path: Path) -> None:
    """No delivery tells of it: the head is read again right before it is written about."""
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        pull = on.pull()
        old, base = pull.head_sha, on.home.tip("main")
        files = on.twin.faults.slow(2.0, "/repos/*/pulls/1/files")
        await opened(on, at, pull)
        await until(lambda: files.times == 0, at)
        forced = pull.commit({evidence.GUIDE: "# Alpha 1\n\n- Raw logs: `/home/bob/raw`.\n"}, "Anew", parent=base)
        await until(lambda: checks(on, forced) == ["failure"], at)
        assert checks(on, old) == [] and len(ours(pull)) == 1


async def test_t9_a_502_that_was_stored_and_t41_an_outage_lose_and_double_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        pull = on.pull()
        on.twin.faults.stored_502("/repos/*/pulls/1/reviews")
        on.twin.faults.unavailable("/repos/*/check-runs", "POST", 3)
        await opened(on, at, pull)
        await until(lambda: checks(on, pull.head_sha) == ["failure"], at, patience=60)
        assert len(ours(pull)) == 1
        # One look at the repository was enough: the finished review waited for the end of the outage.
        assert at.log.count("to write after") == 1


async def test_a_second_look_at_an_unchanged_conversation_writes_nothing_in_six_calls(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        pull = on.pull()
        await opened(on, at, pull)
        await until(lambda: checks(on, pull.head_sha) == ["failure"], at)
        on.twin.forget()
        await pushed(on, at, pull)
        await until(lambda: at.log.count("to write after") == 2, at)
        await asyncio.sleep(1.0)
        calls = [f"{one.method} {one.path}" for one in on.twin.calls()]
        assert len(calls) <= 6 and all(call.startswith("GET") for call in calls), calls


async def test_a_rate_limit_is_waited_for(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        pull = on.pull()
        on.twin.faults.secondary("/repos/*/pulls/1", "GET", 1, retry_after=7)
        await opened(on, at, pull)
        await until(lambda: checks(on, pull.head_sha) == ["failure"], at)
        assert "rate limit" in at.log and len(ours(pull)) == 1


async def test_t21_what_the_bot_does_itself_triggers_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        on.twin.courier.to = at.hook
        pull = on.pull()
        await until(lambda: checks(on, pull.head_sha) == ["failure"], at)
        await asyncio.sleep(2)
        assert at.log.count("to write after") == 1 and len(ours(pull)) == 1


async def test_t43_a_head_that_git_does_not_show_yet_is_waited_for(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        pull = on.pull()
        on.home.lag(2)
        evidence.mend(pull)
        await opened(on, at, pull)
        await until(lambda: checks(on, pull.head_sha) == ["success"], at)


async def test_t47_a_pull_whose_webhook_was_lost_is_found_by_the_sweep(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        before = on.pull("before")
        first = on.pull("first")
        quick = "import bot.jobs.watch as w; w.SWEEP, w.SWEEP_LOOK = 1.0, 0.5"
        async with service(on.twin, on.data, "serve", "--web-only") as at, service(on.twin, on.data, "worker", before=quick):
            await opened(on, at, first)
            await until(lambda: on.twin.calls("GET", "/repos/*/pulls"), at)
            lost = on.pull("lost")
            await until(lambda: checks(on, lost.head_sha) == ["failure"], at)
            evidence.mend(first)
            await until(lambda: checks(on, first.head_sha) == ["success"], at)
            assert ours(before) == []


async def test_writes_of_one_installation_are_a_second_apart(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        on.twin.limits.content_gap = 0.9
        pulls = [on.pull(f"topic-{n}") for n in range(2)]
        await asyncio.gather(*(opened(on, at, pull) for pull in pulls))
        await until(lambda: all(checks(on, pull.head_sha) == ["failure"] for pull in pulls), at)
        writes = sorted(one.at for one in on.twin.calls() if one.method in ("POST", "PATCH", "PUT"))
        assert len(writes) >= 4 and all(one.status < 400 for one in on.twin.calls())
        assert min(later - sooner for sooner, later in pairwise(writes)) > 0.9


def _long(number: int) -> str:
    rows = ",\n".join(f'  {{"step": {n}, "seconds": {n * 1.37:.3f}, "name": "run {number} step {n}"}}' for n in range(4_000))
    return f'{{"campaign": "alpha-1", "rows": [\n{rows}\n]}}\n'


async def test_a_suspended_installation_a_deleted_repository_and_a_vanished_head_are_not_tried_for_ever(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        first, second = on.pull("first"), on.pull("second")
        installation = on.twin.world.installation_of(on.home.repository)
        assert installation
        on.twin.suspend(installation)
        await on.twin.deliver("installation", action="suspend", installation=installation, to=at.hook)
        await opened(on, at, first)
        await until(lambda: "the installation is not active" in at.log, at)
        on.twin.suspend(installation, False)
        await on.twin.deliver("installation", action="unsuspend", installation=installation, to=at.hook)
        second.commit({"docs/more.md": "More.\n"})
        payload = on.twin.payload("pull_request", action="synchronize", pull=second)
        on.home.move("second", on.home.tip("first") or "")
        await on.twin.deliver("pull_request", payload, to=at.hook)
        await until(lambda: checks(on, second.head_sha) == ["failure"], at)
        on.home.delete()
        await on.twin.deliver("pull_request", payload, to=at.hook)
        await until(lambda: "nothing to do: GitHub has no" in at.log, at)
        assert "Traceback" not in at.log


async def test_a_missing_permission_costs_that_write_alone(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        pull = on.pull()
        on.twin.faults.answer(403, "/repos/*/pulls/1/reviews", "POST", 5, "Resource not accessible by integration")
        await opened(on, at, pull)
        await until(lambda: checks(on, pull.head_sha) == ["failure"], at)
        assert "was not written: GitHub refuses (403 Resource not accessible by integration" in at.log and ours(pull) == []


async def test_t16_githubs_reasons_for_a_refusal_are_logged(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        pull = on.pull()
        on.twin.faults.answer(422, "/repos/*/pulls/1/reviews", "POST", 5, "Unprocessable Entity: was submitted too quickly")
        await opened(on, at, pull)
        await until(lambda: checks(on, pull.head_sha) == ["failure"], at)
        assert "PostReview was not written: GitHub does not take it (422 Unprocessable Entity: was submitted too quickly)" in at.log


async def test_a_re_run_of_a_forks_head_and_a_merge_group_are_reviewed(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        fork = on.twin.fork(on.home, "bob/evidence")
        fork.commit("patch", {evidence.GUIDE: "# Alpha 1\n\n- `/home/bob/raw`\n"}, "Patch", user="bob", parent=on.home.tip("main"))
        pull = on.home.open_pull(head="bob:patch", title="From a fork", user="bob")
        await opened(on, at, pull)
        await until(lambda: checks(on, pull.head_sha) == ["failure"], at)
        run = next(one for one in on.home.check_runs if one.name == "assay")
        payload = on.twin.payload("check_suite", action="rerequested", repository=on.home, suite=run.suite)
        payload["check_suite"]["pull_requests"] = []
        await on.twin.deliver("check_suite", payload, to=at.hook)
        await until(lambda: "1 pulls have this head" in at.log and at.log.count("to write after") >= 3, at)
        pull.enqueue("ann")
        group = next(one for one in on.twin.events if one.name == "merge_group")
        await on.twin.deliver("merge_group", group.payload, to=at.hook)
        head = group.payload["merge_group"]["head_sha"]
        await until(lambda: checks(on, head) == ["failure"], at)
        assert len(ours(pull)) == 1
