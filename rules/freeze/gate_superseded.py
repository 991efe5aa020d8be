"""A newer gate record supersedes the one that the issue states

What it checks: the gate records of a bundle's plan that supersede another one (`supersedes…`, `superseded_by…`), or that set a stricter limit for
the same metric and workload, against the records and limits that the issue's text names; and whether records supersede each other in a circle.

Why: two acceptance rules then exist, and a result can be held against whichever suits it. Which one governs is a decision, not an edit.

Fix: the acceptance owner confirms which record governs, on the record; then the issue names it.

Example: `plan/acceptance-v2.json` holds `"supersedes": "acceptance-v1.json"`, and the issue still says "Gate: `plan/acceptance-v1.json`".

Not flagged: an issue that names the newest record (also beside the older one); records for different durations, arms or workloads; records whose
order nobody can tell.

Strength: high, and it waits for a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rules.core.model import Facts, Finding, Item, Location, Rule, Severity, Snapshot
from rules.core.redact import excerpt
from rules.reading.documents import pointer
from rules.reading.gates import Gate, Limit, Superseding, cycles, gates, supersedings
from rules.reading.keys import family, words
from rules.reading.layout import Bundle, bundles
from rules.reading.past import changes_in

# Quoted lines, struck text and comments are not what the issue states.
_UNSAID = re.compile(r"^[ \t]{0,3}>[^\n]*|~~[^~\n]{1,2000}~~|<!--(?:(?!-->).){0,20000}-->", re.MULTILINE | re.DOTALL)
_GENERIC = family("acceptance gate gates criteria criterion plan record json yaml yml v")
_PERCENT = r" {0,2}(?:%|％|percent|per cent|pct|个百分点)"
_COMPARES = r"(?:at least|at most|no(?:t)? (?:more|less|above|below|over) ?(?:than)?|below|above|under|over|within|<=?|>=?|≤|≥|至少|至多|不超过|不低于|低于|高于|小于|大于)"


@dataclass(frozen=True, slots=True)
class Pair:
    """A newer record and the older one that it replaces or tightens; `said` is where one of them says so, None where only the limits tell."""

    newer: Gate
    older: Gate
    said: Superseding | None
    limits: tuple[Limit, Limit] | None = None


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    for bundle in bundles(snapshot):
        records = gates(snapshot, bundle)
        links = supersedings(records)
        circles = cycles(links)
        for circle in circles:
            yield _circle(bundle, circle, links)
        if snapshot.issue is not None and _belongs(snapshot, bundle, snapshot.issue.body):
            yield from _stale(snapshot, bundle, records, links, {path for circle in circles for path in circle})


def _belongs(snapshot: Snapshot, bundle: Bundle, body: str) -> bool:
    """The issue is about this bundle: it names it, or no other bundle is in question."""
    return bundle.id in body or (len(bundles(snapshot)) == 1 and bundles(snapshot)[0] is bundle)


def _stale(snapshot: Snapshot, bundle: Bundle, records: tuple[Gate, ...], links: tuple[Superseding, ...], circular: set[str]) -> Iterator[Finding]:
    """One finding per newest record that the issue does not name while it states one that the record replaces or tightens."""
    assert snapshot.issue is not None
    body = _UNSAID.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), snapshot.issue.body.replace("\r\n", "\n"))
    for pairs in _by_newest(snapshot, bundle, records, links, circular):
        newest = pairs[0].newer
        if names(body, newest) or states_all(body, newest.limits):
            continue
        for pair in pairs:
            line = names(body, pair.older) or states_any(body, pair.older.limits)
            if line:
                yield _finding(bundle, pair, line, body.split("\n")[line - 1])
                break


def _by_newest(
    snapshot: Snapshot, bundle: Bundle, records: tuple[Gate, ...], links: tuple[Superseding, ...], circular: set[str]
) -> Iterator[tuple[Pair, ...]]:
    by_path = {gate.path: gate for gate in records}
    after: dict[str, list[Superseding]] = {}
    for link in links:
        if not {link.older, link.newer} <= circular:
            after.setdefault(link.newer, []).append(link)
    replaced = {link.older for link in links}
    for gate in records:
        if gate.path not in replaced and gate.path not in circular and not gate.draft:
            said = [Pair(gate, by_path[link.older], link) for link in _all_older(after, gate.path)]
            known = {pair.older.path for pair in said}
            tightened = [pair for pair in _tightened(snapshot, bundle, gate, records) if pair.older.path not in known]
            if said or tightened:
                yield (*said, *tightened)


def _all_older(after: dict[str, list[Superseding]], start: str) -> list[Superseding]:
    """Every link from `start` down the chain, the nearest first."""
    found: list[Superseding] = []
    waiting, seen = [start], {start}
    while waiting:
        for link in after.get(waiting.pop(0), ()):
            found.append(link)
            if link.older not in seen:
                seen.add(link.older)
                waiting.append(link.older)
    return found


# ---------------------------------------------------------------- the same subject, stricter


def _tightened(snapshot: Snapshot, bundle: Bundle, gate: Gate, records: tuple[Gate, ...]) -> Iterator[Pair]:
    for other in records:
        found = next(((new, old) for new in gate.limits for old in other.limits if new.stricter_than(old)), None) if other is not gate else None
        if found and is_older(snapshot, bundle, other, gate):
            yield Pair(gate, other, None, found)


def is_older(snapshot: Snapshot, bundle: Bundle, one: Gate, other: Gate) -> bool:
    """True where `one` was recorded before `other`: by their recorded times, else by their first commits, else by the versions in their names."""
    times = [gate.recorded.moment.micros if gate.recorded else None for gate in (one, other)]
    if times[0] is not None and times[1] is not None:
        return times[0] < times[1]
    first = [_first_commit(snapshot, bundle, gate.path) for gate in (one, other)]
    if first[0] and first[1] and first[0] != first[1] and snapshot.history is not None:
        return snapshot.history.is_ancestor(first[0], first[1])
    return 0 < _version(one.path) < _version(other.path)


def _first_commit(snapshot: Snapshot, bundle: Bundle, path: str) -> str | None:
    return next((change.commit for change in changes_in(snapshot, bundle) if change.path == path), None)


def _version(path: str) -> int:
    found = re.search(r"(?:^|[-_.])(?:v|r|rev)(\d{1,6})(?:[-_.]|\Z)", path.rpartition("/")[2].rpartition(".")[0].lower())
    return int(found[1]) if found else 0


# ---------------------------------------------------------------- what the issue says


def names(body: str, gate: Gate) -> int:
    """The line that names the record: its file, id or stem, or what sets its name apart (`elementwise-v2`); 0 where none does."""
    for name in gate.names:
        parts = words(name.removesuffix(".json").removesuffix(".yaml").removesuffix(".yml"))
        own = [word for word in parts if word not in _GENERIC]
        telling = [part for part in parts if part in own or part.isdigit()]
        full = re.escape(name) if not own and "." in name else _spelled(parts) if telling else ""
        short = _spelled(_tail(parts)) if len("".join(own)) >= 6 and len(_tail(parts)) > 1 else ""
        for pattern in (full, short):
            found = re.search(rf"(?<![A-Za-z0-9]){pattern}(?![A-Za-z0-9])", body, re.IGNORECASE) if pattern else None
            if found:
                return body.count("\n", 0, found.start()) + 1
    return 0


def _tail(parts: tuple[str, ...]) -> tuple[str, ...]:
    """A name without the words that every gate record has in front: `elementwise-v2` of `acceptance-elementwise-v2`."""
    first = next((i for i, word in enumerate(parts) if word not in _GENERIC), len(parts))
    return parts[first:]


def _spelled(parts: tuple[str, ...]) -> str:
    return "[-_ .]{0,2}".join(re.escape(part) for part in parts)


def states_any(body: str, limits: tuple[Limit, ...]) -> int:
    """The line that states one of the limits; 0 where none does."""
    return next((line for limit in limits if (line := states(body, limit))), 0)


def states_all(body: str, limits: tuple[Limit, ...]) -> bool:
    """True where the text states every limit, and there is one."""
    return bool(limits) and all(states(body, limit) for limit in limits)


def states(body: str, limit: Limit) -> int:
    """The line with the limit's value: as a percentage where it is one, else with its unit or after a word of comparison."""
    value = f"{float(limit.value):.12g}"
    number = rf"(?<![\d.,]){re.escape(value)}(?:\.0{{1,6}})?(?![\d.,]?\d)"
    unit = next((word for word in reversed(limit.measure or limit.metric) if word), "")
    if {"pct", "percent", "%"} & set(limit.measure):
        pattern = number + _PERCENT
    elif unit and len(unit) <= 4:
        pattern = rf"{number} {{0,2}}{re.escape(unit)}(?![A-Za-z])|{_COMPARES} {{0,2}}{number}"
    else:
        pattern = rf"{_COMPARES} {{0,2}}{number}"
    found = re.search(pattern, body, re.IGNORECASE)
    return body.count("\n", 0, found.start()) + 1 if found else 0


# ---------------------------------------------------------------- words


def _finding(bundle: Bundle, pair: Pair, line: int, text: str) -> Finding:
    newer, older = bundle.relative(pair.newer.path), bundle.relative(pair.older.path)
    if pair.said:
        key = next(part for part in reversed(pair.said.place) if isinstance(part, str))
        how = f"`{bundle.relative(pair.said.said_in)}` says `{key}`" + (" (in part)" if pair.said.partial else "")
        place = Location(pair.said.said_in, pointer=pointer(pair.said.place), role="gate")
    else:
        assert pair.limits is not None
        how = f"it is stricter for the same metric and workload (`{pair.limits[0].text}` against `{pair.limits[1].text}`)"
        place = Location(pair.newer.path, pointer=pointer(pair.limits[0].place), role="gate")
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title=f"The issue states a gate that {newer} supersedes",
        problem=f"`{newer}` supersedes `{older}`: {how}. The issue states the older rule (“{excerpt(text)}”) and does not name the newer record.",
        impact="Two acceptance rules exist, and a result can be held against either.",
        next="The acceptance owner confirms which record governs in a comment of the issue; then the issue names that record (decision). "
        "Neither the author nor a bot should record it.",
        locations=(Location("issue:body", line=line, role="claim", text=text), place, Location(pair.older.path, role="gate")),
        evidence=(("newer record", pair.newer.path), ("older record", pair.older.path)),
        roots=(f"gates:{bundle.path}",),
        decision="human",
    )


def _circle(bundle: Bundle, circle: tuple[str, ...], links: tuple[Superseding, ...]) -> Finding:
    said = [link for link in links if link.older in circle and link.newer in circle]
    shown = " and ".join(f"`{bundle.relative(path)}`" for path in circle)
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title="Gate records supersede each other in a circle" if len(circle) > 1 else "A gate record supersedes itself",
        problem="; ".join(f"`{bundle.relative(link.newer)}` supersedes `{bundle.relative(link.older)}`" for link in said[:10]) + ".",
        impact=f"None of {shown} can be said to govern, so no result can be judged.",
        next="The acceptance owner says on the record which one governs; a new record then names that one alone (decision, then commit a file).",
        locations=tuple(Location(link.said_in, pointer=pointer(link.place), role="gate") for link in said[:20]),
        evidence=tuple(("supersedes", f"{link.newer} > {link.older}") for link in said[:10]),
        roots=(f"gates:{bundle.path}",),
        decision="human",
    )


RULE = Rule(
    "gate-superseded", "freeze", Severity.HIGH, check, norms=(("acceptance", "decided", "requester"), ("gate", "supersede"), ("验收", "决定"))
)
