"""One request to GitHub: gidgethub over aiohttp, with the guards that gidgethub leaves to its user.

Measured on gidgethub 6.0.0: limits raise plain refusals, a 422 without a message trips it, absolute addresses get the token on any host, its cache
is keyed by address alone, it sends no API version. So everything that is not 2xx leaves it as `Answered`, before it reads the body.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

import aiohttp
from gidgethub import sansio
from gidgethub.aiohttp import GitHubAPI

from bot.github.errors import Forbidden, GitHubError, NotFound, RateLimited, Refused, Unavailable
from bot.github.kept import Answer, Kept

API_VERSION = "2022-11-28"
REQUESTER = "assay"
BODY_LIMIT = 16 * 1024 * 1024
REFUSAL_LIMIT = 64 * 1024
REDIRECTS = (301, 302, 307, 308)
MOST_REDIRECTS = 5
# A limit without headers: "wait for at least one minute"
# (docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api, "Exceeding the rate limit").
UNTOLD_WAIT = 60.0
FRESH = {"cache-control": "no-cache"}
# All that gidgethub needs to read an answer; it trips over odd rate-limit headers.
_READ = ("content-type", "link")


class Answered(Exception):
    """Any answer that is not 2xx, with the start of its body."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes = b"") -> None:
        super().__init__(status)
        self.status, self.headers, self.body = status, headers, body


class Elsewhere(Exception):
    """The answer lies on another host, which our token is not for."""

    def __init__(self, status: int, url: str) -> None:
        super().__init__(status)
        self.status, self.url = status, url


class Api(GitHubAPI):
    """gidgethub with an API version, bounded bodies, its own redirects and entity tags. `who` names whose answers are kept; "" keeps none."""

    def __init__(self, session: aiohttp.ClientSession, url: str, kept: Kept | None = None, who: str = "") -> None:
        super().__init__(session, REQUESTER, base_url=url)
        self._origin = _origin(url)
        self._prefix = urlsplit(url).path.rstrip("/")
        self._kept = kept if who else None
        self._who = who

    async def _request(self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"") -> tuple[int, Mapping[str, str], bytes]:
        key = (self._who, url, headers.get("accept", ""))
        held = self._kept.get(key) if self._kept and method == "GET" and "cache-control" not in headers else None
        sent = {**headers, "x-github-api-version": API_VERSION, **({"if-none-match": held.tag} if held else {})}
        for _ in range(MOST_REDIRECTS):
            async with self._session.request(method, url, headers=sent, data=body, allow_redirects=False) as response:
                if response.status not in REDIRECTS or "location" not in response.headers:
                    return await self._taken(method, key, held, response)
                url = self._onward(response.status, urljoin(url, response.headers["location"]))
        raise Answered(508, {})

    def _onward(self, status: int, url: str) -> str:
        """The same request goes to where GitHub points (a renamed repository), with our token only on GitHub itself."""
        if _origin(url) != self._origin:
            raise Elsewhere(status, url)
        return url

    async def _taken(
        self, method: str, key: tuple[str, str, str], held: Answer | None, response: aiohttp.ClientResponse
    ) -> tuple[int, Mapping[str, str], bytes]:
        if response.status == 304 and held is not None:
            return 200, held.headers, held.body
        if not 200 <= response.status < 300:
            raise Answered(response.status, dict(_lower(response.headers)), await read_up_to(response, REFUSAL_LIMIT) or b"")
        data = await read_up_to(response, BODY_LIMIT)
        if data is None:
            raise Answered(502, {})
        headers = {name: response.headers[name] for name in _READ if name in response.headers}
        if self._kept is not None and method == "GET" and response.status == 200 and "etag" in response.headers:
            self._kept.put(key, Answer(response.headers["etag"], headers, data))
        return response.status if response.status in (200, 201, 202, 204) else 200, headers, data

    def path_of(self, url: str) -> str:
        """The path of a page's address within the API: whatever host it names, only ours is asked."""
        parts = urlsplit(url)
        path = parts.path.removeprefix(self._prefix) if self._prefix and parts.path.startswith(self._prefix + "/") else parts.path
        return path + (f"?{parts.query}" if parts.query else "")

    @property
    def graphql_url(self) -> str:
        """docs.github.com/enterprise-server/graphql/guides/forming-calls-with-graphql: `/api/graphql` beside `/api/v3`."""
        return self.base_url.rstrip("/").removesuffix("/v3") + "/graphql"

    async def bytes_of(self, path: str, credential: Mapping[str, str], most: int) -> bytes:
        """The bytes behind `path`. GitHub keeps logs and archives on other hosts, whose addresses are the permission: they get no token."""
        headers = sansio.create_headers(REQUESTER, oauth_token=credential.get("oauth_token"), jwt=credential.get("jwt"))
        try:
            _, _, data = await self._request("GET", sansio.format_url(path, None, base_url=self.base_url), {**headers, **FRESH})
            return data
        except Elsewhere as elsewhere:
            return await self._from_elsewhere(elsewhere.url, most)

    async def _from_elsewhere(self, url: str, most: int) -> bytes:
        async with self._session.get(url, headers={"user-agent": REQUESTER}, max_redirects=MOST_REDIRECTS) as response:
            if response.status != 200:
                raise Answered(response.status, dict(_lower(response.headers)))
            data = await read_up_to(response, most)
        if data is None:
            raise Answered(413, {})
        return data


async def read_up_to(response: aiohttp.ClientResponse, most: int) -> bytes | None:
    """The body, None where it is longer than `most` bytes."""
    data = bytearray()
    async for chunk in response.content.iter_chunked(64 * 1024):
        data += chunk
        if len(data) > most:
            return None
    return bytes(data)


def checked_path(path: str) -> str:
    """`path` within the API, as it is. Raises `ValueError` for what could lead elsewhere: an absolute address would be given our token."""
    plain = path.partition("?")[0]
    if not path.startswith("/") or path.startswith("//") or "://" in plain or any(part in (".", "..") for part in plain.split("/")):
        raise ValueError("only paths of the API itself are asked")
    return path


# ---------------------------------------------------------------- refusals


def error_of(answered: Answered, path: str, now: float, write: bool) -> GitHubError:
    """The kind of error that an answer stands for. `now` as Unix time; `write`: whether something may have been stored."""
    status, message = answered.status, _message(answered.body)
    wait = limited(status, answered.headers, now)
    if wait is not None:
        return RateLimited(now + wait, status)
    if status in (404, 410):
        return NotFound(path.partition("?")[0].lstrip("/"), status)
    if status in (401, 403):
        return Forbidden(status, message or "Forbidden", answered.headers.get("x-accepted-github-permissions", ""))
    if status >= 500:
        return Unavailable(f"HTTP {status}", write, status)
    return Refused(status, message or f"HTTP {status}", _reasons(answered.body))


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


def kind_of(error: Exception) -> str:
    """Why there is no answer, without addresses."""
    if isinstance(error, TimeoutError):
        return "it took too long"
    return "TLS failed" if isinstance(error, aiohttp.ClientSSLError) else "no connection"


def _message(body: bytes) -> str:
    found = _json(body).get("message")
    return found[:500] if isinstance(found, str) else ""


def _reasons(body: bytes) -> tuple[str, ...]:
    """GitHub's `errors`: sentences, or objects with `message`, or with `field` and `code`."""
    errors = _json(body).get("errors")
    return tuple(_reason(one)[:500] for one in errors[:50]) if isinstance(errors, list) else ((errors[:500],) if isinstance(errors, str) else ())


def _reason(error: Any) -> str:
    if not isinstance(error, Mapping):
        return str(error)
    told = error.get("message")
    return told if isinstance(told, str) else " ".join(str(error[key]) for key in ("resource", "field", "code") if error.get(key))


def _json(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, Mapping) else {}


def _lower(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name.lower(), value) for name, value in headers.items()]


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or (443 if parts.scheme == "https" else 80)
