"""`serve`, `worker`, `replay` and `doctor` as an operator meets them: one sentence and exit 2 for what is wrong."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from pathlib import Path

import aiohttp
import pytest

from tests.bot.service import ROOT, environment, service, status_of, until
from tests.bot.test_jobs import checks, opened, stage
from tests.twin import Twin
from tests.twin.deliveries import detail


async def _command(env: dict[str, str], *arguments: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot.cli", *arguments, env=env, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("name", ["ASSAY_APP_ID", "ASSAY_PRIVATE_KEY", "ASSAY_WEBHOOK_SECRET"])
async def test_t45_without_a_setting_nothing_starts(tmp_path: Path, name: str) -> None:
    async with Twin.serve(tmp_path / "twin") as twin:
        env = {key: value for key, value in environment(twin, tmp_path / "data").items() if key != name}
        for command in ("serve", "worker"):
            code, out, err = await _command(env, command)
            assert (code, out, err.count("\n")) == (2, "", 1) and f"{name} is missing" in err


async def test_an_app_that_github_does_not_know_is_one_sentence(tmp_path: Path) -> None:
    async with Twin.serve(tmp_path / "twin") as twin:
        code, _, err = await _command(environment(twin, tmp_path / "data", ASSAY_APP_ID="99"), "worker")
        assert code == 2 and err.splitlines()[-1] == "assay: ASSAY_APP_ID and ASSAY_PRIVATE_KEY are not those of an app that GitHub knows."


async def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        async with Twin.serve(tmp_path / "twin") as twin:
            code, _, err = await _command(environment(twin, tmp_path / "data", ASSAY_PORT=str(taken.getsockname()[1])), "serve", "--web-only")
            assert code == 2 and err.count("\n") == 1 and "address already in use" in err


async def test_github_may_be_away_when_the_service_starts(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.twin.faults.unavailable("/app", times=12)
        async with service(on.twin, on.data, wait=False) as at:
            await until(lambda: "listening" in at.log, at)
            pull = on.pull()
            await opened(on, at, pull)
            assert await status_of(f"{at.url}/readyz") == 503
            await until(lambda: checks(on, pull.head_sha) == ["failure"], at)
            assert await status_of(f"{at.url}/readyz") == 200
            async with aiohttp.ClientSession() as session, session.get(f"{at.url}/metrics") as answer:
                shown = await answer.text()
            assert "assay_workers 1.0" in shown and "assay_conversations_waiting" in shown


async def test_a_worker_that_dies_beside_the_web_server_is_replaced(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        child = int(Path(f"/proc/{at.process.pid}/task/{at.process.pid}/children").read_text().split()[0])
        os.kill(child, signal.SIGKILL)
        await until(lambda: at.log.count("at work as") == 2, at)
        pull = on.pull()
        await opened(on, at, pull)
        await until(lambda: checks(on, pull.head_sha) == ["failure"], at)
        assert await at.stop() == 0


async def test_a_recorded_delivery_is_replayed(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, service(on.twin, on.data) as at:
        pull = on.pull()
        await opened(on, at, pull)
        await until(lambda: checks(on, pull.head_sha) == ["failure"], at)
        recorded = tmp_path / "delivery.json"
        recorded.write_text(json.dumps(detail(on.twin.courier.sent[-1])))
        code, out, err = await _command(environment(on.twin, on.data), "replay", str(recorded))
        assert (code, err) == (0, "") and out.startswith("ReviewPull: ")
        await until(lambda: at.log.count("to write after") == 2, at)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"event": "pull_request"}', '{"event": 3, "payload": {}}'])
async def test_what_is_no_delivery_is_one_sentence(tmp_path: Path, text: str) -> None:
    recorded = tmp_path / "delivery.json"
    recorded.write_text(text)
    async with Twin.serve(tmp_path / "twin") as twin:
        code, out, err = await _command(environment(twin, tmp_path / "data"), "replay", str(recorded))
        assert (code, out, err.count("\n")) == (2, "", 1) and str(recorded) in err


async def test_doctor_tells_what_the_service_needs(tmp_path: Path) -> None:
    async with Twin.serve(tmp_path / "twin") as twin:
        env = environment(twin, tmp_path / "data")
        code, out, _ = await _command(env, "doctor", str(ROOT))
        assert code == 0 and "it will write as assay[bot]" in out and "it will be made when the service starts" in out
        code, out, _ = await _command({**env, "ASSAY_APP_ID": "99"}, "doctor", str(ROOT))
        assert code == 2 and "does not know app 99" in out
        code, out, _ = await _command({**env, "ASSAY_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}, "doctor", str(ROOT))
        assert code == 2 and "the database does not answer" in out
        code, out, _ = await _command({**env, "ASSAY_SETTLE_SECONDS": "soon"}, "doctor", str(ROOT))
        assert code == 2 and "ASSAY_SETTLE_SECONDS is not usable" in out
