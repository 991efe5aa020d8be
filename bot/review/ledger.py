"""What a conversation remembers from one review to the next: each story with its F-number, its state and what was seen of it.

A ledger is the newest of what the store and the signed marker on GitHub hold (`newest`). Everything here is a value that JSON can hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, Literal

from rules.core.model import Severity


class State(StrEnum):
    """How a story stands."""

    OPEN = "open"
    PARTLY = "partly-resolved"
    RESOLVED = "resolved"
    DISCLOSED = "disclosed"
    DISPUTED = "disputed"
    WAIVED = "waived"
    WITHDRAWN = "withdrawn"

    @property
    def fires(self) -> bool:
        """True where the rule still finds it, whatever people say of it."""
        return self not in (State.RESOLVED, State.DISCLOSED)

    @property
    def counts(self) -> bool:
        """True where the verdict depends on it. An author's dispute does not clear a finding."""
        return self in (State.OPEN, State.PARTLY, State.DISPUTED)


Surface = Literal["tree", "pull", "issue"]
TEXT = "text"
BY = "by "


@dataclass(frozen=True, slots=True)
class Point:
    """One finding of a story, as last seen.

    place     `path:line` as printed, at the head where it was last seen
    path      that file (or `pull:body`, …) then; `origin` is the path that the fingerprint was made with, where the file was renamed since
    pointer   JSON pointer of the value, "" for text
    value     what stood there, cut and redacted: the JSON value, or the figure of a text; "" where there is none
    now       what stands there since the point is silent; "" where that is not known
    silent    "" while it fires; else the first commit at which it is silent; `BY` and the head where the commits before it were not looked at;
              `TEXT` where an edit of pull or issue ended it
    surfaces  where it is found: in files, in the pull's text, in the issue's
    """

    fingerprint: str
    rule: str
    title: str
    place: str
    path: str
    origin: str = ""
    pointer: str = ""
    value: str = ""
    now: str = ""
    silent: str = ""
    surfaces: tuple[Surface, ...] = ("tree",)


@dataclass(frozen=True, slots=True)
class Override:
    """What a person has said of a story by command. `until` is the last day of a waiver (`YYYY-MM-DD`), "" for no end."""

    kind: Literal["waived", "disputed", "withdrawn"]
    by: str
    reason: str
    until: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """One story of a conversation.

    number   its F-number, for ever
    roots    short digests of the roots that its findings named: what shares one is the same matter
    cleared  surfaces at which it is resolved while it fires elsewhere
    since    the head at which it was first seen
    born     the number of the review that told it first
    round    the number of the review that told the last change of its state
    """

    number: int
    state: State
    severity: Severity
    decision: Literal["author", "human"]
    points: tuple[Point, ...]
    roots: tuple[str, ...] = ()
    cleared: tuple[Surface, ...] = ()
    since: str = ""
    born: int = 1
    round: int = 1
    override: Override | None = None

    @property
    def id(self) -> str:
        return f"F{self.number}"

    @property
    def title(self) -> str:
        return self.points[0].title if self.points else ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """All that is remembered of a conversation.

    conversation  `<repository id>#<number>`
    serial        the number of the last posted review, 0 before the first; an edit of the summary keeps it
    head          the head last reviewed; never taken from GitHub's `commit_id`, which a force-push moves (max-sixty/tend#884)
    draft         whether the pull was a draft then: its first review as ready brings the inline comments
    failure       the kind of failure that the last review ended with, "" for none
    last          the highest F-number ever given
    """

    conversation: str
    serial: int = 0
    head: str = ""
    standings: tuple[Standing, ...] = ()
    draft: bool = False
    failure: str = ""
    last: int = 0

    def standing(self, number: int) -> Standing | None:
        return next((one for one in self.standings if one.number == number), None)


def newest(stored: Ledger | None, posted: Ledger | None) -> Ledger | None:
    """The later of what the store and GitHub hold. The store wins a tie: it also holds what commands changed since."""
    if stored is None or posted is None:
        return stored or posted
    return posted if posted.serial > stored.serial else stored


def overridden(ledger: Ledger, number: int, override: Override | None) -> Ledger:
    """The ledger after `/assay waive`, `wrong` or `unwaive` on F`number`; unchanged where there is no such story."""
    return replace(ledger, standings=tuple(_said(one, override) if one.number == number else one for one in ledger.standings))


def _said(standing: Standing, override: Override | None) -> Standing:
    state = State(override.kind) if override and standing.state.fires else State.OPEN if standing.state.fires else standing.state
    return replace(standing, override=override, state=state)


# ---------------------------------------------------------------- JSON


def ledger_object(ledger: Ledger) -> dict[str, Any]:
    """The ledger as plain values; what is empty is left out."""
    made: dict[str, Any] = _plain(ledger)
    return made


def read_ledger(raw: Any) -> Ledger:
    """The ledger that `ledger_object` made. Raises `ValueError`."""
    try:
        made: Ledger = _made(Ledger, {**raw, "standings": tuple(_standing(one) for one in raw.get("standings", ()))})
    except (TypeError, AttributeError, KeyError) as error:
        raise ValueError("this is no ledger") from error
    return made


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if not hasattr(value, "__dataclass_fields__"):
        return value
    held = {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    return {name: item for name, item in held.items() if item not in ("", None, [], False)}


def _standing(raw: Mapping[str, Any]) -> Standing:
    override = _made(Override, raw["override"]) if raw.get("override") else None
    parts = {
        "state": State(raw["state"]),
        "severity": Severity(raw["severity"]),
        "points": tuple(_made(Point, {**one, "surfaces": tuple(one.get("surfaces", ("tree",)))}) for one in raw.get("points", ())),
        "roots": tuple(raw.get("roots", ())),
        "cleared": tuple(raw.get("cleared", ())),
        "override": override,
    }
    made: Standing = _made(Standing, {**raw, **parts})
    return made


def _made(kind: type[Any], raw: Mapping[str, Any]) -> Any:
    """A value of `kind`; keys of a later version are ignored, and what is left out is empty."""
    empty = {one.name: "" for one in fields(kind) if one.type == "str"}
    return kind(**(empty | {name: raw[name] for name in raw if name in kind.__dataclass_fields__}))


__all__ = ["Ledger", "Override", "Point", "Standing", "State", "ledger_object", "newest", "overridden", "read_ledger"]
