"""Processes die, stand still, are replaced by newer ones; several share one database. What is wanted is done once all the same."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from tests.bot import evidence
from tests.bot.service import ROOT, service, until
from tests.bot.test_jobs import checks, opened, ours, pushed, stage
from tests.postgres import Server

QUICK = "import bot.store.executors as e; e.BEAT, e.DEAD_AFTER = 0.5, 3.0; import bot.jobs.watch as w; w.TAKE_OVER = 0.5"


async def test_postgresql_by_one_setting(tmp_path: Path, postgres: Server) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data, ASSAY_DATABASE_URL=postgres.database()) as at:
        pull = on.pull()
        await opened(on, at, pull)
        await until(lambda: checks(on, pull.head_sha) == ["failure"], at)
        evidence.mend(pull)
        await pushed(on, at, pull)
        await until(lambda: checks(on, pull.head_sha) == ["success"], at)
        assert len(ours(pull)) == 2 and not (on.data / "assay.sqlite").exists()
        assert await at.stop() == 0


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_worker_that_dies_in_a_review_is_replaced_by_another(tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> None:
    """A web server and two workers; the one that reviews is killed."""
    more = {"ASSAY_DATABASE_URL": request.getfixturevalue("postgres").database()} if kind == "postgresql" else {}
    async with (
        stage(tmp_path) as on,
        service(on.twin, on.data, "serve", "--web-only", **more) as web,
        service(on.twin, on.data, "worker", **more) as one,
    ):
        pull = on.pull()
        held = on.twin.faults.slow(60.0, "/repos/*/pulls/1/files")
        await opened(on, web, pull)
        await until(lambda: held.times == 0, web, one)
        async with service(on.twin, on.data, "worker", **more) as other:
            await one.kill()
            await until(lambda: checks(on, pull.head_sha) == ["failure"], web, other)
            assert len(ours(pull)) == 1 and "jobs of" in other.log


async def test_a_worker_that_stood_still_writes_nothing_once_another_has_its_jobs(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data, "worker", before=QUICK) as one:
        pull = on.pull()
        held = on.twin.faults.slow(1.0, "/repos/*/pulls/1/files")
        async with service(on.twin, on.data, "serve", "--web-only") as web:
            await opened(on, web, pull)
            await until(lambda: held.times == 0, web, one)
            one.freeze()
            async with service(on.twin, on.data, "worker", before=QUICK) as other:
                await until(lambda: checks(on, pull.head_sha) == ["failure"], web, other)
                one.freeze(False)
                assert await asyncio.wait_for(one.process.wait(), 20) == 75
                assert "another one has taken its jobs over" in one.log
                assert len(ours(pull)) == 1 and checks(on, pull.head_sha) == ["failure"]
                # What the frozen one may have taken from the queue in its last moment is done by the other.
                evidence.mend(pull)
                await pushed(on, web, pull)
                await until(lambda: checks(on, pull.head_sha) == ["success"], web, other)


async def test_an_upgrade_with_jobs_in_flight_continues_them(tmp_path: Path) -> None:
    """The older source has reviewed and posted; GitHub is down for the rest. The newer one continues, and does not begin anew."""
    older = tmp_path / "older"
    for name in ("bot", "rules"):
        shutil.copytree(ROOT / name, older / name, ignore=shutil.ignore_patterns("__pycache__"))
    with (older / "bot/jobs/workflows.py").open("a") as file:
        file.write("\n\n@DBOS.workflow(name='retired')\nasync def retired() -> None:\n    '''Only the older source has it.'''\n")
    async with stage(tmp_path) as on:
        pull = on.pull()
        check_runs = on.twin.faults.unavailable("/repos/*/check-runs", "POST", 1_000)
        async with service(on.twin, on.data, source=older) as first:
            await opened(on, first, pull)
            await until(lambda: check_runs.times < 1_000 and ours(pull), first)
            assert str(older) not in first.log
            await first.kill()
        on.twin.faults.clear()
        async with service(on.twin, on.data) as second:
            await until(lambda: checks(on, pull.head_sha) == ["failure"], second, patience=60)
            assert len(ours(pull)) == 1 and "to write after" not in second.log
