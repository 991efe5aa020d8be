"""Answers the rules' questions about revisions from GitHub's commit API."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import quote

from bot.github.client import Client, Reply, Sleep, connect
from bot.github.errors import Unavailable
from rules.core.model import Answer, Question, Unchecked

# A fresh push can answer 422 for some seconds: a 422 is believed after a second look-up.
SECOND_LOOK = 60.0
CALLS = 10
# The repository itself, its branches and its tags: asked once per run, counted for every revision.
SHARED_CALLS = 3
MOST_QUESTIONS = 500
_REPOSITORY = re.compile(r"(?!\.{1,2}/)[\w.-]{1,100}/(?!\.{1,2}\Z)[\w.-]{1,100}\Z", re.ASCII)
_SHA = re.compile(r"[0-9a-f]{4,64}\Z")
_ONLY_SHA = "application/vnd.github.sha"

Answers = dict[Question, Answer]


def ask_github(
    url: str,
    token: str | None,
    sleep: Sleep = asyncio.sleep,
    clock: Callable[[], float] = time.time,
    say: Callable[[str], None] = lambda _: None,
) -> Callable[[Sequence[Question]], tuple[Mapping[Question, Answer], tuple[Unchecked, ...]]]:
    """A function that answers questions from the API at `url`. `sleep` and `clock` (Unix time) can be replaced; `say` is told of long waits."""

    async def answer(questions: Sequence[Question]) -> tuple[Answers, tuple[Unchecked, ...]]:
        async with connect(url, token, sleep, clock) as client:
            return await Lookup(client, sleep, clock, say).answers(questions)

    return lambda questions: asyncio.run(answer(questions))


class Known(Protocol):
    """Where positive answers outlive a run: a commit that was found and reachable is not asked for again."""

    async def find(self, questions: Sequence[Question]) -> Mapping[Question, Answer]:
        """The answers that were kept, of these questions."""

    async def keep(self, answers: Mapping[Question, Answer]) -> None:
        """Keep these (`positive` all of them)."""


def positive(answer: Answer) -> bool:
    """Whether an answer stays true: the commit is there, and the repository itself reaches it."""
    return answer.status == 200 and answer.reachable is True


class Lookup:
    """One run over many questions: what is learnt about a repository is kept, and all second look-ups share one wait."""

    def __init__(self, client: Client, sleep: Sleep, clock: Callable[[], float], say: Callable[[str], None], known: Known | None = None) -> None:
        self._client, self._sleep, self._clock, self._say, self._known = client, sleep, clock, say, known
        self._repositories: dict[tuple[str, str], asyncio.Task[Reply]] = {}
        self._failures: dict[str, int] = {}

    async def answers(self, questions: Sequence[Question]) -> tuple[Answers, tuple[Unchecked, ...]]:
        """The answers, and what is said about questions without one."""
        asked = [q for q in questions if _REPOSITORY.match(q.repository) and _SHA.match(q.sha)]
        held = await self._known.find(asked) if self._known else {}
        open_ones = [q for q in asked if q not in held]
        found = await self._all(open_ones[:MOST_QUESTIONS])
        doubtful = [q for q, answer in found.items() if answer.status == 422]
        if doubtful:
            found = {q: a for q, a in found.items() if a.status != 422} | await self._again(doubtful)
        if self._known and (new := {q: a for q, a in found.items() if positive(a)}):
            await self._known.keep(new)
        return {**held, **found}, tuple(self._notes(len(open_ones)))

    async def _again(self, doubtful: Sequence[Question]) -> Answers:
        """Second look-ups. What cannot be looked up again is not answered: a single 422 is not believed."""
        self._say(f"waiting {SECOND_LOOK:.0f} s to look up {len(doubtful)} revisions once more")
        await self._sleep(SECOND_LOOK)
        return await self._all(doubtful)

    async def _all(self, questions: Iterable[Question]) -> Answers:
        asked = list(questions)
        answers = await asyncio.gather(*(self._one(question) for question in asked))
        return {q: a for q, a in zip(asked, answers, strict=True) if a is not None}

    async def _one(self, question: Question) -> Answer | None:
        try:
            reply = await self._client.look(f"/repos/{question.repository}/commits/{question.sha}", _ONLY_SHA)
            if reply.status != 200:
                return Answer(reply.status)
            full = _full_id(reply.data)
            if full is None or not full.startswith(question.sha):
                # A branch or tag of that name was found, or something that is no commit.
                return None
            return Answer(200, await self._reachable(question.repository, full), "commit")
        except Unavailable as error:
            self._failures[error.why] = self._failures.get(error.why, 0) + 1
            return None

    def _notes(self, asked: int) -> Iterable[Unchecked]:
        for why, times in self._failures.items():
            yield Unchecked("revisions on GitHub", f"{times} look-ups: {why}")
        if asked > MOST_QUESTIONS:
            yield Unchecked("revisions on GitHub", f"{asked - MOST_QUESTIONS} revisions beyond the first {MOST_QUESTIONS} were not looked up")

    # ------------------------------------------------------------ reachability

    async def _reachable(self, repository: str, sha: str) -> bool | None:
        """Is `sha` on a branch, a tag or an open pull's head of `repository`? None where ten calls do not tell.

        The commit API also answers for commits that live in forks only, which is why a 200 is not enough.
        """
        try:
            return await _Reach(self, repository, sha).found()
        except Unavailable:
            return None

    async def shared(self, repository: str, path: str) -> Reply:
        """A reply about the repository itself, asked once per run."""
        key = (repository, path)
        if key not in self._repositories:
            self._repositories[key] = asyncio.ensure_future(self._client.look(f"/repos/{repository}{path}"))
        return await self._repositories[key]

    async def get(self, path: str) -> Reply:
        return await self._client.look(path)


class _Reach:
    """The calls about one revision, at most ten."""

    def __init__(self, lookup: Lookup, repository: str, sha: str) -> None:
        self._lookup, self._repository, self._sha, self._calls = lookup, repository, sha, 0

    async def found(self) -> bool | None:
        home = await self._lookup.shared(self._repository, "")
        branch = _text(home.data, "default_branch")
        if home.status != 200 or branch is None:
            return None
        if await self._contains(quote(branch, safe="")) or await self._in_open_pull() or await self._is_branch_head():
            return True
        return await self._on_others(branch)

    async def _contains(self, tip: str) -> bool:
        """True when the commit is `tip` or one of its ancestors."""
        reply = await self._get(f"/compare/{tip}...{self._sha}?per_page=1")
        return reply.status == 200 and _text(reply.data, "status") in ("behind", "identical")

    async def _in_open_pull(self) -> bool:
        reply = await self._get(f"/commits/{self._sha}/pulls")
        return any(_text(pull, "state") == "open" and _of_repository(pull, self._repository) for pull in _items(reply))

    async def _is_branch_head(self) -> bool:
        return bool(_items(await self._get(f"/commits/{self._sha}/branches-where-head")))

    async def _on_others(self, default: str) -> bool | None:
        """Compare with every other branch and tag, as far as the calls reach."""
        branches = await self._lookup.shared(self._repository, "/branches?per_page=100")
        tags = await self._lookup.shared(self._repository, "/tags?per_page=100")
        if branches.status != 200 or tags.status != 200:
            return None
        refs = [ref for ref in (*_items(branches), *_items(tags)) if _text(ref, "name") != default]
        tips = dict.fromkeys(_text(ref.get("commit"), "sha") for ref in refs)
        if self._sha in tips:
            return True
        for tip in tips:
            if self._calls >= CALLS - SHARED_CALLS:
                return None
            if tip and await self._contains(tip):
                return True
        return None if branches.more or tags.more else False

    async def _get(self, path: str) -> Reply:
        """One call. A limit or an outage ends the search: nothing is concluded from what was not answered."""
        self._calls += 1
        reply = await self._lookup.get(f"/repos/{self._repository}{path}")
        if reply.status not in (200, 404, 422):
            raise Unavailable(f"HTTP {reply.status}")
        return reply


def _full_id(data: Any) -> str | None:
    """The commit's id, from the bare text that was asked for or from a JSON object."""
    text = data if isinstance(data, str) else _text(data, "sha")
    return text.strip().lower() if text and _SHA.match(text.strip().lower()) else None


def _text(data: Any, key: str) -> str | None:
    value = data.get(key) if isinstance(data, Mapping) else None
    return value if isinstance(value, str) else None


def _items(reply: Reply) -> list[Mapping[str, Any]]:
    return [item for item in reply.data if isinstance(item, Mapping)] if reply.status == 200 and isinstance(reply.data, list) else []


def _of_repository(pull: Mapping[str, Any], repository: str) -> bool:
    base = pull.get("base")
    home = base.get("repo") if isinstance(base, Mapping) else None
    name = _text(home, "full_name")
    return name is None or name.lower() == repository.lower()
