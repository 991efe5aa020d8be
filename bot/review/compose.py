"""Puts a review into words: the body, the inline comments, the check run. Nothing here knows how they are posted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from bot.review import blocks, circumstances, rounds
from bot.review.blocks import Style
from bot.review.check import Check, check_of, failed_check
from bot.review.ledger import Ledger, State
from bot.review.markers import Marker, mark_of, signed
from bot.review.phrases import verdict_words
from bot.review.positions import ChangedFile, Spot, spot
from bot.review.quoting import code, plain, prose
from bot.review.reconcile import Reconciled, Told
from bot.review.scene import HumanThread, Scene
from bot.review.stories import Story
from rules.core.model import Location, Report, Severity, Verdict

# GitHub's bodies hold 65,536 characters by its error text; an oversize edit can answer 200 and keep the old text.
BODY_LIMIT = 60_000
INLINE_LIMIT = 8_000


@dataclass(frozen=True, slots=True)
class Inline:
    """The words of one story beside the code. `spot` is None where no new comment is wanted: it is edited where it is there already.

    `mark` occurs in this body alone.
    """

    spot: Spot | None
    body: str
    number: int
    mark: str


@dataclass(frozen=True, slots=True)
class Words:
    """All that one review wants to have on GitHub.

    inlines   of every story, open or ended
    blocking  a blocking finding counts (REQUEST_CHANGES, where the config asks for it)
    news      False: the last summary is edited instead
    ledger    what is to be remembered once this is posted
    """

    head: str
    body: str
    mark: str
    inlines: tuple[Inline, ...]
    check: Check
    blocking: bool
    news: bool
    ledger: Ledger


def compose(reconciled: Reconciled, report: Report, scene: Scene, files: Mapping[str, ChangedFile], key: bytes) -> Words:
    """The words of a review. `files` are the pull's changed files by path, `key` signs the markers."""
    ledger = reconciled.ledger
    style = blocks.style_of(scene.config, _blob(scene, report.head))
    marker = signed(Marker("review", ledger.conversation, ledger), key)
    room = BODY_LIMIT - len(marker) - 2
    body = blocks.fitted(lambda one: body_text(reconciled, report, scene, one), style, room)
    return Words(
        head=report.head or "",
        body=f"{body}\n\n{marker}",
        mark=mark_of(marker),
        inlines=tuple(_inline(told, scene, files, style, ledger.conversation, key) for told in reconciled.told),
        check=check_of(reconciled, report, scene, body, key),
        blocking=any(t.standing.severity is Severity.BLOCKING and t.standing.state.counts for t in reconciled.told),
        news=reconciled.news,
        ledger=ledger,
    )


def failed(before: Ledger, head: str, kind: str, sentence: str, scene: Scene, key: bytes) -> Words:
    """The words where there is no report: the box gave up, the head is gone, the config cannot be used. What is remembered stays."""
    news = before.failure != kind or before.serial == 0
    ledger = replace(before, failure=kind, serial=before.serial + news, draft=scene.draft)
    style = blocks.style_of(scene.config)
    line = f"**{style.say('verdict')}: {verdict_words(Verdict.INCOMPLETE, style.language)}** — head `{head[:12]}`."
    parts = [line, style.say("incomplete", prose(sentence)), "---", circumstances.footer(None, scene, style)]
    marker = signed(Marker("review", ledger.conversation, ledger), key)
    body = "\n\n".join([*parts, marker])
    return Words(head, body, mark_of(marker), (), failed_check(head, sentence, scene, ledger.conversation, key), False, news, ledger)


def _blob(scene: Scene, head: str | None) -> str:
    return f"{scene.repository_url}/blob/{head}" if scene.repository_url and head else ""


# ---------------------------------------------------------------- the body


def body_text(reconciled: Reconciled, report: Report, scene: Scene, style: Style) -> str:
    """The body in the order that people read it, without its marker."""
    firing = [told for told in reconciled.told if told.standing.state.counts]
    strong = [told for told in firing if told.standing.severity in (Severity.BLOCKING, Severity.HIGH)]
    strong.sort(key=lambda told: told.standing.severity.rank)
    minor = [told for told in firing if told not in strong]
    shown = strong[: style.stories]
    first = "first" if reconciled.ledger.serial == 1 else "none"
    parts = [
        blocks.verdict_lines(report, reconciled.verdict, style),
        *blocks.section("resolved", rounds.resolved(reconciled, style), style, first),
        *blocks.section("findings", [*(_block(told, scene, style, reconciled) for told in shown), *_left_out(strong, style)], style),
        *blocks.section("before", _before(strong, reconciled, style), style),
        *blocks.section("minor", _minor(minor, reconciled, report, scene, style), style),
        *blocks.section("held", blocks.held(report, style), style),
        *blocks.section("limits", ["\n".join((*blocks.limits(report, style), *circumstances.lines(reconciled, report, scene, style)))], style),
        "---",
        circumstances.footer(report, scene, style),
    ]
    return "\n\n".join(parts)


def _left_out(told: list[Told], style: Style) -> list[str]:
    more = len(told) - style.stories
    return [style.say("more", f"{more:,}")] if more > 0 else []


def _block(told: Told, scene: Scene, style: Style, reconciled: Reconciled) -> str:
    label = rounds.label(told.standing, reconciled.ledger.serial, style)
    if told.held:
        standing = told.standing
        at = standing.points[0].place if standing.points else ""
        line = f"**{standing.id} — {style.level(standing.severity.value)}, {label or style.say('still')} — {prose(standing.title)}**"
        return blocks.quoted([line, f"{style.say('held')} {code(at)}."])
    return blocks.block(story_of(told), style, label, [*rounds.cleared_line(told.standing, style), *_threads(told, scene, style)])


def story_of(told: Told) -> Story:
    """The findings of this report as a story with its number of the conversation, the strongest first."""
    return Story(told.standing.id, tuple(sorted((one.finding for one in told.findings), key=lambda finding: finding.severity.rank)))


def _before(strong: list[Told], reconciled: Reconciled, style: Style) -> list[str]:
    tasks = blocks.tasks([story_of(told) for told in strong[: style.stories] if told.findings], style)
    tasks += [f"- [ ] **{told.standing.id}** {prose(told.standing.title)}" for told in strong[: style.stories] if told.held]
    waiting = blocks.waiting_line(reconciled.waiting_on, style)
    return ["\n".join([*tasks, *(["", waiting] if waiting else [])])] if tasks else []


def _minor(minor: list[Told], reconciled: Reconciled, report: Report, scene: Scene, style: Style) -> list[str]:
    shown = [_block(told, scene, style, reconciled) for told in minor[: style.stories]]
    return [*shown, *_left_out(minor, style), *blocks.suggested(report, style), *rounds.set_aside(reconciled, style)]


# ---------------------------------------------------------------- threads of people


def _threads(told: Told, scene: Scene, style: Style) -> Iterator[str]:
    for thread in _threads_at(told, scene)[:3]:
        yield f"**{style.say('thread')}:** [{plain(thread.login)}]({thread.url})"


def _threads_at(told: Told, scene: Scene) -> list[HumanThread]:
    places = [at for one in told.findings for at in one.finding.locations if at.at is None]
    return [thread for thread in scene.threads if any(_same_place(thread, at) for at in places)]


def _same_place(thread: HumanThread, at: Location) -> bool:
    if thread.path != at.path or thread.line is None or at.line is None:
        return False
    return at.line <= thread.line <= (at.end_line or at.line)


# ---------------------------------------------------------------- inline comments


def _inline(told: Told, scene: Scene, files: Mapping[str, ChangedFile], style: Style, conversation: str, key: bytes) -> Inline:
    standing = told.standing
    fingerprint = standing.points[0].fingerprint if standing.points else ""
    marker = signed(Marker("inline", conversation, number=standing.number, fingerprint=fingerprint, state=standing.state.value), key)
    text = blocks.cut(_inline_text(told, replace(style, places=6)), INLINE_LIMIT)
    return Inline(_spot(told, scene, files), f"{text}\n\n{marker}", standing.number, mark_of(marker))


def _inline_text(told: Told, style: Style) -> str:
    """It names no head, so that it changes only when the story does."""
    standing = told.standing
    if not told.findings or not standing.state.counts:
        return f"**{standing.id}** — {rounds.ended(standing, style)} — {prose(standing.title)}"
    story = story_of(told)
    first = story.findings[0]
    label = rounds.said(standing, style) if standing.state is State.DISPUTED else ""
    lines = [blocks.title_line(story, style, label), prose(first.problem), prose(first.impact)]
    lines += [f"**{style.say('also')}:** {prose(one.title)} — {prose(one.problem)}" for one in story.findings[1:]]
    if len(first.locations) > 1:
        lines.append(f"**{style.say('where')}:** {blocks.where(first.locations, replace(style, blob=''))}")
    lines += [f"**{style.say('next')}:** {prose(text)}" for text in story.nexts]
    return "\n\n".join(line for line in lines if line)


def _spot(told: Told, scene: Scene, files: Mapping[str, ChangedFile]) -> Spot | None:
    """Must-fix stories only, not in drafts, and not where a person's thread stands already."""
    must_fix = told.findings and told.standing.state.counts and told.standing.decision == "author"
    strong = told.standing.severity in (Severity.BLOCKING, Severity.HIGH)
    if not must_fix or not strong or scene.draft or _threads_at(told, scene):
        return None
    return spot(story_of(told).findings[0].locations[0], files)
