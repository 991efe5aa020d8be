"""One review of one pull or merge group: read, fetch, judge in the box, put into words, and say what is to be written. Writes nothing itself."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from bot.box import Answer, Request
from bot.checkout import fetch
from bot.checkout.fetch import Fetched
from bot.github import reads, reads_checks
from bot.github.client import Client
from bot.github.reads import LineComment, PullState, Remark, Review
from bot.github.reads_checks import ChangedFile
from bot.jobs import circumstances, lookups, wire
from bot.jobs.desk import Desk, Superseded
from bot.review.as_json import as_json
from bot.review.compose import Words, compose, failed
from bot.review.ledger import Ledger, ledger_object, newest, read_ledger
from bot.review.plan import PostedState, plan, posted_state
from bot.review.reconcile import Reconciled, reconcile
from bot.review.scene import Scene
from bot.store import records
from bot.store.conversations import Wanted
from bot.store.records import Run
from rules.core.config import Config
from rules.core.model import Pull

log = logging.getLogger("assay.review")
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is to be written for one version of a conversation, and what to remember when it is there.

    `expect` is a digest of what the review has read of the conversation: where it changed before the writing, the review starts again.
    """

    actions: tuple[Json, ...] = ()
    expect: str = ""
    full_name: str = ""
    ledger: Json | None = None
    run: int = 0
    said: str = ""


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation as GitHub shows it."""

    remarks: tuple[Remark, ...] = ()
    reviews: tuple[Review, ...] = ()
    comments: tuple[LineComment, ...] = ()


async def review_pull(desk: Desk, wanted: Wanted) -> Outcome:
    """Review the pull as it is now. Raises `Superseded`, `FetchError` and what `bot.github.errors` lists."""
    client = desk.github.installation(wanted.installation)
    state = await reads.pull(client, wanted.full_name, wanted.number)
    if state.pull.state != "open":
        return Outcome(said=f"the pull is {state.pull.state}")
    name = state.pull.base_repository or wanted.full_name
    talk, around, fetched = await asyncio.gather(
        _talk(client, name, wanted.number),
        circumstances.around(desk, client, name, state.pull.head_sha, state.base_ref),
        _fetched(desk, wanted, state, name),
    )
    review = _Review(desk, client, wanted, name, talk, around, state)
    if isinstance(fetched, fetch.HeadGone):
        return await review.without(str(fetched), "head-gone")
    return await review.of(fetched)


async def review_group(desk: Desk, wanted: Wanted) -> Outcome:
    """Review what a merge group would put on its base: a check run and nothing else."""
    client = desk.github.installation(wanted.installation)
    token = lambda: desk.github.token(wanted.installation)  # noqa: E731
    aim = fetch.Wanted(wanted.repository, wanted.full_name, wanted.head, wanted.base)
    fetched, around = await asyncio.gather(
        desk.mirrors.fetch(aim, token), circumstances.around(desk, client, wanted.full_name, wanted.head, wanted.base)
    )
    return await _Review(desk, client, wanted, wanted.full_name, Talk(), around, None).of(fetched)


async def _talk(client: Client, name: str, number: int) -> Talk:
    return Talk(
        *await asyncio.gather(reads.comments(client, name, number), reads.reviews(client, name, number), reads.review_comments(client, name, number))
    )


async def _fetched(desk: Desk, wanted: Wanted, state: PullState, name: str) -> Fetched | fetch.HeadGone:
    """The head and base in the mirror. A head that is gone because a newer one took its place is not worth a word. Raises `Superseded`."""
    aim = fetch.Wanted(wanted.repository, name, state.pull.head_sha, state.base_ref, wanted.number, state.pull.base_sha)
    try:
        return await desk.mirrors.fetch(aim, lambda: desk.github.token(wanted.installation))
    except fetch.HeadGone as gone:
        if gone.now and gone.now != state.pull.head_sha:
            raise Superseded(wanted.key) from gone
        return gone


@dataclass
class _Review:
    """The parts of one review. `state` is None for a merge group."""

    desk: Desk
    client: Client
    wanted: Wanted
    name: str
    talk: Talk
    around: circumstances.Around
    state: PullState | None

    @property
    def head(self) -> str:
        return self.state.pull.head_sha if self.state else self.wanted.head

    @property
    def pull(self) -> Pull | None:
        return self.state.pull if self.state else None

    async def of(self, fetched: Fetched) -> Outcome:
        began = time.monotonic()
        posted = self._posted()
        before = await self._before(posted)
        answer = await self._judged(fetched, before)
        if answer.failure or answer.report is None:
            failure = answer.failure
            return await self.without(failure.sentence if failure else "the box gave no report", failure.kind if failure else "crash")
        reconciled = await asyncio.to_thread(self._reconciled, before, answer)
        files = await self._files(answer.report.merge_base or fetched.base)
        scene = await self._scene(answer)
        words = await asyncio.to_thread(compose, reconciled, answer.report, scene, files, self.desk.settings.marker_key)
        run = Run(
            self.wanted.key, self.wanted.version, self.head, fetched.base, reconciled.verdict.value, time.monotonic() - began, as_json(answer.report)
        )
        kept = await asyncio.to_thread(records.keep_run, self.desk.database, run)
        said = f"{reconciled.verdict.value}, {len(reconciled.told)} stories, {answer.seconds:.2f} s in the box"
        return self._outcome(posted, words, scene, kept, said)

    async def without(self, sentence: str, kind: str) -> Outcome:
        """The review that could not be: it is said, and the ledger stays."""
        posted = self._posted()
        before = await self._before(posted)
        scene = await self._scene(Answer(config=Config()))  # type: ignore[call-arg]
        words = failed(before, self.head, kind, sentence, scene, self.desk.settings.marker_key)
        return self._outcome(posted, words, scene, 0, f"no report: {sentence}")

    def _outcome(self, posted: PostedState, words: Words, scene: Scene, run: int, said: str) -> Outcome:
        actions = tuple(wire.plain(action) for action in plan(posted, words, scene))
        return Outcome(actions, expectation(self.state, self.talk.remarks, self.desk.me.login), self.name, ledger_object(words.ledger), run, said)

    def _posted(self) -> PostedState:
        return posted_state(
            key=self.desk.settings.marker_key,
            conversation=self.wanted.key,
            me=self.desk.me.login,
            app_id=self.desk.me.app_id,
            head=self.head,
            reviews=self.talk.reviews,
            comments=self.talk.comments,
            runs=self.around.runs,
        )

    async def _before(self, posted: PostedState) -> Ledger:
        kept = await asyncio.to_thread(records.kept_ledger, self.desk.database, self.wanted.key)
        return newest(read_ledger(kept) if kept else None, posted.ledger) or Ledger(self.wanted.key)

    async def _judged(self, fetched: Fetched, before: Ledger) -> Answer:
        """Both passes, with the answers of the outside between them."""
        request = Request(fetched.folder, self.head, fetched.base, self.pull, ledger=before)
        asked = await self._passed(request)
        if asked.failure:
            return asked
        facts, notes = await lookups.answers(self.desk, self.client, self.wanted, asked.questions)
        return await self._passed(replace(request, facts=facts, notes=notes))

    async def _passed(self, request: Request) -> Answer:
        """One pass in a box."""
        async with self.desk.boxes.one(self.wanted.repository) as box:
            await self.desk.must_be_newest(self.wanted.key, self.wanted.version)
            return await self.desk.run(box, request, self.wanted.key, self.wanted.version)

    def _reconciled(self, before: Ledger, answer: Answer) -> Reconciled:
        assert answer.report is not None
        draft = self.pull.draft if self.pull else False
        return reconcile(before, answer.report, answer.seen, today=datetime.now(UTC).date(), draft=draft, renames=answer.renames)

    async def _files(self, merge_base: str) -> Mapping[str, ChangedFile]:
        """The pull's files by path. They depend on the head and the merge base alone."""
        if self.state is None:
            return {}
        key = ("files", self.wanted.repository, self.wanted.number, self.head, merge_base)
        found: Sequence[ChangedFile] | None = self.desk.recent.get(key)
        if found is None:
            found = self.desk.recent.put(key, await reads_checks.files(self.client, self.name, self.wanted.number))
        return {one.path: one for one in found}

    async def _scene(self, answer: Answer) -> Scene:
        config = answer.config or Config()  # type: ignore[call-arg]
        return Scene(
            conversation=self.wanted.key,
            number=self.wanted.number,
            config=config,
            account=self.desk.me.login,
            trigger="push" if self.wanted.reason == "synchronize" else self.wanted.reason,
            repository_url=f"{self.desk.settings.github_url}/{self.name}",
            config_blob=answer.config_blob,
            config_change=answer.config_change,
            draft=self.pull.draft if self.pull else False,
            check_only=self.state is None or "check" in (self.desk.settings.mode, config.mode),
            jobs=await circumstances.jobs(self.desk, self.client, self.name, self.around),
            approvals=circumstances.approvals(self.talk.reviews),
            threads=await circumstances.threads(self.client, self.name, self.wanted.number, self.talk.comments),
            evidence=answer.evidence,
        )


def expectation(state: PullState | None, remarks: Sequence[Remark], me: str) -> str:
    """A digest of all that people can change of a conversation while it is reviewed: head, base, texts, comments. Our own words do not count."""
    if state is None:
        return ""
    pull = state.pull
    said = [(one.comment.id, one.updated_at) for one in remarks if one.comment.user.login.lower() != me.lower()]
    held = [pull.head_sha, state.base_ref, pull.title, pull.body, pull.draft, pull.state, said]
    return hashlib.sha256(json.dumps(held).encode("utf-8", "surrogatepass")).hexdigest()


async def expected_still(client: Client, name: str, number: int, expect: str, me: str) -> bool:
    """Whether the conversation is as the review has read it."""
    state, remarks = await asyncio.gather(reads.pull(client, name, number), reads.comments(client, name, number))
    return expectation(state, remarks, me) == expect


__all__ = ["Outcome", "expected_still", "review_group", "review_pull"]
