"""Keeps one bare mirror per repository and fetches exact commits into it, with credentials that no command line, address or log shows.

A mirror holds all branches and tags and the pulls that were reviewed, whole: what is old tells when something was frozen. Nothing is checked out.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import re
import shutil
import time
from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bot.checkout.process import GitError, Runner

log = logging.getLogger("assay.fetch")

# `refs/pull/N/head` and replicas can lag behind the webhook by some seconds (jquery/jquery-license#23). Seconds before each further look.
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0)
TIMEOUT = 900.0
MOST_PACKS = 50
_NAME = re.compile(r"(?!\.{1,2}/)[\w.-]{1,100}/(?!\.{1,2}\Z)[\w.-]{1,100}\Z", re.ASCII)
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_ALL = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")

Sleep = Callable[[float], Awaitable[None]]
Token = Callable[[], Awaitable[str]]


class FetchError(Exception):
    """The commits could not be had; one sentence without addresses or tokens. The kinds below say what to do."""


class HeadGone(FetchError):
    """The commit is not there (any more): a force-push took it away. `now` is the pull's head as git shows it, None where it shows none."""

    def __init__(self, head: str, now: str | None) -> None:
        super().__init__(head, now)
        self.head, self.now = head, now

    def __str__(self) -> str:
        return f"commit {self.head[:12]} is not there{f'; the pull is at {self.now[:12]}' if self.now else ''}"


class NoBase(FetchError):
    """The base branch is not there."""


class RepositoryGone(FetchError):
    """Deleted, renamed at this moment, or not visible to the installation."""


class AccessRefused(FetchError):
    """The token may not read the repository: the permission is missing, or the installation is suspended or removed."""


class FetchFailed(FetchError):
    """The network, the server or the disk; worth another attempt later."""


class _NotYet(Exception):
    """Git shows no such commit or ref at this moment."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """`head` (a full id) with all of the repository's branches and tags, and the pull `number` where it is one.

    `base`: a commit that the base branch is known to hold; while it is absent, git lags behind.
    """

    repository_id: int
    full_name: str
    head: str
    base_ref: str
    number: int | None = None
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """What is in the mirror at `folder`: the head, the base branch's tip, and the pull's head as git shows it (older when it lags, or newer)."""

    folder: str
    head: str
    base: str
    pull_head: str | None


class Mirrors:
    """The mirrors in `data_dir/mirrors`, one per repository id (a rename keeps it). Several processes may share the folder."""

    def __init__(self, data_dir: Path, git_url: str, sleep: Sleep = asyncio.sleep) -> None:
        self._folder, self._url, self._sleep = data_dir / "mirrors", git_url.rstrip("/"), sleep
        self._busy: dict[int, asyncio.Lock] = {}

    def path(self, repository_id: int) -> Path:
        """Where the repository's mirror is, or will be."""
        return self._folder / f"{repository_id}.git"

    async def fetch(self, wanted: Wanted, token: Token) -> Fetched:
        """Fetch, and compare with what was wanted; where git lags behind, look again. Raises `FetchError`, and what `token` raises.

        The token should last as long as a fetch may: `bot.github.auth.FETCH_REST`.
        """
        if not _NAME.match(wanted.full_name) or not _SHA.match(wanted.head):
            raise RepositoryGone("that is no name of a repository, or no commit")
        async with self._busy.setdefault(wanted.repository_id, asyncio.Lock()):
            for pause in PAUSES:
                try:
                    return await self._attempt(wanted, token, strict=True)
                except (_NotYet, FetchFailed) as error:
                    log.debug("repository %d: %s", wanted.repository_id, error)
                await self._sleep(pause)
            try:
                return await self._attempt(wanted, token, strict=False)
            except _NotYet as error:
                raise HeadGone(wanted.head, _ref(self._git(wanted), f"refs/pull/{wanted.number}/head")) from error

    async def _attempt(self, wanted: Wanted, token: Token, strict: bool) -> Fetched:
        secret = await token()
        return await asyncio.to_thread(self._fetch, wanted, secret, strict)

    def _git(self, wanted: Wanted) -> Runner:
        return Runner(f"--git-dir={self.path(wanted.repository_id)}")

    def _fetch(self, wanted: Wanted, secret: str, strict: bool) -> Fetched:
        mirror = self.path(wanted.repository_id)
        try:
            with _locked(mirror):
                _prepare(mirror)
                remote = _Remote(mirror, self._url, wanted.full_name, secret)
                return _into(remote, wanted, strict)
        except GitError as error:
            raise FetchFailed(f"git cannot make a mirror: {error}") from error
        except OSError as error:
            raise FetchFailed(f"the mirror cannot be written ({(error.strerror or 'error').lower()})") from error


def _into(remote: _Remote, wanted: Wanted, strict: bool) -> Fetched:
    """Fetch the refs, then the head by its id if they do not hold it."""
    git = Runner(f"--git-dir={remote.mirror}")
    pull = f"refs/pull/{wanted.number}/head" if wanted.number is not None else None
    try:
        remote.fetch(*_ALL, *([f"+{pull}:{pull}"] if pull else []))
    except _NotYet:
        if strict:
            raise
        remote.fetch(*_ALL)
    if not _has(git, wanted.head):
        # A ref of its own, so that it stays reachable.
        remote.fetch(f"+{wanted.head}:refs/assay/{wanted.head}")
    if strict and wanted.base and not _has(git, wanted.base):
        raise _NotYet("the base branch lags behind")
    base = _ref(git, f"refs/heads/{wanted.base_ref}")
    if base is None:
        raise NoBase(f"there is no branch {wanted.base_ref}")
    _upkeep(git, remote.mirror)
    return Fetched(str(remote.mirror), wanted.head, base, _ref(git, pull) if pull else None)


# ---------------------------------------------------------------- one remote


class _Remote:
    """The repository on GitHub, seen from its mirror. The token is in git's environment alone, and for this address alone."""

    def __init__(self, mirror: Path, url: str, full_name: str, secret: str) -> None:
        self.mirror, self._address = mirror, f"{url}/{full_name}.git"
        basic = b64encode(f"x-access-token:{secret}".encode()).decode()
        settings = [
            (f"http.{url}/.extraHeader", f"Authorization: Basic {basic}"),
            # Git would carry the header on to wherever it is sent.
            ("http.followRedirects", "false"),
            ("http.lowSpeedLimit", "1000"),
            ("http.lowSpeedTime", "60"),
            ("fetch.unpackLimit", "1"),
            ("credential.helper", ""),
            *_certificates(),
        ]
        env = {"GIT_ALLOW_PROTOCOL": urlsplit(url).scheme, "GIT_CONFIG_COUNT": str(len(settings))}
        for index, (key, value) in enumerate(settings):
            env |= {f"GIT_CONFIG_KEY_{index}": key, f"GIT_CONFIG_VALUE_{index}": value}
        self._git = Runner(f"--git-dir={mirror}", env=env)

    def fetch(self, *refspecs: str) -> None:
        """Raises `_NotYet` where a ref or commit is not there, and `FetchError`."""
        options = ("--quiet", "--force", "--prune", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-gc")
        try:
            self._git.run("fetch", *options, "--", self._address, *refspecs, timeout=TIMEOUT)
        except GitError as error:
            raise _failure(str(error).replace(self._address, "the repository")) from None


def _certificates() -> Iterator[tuple[str, str]]:
    """A private authority's certificates, as Python's own connections find them."""
    if file := os.environ.get("GIT_SSL_CAINFO") or os.environ.get("SSL_CERT_FILE"):
        yield "http.sslCAInfo", file


def _failure(said: str) -> Exception:
    """What git's last words mean (its messages are untranslated: LC_ALL=C)."""
    told = said.lower()
    if "not our ref" in told or "couldn't find remote ref" in told or "no such remote ref" in told:
        return _NotYet(said)
    # After a 401 git asks for a name, and nobody answers.
    if any(words in told for words in ("error: 403", "error: 401", "authentication failed", "could not read username", "askpass")):
        return AccessRefused("GitHub does not let this installation read the repository")
    if any(words in told for words in ("not found", "error: 404", "error: 30", "redirect")):
        return RepositoryGone("the repository is not there, or not under this name")
    return FetchFailed(f"git cannot fetch: {said[:200]}")


# ---------------------------------------------------------------- the mirror


@contextmanager
def _locked(mirror: Path) -> Iterator[None]:
    """Only one process writes a mirror at a time; the lock goes with its process."""
    mirror.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with open(mirror.with_suffix(".lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _prepare(mirror: Path) -> None:
    """An existing mirror without what a killed git has left behind, or a new one, which is there as a whole or not at all."""
    if (mirror / "HEAD").is_file():
        _sweep(mirror)
        return
    made = mirror.with_suffix(".new")
    shutil.rmtree(made, ignore_errors=True)
    shutil.rmtree(mirror, ignore_errors=True)
    Runner().run("init", "--quiet", "--bare", "--template=", "--initial-branch=main", str(made))
    made.rename(mirror)


def _sweep(mirror: Path) -> None:
    """We hold the mirror's lock, so git's own are nobody's."""
    left = [*mirror.glob("*.lock"), *(mirror / "refs").rglob("*.lock"), *(mirror / "objects" / "pack").glob("tmp_*")]
    for path in left:
        path.unlink(missing_ok=True)
    for folder in (mirror / "objects").glob("tmp_objdir-*"):
        shutil.rmtree(folder, ignore_errors=True)


def _upkeep(git: Runner, mirror: Path) -> None:
    """Every fetch leaves a pack; many of them make reading slow. Objects that nothing points at stay: a review may cite them."""
    if sum(1 for _ in (mirror / "objects" / "pack").glob("*.pack")) <= MOST_PACKS:
        return
    began = time.monotonic()
    try:
        git.run("repack", "--quiet", "-d", "--geometric=2", timeout=TIMEOUT)
        git.run("pack-refs", "--all")
    except GitError as error:
        log.warning("a mirror could not be packed: %s", error)
    log.info("packed a mirror in %.1f s", time.monotonic() - began)


def _has(git: Runner, commit: str) -> bool:
    try:
        git.run("cat-file", "-e", f"{commit}^{{commit}}")
    except GitError:
        return False
    return True


def _ref(git: Runner, name: str) -> str | None:
    """The commit that a ref names, None where there is none."""
    try:
        printed = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").split()
    except GitError:
        return None
    return next((word.decode() for word in printed if _SHA.match(word.decode("ascii", "replace"))), None)
