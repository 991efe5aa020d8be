"""The twin itself: an aiohttp server that answers as GitHub does, and what a test asks of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
from aiohttp import web

from tests.twin import access, events, git
from tests.twin.access import Asker
from tests.twin.contract import Contract
from tests.twin.deliveries import Courier, Delivery
from tests.twin.faults import Faults
from tests.twin.handles import IssueHandle, RepositoryHandle
from tests.twin.limits import Limits, Meter
from tests.twin.state import App, Installation, Json, Repository, User, World

SECRET = "it-is-no-secret"
BLOB_SECONDS = 60  # [D] rest/actions/workflow-jobs: "This link will expire after 1 minute."
BODY_LIMIT = 64 * 1024 * 1024
ALWAYS = {"installation", "installation_repositories", "ping"}  # sent without being subscribed to


@dataclass(frozen=True)
class Logged:
    """One request as it was answered. `route` is GitHub's template, None for what the twin does not know; `status` 0 for a broken connection."""

    method: str
    path: str
    query: str
    status: int
    route: str | None
    owner: str
    at: float
    seconds: float
    request: Json = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Event:
    """Something that happened, as a webhook would tell it; `delivered` once it was sent."""

    name: str
    payload: Json
    delivered: bool = False

    @property
    def action(self) -> str | None:
        return self.payload.get("action")


@dataclass
class Twin:
    """A running twin. `url` is the API, `git_url` what git addresses and pages begin with."""

    folder: Path
    world: World
    courier: Courier
    contract: Contract | None = None
    prefix: str = ""
    limits: Limits = field(default_factory=Limits)
    faults: Faults = field(default_factory=Faults)
    requests: list[Logged] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    meters: dict[str, Meter] = field(default_factory=dict)
    manifest_codes: dict[str, float] = field(default_factory=dict)
    blobs: dict[str, tuple[bytes, float]] = field(default_factory=dict)
    in_flight: int = 0
    in_order: asyncio.Lock = field(default_factory=asyncio.Lock)
    tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    # ------------------------------------------------------------ life

    @classmethod
    @asynccontextmanager
    async def serve(
        cls, folder: Path, *, host: str = "127.0.0.1", port: int = 0, enterprise: bool = False, contract: bool = False,
        webhooks_to: str | None = None, secret: str = SECRET,
    ) -> AsyncIterator[Twin]:  # fmt: skip
        """Run a twin whose repositories live in `folder`. `enterprise` puts the API under `/api/v3`; `contract` holds every request and answer
        against GitHub's own description (githubkit); `webhooks_to` makes every event go there by itself, in order."""
        async with aiohttp.ClientSession() as session:
            world = World(_new_app(secret))
            twin = cls(folder, world, Courier(world, session, webhooks_to), Contract() if contract else None, "/api/v3" if enterprise else "")
            world.announce = twin._announced
            runner = await twin._start(host, port)
            try:
                yield twin
            finally:
                await twin._stop(runner)

    async def _start(self, host: str, port: int) -> web.AppRunner:
        from tests.twin.front import application

        runner = web.AppRunner(application(self), access_log=None, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, host, port).start()
        bound = runner.addresses[0][1]
        self.world.html = f"http://{host}:{bound}"
        self.world.api = self.world.html + self.prefix
        return runner

    async def _stop(self, runner: web.AppRunner) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        await runner.cleanup()

    def in_background(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    @property
    def url(self) -> str:
        return self.world.api

    @property
    def git_url(self) -> str:
        return self.world.html

    @property
    def app(self) -> App:
        return self.world.app

    # ------------------------------------------------------------ making things

    def add_repository(
        self, full_name: str, git_dir: Path | None = None, *, private: bool = True, organization: bool = False, installed: bool = True
    ) -> RepositoryHandle:
        """A repository, copied from `git_dir` (a clone or a bare repository) or empty. `installed` puts the app on its owner's account."""
        owner_name, _, name = full_name.partition("/")
        owner = self.world.user(owner_name, "Organization" if organization else "User")
        home = Repository(self.world.next_id(), owner, name, self.folder / owner_name / f"{name}.git", self.world.clock.now(), private)
        if git_dir is None:
            git.init(home.git_dir)
        else:
            git.clone(git_dir, home.git_dir)
            home.default_branch = git.text(home.git_dir, "symbolic-ref", "--short", "HEAD")
        self.world.repositories[full_name.lower()] = home
        if installed and self.world.installation_of(home) is None:
            self.install(owner_name)
        return RepositoryHandle(self.world, home)

    def fork(self, source: RepositoryHandle, full_name: str) -> RepositoryHandle:
        """A fork, in the same store of objects; the app is not installed on it."""
        owner_name, _, name = full_name.partition("/")
        git_dir = self.folder / owner_name / f"{name}.git"
        git.clone(source.git_dir, git_dir, shared=True)
        parent = source.repository
        made = Repository(
            self.world.next_id(), self.world.user(owner_name), name, git_dir, self.world.clock.now(), parent.private, parent.default_branch, parent
        )
        parent.forks.append(made)
        self.world.repositories[full_name.lower()] = made
        return RepositoryHandle(self.world, made)

    def install(self, account: str, repositories: list[RepositoryHandle] | None = None, permissions: dict[str, str] | None = None) -> Installation:
        """Put the app on an account: on all its repositories, or on those."""
        chosen = None if repositories is None else {one.repository.id for one in repositories}
        granted = dict(permissions or self.app.permissions)
        made = Installation(self.world.next_id(), self.world.user(account), granted, chosen, self.world.clock.now())
        self.world.installations[made.id] = made
        self.world.announce("installation", "created", None, made.account, {"installation": made})
        return made

    def suspend(self, installation: Installation, suspended: bool = True) -> None:
        installation.suspended_at = self.world.clock.now() if suspended else None
        self.world.announce("installation", "suspend" if suspended else "unsuspend", None, installation.account, {"installation": installation})

    def uninstall(self, installation: Installation) -> None:
        installation.deleted = True
        self.world.announce("installation", "deleted", None, installation.account, {"installation": installation})

    def user_token(self, login: str) -> str:
        """A personal token of that person."""
        return access.user_token(self.world, self.world.user(login)).value

    def installation_token(self, repository: RepositoryHandle, **narrowed: Any) -> str:
        """A token as the app would get it; `permissions`, `repositories`, `repository_ids` narrow it."""
        installation = self.world.installation_of(repository.repository)
        assert installation, f"the app is not installed on {repository.full_name}"
        return access.installation_token(self.world, installation, narrowed).value

    def manifest_code(self) -> str:
        """The code that GitHub hands over when an app was made from a manifest."""
        code = uuid4().hex
        self.manifest_codes[code] = self.world.clock.seconds()
        return code

    def blob(self, data: bytes) -> str:
        """An address on another host, as on GitHub, that gives these bytes for a minute, to anybody."""
        key = uuid4().hex
        self.blobs[key] = (data, self.world.clock.seconds() + BLOB_SECONDS)
        return f"{self.world.html.replace('127.0.0.1', 'localhost')}/_blobs/{key}"

    # ------------------------------------------------------------ events and deliveries

    def _announced(self, name: str, action: str | None, repository: Repository | None, sender: User, parts: Json) -> None:
        event = Event(name, events.payload(self.world, name, action, repository, sender, parts))
        self.events.append(event)
        if self.courier.to and self.subscribed(event):
            self.in_background(self.deliver_events())

    def subscribed(self, event: Event) -> bool:
        """Whether the app would hear of it: it asked for such events, and is installed there."""
        return event.name in ALWAYS or (event.name in self.app.events and "installation" in event.payload)

    async def deliver_events(self, to: str | None = None, **how: Any) -> list[Delivery]:
        """Send, in order, everything that happened and was not delivered yet."""
        sent = []
        async with self.in_order:
            while event := next((one for one in self.events if not one.delivered and self.subscribed(one)), None):
                event.delivered = True
                sent.append(await self.courier.deliver(event.name, event.payload, to, **how))
        return sent

    async def deliver(
        self, event: str, payload: Json | None = None, *, to: str | None = None, guid: str | None = None,
        headers: Mapping[str, str | None] | None = None, form: bool = False, **about: Any,
    ) -> Delivery:  # fmt: skip
        """Send one event: a payload as it is, or one made `about` entities (`action=…, pull=…`, see `payload`)."""
        made = payload if payload is not None else self.payload(event, **about)
        return await self.courier.deliver(event, made, to, guid=guid, headers=headers, form=form)

    def payload(
        self, event: str, *, action: str | None = None, repository: RepositoryHandle | None = None, sender: str | None = None, **parts: Any
    ) -> Json:
        """A payload about handles or entities: `pull`, `issue`, `comment`, `run`, `suite`, `installation`, `ref`, `before`, `after`, …"""
        talk = next((one for one in parts.values() if isinstance(one, IssueHandle)), None)
        home = repository.repository if repository else talk.issue.repository if talk else None
        by = self.world.user(sender) if sender else talk.issue.user if talk else home.owner if home else self.app.owner
        plain = {key: _entity(key, one) for key, one in parts.items()}
        return events.payload(self.world, event, action, home, by, plain)

    async def redeliver(self, delivery: Delivery, to: str | None = None) -> Delivery:
        return await self.courier.redeliver(delivery.id, to)

    # ------------------------------------------------------------ what was asked

    def calls(self, method: str = "*", path: str = "*") -> list[Logged]:
        """The API requests so far (`*` matches anything), tokens and git not counted."""
        own = [one for one in self.requests if one.route != "git" and not one.path.endswith("/access_tokens")]
        return [one for one in own if method in ("*", one.method) and fnmatchcase(one.path, path)]

    def forget(self) -> None:
        """Start counting anew."""
        self.requests.clear()

    @property
    def unknown(self) -> list[Logged]:
        """Requests for which the twin has no route: either a mistake, or something to be added here."""
        return [one for one in self.requests if one.route is None]

    def meter(self, who: Asker) -> Meter:
        return self.meters.setdefault(who.owner, Meter(self.world.clock.seconds()))

    def rate(self, who: Asker) -> dict[str, int]:
        """The primary limit of whoever asks, as `GET /rate_limit` prints it."""
        meter = self.meter(who)
        meter.turn(self.world.clock.seconds())
        limit = self.limits.per_hour if who.token else 60
        return {"limit": limit, "used": meter.used, "remaining": max(0, limit - meter.used), "reset": int(meter.window_start + 3_600)}


def _entity(key: str, one: Any) -> Any:
    if isinstance(one, IssueHandle):
        return one.issue.pull if key == "pull" else one.issue
    return one.repository if isinstance(one, RepositoryHandle) else one


def _new_app(secret: str) -> App:
    private, public = access.new_key()
    owner = User(1_001, "assay-owner")
    return App(4_242, "assay", owner, User(1_002, "assay[bot]", "Bot"), private, public, secret)
