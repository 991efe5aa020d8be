"""Asks GitHub on behalf of one token's owner: attempts, limits, pages, and errors as values of `bot.github.errors`.

docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api: limits come as 403 or 429 and are told apart from a refusal by headers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import aiohttp
from gidgethub import sansio

from bot.github.errors import Forbidden, GitHubError, NotFound, RateLimited, Refused, Unavailable
from bot.github.transport import FRESH, Answered, Api, Elsewhere, checked_path, error_of, kind_of

CONCURRENT = 8
ATTEMPTS = 3
# How long a rate limit is waited for: somebody at a shell waits, a job is put back and comes again.
SHELL_PATIENCE = 90.0
JOB_PATIENCE = 5.0
MOST_PAGES = 100
TIMEOUT = aiohttp.ClientTimeout(total=30, connect=10)

Sleep = Callable[[float], Awaitable[None]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reply:
    """GitHub's answer: the status, and what the body says where it is 2xx."""

    status: int
    data: Any = None
    more: bool = False


@dataclass(frozen=True, slots=True)
class Credential:
    """Who asks. `given` tells `{"oauth_token": …}`, `{"jwt": …}` or nothing; `refused` hears that GitHub did not know it (401), and says whether
    another one is worth trying."""

    given: Callable[[], Awaitable[Mapping[str, str]]]
    refused: Callable[[Mapping[str, str]], bool] = lambda _: False


def fixed(token: str | None) -> Credential:
    """A token that never changes, or none."""

    async def given() -> Mapping[str, str]:
        return {"oauth_token": token} if token else {}

    return Credential(given)


@dataclass(frozen=True, slots=True)
class _Ask:
    """One request. `again`: doing it twice does no harm."""

    method: str
    path: str
    data: Any = b""
    accept: str = sansio.accept_format()
    again: bool = True
    fresh: bool = False

    @property
    def write(self) -> bool:
        return self.method != "GET"


class Client:
    """One API, one owner of tokens. At most eight requests at a time; while a limit lasts longer than `patience` seconds nothing is asked.

    `lasting`: an API that did not answer, or whose limit did not end, is not asked again (a run from the shell, not a service).
    """

    def __init__(
        self,
        api: Api,
        credential: Credential,
        *,
        patience: float = JOB_PATIENCE,
        lasting: bool = False,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._api, self._credential, self._patience, self._lasting = api, credential, patience, lasting
        self._sleep, self._clock = sleep, clock
        self._room = asyncio.Semaphore(CONCURRENT)
        self._limit = RateLimited(0.0)
        self._over: GitHubError | None = None

    # ------------------------------------------------------------ what is asked

    async def get(self, path: str, accept: str | None = None, *, fresh: bool = False) -> Any:
        """The JSON (or text) at `path`. `fresh`: nothing that was kept is used, for a look at what was just written."""
        return (await self._send(_Ask("GET", path, accept=accept or sansio.accept_format(), fresh=fresh)))[0]

    async def getiter(self, path: str, key: str | None = None, *, fresh: bool = False) -> AsyncIterator[Any]:
        """Every item of a list to its last page; `key` names the list where it comes in an object."""
        at: str | None = path if "per_page=" in path else f"{path}{'&' if '?' in path else '?'}per_page=100"
        for _ in range(MOST_PAGES):
            assert at is not None
            data, more, _status = await self._send(_Ask("GET", at, fresh=fresh))
            items = data.get(key) if key and isinstance(data, Mapping) else data
            if not isinstance(items, list):
                raise Unavailable("an unusable answer: no list")
            for item in items:
                yield item
            if more is None:
                return
            at = self._api.path_of(more)
        raise Unavailable(f"a list of more than {MOST_PAGES} pages")

    async def post(self, path: str, data: Any = None, *, again: bool = False) -> Any:
        """Make something. It is not tried twice unless `again`: `Unavailable.unsure` tells that it may be there."""
        return (await self._send(_Ask("POST", path, data if data is not None else {}, again=again)))[0]

    async def patch(self, path: str, data: Any, *, again: bool = True) -> Any:
        """Replace parts of something; what is sent must not be added up by GitHub, or not be tried `again`."""
        return (await self._send(_Ask("PATCH", path, data, again=again)))[0]

    async def put(self, path: str, data: Any = None) -> Any:
        return (await self._send(_Ask("PUT", path, data if data is not None else {})))[0]

    async def delete(self, path: str) -> Any:
        """What is gone already raises `NotFound`, also when the first attempt took it away."""
        return (await self._send(_Ask("DELETE", path)))[0]

    async def graphql(self, query: str, variables: Mapping[str, Any]) -> Any:
        """The `data` of a query that only reads."""
        reply = (await self._send(_Ask("POST", self._api.graphql_url, {"query": query, "variables": dict(variables)})))[0]
        errors = reply.get("errors") if isinstance(reply, Mapping) else None
        if errors:
            raise _graphql_error(errors, self._clock())
        return reply.get("data") if isinstance(reply, Mapping) else None

    async def download(self, path: str, most: int = 16 * 1024 * 1024) -> bytes:
        """The bytes behind `path`, at most `most`; the host that keeps them gets no token."""
        return await self._tried(_Ask("GET", checked_path(path)), lambda given: self._api.bytes_of(path, given, most))

    async def look(self, path: str, accept: str | None = None) -> Reply:
        """What GitHub says about `path`, refusals as their status. Raises `Unavailable` only where there is no answer at all."""
        try:
            data, more, status = await self._send(_Ask("GET", path, accept=accept or sansio.accept_format()))
            return Reply(status, data, more is not None)
        except GitHubError as error:
            if error.status:
                return Reply(error.status)
            raise

    async def pause(self, seconds: float) -> None:
        """Wait, by the client's clock."""
        await self._sleep(seconds)

    # ------------------------------------------------------------ how it is asked

    async def _send(self, ask: _Ask) -> tuple[Any, str | None, int]:
        url = ask.path if ask.path == self._api.graphql_url else checked_path(ask.path)
        extra = dict(FRESH) if ask.fresh else None

        async def once(given: Mapping[str, str]) -> tuple[Any, str | None, int]:
            made: Any = self._api._make_request(ask.method, url, None, ask.data, ask.accept, extra_headers=extra, **given)
            found: tuple[Any, str | None, int] = await made
            return found

        return await self._tried(ask, once)

    async def _tried(self, ask: _Ask, once: Callable[[Mapping[str, str]], Awaitable[T]]) -> T:
        async with self._room:
            for attempt in range(1, ATTEMPTS + 1):
                await self._ready()
                try:
                    return await self._known(ask, once)
                except (RateLimited, Unavailable) as error:
                    await self._think(ask, error, attempt == ATTEMPTS)
        raise AssertionError("the last attempt always answers")

    async def _ready(self) -> None:
        """Raises what is known already to come back; waits for a limit that is short."""
        if self._over is not None:
            raise _again(self._over)
        wait = self._limit.retry_at - self._clock()
        if wait > self._patience:
            raise _again(self._limit)
        if wait > 0:
            await self._sleep(wait)

    async def _think(self, ask: _Ask, error: RateLimited | Unavailable, last: bool) -> None:
        """Return where another attempt makes sense, after a pause; else raise `error`."""
        if isinstance(error, RateLimited):
            self._limit = max(self._limit, error, key=lambda one: one.retry_at)
            ended = last or error.retry_at - self._clock() > self._patience
        else:
            ended = last or not (ask.again or not error.unsure)
        if ended and self._lasting and (isinstance(error, RateLimited) or not error.status):
            self._over = error
        if ended:
            raise error
        if isinstance(error, Unavailable):
            await self._sleep(1.0)

    async def _known(self, ask: _Ask, once: Callable[[Mapping[str, str]], Awaitable[T]]) -> T:
        """One attempt, and another one where the token was no longer known."""
        given = await self._credential.given()
        try:
            return await self._once(ask, once, given)
        except Forbidden as error:
            if error.status != 401 or not self._credential.refused(given):
                raise
        return await self._once(ask, once, await self._credential.given())

    async def _once(self, ask: _Ask, once: Callable[[Mapping[str, str]], Awaitable[T]], given: Mapping[str, str]) -> T:
        """One attempt. Raises `GitHubError`."""
        try:
            return await once(given)
        except Answered as answered:
            raise error_of(answered, ask.path, self._clock(), ask.write) from None
        except Elsewhere as elsewhere:
            raise Refused(elsewhere.status, "the answer is on another host") from None
        except aiohttp.ClientConnectorError as error:
            raise Unavailable(f"no answer ({kind_of(error)})") from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unavailable(f"no answer ({kind_of(error)})", ask.write) from error
        except (ValueError, KeyError, TypeError) as error:
            raise Unavailable("an unusable answer", ask.write, 502) from error


def _again(error: GitHubError) -> GitHubError:
    """The same error anew: one that is raised many times collects every traceback."""
    return type(error)(*error.args)


def _graphql_error(errors: Any, now: float) -> GitHubError:
    """GraphQL answers 200 and says in `errors` what went wrong (docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api)."""
    first = errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], Mapping) else {}
    kind, message = first.get("type"), str(first.get("message", ""))[:500]
    if kind == "RATE_LIMITED":
        return RateLimited(now + 60, 200)
    if kind == "NOT_FOUND":
        return NotFound("graphql")
    return Forbidden(403, message) if kind == "FORBIDDEN" else Refused(200, message)


@asynccontextmanager
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    """Connections for the life of the context. Proxies are taken from the environment."""
    async with aiohttp.ClientSession(timeout=TIMEOUT, trust_env=True) as made:
        yield made


@asynccontextmanager
async def connect(url: str, token: str | None, sleep: Sleep = asyncio.sleep, clock: Callable[[], float] = time.time) -> AsyncIterator[Client]:
    """A shell's client of the API at `url`."""
    async with session() as made:
        yield Client(Api(made, url), fixed(token), patience=SHELL_PATIENCE, lasting=True, sleep=sleep, clock=clock)
