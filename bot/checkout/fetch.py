"""Keeps one bare mirror per repository and fetches exact commits into it, with credentials that no other process and no log can see."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path


class FetchError(Exception):
    """The commits could not be had; one sentence without addresses or tokens. The kinds below say what to do."""


class HeadGone(FetchError):
    """The commit is not there (any more): force-pushed away, or its repository was emptied. `now` is the pull's head as git shows it, if any."""

    def __init__(self, head: str, now: str | None) -> None:
        super().__init__(head, now)
        self.head, self.now = head, now

    def __str__(self) -> str:
        return f"commit {self.head[:12]} is no longer there{f'; the pull is at {self.now[:12]}' if self.now else ''}"


class NoBase(FetchError):
    """The base branch is not there."""


class RepositoryGone(FetchError):
    """Deleted, renamed in this moment, or not visible to the installation."""


class AccessRefused(FetchError):
    """The token may not read the repository (permission missing, installation suspended or removed)."""


class FetchFailed(FetchError):
    """The network, the server or the disk; worth another attempt later."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What was fetched: the mirror's folder, the head, the base branch's tip, and the pull's head as git shows it (it may lag behind, or be newer)."""

    folder: str
    head: str
    base: str
    pull_head: str | None


class Mirrors:
    """The mirrors under `data_dir/mirrors`, one per repository id (a rename keeps it)."""

    def __init__(self, data_dir: Path, git_url: str, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._folder, self._url, self._sleep = data_dir / "mirrors", git_url, sleep

    async def fetch(
        self, repository_id: int, full_name: str, token: Callable[[], Awaitable[str]], *, head: str, base_ref: str, number: int | None = None
    ) -> Fetched:
        """Fetch all branches and tags, pull `number`, and exactly `head`. Raises `FetchError`."""
        raise NotImplementedError
