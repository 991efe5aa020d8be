"""The commit API client against a real server on the loopback: statuses, limits, second look-ups, reachability."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.github.client import Client, Reply, connect
from bot.github.commits import SECOND_LOOK, Lookup
from bot.github.transport import limited
from rules.core.model import Answer, Question, Unchecked

SHA = "a" * 40
OTHER = "b" * 40


class Clock:
    """A time that passes only when somebody sleeps. `slept` is told to `then` after each sleep."""

    def __init__(self, then: Callable[[float], None] = lambda _: None) -> None:
        self.time, self.slept, self._then = 1_000_000.0, [], then  # type: list[float]

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)
        self.time += seconds
        self.slept.append(seconds)
        self._then(seconds)

    def now(self) -> float:
        return self.time


class GitHub:
    """A small stand-in: what it answers by path, and what it was asked."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers, self.asked, self.headers, self.together, self.most = answers, [], [], 0, 0  # type: ignore[var-annotated]

    async def handle(self, request: web.Request) -> web.Response:
        self.together += 1
        self.most = max(self.most, self.together)
        await asyncio.sleep(0.005)
        self.together -= 1
        self.asked.append(request.path)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        answer = self.answers.get(request.path, 404)
        if isinstance(answer, list) and answer and isinstance(answer[0], int | web.Response | str):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if isinstance(answer, web.Response):
            return web.Response(status=answer.status, headers=answer.headers, body=answer.body)
        if isinstance(answer, int):
            return web.json_response({}, status=answer)
        if isinstance(answer, str):
            return web.Response(text=answer, content_type="application/vnd.github.sha")
        return web.json_response(answer)


def talk(github: GitHub, work: Callable[[Client], Awaitable[Any]], clock: Clock, token: str | None = None) -> Any:
    async def run() -> Any:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", github.handle)
        async with TestServer(app) as server, connect(str(server.make_url("/api/v3")), token, clock.sleep, clock.now) as client:
            return await work(client)

    return asyncio.run(run())


def ask(
    github: GitHub, *questions: Question, clock: Clock | None = None, token: str | None = None
) -> tuple[dict[Question, Answer], tuple[Unchecked, ...]]:
    clock = clock or Clock()
    return talk(github, lambda client: Lookup(client, clock.sleep, clock.now, lambda _: None).answers(questions), clock, token)  # type: ignore[no-any-return]


Q = Question("o/r", SHA)
COMMIT = f"/api/v3/repos/o/r/commits/{SHA}"
HOME = "/api/v3/repos/o/r"


@pytest.mark.parametrize("status", [401, 403, 404, 409, 451])
def test_a_refusal_stays_a_status(status: int) -> None:
    assert ask(GitHub({COMMIT: status}), Q) == ({Q: Answer(status)}, ())


def test_what_is_sent() -> None:
    github = GitHub({COMMIT: 404})
    ask(github, Q, token="tok")
    ask(github, Q)
    first, second = github.headers
    assert first["authorization"] == "token tok" and "authorization" not in second
    assert first["x-github-api-version"] == "2022-11-28" and first["user-agent"] == "assay"


def test_a_commit_on_the_default_branch() -> None:
    github = GitHub({COMMIT: SHA, HOME: {"default_branch": "main"}, f"{HOME}/compare/main...{SHA}": {"status": "behind"}})
    assert ask(github, Q) == ({Q: Answer(200, True, "commit")}, ())


def test_a_short_id_and_a_json_answer() -> None:
    question = Question("o/r", SHA[:8])
    github = GitHub(
        {f"{HOME}/commits/{SHA[:8]}": {"sha": SHA}, HOME: {"default_branch": "a/b"}, f"{HOME}/compare/a/b...{SHA}": {"status": "identical"}}
    )
    assert ask(github, question)[0] == {question: Answer(200, True, "commit")}


def test_a_branch_of_that_name_is_no_commit() -> None:
    assert ask(GitHub({COMMIT: OTHER}), Q) == ({}, ())


def reach(**answers: Any) -> bool | None:
    names = {"compare": f"compare/main...{SHA}", "pulls": f"commits/{SHA}/pulls", "heads": f"commits/{SHA}/branches-where-head"}
    held = {f"{HOME}/{names.get(name, name)}": answer for name, answer in answers.items()}
    found, _ = ask(GitHub({COMMIT: SHA, HOME: {"default_branch": "main"}} | held), Q)
    return found[Q].reachable


def test_a_commit_of_an_open_pull() -> None:
    mine = {"state": "open", "base": {"repo": {"full_name": "O/r"}}}
    assert reach(compare={"status": "diverged"}, pulls=[mine]) is True
    assert reach(compare={"status": "diverged"}, pulls=[{**mine, "state": "closed"}], branches=[], tags=[]) is False
    assert reach(compare={"status": "diverged"}, pulls=[{"state": "open", "base": {"repo": {"full_name": "fork/r"}}}], branches=[], tags=[]) is False


def test_t02_a_commit_that_only_a_fork_has_is_not_reachable() -> None:
    branches = [{"name": "main", "commit": {"sha": OTHER}}, {"name": "dev", "commit": {"sha": "c" * 40}}]
    found = reach(
        compare={"status": "diverged"}, pulls=[], heads=[], branches=branches, tags=[], **{f"compare/{'c' * 40}...{SHA}": {"status": "ahead"}}
    )
    assert found is False


def test_a_commit_on_another_branch_or_tag() -> None:
    dev, tag = [{"name": "dev", "commit": {"sha": OTHER}}], [{"name": "v1", "commit": {"sha": SHA}}]
    assert reach(compare={"status": "ahead"}, heads=[{"name": "x"}]) is True
    assert reach(compare={"status": "ahead"}, branches=dev, tags=[], **{f"compare/{OTHER}...{SHA}": {"status": "behind"}}) is True
    assert reach(compare={"status": "ahead"}, branches=[], tags=tag) is True


def test_ten_calls_at_most_and_then_unknown() -> None:
    branches = [{"name": f"b{n}", "commit": {"sha": f"{n:040x}"}} for n in range(50)]
    github = GitHub({COMMIT: SHA, HOME: {"default_branch": "main"}, f"{HOME}/branches": branches, f"{HOME}/tags": []})
    found, _ = ask(github, Q)
    assert found[Q] == Answer(200, None, "commit")
    assert len(github.asked) - 1 <= 10


def test_an_outage_in_the_middle_of_the_search_is_unknown() -> None:
    assert reach(compare=500) is None
    assert reach(compare={"status": "ahead"}, pulls=403) is None


def test_a_422_is_believed_after_a_second_look_and_all_share_one_wait() -> None:
    clock = Clock()
    other = Question("o/r", OTHER)
    github = GitHub({COMMIT: 422, f"{HOME}/commits/{OTHER}": [422, OTHER], HOME: 404})
    found, _ = ask(github, Q, other, clock=clock)
    assert found == {Q: Answer(422), other: Answer(200, None, "commit")}
    assert clock.slept == [SECOND_LOOK] and SECOND_LOOK >= 60


def test_a_single_422_is_not_believed() -> None:
    assert ask(GitHub({COMMIT: [422, 503]}), Q)[0] == {Q: Answer(503)}


def limit(status: int, **headers: str) -> web.Response:
    return web.json_response({"message": "no"}, status=status, headers={name.replace("_", "-"): value for name, value in headers.items()})


@pytest.mark.parametrize("status", [403, 429])
def test_a_limit_is_waited_for(status: int) -> None:
    clock = Clock()
    github = GitHub({COMMIT: [limit(status, retry_after="7"), 404]})
    assert ask(github, Q, clock=clock)[0] == {Q: Answer(404)}
    assert sum(clock.slept) >= 7


def test_a_limit_that_lasts_an_hour_ends_the_asking() -> None:
    clock = Clock()
    gone = limit(403, x_ratelimit_remaining="0", x_ratelimit_reset=str(int(clock.now()) + 3600), x_ratelimit_limit="60")
    github = GitHub({f"{HOME}/commits/{n:040x}": gone for n in range(30)})
    questions = [Question("o/r", f"{n:040x}") for n in range(30)]
    found, _ = ask(github, *questions, clock=clock)
    assert set(found.values()) == {Answer(403)} and len(github.asked) <= 8 and clock.slept == []


@pytest.mark.parametrize(
    ("status", "headers", "wait"),
    [
        (403, {}, None),
        (403, {"x-ratelimit-remaining": "12"}, None),
        (403, {"retry-after": "30"}, 30),
        (429, {}, 60),
        (429, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, 60),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "110"}, 11),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "90"}, 1),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon"}, 60),
        (404, {"retry-after": "30"}, None),
    ],
)
def test_limits_are_told_from_refusals_by_headers(status: int, headers: dict[str, str], wait: float | None) -> None:
    assert limited(status, headers, 100.0) == wait


def test_a_server_that_stumbles_is_asked_again() -> None:
    assert ask(GitHub({COMMIT: [502, 503, 404]}), Q)[0] == {Q: Answer(404)}
    assert ask(GitHub({COMMIT: 500}), Q)[0] == {Q: Answer(500)}


@pytest.mark.parametrize(
    "answer",
    [
        web.Response(status=422, text="<html>", content_type="text/html"),
        web.json_response({"errors": "x"}, status=422),
        web.json_response([], status=422),
        web.Response(status=520, text=""),
        web.Response(status=404, text="{", content_type="application/json"),
        web.Response(status=404, headers={"x-ratelimit-limit": "x", "x-ratelimit-remaining": "y", "x-ratelimit-reset": "z"}),
    ],
)
def test_strange_refusals_are_only_statuses(answer: web.Response) -> None:
    assert ask(GitHub({COMMIT: answer}), Q)[0] == {Q: Answer(answer.status)}


@pytest.mark.parametrize("answer", [web.Response(text="{", content_type="application/json"), web.json_response({"sha": 5}), web.Response(status=204)])
def test_strange_bodies_are_no_answer_about_the_commit(answer: web.Response) -> None:
    found, _ = ask(GitHub({COMMIT: answer}), Q)
    assert found.get(Q) in (None, Answer(502), Answer(204))


def test_at_most_eight_at_a_time() -> None:
    github = GitHub({})
    ask(github, *(Question("o/r", f"{n:040x}") for n in range(40)))
    assert github.most <= 8 and len(github.asked) == 40


def test_no_answer_at_all_is_said_and_not_asked_for_again_and_again() -> None:
    clock = Clock()

    async def run() -> Any:
        async with connect("http://127.0.0.1:1", None, clock.sleep, clock.now) as client:
            return await Lookup(client, clock.sleep, clock.now, lambda _: None).answers([Question("o/r", f"{n:040x}") for n in range(100)])

    found, notes = asyncio.run(run())
    assert found == {} and notes == (Unchecked("revisions on GitHub", "100 look-ups: no answer (no connection)"),)


@pytest.mark.parametrize("repository", ["../..", "o/..", "o", "o/r/x", "o/r?x=1", "https://evil/r", ""])
def test_names_that_are_no_repository_are_not_asked_for(repository: str) -> None:
    github = GitHub({})
    assert ask(github, Question(repository, SHA), Question("o/r", "main"), Question("o/r", "../x")) == ({}, ()) and github.asked == []


@pytest.mark.parametrize("path", ["https://evil.example/x", "//evil.example/x"])
def test_the_token_goes_to_the_api_only(path: str) -> None:
    with pytest.raises(ValueError, match="only paths"):
        talk(GitHub({}), lambda client: client.look(path), Clock(), "tok")


def test_a_reply() -> None:
    reply = talk(GitHub({"/api/v3/x": {"a": 1}}), lambda client: client.look("/x"), Clock())
    assert reply == Reply(200, {"a": 1})


class Memory:
    """What outlives a run, in a dictionary."""

    def __init__(self) -> None:
        self.held: dict[Question, Answer] = {}

    async def find(self, questions: Sequence[Question]) -> dict[Question, Answer]:
        return {question: self.held[question] for question in questions if question in self.held}

    async def keep(self, answers: Mapping[Question, Answer]) -> None:
        self.held |= answers


def test_a_positive_answer_is_not_asked_for_again_and_no_other_is_kept() -> None:
    memory, clock, other = Memory(), Clock(), Question("o/r", OTHER)
    github = GitHub({COMMIT: SHA, HOME: {"default_branch": "main"}, f"{HOME}/compare/main...{SHA}": {"status": "behind"}})

    def look() -> Any:
        return talk(github, lambda client: Lookup(client, clock.sleep, clock.now, lambda _: None, memory).answers([Q, other]), clock)

    first, asked = look(), len(github.asked)
    assert look() == first == ({Q: Answer(200, True, "commit"), other: Answer(404)}, ())
    assert memory.held == {Q: Answer(200, True, "commit")} and len(github.asked) == asked + 1
