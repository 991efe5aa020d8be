"""The app's view of a twin: a repository with a pull, and a client of its installation. Waiting moves the twin's clock instead."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.github.auth import GitHub
from bot.github.client import Client, session
from tests.twin import PullHandle, RepositoryHandle, Twin
from tests.twin_tests.stage import NAME, stage

REPO = NAME


@dataclass
class Scene:
    twin: Twin
    repo: RepositoryHandle
    pull: PullHandle
    github: GitHub
    client: Client
    installation: int
    slept: list[float] = field(default_factory=list)

    @property
    def me(self) -> str:
        return self.twin.app.bot.login

    def tokens(self) -> int:
        """How often a token was asked for."""
        return sum(one.path.endswith("/access_tokens") for one in self.twin.requests)


@asynccontextmanager
async def scene(folder: Path, **how: Any) -> AsyncIterator[Scene]:
    """`how` goes to `Twin.serve`: `contract`, `enterprise`, …"""
    slept: list[float] = []
    async with stage(folder, **how) as on, session() as connections:

        async def sleep(seconds: float) -> None:
            slept.append(seconds)
            on.twin.world.clock.advance(seconds)

        app = on.twin.app
        github = GitHub(connections, on.twin.url, app.id, app.private_key, sleep=sleep, clock=on.twin.world.clock.seconds)
        found = on.twin.world.installation_of(on.repo.repository)
        assert found
        on.twin.forget()
        yield Scene(on.twin, on.repo, on.pull, github, github.installation(found.id), found.id, slept)
