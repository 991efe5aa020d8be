"""The client against the twin and against small servers: limits, attempts, kept answers, pages, and where a token may go."""

import asyncio
import logging
import pickle
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.github.client import Client, connect, fixed, session
from bot.github.errors import Forbidden, GitHubError, NotFound, NotKept, RateLimited, Refused, Unavailable
from bot.github.kept import Answer, Kept
from bot.github.transport import Answered, Api, error_of
from tests.bot.github.scene import REPO, scene

PULL = f"/repos/{REPO}/pulls/1"
ERRORS = [
    NotFound("repos/o/r"),
    Forbidden(403, "no", "checks=write"),
    Refused(422, "no", ("a", "b")),
    RateLimited(12.5),
    Unavailable("x", True),
    NotKept("p"),
]


@pytest.mark.parametrize("error", ERRORS)
def test_errors_are_values(error: GitHubError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert copy == error and hash(copy) == hash(error) and str(copy) == str(error) != "" and copy.status == error.status
    assert error != Exception() and error not in [one for one in ERRORS if one is not error]


@pytest.mark.parametrize(
    ("answered", "error"),
    [
        (Answered(404, {}), NotFound("a")),
        (Answered(410, {}), NotFound("a", 410)),
        (Answered(403, {"x-accepted-github-permissions": "checks=write"}, b'{"message": "no"}'), Forbidden(403, "no", "checks=write")),
        (Answered(403, {"retry-after": "30"}, b'{"message": "no"}'), RateLimited(130, 403)),
        (Answered(429, {}), RateLimited(160, 429)),
        (Answered(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "150"}), RateLimited(151, 403)),
        (Answered(503, {}), Unavailable("HTTP 503", True, 503)),
        (Answered(409, {}, b"<html>"), Refused(409, "HTTP 409")),
        (Answered(422, {}, b'{"message": "m", "errors": ["s"]}'), Refused(422, "m", ("s",))),
        (Answered(422, {}, b'{"message": "m", "errors": "s"}'), Refused(422, "m", ("s",))),
        (
            Answered(422, {}, b'{"message": "m", "errors": [{"field": "f", "code": "invalid"}, {"message": "x"}]}'),
            Refused(422, "m", ("f invalid", "x")),
        ),
        (Answered(422, {}, b"[" * 60_000), Refused(422, "HTTP 422")),
    ],
)
def test_refusals_by_kind(answered: Answered, error: GitHubError) -> None:
    assert error_of(answered, "/a?token=1", 100.0, True) == error


# ---------------------------------------------------------------- kept answers


async def test_what_has_not_changed_is_free(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        first = await at.client.get(PULL)
        used = (await at.client.get("/rate_limit"))["rate"]["used"]
        assert await at.client.get(PULL) == first
        assert [one.status for one in at.twin.calls("GET", PULL)] == [200, 304]
        assert (await at.client.get("/rate_limit"))["rate"]["used"] == used
        at.pull.edit(title="Another")
        assert (await at.client.get(PULL))["title"] == "Another"
        await at.client.get(PULL, fresh=True)
        assert [one.status for one in at.twin.calls("GET", PULL)] == [200, 304, 200, 200]


async def test_pages_are_kept_with_their_links(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        for number in range(105):
            at.pull.comment(f"c{number}", "mia")
        path = f"/repos/{REPO}/issues/1/comments"
        once, twice = [[one["body"] async for one in at.client.getiter(path)] for _ in range(2)]
        assert once == twice == [f"c{number}" for number in range(105)]
        assert [one.status for one in at.twin.calls("GET", path)] == [200, 200, 304, 304]


async def test_another_token_is_another_tag_and_another_media_type_another_answer(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        json = await at.client.get(PULL)
        diff = await at.client.get(PULL, "application/vnd.github.diff")
        assert isinstance(json, dict) and diff.startswith("diff --git")
        assert (await at.client.get(PULL), await at.client.get(PULL, "application/vnd.github.diff")) == (json, diff)
        at.github.forget(at.installation)
        assert await at.client.get(PULL) == json
        assert [one.status for one in at.twin.calls("GET", PULL)] == [200, 200, 304, 304, 200]


async def test_one_installation_never_sees_what_was_kept_for_another(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        await at.client.get(PULL)
        other = at.twin.install("stranger")
        with pytest.raises(NotFound):
            await at.github.installation(other.id).get(PULL)


def test_little_is_kept() -> None:
    kept = Kept(most=10, most_each=6)
    for name, size in (("a", 4), ("b", 4), ("c", 4), ("d", 7)):
        kept.put(("who", name, ""), Answer(name, {}, b"x" * size))
    assert [kept.get(("who", name, "")) is not None for name in "abcd"] == [False, True, True, False]
    kept.put(("who", "b", ""), Answer("b2", {}, b"y"))
    kept.put(("she", "e", ""), Answer("e", {}, b"z" * 5))
    assert [kept.get(("who", name, "")) is not None for name in "bc"] == [True, True]
    kept.forget("who")
    assert kept.get(("who", "b", "")) is None and kept.get(("she", "e", "")) is not None and kept._size == 5


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize("status", [403, 429])
async def test_a_secondary_limit_goes_back_to_the_job_and_quiets_the_installation(tmp_path: Path, status: int) -> None:
    async with scene(tmp_path) as at:
        await at.client.get(PULL)
        at.twin.forget()
        now = at.twin.world.clock.seconds()
        at.twin.faults.secondary(status=status, retry_after=60)
        with pytest.raises(RateLimited) as caught:
            await at.client.post(f"/repos/{REPO}/issues/1/comments", {"body": "x"})
        assert now + 59 <= caught.value.retry_at <= now + 62
        for _ in range(3):
            with pytest.raises(RateLimited):
                await at.client.get(PULL)
        assert len(at.twin.requests) == 1 and at.slept == []
        at.twin.world.clock.advance(62)
        assert (await at.client.get(PULL))["number"] == 1


async def test_a_short_limit_is_waited_for_also_by_writes(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        at.twin.faults.secondary(f"/repos/{REPO}/issues/*", "POST", retry_after=2)
        await at.client.post(f"/repos/{REPO}/issues/1/comments", {"body": "x"})
        assert len(at.pull.comments) == 1 and 1 < sum(at.slept) <= 2


async def test_the_primary_limit_names_its_reset(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        reset = int(at.twin.world.clock.seconds()) + 1_800
        at.twin.faults.rate_limited(reset)
        with pytest.raises(RateLimited) as caught:
            await at.client.get(PULL)
        assert abs(caught.value.retry_at - reset) <= 2


async def test_a_missing_permission_is_no_limit(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        at.twin.world.installations[at.installation].permissions = {"metadata": "read", "contents": "read"}
        with pytest.raises(Forbidden) as caught:
            await at.client.post(f"/repos/{REPO}/check-runs", {"name": "assay", "head_sha": at.pull.head_sha})
        assert caught.value.needs == "checks=write" and not caught.value.suspended
        assert len(at.twin.calls("POST")) == 1


# ---------------------------------------------------------------- attempts


@pytest.mark.parametrize("status", [500, 502, 503, 504])
async def test_t41_reads_are_tried_again_through_an_outage(tmp_path: Path, status: int) -> None:
    async with scene(tmp_path) as at:
        at.twin.faults.answer(status, PULL, times=2)
        assert (await at.client.get(PULL))["number"] == 1
        at.twin.faults.answer(status, PULL, times=3)
        with pytest.raises(Unavailable) as caught:
            await at.client.get(PULL, fresh=True)
        assert caught.value == Unavailable(f"HTTP {status}", False, status)
        assert (await at.client.get(PULL))["number"] == 1, "an outage does not close the client of a service"


@pytest.mark.parametrize("kind", ["reset", "cut"])
async def test_broken_answers_are_asked_for_again(tmp_path: Path, kind: str) -> None:
    async with scene(tmp_path) as at:
        getattr(at.twin.faults, kind)(PULL, "GET", 2)
        assert (await at.client.get(PULL))["number"] == 1


@pytest.mark.parametrize(("kind", "stored"), [("stored_502", 1), ("unavailable", 0), ("reset", 0)])
async def test_a_post_is_not_repeated_and_says_that_it_is_unsure(tmp_path: Path, kind: str, stored: int) -> None:
    async with scene(tmp_path) as at:
        path = f"/repos/{REPO}/issues/1/comments"
        getattr(at.twin.faults, kind)(path, "POST")
        with pytest.raises(Unavailable) as caught:
            await at.client.post(path, {"body": "x"})
        assert caught.value.unsure and len(at.pull.comments) == stored and len(at.twin.calls("POST", path)) == 1


async def test_nobody_there(tmp_path: Path) -> None:
    async with session() as connections:
        client = Client(Api(connections, "http://127.0.0.1:1"), fixed("tok"), sleep=_no_sleep)
        with pytest.raises(Unavailable) as caught:
            await client.post("/x", {})
        assert caught.value == Unavailable("no answer (no connection)")


async def _no_sleep(_: float) -> None:
    return None


# ---------------------------------------------------------------- where the token goes


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def server(handler: Handler) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", handler)
    async with TestServer(app) as running:
        yield str(running.make_url("")).rstrip("/")


async def _client_of(url: str, work: Callable[[Client], Awaitable[Any]]) -> Any:
    async with session() as connections:
        return await work(Client(Api(connections, url, Kept(), "me"), fixed("s3cret"), sleep=_no_sleep))


async def test_a_redirect_to_another_host_never_gets_the_token() -> None:
    seen: list[web.Request] = []

    async def other(request: web.Request) -> web.Response:
        seen.append(request)
        return web.Response(body=b"log")

    async with server(other) as elsewhere:

        async def api(request: web.Request) -> web.Response:
            raise web.HTTPFound(elsewhere.replace("127.0.0.1", "localhost") + "/x") if request.path != "/next" else web.HTTPFound("/x")

        async with server(api) as url:
            with pytest.raises(Refused):
                await _client_of(url, lambda client: client.get("/a"))
            with pytest.raises(Refused):
                await _client_of(url, lambda client: client.post("/a", {"secret": 1}))
            assert seen == []
            assert await _client_of(url, lambda client: client.download("/a")) == b"log"
    assert len(seen) == 1 and "Authorization" not in seen[0].headers


async def test_another_port_is_another_host() -> None:
    seen: list[str] = []

    async def other(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization", ""))
        return web.json_response({})

    async def api(request: web.Request) -> web.Response:
        raise web.HTTPMovedPermanently(elsewhere + "/x")

    async with server(other) as elsewhere, server(api) as url:
        with pytest.raises(Refused):
            await _client_of(url, lambda client: client.get("/a"))
    assert seen == []


async def test_a_renamed_repository_is_followed_with_method_body_and_token() -> None:
    async def api(request: web.Request) -> web.Response:
        if request.path == "/api/v3/repos/o/old":
            raise (
                web.HTTPTemporaryRedirect("/api/v3/repositories/7")
                if request.method == "POST"
                else web.HTTPMovedPermanently("/api/v3/repositories/7")
            )
        return web.json_response([request.path, request.method, request.headers["Authorization"], await request.text()], status=201)

    async with server(api) as url:
        posted = await _client_of(url + "/api/v3", lambda client: client.post("/repos/o/old", {"a": 1}))
        got = await _client_of(url + "/api/v3", lambda client: client.get("/repos/o/old"))
    assert posted == ["/api/v3/repositories/7", "POST", "token s3cret", '{"a": 1}'] and got[1] == "GET"


async def test_a_redirect_without_end() -> None:
    async def api(request: web.Request) -> web.Response:
        raise web.HTTPFound(request.path)

    async with server(api) as url:
        with pytest.raises(Unavailable):
            await _client_of(url, lambda client: client.get("/a"))


async def test_pages_are_asked_of_our_own_host_only() -> None:
    async def api(request: web.Request) -> web.Response:
        if request.query.get("page") == "2":
            return web.json_response([request.path, request.headers["Authorization"]])
        return web.json_response([1], headers={"Link": '<https://evil.example/api/v3/repositories/7/x?page=2>; rel="next"'})

    async def pages(client: Client) -> list[Any]:
        return [one async for one in client.getiter("/repos/o/r/x")]

    async with server(api) as url:
        assert await _client_of(url + "/api/v3", pages) == [1, "/api/v3/repositories/7/x", "token s3cret"]


async def test_a_list_without_end_is_given_up() -> None:
    async def api(request: web.Request) -> web.Response:
        return web.json_response([1], headers={"Link": f'<{request.path}?page=9>; rel="next"'})

    async def pages(client: Client) -> list[Any]:
        return [one async for one in client.getiter("/x")]

    async with server(api) as url:
        with pytest.raises(Unavailable, match="100 pages"):
            await _client_of(url, pages)


@pytest.mark.parametrize("path", ["https://evil.example/x", "//evil.example/x", "repos/o/r", "/repos/../../x", "/repos/o/.", "/\\evil://x"])
async def test_only_paths_of_the_api_are_asked(path: str) -> None:
    async with connect("http://127.0.0.1:1", "tok") as client:
        for work in (client.get, client.post, client.delete, client.put, client.download):
            with pytest.raises(ValueError, match="only paths"):
                await work(path)


@pytest.mark.parametrize(
    ("api", "graphql"), [("https://api.github.com", "https://api.github.com/graphql"), ("https://h/api/v3", "https://h/api/graphql")]
)
async def test_graphql_lies_beside_the_rest(api: str, graphql: str) -> None:
    async with session() as connections:
        assert Api(connections, api).graphql_url == graphql


async def test_enterprise_server(tmp_path: Path) -> None:
    async with scene(tmp_path, enterprise=True) as at:
        assert at.twin.url.endswith("/api/v3") and (await at.client.get(PULL))["number"] == 1
        for number in range(101):
            at.pull.comment(f"c{number}", "mia")
        assert len([one async for one in at.client.getiter(f"/repos/{REPO}/issues/1/comments")]) == 101
        assert at.twin.unknown == []


async def test_graphql_errors_by_kind(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        query = "query($n: String!) { repository(owner: $n, name: $n) { pullRequest(number: 1) { number } } }"
        with pytest.raises(NotFound):
            await at.client.graphql(query, {"n": "nobody"})
        with pytest.raises(Refused):
            await at.client.graphql("query { viewer { login } }", {})


async def test_t34_no_token_in_logs_errors_or_reprs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with scene(tmp_path) as at:
        secret, jwt = await at.github.token(at.installation), at.github.jwt()
        at.twin.faults.answer(502, PULL, times=3)
        told = []
        for path in (PULL, f"/repos/{REPO}/nothing", f"/repos/{REPO}/pulls/99"):
            with pytest.raises(GitHubError) as caught:
                await at.client.get(path)
            told.append(f"{caught.value!r} {caught.value} {caught.getrepr(showlocals=False)}")
    text = caplog.text + "".join(told)
    assert secret not in text and jwt not in text


async def test_an_answer_that_is_too_large_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.github.transport.BODY_LIMIT", 1000)

    async def api(request: web.Request) -> web.Response:
        return web.json_response(["x" * 2000])

    async with server(api) as url:
        with pytest.raises(Unavailable):
            await _client_of(url, lambda client: client.get("/a"))
        with pytest.raises(Unavailable):
            await _client_of(url, lambda client: client.download("/a"))


async def test_eight_at_a_time(tmp_path: Path) -> None:
    most = now = 0

    async def api(request: web.Request) -> web.Response:
        nonlocal most, now
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.005)
        now -= 1
        return web.json_response({})

    async with server(api) as url:
        await _client_of(url, lambda client: asyncio.gather(*(client.get(f"/{number}") for number in range(40))))
    assert most <= 8
