"""Holds a new report against what the conversation remembers: which stories are new, still open, resolved, and which numbers they keep."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from bot.review.ledger import BY, TEXT, Ledger, Point, Standing, State, Surface
from bot.review.stories import place
from rules.core.model import Finding, Location, Report, Reported, Severity, Verdict
from rules.engine.assemble import verdict, waiting_on

Change = Literal["new", "changed", "same", "reopened", "resolved", "partly", "disclosed", "over"]
NEWS: frozenset[Change] = frozenset(("new", "changed", "reopened", "resolved", "partly", "disclosed"))
# A text that now says so ends these, and no story about freezes, lifecycles or decisions.
DISCLOSABLE = frozenset(("claim-without-receipt", "wording-stale"))
ROLES_OF_A_DEFECT = frozenset(("claim", "entry", "file"))
MOST_POINTS = 200


@dataclass(frozen=True, slots=True)
class Seen:
    """What the box read at a finding's place. By fingerprint, for findings of this report and for remembered ones that are silent now.

    value   what stands there now, cut and redacted; "" where there is no one value
    stated  for a place in a text: its figures still stand in the text (so a silent claim was disclosed, not taken back)
    silent  the first commit at which a remembered finding is silent, `TEXT` where it is silent at the last head too (a text was edited);
            "" where the commits were not walked
    unsure  its rule could not ask what it needed to: that it is silent proves nothing
    """

    value: str = ""
    stated: bool = False
    silent: str = ""
    unsure: bool = False


NOTHING_SEEN = Seen()


@dataclass(frozen=True, slots=True)
class Told:
    """One story as this review tells it: how it stands, what changed, and its findings of this report.

    There are none where it ended, and none where its rule could not run this time: then it stands as it stood (`held`).
    """

    standing: Standing
    change: Change
    findings: tuple[Reported, ...] = ()

    @property
    def held(self) -> bool:
        return not self.findings and self.standing.state.fires


@dataclass(frozen=True, slots=True)
class Reconciled:
    """`ledger` is what is to be remembered after this review; `news` is True where it must be posted rather than edited into the last one."""

    ledger: Ledger
    told: tuple[Told, ...]
    verdict: Verdict
    waiting_on: tuple[str, ...]
    news: bool


def reconcile(
    before: Ledger,
    report: Report,
    seen: Mapping[str, Seen],
    *,
    today: date,
    draft: bool = False,
    renames: Mapping[str, str] | None = None,
) -> Reconciled:
    """The conversation after this review. `renames` maps a path at head to the one that fingerprints were made with (`Answer.renames`)."""
    comparison = _Comparison(before, report, seen, renames or {}, today)
    numbers = _numbered(before, report)
    last = max((before.last, *numbers))
    changed = [comparison.told(number, tuple(numbers.get(number, ()))) for number in sorted({s.number for s in before.standings} | set(numbers))]
    news = _news(before, changed, draft)
    serial = before.serial + news
    told = tuple(_dated(one, before.standing(one.standing.number), serial) for one in changed)
    ledger = Ledger(before.conversation, serial, report.head or "", tuple(one.standing for one in told), draft, "", last)
    counting = [f.finding for one in told if one.standing.state.counts for f in one.findings]
    held = [one.standing for one in told if one.held and one.standing.state.counts]
    return Reconciled(ledger, told, _verdict(report, counting, held), _waiting(counting, held), bool(news))


def origins(ledger: Ledger, since: Mapping[str, str]) -> Mapping[str, str]:
    """Path at head → path that the remembered fingerprints were made with, from git's renames (new → old) between the last head and this one."""
    known = {point.path: point.origin or point.path for one in ledger.standings for point in one.points}
    moved = {new: known.get(old, old) for new, old in since.items()}
    gone = frozenset(since.values()) - frozenset(since)
    return {path: origin for path, origin in (known | moved).items() if path != origin and path not in gone}


# ---------------------------------------------------------------- numbers


def _numbered(before: Ledger, report: Report) -> dict[int, list[Reported]]:
    """The findings by F-number. One that is known keeps its number, also where the report now joins or parts stories."""
    known = {point.fingerprint: one.number for one in reversed(before.standings) for point in one.points}
    given: dict[int, list[Reported]] = {}
    last = max((before.last, *(one.number for one in before.standings)))
    for _, group in report.stories():
        mine = [known[one.fingerprint] for one in group if one.fingerprint in known]
        number = min(mine) if mine else _same_matter(before, group)
        if number is None:
            last = number = last + 1
        for one in group:
            given.setdefault(known.get(one.fingerprint, number), []).append(one)
    return given


def _same_matter(before: Ledger, group: Iterable[Reported]) -> int | None:
    """The story that shares a root: one that fired until now, or an ended one of the same rule."""
    rules = {one.finding.rule for one in group}
    roots = set(_roots(group))
    for standing in before.standings:
        alike = standing.state.fires or not rules.isdisjoint(point.rule for point in standing.points)
        if alike and not roots.isdisjoint(standing.roots):
            return standing.number
    return None


def _roots(group: Iterable[Reported]) -> tuple[str, ...]:
    """Short digests: a root may hold a whole sentence."""
    names = dict.fromkeys(root for one in group for root in one.finding.roots)
    return tuple(hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:10] for name in names)


# ---------------------------------------------------------------- one story before and now


class _Comparison:
    """What all stories of one review are compared with."""

    def __init__(self, before: Ledger, report: Report, seen: Mapping[str, Seen], renames: Mapping[str, str], today: date) -> None:
        self._before, self._report, self._seen, self._renames, self._today = before, report, seen, renames, today
        self._ran = frozenset(one.rule for one in report.outcomes if one.state == "ran")

    def told(self, number: int, found: tuple[Reported, ...]) -> Told:
        was = self._before.standing(number)
        points = (*self._firing(found), *self._rest(was, found))[:MOST_POINTS]
        fires = any(not point.silent for point in points)
        cleared = _cleared(was, points) if fires else ()
        standing = Standing(
            number=number,
            state=self._state(was, points, fires, cleared),
            severity=min((one.finding.severity for one in found), key=lambda level: level.rank) if found else was.severity if was else _NEVER,
            decision=_decision(found) if found else was.decision if was else "author",
            points=points,
            roots=tuple(dict.fromkeys((*_roots(found), *(was.roots if was else ()))))[:40],
            cleared=cleared,
            since=was.since if was else self._report.head or "",
            born=was.born if was else 0,
            round=was.round if was else 0,
            override=was.override if was else None,
        )
        return Told(standing, _change(was, standing), found)

    def _firing(self, found: Iterable[Reported]) -> Iterator[Point]:
        for one in found:
            at = one.finding.locations[0]
            held = self._seen.get(one.fingerprint, NOTHING_SEEN)
            yield Point(
                fingerprint=one.fingerprint,
                rule=one.finding.rule,
                title=one.finding.title,
                place=place(at),
                path=at.path,
                origin=self._renames.get(at.path, ""),
                pointer=at.pointer or "",
                value=held.value,
                surfaces=_surfaces(one.finding.locations),
            )

    def _rest(self, was: Standing | None, found: Iterable[Reported]) -> Iterator[Point]:
        """Remembered points that are not found now: silent, or held where their rule could not look."""
        now = {one.fingerprint for one in found}
        for point in was.points if was else ():
            if point.fingerprint not in now:
                yield point if point.silent or self._unknown(point) else self._silent(point)

    def _unknown(self, point: Point) -> bool:
        return point.rule not in self._ran or self._seen.get(point.fingerprint, NOTHING_SEEN).unsure

    def _silent(self, point: Point) -> Point:
        held = self._seen.get(point.fingerprint, NOTHING_SEEN)
        by_text = self._report.head == self._before.head or "tree" not in point.surfaces
        return replace(point, now=held.value, silent=held.silent or (TEXT if by_text else f"{BY}{self._report.head}"))

    def _state(self, was: Standing | None, points: tuple[Point, ...], fires: bool, cleared: tuple[Surface, ...]) -> State:
        if not fires:
            return was.state if was and not was.state.fires else State.DISCLOSED if self._disclosed(points) else State.RESOLVED
        said = was.override if was else None
        if said and not (said.until and said.until < self._today.isoformat()):
            return State(said.kind)
        return State.PARTLY if cleared else State.OPEN

    def _disclosed(self, points: tuple[Point, ...]) -> bool:
        return all(point.rule in DISCLOSABLE and self._seen.get(point.fingerprint, NOTHING_SEEN).stated for point in points)


def _surfaces(locations: Iterable[Location]) -> tuple[Surface, ...]:
    """Where the defect stands; records and norms that it is held against are no part of it."""
    return tuple(dict.fromkeys(_surface(at.path) for n, at in enumerate(locations) if n == 0 or at.role in ROLES_OF_A_DEFECT))


def _surface(path: str) -> Surface:
    return "pull" if path.startswith("pull:") else "issue" if path.startswith("issue:") else "tree"


def _cleared(was: Standing | None, points: Iterable[Point]) -> tuple[Surface, ...]:
    """Surfaces where the story fired once and does not any more."""
    now = {surface for point in points if not point.silent for surface in point.surfaces}
    then = [surface for point in was.points for surface in point.surfaces] if was else []
    return tuple(dict.fromkeys(surface for surface in (*(was.cleared if was else ()), *then) if surface not in now))


def _decision(found: Iterable[Reported]) -> Literal["author", "human"]:
    """`author` where the author can do something about the strongest of it."""
    strongest = min(one.finding.severity.rank for one in found)
    return "author" if any(one.finding.decision == "author" for one in found if one.finding.severity.rank == strongest) else "human"


def _change(was: Standing | None, now: Standing) -> Change:
    if was is None:
        return "new"
    if not now.state.fires:
        return "over" if not was.state.fires else "disclosed" if now.state is State.DISCLOSED else "resolved"
    if not was.state.fires:
        return "reopened"
    if now.state is not was.state:
        return "partly" if now.state is State.PARTLY else "changed"
    alike = (_alive(was), was.severity, was.decision, was.cleared) == (_alive(now), now.severity, now.decision, now.cleared)
    return "same" if alike else "changed"


def _alive(standing: Standing) -> Counter[str]:
    return Counter(point.fingerprint for point in standing.points if not point.silent)


def _news(before: Ledger, told: Iterable[Told], draft: bool) -> bool:
    """A draft has one summary, which is edited; its first review as ready is posted, since it brings the inline comments."""
    if before.serial == 0 or (before.draft and not draft) or before.failure:
        return True
    return not draft and any(one.change in NEWS for one in told)


def _dated(told: Told, was: Standing | None, serial: int) -> Told:
    """With the number of the review that tells it; set once the number is known."""
    now = told.standing
    moved = was is None or was.state is not now.state
    return replace(told, standing=replace(now, born=serial if was is None else was.born, round=serial if moved else now.round))


# ---------------------------------------------------------------- the verdict of the conversation


def _verdict(report: Report, counting: list[Finding], held: list[Standing]) -> Verdict:
    """As of the report, without what was waived or withdrawn, and with what could not be looked at again."""
    if report.verdict is Verdict.INCOMPLETE:
        return Verdict.INCOMPLETE
    return verdict([*counting, *_stand_ins(held)], (), False)


def _waiting(counting: list[Finding], held: list[Standing]) -> tuple[str, ...]:
    return waiting_on([*counting, *_stand_ins(held)])


def _stand_ins(held: Iterable[Standing]) -> list[Finding]:
    return [Finding("", one.severity, "", "", "", "", (), decision=one.decision) for one in held]


_NEVER = Severity.LOW
