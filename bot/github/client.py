"""Reads GitHub's REST API: gidgethub over aiohttp, with the limits, retries and guards that gidgethub leaves to its user.

docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api: limits come as 403 or 429 and are told apart from a refusal by headers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
from gidgethub import sansio
from gidgethub.aiohttp import GitHubAPI

API_VERSION = "2022-11-28"
REQUESTER = "assay"
CONCURRENT = 8
ATTEMPTS = 3
LONGEST_WAIT = 90.0
# A limit without headers: "wait for at least one minute" (same page, "Exceeding the rate limit").
UNTOLD_WAIT = 60.0
BODY_LIMIT = 16 * 1024 * 1024
TIMEOUT = aiohttp.ClientTimeout(total=30, connect=10)

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Reply:
    """GitHub's answer: the status, and what the body says where it is 2xx."""

    status: int
    data: Any = None
    more: bool = False


class Unreachable(Exception):
    """There is no answer at all; the message says why, without addresses or tokens."""


class _Refused(Exception):
    """Any answer that is not 2xx. It is raised before gidgethub reads the body: it trips over 422 without a message and over unknown statuses."""

    def __init__(self, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(status)
        self.status, self.headers = status, headers


class _Api(GitHubAPI):
    """gidgethub with an API version, a bounded body and no cache (its cache is keyed by URL alone and mixes up tokens)."""

    async def _request(self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> tuple[int, Mapping[str, str], bytes]:
        sent = {**headers, "x-github-api-version": API_VERSION}
        async with self._session.request(method, url, headers=sent, data=body, max_redirects=5) as response:
            if not 200 <= response.status < 300:
                raise _Refused(response.status, response.headers)
            data = bytearray()
            async for chunk in response.content.iter_chunked(64 * 1024):
                data += chunk
                if len(data) > BODY_LIMIT:
                    raise _Refused(502, response.headers)
            return response.status, response.headers, bytes(data)


class Client:
    """One API, one token. At most eight requests at a time; once a limit is longer than worth waiting for, nothing more is asked."""

    def __init__(
        self, session: aiohttp.ClientSession, url: str, token: str | None, sleep: Sleep = asyncio.sleep, clock: Callable[[], float] = time.time
    ) -> None:
        self._api = _Api(session, REQUESTER, oauth_token=token, base_url=url)
        self._sleep, self._clock = sleep, clock
        self._room = asyncio.Semaphore(CONCURRENT)
        self._quiet_until = 0.0
        self._closed: int | None = None
        self._down: str | None = None

    async def get(self, path: str, accept: str | None = None) -> Reply:
        """`GET path` (relative to the API: an absolute URL would be given our token). Raises `Unreachable`."""
        if "://" in path or path.startswith("//"):
            raise ValueError("only paths of the API itself are asked")
        async with self._room:
            for attempt in range(1, ATTEMPTS + 1):
                reply = await self._once(path, accept or sansio.accept_format(), attempt == ATTEMPTS)
                if reply is not None:
                    return reply
        raise AssertionError("the last attempt always answers")

    async def _once(self, path: str, accept: str, last: bool) -> Reply | None:
        """One attempt; None where another one makes sense. Afterwards the time until that has passed."""
        if self._down is not None:
            raise Unreachable(self._down)
        if self._closed is not None:
            return Reply(self._closed)
        await self._pause(self._quiet_until - self._clock())
        try:
            data, more, status = await self._api._make_request("GET", path, None, b"", accept)
            return Reply(status, data, more is not None)
        except _Refused as refused:
            return await self._after_refusal(refused, last)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            await self._after_failure(error, last)
            return None
        except (ValueError, KeyError, TypeError):
            return Reply(502)

    async def _after_refusal(self, refused: _Refused, last: bool) -> Reply | None:
        wait = limited(refused.status, refused.headers, self._clock())
        if wait is not None and (last or wait > LONGEST_WAIT):
            self._closed = refused.status
        elif wait is not None:
            self._quiet_until = max(self._quiet_until, self._clock() + wait)
        elif refused.status >= 500 and not last:
            await self._sleep(1)
        if last or self._closed is not None or (wait is None and refused.status < 500):
            return Reply(refused.status)
        return None

    async def _after_failure(self, error: Exception, last: bool) -> None:
        if last:
            self._down = f"no answer ({_kind(error)})"
            raise Unreachable(self._down) from error
        await self._sleep(1)

    async def _pause(self, seconds: float) -> None:
        if seconds > 0:
            await self._sleep(seconds)


def limited(status: int, headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait where the answer is a rate limit (headers decide, not text), None where it is a plain refusal. `now` as Unix time."""
    if status not in (403, 429):
        return None
    after = headers.get("retry-after", "")
    if after:
        return float(after) if after.isdigit() and len(after) < 10 else UNTOLD_WAIT
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0":
        return max(0.0, int(reset) - now) + 1 if reset.isdigit() and len(reset) < 15 else UNTOLD_WAIT
    return UNTOLD_WAIT if status == 429 else None


def _kind(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it took too long"
    return "TLS failed" if isinstance(error, aiohttp.ClientSSLError) else "no connection"


@asynccontextmanager
async def connect(url: str, token: str | None, sleep: Sleep = asyncio.sleep, clock: Callable[[], float] = time.time) -> AsyncIterator[Client]:
    """A client of the API at `url` for the life of the context. Proxies are taken from the environment."""
    async with aiohttp.ClientSession(timeout=TIMEOUT, trust_env=True) as session:
        yield Client(session, url, token, sleep, clock)
