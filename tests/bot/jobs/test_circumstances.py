"""CI, approvals and threads, as the stand-in for GitHub tells them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bot.github import reads
from bot.github.auth import open_github
from bot.jobs import circumstances
from bot.jobs.desk import Recent
from bot.review.scene import Approval
from tests.bot import evidence
from tests.twin import Twin

LOG = "2026-11-30T10:00:00.0000000Z \x1b[31mFAILED tests/test_inventory.py::test_count\x1b[0m\n2026-11-30T10:00:01.0000000Z 1 failed, 3 passed in 0.12s\n"


async def test_jobs_are_told_with_their_closing_lines_and_read_once(tmp_path: Path) -> None:
    async with Twin.serve(tmp_path / "twin") as twin, open_github(twin.url, twin.app.id, twin.app.private_key) as github:
        home = evidence.repository(twin)
        pull = evidence.pull(home)
        home.workflow_run(pull.head_sha, {"test": ("failure", LOG), "lint": (None, None)})
        home.status(pull.head_sha, "success", "docs")
        home.require_checks("main", "test")
        installation = twin.world.installation_of(home.repository)
        assert installation
        client = github.installation(installation.id)
        desk: Any = SimpleNamespace(recent=Recent(), me=SimpleNamespace(app_id=twin.app.id))
        for look in range(2):
            around = await circumstances.around(desk, client, evidence.NAME, pull.head_sha, "main")
            jobs = {job.name: job for job in await circumstances.jobs(desk, client, evidence.NAME, around)}
            assert (jobs["test"].outcome, jobs["test"].required, jobs["test"].log_wanted) == ("failure", True, True)
            assert jobs["test"].lines and "1 failed" in jobs["test"].lines[-1]
            assert (jobs["lint"].outcome, jobs["lint"].log_wanted) == ("running", False)
            assert (jobs["docs"].outcome, jobs["docs"].required) == ("success", False)
            assert len(twin.calls("GET", "*/logs")) == (1 if look == 0 else 0)
            twin.forget()


async def test_the_newest_word_of_each_person_counts_and_only_open_threads_are_told(tmp_path: Path) -> None:
    async with Twin.serve(tmp_path / "twin") as twin, open_github(twin.url, twin.app.id, twin.app.private_key) as github:
        home = evidence.repository(twin)
        pull = evidence.pull(home)
        for who in ("mia", "tom"):
            home.grant(who, "write")
        pull.review("mia", "APPROVE", "Fine.")
        pull.review("tom", "APPROVE", "Fine.")
        pull.review("tom", "REQUEST_CHANGES", "Not quite.")
        first = pull.inline("mia", "A question.", evidence.GUIDE, 3)
        other = pull.inline("tom", "Another.", evidence.GUIDE, 1)
        pull.resolve(first)
        installation = twin.world.installation_of(home.repository)
        assert installation
        client = github.installation(installation.id)
        reviews = await reads.reviews(client, evidence.NAME, pull.number)
        comments = await reads.review_comments(client, evidence.NAME, pull.number)
        assert circumstances.approvals(reviews) == (Approval("mia", pull.head_sha),)
        threads = await circumstances.threads(client, evidence.NAME, pull.number, comments)
        assert [(one.login, one.line) for one in threads] == [("tom", 1)] and str(other.id) in threads[0].url
