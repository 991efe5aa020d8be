"""Every request's way through the twin: faults, who asks, limits, the route, entity tags, the log."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from uuid import uuid4

from aiohttp import web

from tests.twin import access, git_http, graphql, page, routes_actions, routes_app, routes_checks, routes_code, routes_pulls, routes_talk
from tests.twin.access import Asker
from tests.twin.faults import Fault
from tests.twin.http import ROUTES, Answer, Call, Page, Route, entity_tag, paged, problem, read_body, template
from tests.twin.limits import Exceeded
from tests.twin.server import BODY_LIMIT, Logged, Twin
from tests.twin.state import Json, Refused, not_found

Respond = Callable[[], Awaitable[web.StreamResponse]]

REGISTERED = (routes_actions, routes_app, routes_talk, routes_pulls, routes_checks, routes_code)  # by being imported
VERSIONS = ("2022-11-28", "2026-03-10")
VERSION_HEADER = "X-GitHub-Api-Version"
FREE = ("/rate_limit", "/app", "/app-manifests")


@dataclass
class Trace:
    """What the log will say of a request."""

    route: str | None
    who: Asker = field(default_factory=Asker)
    body: Json = field(default_factory=dict)
    status: int = 0
    counted: bool = False  # the limits let it through


def application(twin: Twin) -> web.Application:
    """API, git and pages in one server."""
    app = web.Application(client_max_size=BODY_LIMIT)
    for one in ROUTES:
        app.router.add_route(one.method, twin.prefix + one.path, _api(twin, one))
    app.router.add_post("/api/graphql" if twin.prefix else "/graphql", _api(twin, Route("POST", "/graphql", graphql.answer, paced=False)))
    app.router.add_get("/_blobs/{key}", _blob(twin))
    app.router.add_route("*", "/{owner}/{repo:[^/]+?}.git/{tail:info/refs|git-upload-pack|git-receive-pack}", _git(twin))
    app.router.add_get("/{owner}/{repo}/{kind:pull|issues}/{number:[0-9]+}", _page(twin))
    app.router.add_route("*", "/{tail:.*}", _api(twin, None))
    return app


def _api(twin: Twin, route: Route | None) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def handle(request: web.Request) -> web.StreamResponse:
        trace = Trace(template(route.path) if route else None)
        return await _through(twin, request, trace, lambda: _answer(twin, request, route, trace))

    return handle


def _git(twin: Twin) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def handle(request: web.Request) -> web.StreamResponse:
        return await _through(twin, request, Trace("git"), lambda: git_http.serve(twin, request))

    return handle


def _page(twin: Twin) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def handle(request: web.Request) -> web.StreamResponse:
        try:
            home = twin.world.repository(f"{request.match_info['owner']}/{request.match_info['repo']}")
            text = page.conversation(twin.world, home, int(request.match_info["number"]))
        except Refused as refused:
            return web.Response(status=refused.status, text=refused.message)
        return web.Response(text=text, content_type="text/html", headers={"Content-Security-Policy": page.POLICY})

    return handle


def _blob(twin: Twin) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """The store behind logs and archives: its address is the permission, and a token sent along is refused, as Azure's store does."""

    async def handle(request: web.Request) -> web.StreamResponse:
        if "Authorization" in request.headers:
            twin.violations.append("a token was sent to the store of logs and archives")
            return web.Response(status=400, text="AuthenticationFailed")
        data, until = twin.blobs.get(request.match_info["key"], (b"", 0.0))
        if until <= twin.world.clock.seconds():
            return web.Response(status=404)
        return web.Response(body=data, content_type="application/octet-stream")

    return handle


# ---------------------------------------------------------------- faults and log


async def _through(twin: Twin, request: web.Request, trace: Trace, respond: Respond) -> web.StreamResponse:
    """Let a waiting fault strike, answer, and log it."""
    at, began = twin.world.clock.seconds(), time.perf_counter()
    twin.in_flight += 1
    try:
        response = await _with_fault(request, twin.faults.take(request.method, request.path), respond)
        trace.status = response.status
        return response
    finally:
        twin.in_flight -= 1
        path, seconds = request.path.removeprefix(twin.prefix), time.perf_counter() - began
        headers = {key: value for key, value in request.headers.items() if key.lower() != "authorization"}
        logged = Logged(request.method, path, request.query_string, trace.status, trace.route, trace.who.owner, at, seconds, trace.body, headers)
        twin.requests.append(logged)


async def _with_fault(request: web.Request, fault: Fault | None, respond: Respond) -> web.StreamResponse:
    if fault is None:
        return await respond()
    await asyncio.sleep(fault.delay)
    if fault.stored or not (fault.status or fault.reset):
        response = await respond()
        await asyncio.sleep(fault.late)
        if fault.cut:
            return await _cut(request, response)
        if not fault.stored:
            return response
    if fault.reset:
        _abort(request)
    return web.json_response({"message": fault.message, "documentation_url": ""}, status=fault.status or 500, headers=dict(fault.headers))


def _abort(request: web.Request) -> None:
    if request.transport:
        request.transport.abort()
    raise ConnectionResetError("dropped on demand")


async def _cut(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """The true headers, half of the body, and silence."""
    body = response.body if isinstance(response, web.Response) and isinstance(response.body, bytes) else b""
    short = web.StreamResponse(status=response.status, headers={**response.headers, "Content-Length": str(len(body))})
    await short.prepare(request)
    await short.write(body[: len(body) // 2])
    _abort(request)
    return short


# ---------------------------------------------------------------- one API request


async def _answer(twin: Twin, request: web.Request, route: Route | None, trace: Trace) -> web.StreamResponse:
    """GitHub's answer, a refusal included, with the headers that every answer has."""
    try:
        answer = await _routed(twin, request, route, trace)
    except Refused as refused:
        status, body = problem(refused)
        answer = Answer(body, status, refused.headers)
    _hold_to_contract(twin, request, route, trace, answer)
    return _respond(twin, request, route, trace, answer)


async def _routed(twin: Twin, request: web.Request, route: Route | None, trace: Trace) -> Answer:
    if not request.headers.get("User-Agent"):
        raise Refused(403, "Request forbidden by administrative rules. Please make sure your request has a User-Agent header")
    if (version := request.headers.get(VERSION_HEADER)) not in (None, *VERSIONS):
        raise Refused(400, f"The API version {version} is not supported.")
    trace.who = access.asker(twin.world, request.headers.get("Authorization"))
    _keep_limits(twin, route, trace.who)
    trace.counted = route is not None and not trace.who.app and not route.path.startswith(FREE)
    if route is None:
        raise not_found()
    trace.body = await read_body(request)
    if route.jwt and not trace.who.app:
        raise Refused(401, "A JSON web token could not be decoded")
    call = Call(twin, request, trace.who, trace.body, None)
    if "owner" in request.match_info:
        call = _at_repository(call, route)
    made = await route.handler(call)
    return paged(call, made) if isinstance(made, Page) else made


def _at_repository(call: Call, route: Route) -> Call:
    home = call.world.repository(f"{call.text('owner')}/{call.text('repo')}")
    if not route.jwt:
        access.authorise(call.who, home, route.needs, route.write)
    if route.write and home.archived and not route.jwt:
        raise Refused(403, "Repository was archived so is read-only.")
    return Call(call.twin, call.request, call.who, call.body, home)


def _keep_limits(twin: Twin, route: Route | None, who: Asker) -> None:
    """Raises `Refused` 403 with the headers that tell which limit it was."""
    if twin.in_flight > twin.limits.concurrent:
        raise _exceeded(twin, who, Exceeded("concurrent", 60))
    if route is None or who.app or route.path.startswith(FREE):
        return
    broken = twin.meter(who).refusal(twin.limits, twin.world.clock.seconds(), route.paced)
    if broken:
        raise _exceeded(twin, who, broken)


def _exceeded(twin: Twin, who: Asker, broken: Exceeded) -> Refused:
    if broken.retry_after is None:
        return Refused(403, f"API rate limit exceeded for {who.owner}.")
    message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    return Refused(403, message, headers={"Retry-After": str(broken.retry_after)})


def _hold_to_contract(twin: Twin, request: web.Request, route: Route | None, trace: Trace, answer: Answer) -> None:
    if twin.contract is None or route is None or answer.media:
        return
    version = request.headers.get(VERSION_HEADER, VERSIONS[0])
    found = twin.contract.check(version, route.method, template(route.path), request.query, trace.body, answer.status, answer.body)
    twin.violations += found


def _respond(twin: Twin, request: web.Request, route: Route | None, trace: Trace, answer: Answer) -> web.Response:
    raw = _raw(answer)
    headers = {**_headers(request), **answer.headers}
    if answer.status == 200 and request.method == "GET":
        headers["ETag"] = entity_tag(trace.who, request.headers.get("Accept", ""), raw)
        headers["Cache-Control"], headers["Vary"] = "private, max-age=60, s-maxage=60", "Accept, Authorization, Cookie"
    unchanged = "ETag" in headers and headers["ETag"] in request.headers.get("If-None-Match", "")
    if route and trace.counted and not unchanged:
        twin.meter(trace.who).charge(twin.world.clock.seconds(), route.paced and answer.status < 400)
    headers |= _rate_headers(twin, trace.who)
    if unchanged:
        return web.Response(status=304, headers=headers)
    headers["Content-Type"] = answer.media or "application/json; charset=utf-8"
    return web.Response(status=answer.status, body=raw if answer.status != 204 else None, headers=headers)


def _raw(answer: Answer) -> bytes:
    if answer.status == 204:
        return b""
    if answer.media:
        return answer.body if isinstance(answer.body, bytes) else str(answer.body).encode("utf-8", "surrogateescape")
    return json.dumps(answer.body, ensure_ascii=True, separators=(",", ":")).encode()


def _headers(request: web.Request) -> dict[str, str]:
    version = request.headers.get(VERSION_HEADER, VERSIONS[0])
    return {"X-GitHub-Request-Id": uuid4().hex.upper(), "X-GitHub-Media-Type": "github.v3; format=json", "X-GitHub-Api-Version-Selected": version}


def _rate_headers(twin: Twin, who: Asker) -> Mapping[str, str]:
    rate = twin.rate(who)
    return {**{f"X-RateLimit-{key.capitalize()}": str(value) for key, value in rate.items()}, "X-RateLimit-Resource": "core"}
