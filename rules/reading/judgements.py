"""Verdicts and judged gates of a result: what each gate's own numbers and flags say, and which verdict is stated over them.

A number against its limit outranks a `passed` flag; null is not a pass. Diagnostics, software checks and waived gates are no gates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rules.reading.documents import Node, Number, Path
from rules.reading.end_keys import held_words
from rules.reading.gate_entries import STRONG, WEAK, Entry, entries, is_bare_name, is_elsewhere, name_words, tallies
from rules.reading.keys import family, words
from rules.reading.outline import Column, Outline, Shape
from rules.reading.thresholds import FLAGS, LIMITS, MEASURED, NAMES, equality, is_limit_key, keeps, limits, shown
from rules.reading.verdict_words import Said, said_of

MENTIONS = (
    "verdict",
    "gate",
    "criteri",
    "accept",
    "passed",
    "conclusion",
    "decision",
    "outcome",
    "result",
    "status",
    "adjudicat",
    "qualif",
    "judg",
    "结论",
    "判定",
    "裁决",
    "门",
    "验收",
    "通过",
)


@dataclass(frozen=True, slots=True)
class JudgedGate:
    """One gate of a result.

    stated   what its flag or status says; None where it has none
    unmeasured  its measured value is null or said not to be there
    holds    whether its number keeps its limit; None where it has no number or no limit that can be compared
    shown    what was seen: `observed 263.4 against max 250`, `passed: false`
    silent   it says nothing that can be judged: prose, a set of parameters, a number without a limit that it can be compared with
    """

    name: str
    place: Path
    stated: Said | None
    unmeasured: bool
    holds: bool | None
    shown: str
    silent: bool = False

    @property
    def outcome(self) -> Said:
        if self.stated == "waived":
            return "waived"
        if self.holds is not None:
            return "pass" if self.holds else "fail"
        if self.stated == "fail":
            return "fail"
        return "open" if self.unmeasured or self.stated is None else self.stated


_NO_OUTCOME = family(
    "allowed enabled permitted permission started requested claimed submitted needed detected found seen violated violation violations leak leaks leaked regressed regression error errors failure failures "
    "failed mismatch mismatches missing exceeded timeout crash crashed oom nan forbidden blocked warning warnings dirty contaminated contamination overlap dry skip skipped"
)
"""Of a bare flag under such a name false may be what was wanted: `training_allowed`, `leak_detected`."""


def judged(entry: Entry, frozen: Entry | None = None) -> JudgedGate:
    """What a result's entry says of its gate. `frozen` is the same gate in the plan: its limit governs."""
    item = entry.value
    if not isinstance(item, Mapping):
        said = said_of(item) if isinstance(item, (bool, str)) or item is None else None
        named = set(words(entry.name))
        silent = said is None or (
            isinstance(item, bool) and bool(named & _NO_OUTCOME) and not named & {"no", "not", "zero", "without", "free", "never"}
        )
        return JudgedGate(entry.name, entry.place, said, False, None, shown(entry.name, item), silent)
    flags = [
        (key, item[key])
        for key in item
        if held_words(key) & FLAGS and not held_words(key) & {"count", "at", "by"} and not isinstance(item[key], (Number, list, Mapping))
    ]
    told = [(key, said) for key, value in flags if (said := said_of(value))]
    stated = next((said for wanted in ("waived", "fail", "open", "pass") for _, said in told if said == wanted), None)
    measured = _measured(item, entry)
    holds, why = _holds(item, measured, entry, frozen)
    unmeasured = any(_is_nothing(value) for _, value in measured) and not any(not _is_nothing(value) for _, value in measured)
    seen = why or ", ".join(shown(key, value) for key, value in [*measured[:1], *flags[:2]]) or "no value and no result"
    silent = stated is None and holds is None and not unmeasured and (bool(measured) or not _is_one_gate(item))
    return JudgedGate(entry.name, entry.place, stated, unmeasured, holds, seen, silent)


def _is_one_gate(item: Mapping[str, Any]) -> bool:
    """An object about one thing: it has one limit, or limits and a name, or says that it is required. `{min_runs: 3, max_skew_ms: 5}` are parameters."""
    found = limits(item)
    named = any(isinstance(item.get(key), str) for key in NAMES)
    required = any(value is True and held_words(key) & family("required blocking gating mandatory binding") for key, value in item.items())
    return required or (bool(found) and (named or len({one.measure for one in found}) == 1))


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and said_of(value) == "open")


def _measured(item: Mapping[str, Any], entry: Entry) -> list[tuple[str, Any]]:
    """(key, value) of what was measured: under `observed`, `value`, …, or under the gate's or the metric's own name."""
    made = [
        (key, value)
        for key, value in item.items()
        if key not in NAMES and held_words(key) & MEASURED and not is_limit_key(key) and not isinstance(value, (list, Mapping))
    ]
    strict = [pair for pair in made if not held_words(pair[0]) & {"result", "candidate"} or isinstance(pair[1], Number)]
    limited = any(held_words(key) & LIMITS for key in item)
    own = [
        (key, value) for key, value in item.items()
        if key not in NAMES and isinstance(value, Number) and name_words(key) in entry.keys and (limited or not is_limit_key(key)) and not held_words(key) & LIMITS
    ]  # fmt: skip
    return strict or own


def _holds(item: Mapping[str, Any], measured: list[tuple[str, Any]], entry: Entry, frozen: Entry | None) -> tuple[bool | None, str]:
    """Whether the measured number keeps every limit that can be compared, the plan's before the result's own; and what was seen."""
    values = [(key, value) for key, value in measured if not _is_nothing(value)]
    if not values:
        return None, ""
    key, value = values[0]
    same = equality(item, value)
    if same is not None:
        return same[0], f"{shown(key, value)} against {same[1]}"
    own = [(limit, "") for limit in limits(item)]
    plan = [(limit, " in the plan") for limit in limits(frozen.value)] if frozen and isinstance(frozen.value, Mapping) else []
    told = [(limit, where, kept) for limit, where in [*plan, *own] if (kept := keeps(limit, key, value, item, entry.keys)) is not None]
    broken = [f"{limit.shown}{where}" for limit, where, kept in told if not kept]
    if broken:
        return False, f"{shown(key, value)} against {broken[0]}"
    return (True, f"{shown(key, value)} against {told[0][0].shown}") if told else (None, "")


# ---------------------------------------------------------------- verdicts

_NO_VERDICT = family(
    "rule rules when if by at time date reason note notes gate gates owner maker policy expected required ready needs next human approval requested allowed permission scope software ci previous count counts number path file log baseline control id"
)


@dataclass(frozen=True, slots=True)
class Stated:
    """A verdict as recorded: its place, its word, and the gates of the same object. `strong` where the key itself says verdict.

    partly   the objects that list the gates also hold values that are no flags: what they say of the verdict is not known
    """

    place: Path
    said: Said
    text: str
    strong: bool
    gates: tuple[Entry, ...]
    partly: bool = False


def stated_verdicts(held: Outline) -> tuple[Stated, ...]:
    """Every verdict of a document over gates of its own object, and every one under a key that says verdict, outermost first."""
    possible = [node for node in held.pick(_verdicts) if said_of(node.value)]
    if not possible:
        return ()
    known = tuple(held.all())
    listed = (*(entry for entry in entries(known) if not is_bare_name(entry)), *tallies(known))
    inside = {entry.place for entry in listed}
    found = [node for node in possible if not any(node.path[:depth] in inside for depth in range(1, len(node.path) + 1))]
    owners = {node.path[:-1] for node in found if _strong(node)}
    made = []
    for node in found:
        mine = _gates_of(node, listed, owners)
        said = said_of(node.value)
        if said and (_strong(node) or any(entry.owner == node.path[:-1] for entry in mine)):
            made.append(Stated(node.path, said, str(node.value), _strong(node), mine, _partly(known, mine)))
    return tuple(made)


def _partly(known: tuple[Node, ...], mine: tuple[Entry, ...]) -> bool:
    listed = {entry.place for entry in mine}
    holders = {entry.place[:-1] for entry in mine if isinstance(entry.place[-1], str) and not isinstance(entry.value, Mapping)}
    return any(
        node.path[:-1] in holders and node.path not in listed and isinstance(node.value, (Number, list, Mapping)) for node in known if node.path
    )


def _strong(node: Node) -> bool:
    return _is_strong(str(node.path[-1]))


def _is_strong(key: str) -> bool:
    return bool(held_words(key) & STRONG) or any(word in key for word in ("结论", "判定", "裁决"))


_OF_ALL = frozenset({"overall", "final", "campaign", "all", "gates", "is"})


def _verdicts(column: Column) -> list[int]:
    """The rows that hold a text or a flag under a key that says verdict, or under one that may be one over gates of its own object."""
    key = column.shape[-1] if column.shape else None
    if key is None or not (str in column.types or bool in column.types) or not _names_verdict(column.shape):
        return []
    kinds = (str,) if held_words(key) - STRONG - WEAK - _OF_ALL else (str, bool)
    return [row for row, value in enumerate(column.values) if isinstance(value, kinds)]


@lru_cache(maxsize=8192)
def _names_verdict(shape: Shape) -> bool:
    key = shape[-1] or ""
    held = held_words(key)
    own = _is_strong(key) or (bool(held & WEAK) and held <= WEAK | _OF_ALL)
    return own and not (held - {"gates"}) & _NO_VERDICT and not is_elsewhere(shape)


def _gates_of(node: Node, listed: tuple[Entry, ...], owners: set[Path]) -> tuple[Entry, ...]:
    """The gates of the nearest object around the verdict that has any, without those that another verdict's object holds."""
    for depth in range(len(node.path) - 1, -1, -1):
        place = node.path[:depth]
        others = [other for other in owners if len(other) > depth and other[:depth] == place and node.path[: len(other)] != other]
        mine = tuple(e for e in listed if e.place[:depth] == place and not any(e.place[: len(other)] == other for other in others))
        if mine:
            return mine
        if depth and not _is_wrapper(node.path[depth - 1]):
            break
    return ()


_WRAPPERS = STRONG | WEAK | family("summary final report assessment evaluation review candidate campaign results metadata 总结 总体 汇总")


def _is_wrapper(key: str | int) -> bool:
    """`{"decision": {"verdict": …}, "gates": […]}`: the object only holds the verdict; one under a name of its own is another matter beside it."""
    return isinstance(key, str) and bool(held_words(key) & _WRAPPERS) and not any(char.isdigit() for char in key)
