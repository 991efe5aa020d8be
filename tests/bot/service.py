"""A running service as an operator starts it: `assay serve` in a process of its own, before the twin."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from tests.twin import Twin

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 40.0


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def environment(twin: Twin, data: Path, **more: str) -> dict[str, str]:
    """The settings of a service that works for the twin's app."""
    own = {
        "ASSAY_APP_ID": str(twin.app.id),
        "ASSAY_PRIVATE_KEY": twin.app.private_key,
        "ASSAY_WEBHOOK_SECRET": twin.app.webhook_secret,
        "ASSAY_GITHUB_API_URL": twin.url,
        "ASSAY_GITHUB_URL": twin.git_url,
        "ASSAY_DATA_DIR": str(data),
        "ASSAY_SETTLE_SECONDS": "0",
    }
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV") if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), **own, **more}


@dataclass
class Service:
    """One command of it, in a process group of its own. `log` is its standard error so far."""

    process: asyncio.subprocess.Process
    url: str
    log_file: Path

    @property
    def hook(self) -> str:
        return f"{self.url}/webhook"

    @property
    def log(self) -> str:
        return self.log_file.read_text("utf-8", "replace")

    async def kill(self) -> None:
        """Without a warning, as a power cut or the kernel would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        await self.process.wait()

    async def stop(self) -> int:
        """In order, as a supervisor would; the exit status."""
        if self.process.returncode is None:
            os.kill(self.process.pid, signal.SIGTERM)
        return await asyncio.wait_for(self.process.wait(), PATIENCE)

    def freeze(self, frozen: bool = True) -> None:
        os.killpg(self.process.pid, signal.SIGSTOP if frozen else signal.SIGCONT)


@asynccontextmanager
async def service(
    twin: Twin,
    data: Path,
    *arguments: str,
    source: Path = ROOT,
    port: int | None = None,
    wait: bool = True,
    before: str = "",
    level: str = "debug",
    **more: str,
) -> AsyncIterator[Service]:
    """`assay serve` (or what `arguments` say), ready to work. `more` are further settings; `source` is another checkout of the program,
    `before` a line of Python that the process begins with (to shorten what is long)."""
    port = port or free_port()
    log = data.parent / f"{data.name}-{port}-{time.monotonic_ns()}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    env = environment(twin, data, ASSAY_PORT=str(port), ASSAY_LOG_LEVEL=level, **more) | {"PYTHONPATH": str(source)}
    with log.open("wb") as file:
        program = ("-c", f"{before}; from bot.cli import main; main()") if before else ("-m", "bot.cli")
        command = (sys.executable, *program, *(arguments or ("serve",)))
        process = await asyncio.create_subprocess_exec(*command, env=env, cwd=source, stdout=file, stderr=file, start_new_session=True)
    made = Service(process, f"http://127.0.0.1:{port}", log)
    try:
        if wait:
            await until(lambda: ("--web-only" in arguments and "listening" in made.log) or "at work" in made.log, made)
        yield made
    finally:
        if process.returncode is None:
            made.freeze(False)
            await made.kill()


async def until(met: Callable[[], object], *services: Service, patience: float = PATIENCE) -> None:
    """Wait until something holds; fails with the services' logs where it never does."""
    end = time.monotonic() + patience
    while not met():
        logs = "\n".join(f"--- {one.url}, exit {one.process.returncode}\n{one.log[-6_000:]}" for one in services)
        assert time.monotonic() < end, f"it never came to that\n{logs}"
        await asyncio.sleep(0.05)


async def quiet(twin: Twin, seconds: float = 1.5) -> None:
    """Wait until the twin was asked for nothing for some time."""
    while time.time() - max((one.at for one in twin.requests), default=0.0) < seconds:
        await asyncio.sleep(0.1)


async def status_of(url: str) -> int:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status
