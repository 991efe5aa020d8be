"""The twin's HTTP in GitHub's manner: calls, answers, pages, entity tags. Routes are registered here and are thin."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.twin.access import Asker
from tests.twin.limits import PER_PAGE_DEFAULT, PER_PAGE_MOST
from tests.twin.state import Json, Refused, Repository, User, World

if TYPE_CHECKING:
    from tests.twin.server import Twin

DOCUMENTATION = "https://docs.github.com/rest"


@dataclass(frozen=True)
class Answer:
    """What a route answers: JSON, or text of some media type."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media: str | None = None


@dataclass(frozen=True)
class Page:
    """A list to be cut into pages: `show` prints one item; `within` is the key of the list where it comes in an object."""

    items: Sequence[Any]
    show: Callable[[Any], Any]
    within: str | None = None
    extra: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """One request, understood: who asks for what."""

    twin: Twin
    request: web.Request
    who: Asker
    body: Json
    repository: Repository | None

    @property
    def world(self) -> World:
        return self.twin.world

    @property
    def home(self) -> Repository:
        """The repository in the path."""
        assert self.repository is not None
        return self.repository

    @property
    def user(self) -> User:
        """Who writes. Raises `Refused` 401 for nobody."""
        if self.who.user is None:
            raise Refused(401, "Requires authentication")
        return self.who.user

    @property
    def by_app(self) -> bool:
        return bool(self.who.token and self.who.token.installation)

    @property
    def query(self) -> Mapping[str, str]:
        return self.request.query

    def text(self, name: str) -> str:
        return self.request.match_info[name]

    def number(self, name: str) -> int:
        """A numeric part of the path. Raises `Refused` 404."""
        if not re.fullmatch(r"\d{1,18}", value := self.request.match_info[name]):
            raise Refused(404, "Not Found")
        return int(value)

    def accepts(self, word: str) -> bool:
        """Whether a media type such as `diff` or `raw` is asked for."""
        return re.search(rf"application/vnd\.github(?:\.v3)?\.{word}\b", self.request.headers.get("Accept", "")) is not None


Handler = Callable[[Call], Awaitable[Answer | Page]]


@dataclass(frozen=True)
class Route:
    """`needs`: alternative permissions, `name:level`. `jwt`: for the app itself. `paced`: counts as a content write."""

    method: str
    path: str
    handler: Handler
    needs: tuple[str, ...] = ()
    jwt: bool = False
    paced: bool = True

    @property
    def write(self) -> bool:
        return self.method != "GET"


ROUTES: list[Route] = []


def route(method: str, path: str, *needs: str, jwt: bool = False, paced: bool = True) -> Callable[[Handler], Handler]:
    """Registers a handler. Order matters: what comes first wins."""

    def register(handler: Handler) -> Handler:
        ROUTES.append(Route(method, path, handler, needs, jwt, paced and method != "GET"))
        return handler

    return register


def template(path: str) -> str:
    """aiohttp's path with its patterns taken off: `{ref:.+}` → `{ref}`."""
    return re.sub(r"\{(\w+):(?:[^{}]|\{[^{}]*\})*\}", r"{\1}", path)


def paged(call: Call, page: Page) -> Answer:
    """One page of a list, with the `Link` header that leads on."""
    size = min(_count(call.query.get("per_page"), PER_PAGE_DEFAULT), PER_PAGE_MOST)
    at = _count(call.query.get("page"), 1)
    shown = [page.show(item) for item in page.items[(at - 1) * size : at * size]]
    last = max(1, -(-len(page.items) // size))
    links = _links(call, at, last)
    body: Any = shown if page.within is None else {**page.extra, "total_count": len(page.items), page.within: shown}
    return Answer(body, headers={"Link": links} if links else {})


def _count(value: str | None, default: int) -> int:
    return int(value) if value and value.isdigit() and len(value) < 10 and int(value) > 0 else default


def _links(call: Call, at: int, last: int) -> str:
    wanted = {"prev": at - 1, "next": at + 1, "last": last, "first": 1}
    if at >= last:
        wanted = {"prev": at - 1, "first": 1}
    if at <= 1:
        wanted = {rel: to for rel, to in wanted.items() if rel in ("next", "last")}
    base = call.twin.world.api + call.request.rel_url.path.removeprefix(call.twin.prefix)
    return ", ".join(f'<{_url(base, {**call.query, "page": str(to)})}>; rel="{rel}"' for rel, to in wanted.items())


def _url(base: str, query: Mapping[str, str]) -> str:
    from yarl import URL

    return str(URL(base).with_query(dict(query)))


def problem(refused: Refused) -> tuple[int, Json]:
    """The JSON of a refusal."""
    body: Json = {"message": refused.message, "documentation_url": DOCUMENTATION, "status": str(refused.status)}
    if refused.errors:
        body["errors"] = refused.errors
    return refused.status, body


def entity_tag(who: Asker, accept: str, raw: bytes) -> str:
    """Weak, and different for every token: a second token's tag never matches the first's."""
    secret = who.token.value if who.token else "app" if who.app else ""
    return 'W/"' + hashlib.sha256(secret.encode() + b"\0" + accept.encode() + b"\0" + raw).hexdigest() + '"'


async def read_body(request: web.Request) -> Json:
    """The request's JSON object. Raises `Refused` 400 as GitHub does."""
    raw = await request.read()
    if not raw:
        return {}
    try:
        found = json.loads(raw)
    except ValueError:
        raise Refused(400, "Problems parsing JSON") from None
    if isinstance(found, list) and request.path.endswith("/labels"):
        return {"labels": found}
    if not isinstance(found, dict):
        raise Refused(400, "Body should be a JSON object")
    return found
