"""A small world to act in: one repository with a pull, and a client with the app's token."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import jwt

from tests.twin import PullHandle, RepositoryHandle, Twin

NAME = "acme/evidence"
BASE = "".join(f"line {number}\n" for number in range(1, 41))
HEAD = BASE.replace("line 3\n", "three\n").replace("line 30\n", "line 30\nadded\n").replace("line 35\n", "")


@dataclass(frozen=True)
class Reply:
    status: int
    json: Any
    headers: Any
    text: str


@dataclass
class Client:
    """GitHub's API as one token's owner sees it."""

    session: aiohttp.ClientSession
    twin: Twin
    token: str

    async def __call__(self, method: str, path: str, json: Any = None, **headers: str) -> Reply:
        """`path` is whole, or within the repository when it does not begin with a slash."""
        address = (
            path
            if path.startswith("http")
            else self.twin.url + (path if path.startswith("/") else f"/repos/{NAME}/{path}" if path else f"/repos/{NAME}")
        )
        given = {"Authorization": f"Bearer {self.token}", **{key.replace("_", "-"): value for key, value in headers.items()}}
        given = {key: value for key, value in given.items() if value}
        async with self.session.request(method, address, json=json, headers=given) as answer:
            text = await answer.text(errors="replace")
            body = await answer.json() if "json" in answer.headers.get("Content-Type", "") and text else None
            return Reply(answer.status, body, answer.headers, text)

    async def get(self, path: str, **headers: str) -> Reply:
        return await self("GET", path, **headers)

    async def post(self, path: str, json: Any = None, **headers: str) -> Reply:
        return await self("POST", path, json, **headers)

    async def patch(self, path: str, json: Any) -> Reply:
        return await self("PATCH", path, json)

    def by(self, token: str) -> Client:
        return Client(self.session, self.twin, token)


@dataclass
class Stage:
    twin: Twin
    repo: RepositoryHandle
    pull: PullHandle
    api: Client


def app_jwt(twin: Twin, algorithm: str = "RS256", key: str | None = None, **claims: Any) -> str:
    now = int(twin.world.clock.seconds())
    own = {"iat": now - 60, "exp": now + 500, "iss": str(twin.app.id), **claims}
    return jwt.encode(own, key or twin.app.private_key, algorithm=algorithm)


@asynccontextmanager
async def stage(folder: Path, **how: Any) -> AsyncIterator[Stage]:
    """`acme/evidence` with `main`, and pull 1 of `ann` from `topic`: one file changed in two hunks, one renamed, one binary added."""
    async with Twin.serve(folder, **how) as twin, aiohttp.ClientSession() as session:
        repo = twin.add_repository(NAME, organization=True)
        repo.commit("main", {"notes.md": BASE, "old.txt": BASE * 2, "gone.txt": "x\n"})
        changes = {"notes.md": HEAD, "old.txt": None, "new.txt": BASE * 2, "gone.txt": None, "picture.bin": bytes(range(256))}
        repo.commit("topic", changes, "Measure", user="ann", parent=repo.tip("main"))
        repo.grant("mia", "maintain")
        pull = repo.open_pull(head="topic", title="Evidence", body="Measured.", user="ann")
        yield Stage(twin, repo, pull, Client(session, twin, twin.installation_token(repo)))
