"""Speaks to GitHub as the app and as its installations: signed JWTs, and installation tokens that are fetched once and in time.

docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app
"""

from __future__ import annotations

import asyncio
import json
import time
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

import aiohttp
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from bot.github.client import Client, Credential, Sleep, session
from bot.github.errors import Unavailable
from bot.github.kept import Kept
from bot.github.transport import Api

# "To protect against clock drift, set this 60 seconds in the past"; "no more than 10 minutes into the future" (same pages, "Generating a JWT").
JWT_BEFORE = 60
JWT_AFTER = 9 * 60 - JWT_BEFORE
JWT_REUSED = 5 * 60
# Tokens last an hour; one that ends within this time is replaced before it is used.
TOKEN_REST = 5 * 60.0
FETCH_REST = 20 * 60.0


def signing_key(pem: str) -> RSAPrivateKey:
    """The app's private key. Raises `ValueError` or `TypeError` where it is none (settings have checked it)."""
    key = serialization.load_pem_private_key(pem.encode(), None)
    if not isinstance(key, RSAPrivateKey):
        raise ValueError("not an RSA key")
    return key


def app_jwt(key: RSAPrivateKey, app_id: int, now: float) -> str:
    """A JWT (RS256) of the app, valid from a minute before `now` (Unix time) until eight minutes after it."""
    claims = {"iat": int(now) - JWT_BEFORE, "exp": int(now) + JWT_AFTER, "iss": str(app_id)}
    signed = f"{_part({'alg': 'RS256', 'typ': 'JWT'})}.{_part(claims)}"
    return f"{signed}.{_base64(key.sign(signed.encode(), PKCS1v15(), hashes.SHA256()))}"


def _part(value: Mapping[str, object]) -> str:
    return _base64(json.dumps(value, separators=(",", ":")).encode())


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True)
class _Token:
    value: str
    ends: float

    def __repr__(self) -> str:
        return f"_Token(ends={self.ends})"


class GitHub:
    """One GitHub as one app sees it: a client for the app itself and one for each installation, over shared connections.

    It belongs to the event loop that it is used in.
    """

    def __init__(
        self,
        connections: aiohttp.ClientSession,
        url: str,
        app_id: int,
        private_key: str,
        *,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.time,
        kept: Kept | None = None,
    ) -> None:
        self._connections, self._url, self._app_id, self._key = connections, url, app_id, signing_key(private_key)
        self._sleep, self._clock = sleep, clock
        self._kept = kept or Kept()
        self._jwt: _Token | None = None
        self._tokens: dict[int, _Token] = {}
        self._fetching: dict[int, asyncio.Task[_Token]] = {}
        self._clients: dict[int, Client] = {}
        self.app = Client(Api(connections, url), Credential(self._as_app), sleep=sleep, clock=clock)

    def installation(self, id: int) -> Client:
        """The client of an installation, always the same: its limits are the installation's."""
        if id not in self._clients:
            api = Api(self._connections, self._url, self._kept, f"installation {id}")
            self._clients[id] = Client(api, self._as_installation(id), sleep=self._sleep, clock=self._clock)
        return self._clients[id]

    def jwt(self) -> str:
        """The app's JWT, signed anew every five minutes."""
        now = self._clock()
        if self._jwt is None or not 0 <= self._jwt.ends - now <= JWT_REUSED:
            self._jwt = _Token(app_jwt(self._key, self._app_id, now), now + JWT_REUSED)
        return self._jwt.value

    async def token(self, id: int, rest: float = TOKEN_REST) -> str:
        """A token of the installation that lasts `rest` seconds at least. Whoever asks at the same time gets the same one.

        Raises `NotFound` (uninstalled), `Forbidden` (suspended, or the app's key is wrong), `RateLimited`, `Unavailable`.
        """
        held = self._tokens.get(id)
        if held is not None and held.ends - self._clock() > rest:
            return held.value
        if id not in self._fetching:
            self._fetching[id] = asyncio.ensure_future(self._fetch(id))
            self._fetching[id].add_done_callback(lambda done: self._fetched(id, done))
        return (await asyncio.shield(self._fetching[id])).value

    def forget(self, id: int, value: str | None = None) -> bool:
        """Drop the installation's token (only if it is `value`, where given); true where the next one will be another."""
        held = self._tokens.get(id)
        if held is not None and value in (None, held.value):
            del self._tokens[id]
        return True

    def ended(self, id: int) -> None:
        """The installation was removed or suspended: nothing of it is kept."""
        self.forget(id)
        self._clients.pop(id, None)
        self._kept.forget(f"installation {id}")

    async def _as_app(self) -> Mapping[str, str]:
        return {"jwt": self.jwt()}

    def _as_installation(self, id: int) -> Credential:
        async def given() -> Mapping[str, str]:
            return {"oauth_token": await self.token(id)}

        return Credential(given, lambda refused: self.forget(id, refused.get("oauth_token")))

    async def _fetch(self, id: int) -> _Token:
        raw = await self.app.post(f"/app/installations/{id}/access_tokens", again=True)
        try:
            return _Token(str(raw["token"]), datetime.fromisoformat(raw["expires_at"]).timestamp())
        except (KeyError, TypeError, ValueError) as error:
            raise Unavailable("an unusable answer: no token") from error

    def _fetched(self, id: int, done: asyncio.Task[_Token]) -> None:
        self._fetching.pop(id, None)
        if not done.cancelled() and done.exception() is None:
            self._tokens[id] = done.result()


@asynccontextmanager
async def open_github(
    url: str, app_id: int, private_key: str, sleep: Sleep = asyncio.sleep, clock: Callable[[], float] = time.time
) -> AsyncIterator[GitHub]:
    """The GitHub whose API is at `url`, for the life of the context."""
    async with session() as connections:
        yield GitHub(connections, url, app_id, private_key, sleep=sleep, clock=clock)
