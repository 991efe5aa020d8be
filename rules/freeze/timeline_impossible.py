"""Times of a record cannot all be true

What it checks: in the documents of a bundle, an end before its start; an elapsed time that differs from end minus start by more than a second and
one per cent; events that go back; a run that started before the commit it ran was made; a result that is later than the commit that brought it.

Why: a record whose clock is impossible was edited, merged from two runs, or copied; the figures beside it inherit the doubt.

Fix: correct the time from the raw log, and say in the record what was corrected; where no log is left, say that the time is unknown.

Example: `"started_at": "2026-10-12T08:14:02Z", "ended_at": "2026-10-12T08:09:40Z"`.

Not flagged: times without a zone (not checked), a list that goes from new to old as a whole, events of several workers that interleave, clocks of
two machines that differ by less than ten minutes.

Strength: medium.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from rules.core.model import Bundle, Commit, Facts, Finding, History, Item, Location, Missing, Rule, Severity, Snapshot, Unchecked
from rules.reading.documents import LINES_SUFFIXES, Node, Number, Path, is_document, places, read_json
from rules.reading.keys import family, words
from rules.reading.layout import bundles
from rules.reading.outline import Outline, key_of
from rules.reading.past import changes_in
from rules.reading.receipts import LINES_BYTES, source_revisions
from rules.reading.times import MICRO, Timed, elapsed_stem, later, read_duration, read_moment, time_key, timed_at, times_of, unit_of

SKEW = 600 * MICRO
"""Clocks of two machines may differ by this much (RULES.md: commit + 10 min)."""
MINUTE = 60 * MICRO
MOST = 20
"""Findings per document; a document with more has one broken clock, not many."""
_LISTS = family("event events timeline log logs history trace phases stages steps transitions milestones lifecycle 事件 时间线 日志 阶段 步骤")
_STRICT_LISTS = family("event events timeline log logs trace 事件 时间线 日志")
_NAMES = family("event phase stage step transition 事件 阶段 步骤")
_MEDIA = family("workload clip resolution fps frames media video audio")
_LANES = family("rank worker thread process pid node host device run id request arm lane shard gpu npu 进程 线程")
_RELATIVE = family("t offset ts at since")


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    """What a record says against itself."""
    for path in bundle.files:
        if is_document(path):
            held = places(snapshot, path)
            yield from [*_spans(bundle, path, held, tuple(times_of(held))), *_events(bundle, path, held)][:MOST]
        elif path.endswith(LINES_SUFFIXES) and set(words(path.rpartition("/")[2])) & _STRICT_LISTS:
            yield from _of_lines(snapshot, bundle, path)


def _of_lines(snapshot: Snapshot, bundle: Bundle, path: str) -> Iterator[Item]:
    """A log of events, one JSON object a line."""
    entry = snapshot.head.files[path]
    if not entry.is_file or not 0 <= entry.size <= LINES_BYTES:
        return
    try:
        text = snapshot.head.read(path).decode("utf-8", "replace")
    except Missing:
        return
    lines = [(number, read_json(line.encode(), path).value) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    held = [(number, value) for number, value in lines if isinstance(value, dict)]
    for found in _of_list(bundle, path, Node(("events",), [value for _, value in held], None)):
        yield replace(found, locations=tuple(_line_of(held, at) for at in found.locations))


def _line_of(held: list[tuple[int, dict[str, object]]], at: Location) -> Location:
    number, value = held[int((at.pointer or "/events/0").split("/")[2])]
    return Location(at.path, line=number, role=at.role, text=json.dumps(value, ensure_ascii=False, default=str)[:300])


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    """What the history says against a record."""
    for bundle in bundles(snapshot) if snapshot.history is not None else ():
        for path in bundle.part("results"):
            held = _dated(snapshot, path)
            if held.times:
                yield from [*_before_commit(snapshot, bundle, path, held), *_after_commit(snapshot, bundle, path, held.times)]


@dataclass(frozen=True, slots=True)
class _Dated:
    """The times of a document, and the revisions it was made with."""

    times: tuple[Timed, ...] = ()
    revisions: tuple[tuple[Node, str], ...] = ()


def reads(snapshot: Snapshot, bundle: Bundle) -> None:
    """Takes the times of a bundle's results, while they are parsed."""
    for path in bundle.part("results"):
        _dated(snapshot, path)


def _dated(snapshot: Snapshot, path: str) -> _Dated:
    """Kept by object id, without the document around."""

    def make() -> _Dated:
        held = places(snapshot, path)
        times = tuple(replace(timed, node=timed.node._replace(parent=None)) for timed in times_of(held))
        return _Dated(times, tuple((node._replace(parent=None), sha) for node, sha in source_revisions(held)) if times else ())

    entry = snapshot.head.files[path]
    return snapshot.cache.by_blob("dated", entry.oid, 256 + entry.size // 8, make) if is_document(path) else _Dated()


# ---------------------------------------------------------------- start, end, elapsed


def _spans(bundle: Bundle, path: str, held: Outline, times: Sequence[Timed]) -> Iterator[Item]:
    """Starts and ends that stand in one object under the same words; also `{"start": {"at": …}, "end": {"at": …}}`."""
    by_object: dict[tuple[Path, tuple[str, ...]], dict[str, Timed]] = defaultdict(dict)
    for timed in times:
        place, role, stem = _whose(timed)
        by_object[place, stem].setdefault(role, timed)
    for (_, stem), roles in by_object.items():
        start, end = roles.get("start"), roles.get("end")
        if start is None or end is None:
            continue
        span = later(end.moment, start.moment)
        if span is None:
            yield Unchecked(f"start and end at {start.node.pointer} of {path}", "a time without a zone cannot be compared")
        elif span < 0 and -span >= max(start.moment.coarse, end.moment.coarse):
            yield _finding(bundle, path, "A run ends before it starts", _ends_early(start, end), (end.node, start.node))
        elif start.node.parent is end.node.parent:
            yield from _elapsed(bundle, path, start, end, span, stem)
    yield from _relative_spans(bundle, path, held)


def _whose(timed: Timed) -> tuple[Path, str, tuple[str, ...]]:
    """The object a time belongs to, its role there, and the words that tell whose it is."""
    place = timed.node.path
    above = time_key(place[-2]) if timed.key.role == "event" and len(place) > 1 and isinstance(place[-2], str) else None
    if above and above.role in ("start", "end"):
        return place[:-2], above.role, above.stem
    return place[:-1], timed.key.role, timed.key.stem


def _relative_spans(bundle: Bundle, path: str, held: Outline) -> Iterator[Item]:
    """`start_s` and `end_s` that count from the beginning."""
    starts: dict[tuple[Path, tuple[str, ...]], Node] = {}
    for node in held.nodes(lambda shape: _counts_from_start(key_of(shape), "start"), Number):
        key = time_key(node.key) if read_moment(node.value) is None else None
        if key:
            starts[node.path[:-1], (*key.stem, words(node.key)[-1])] = node
    for node in held.nodes(lambda shape: _counts_from_start(key_of(shape), "end"), Number) if starts else ():
        key = time_key(node.key)
        start = starts.get((node.path[:-1], (*key.stem, words(node.key)[-1]))) if key else None
        if start is not None and node.value < start.value:
            text = f"`{node.key}` {_shown(node.value)} is earlier than `{start.key}` {_shown(start.value)}"
            yield _finding(bundle, path, "A run ends before it starts", text, (node, start))


@lru_cache(maxsize=4096)
def _counts_from_start(key: str, role: str) -> bool:
    found = time_key(key) if unit_of(key) is not None else None
    return found is not None and found.role == role


def _ends_early(start: Timed, end: Timed) -> str:
    return f"`{end.node.path[-1]}` {end.moment.text} is earlier than `{start.node.path[-1]}` {start.moment.text}"


def _elapsed(bundle: Bundle, path: str, start: Timed, end: Timed, span: int, stem: tuple[str, ...]) -> Iterator[Item]:
    """Elapsed times beside start and end. A `duration` may be a workload's (a clip of 15 s): another elapsed time that agrees clears it."""
    real = Fraction(span, MICRO)
    coarse = Fraction(sum(m.coarse for m in (start.moment, end.moment) if m.coarse > MICRO), MICRO)
    wrong, agrees = [], False
    for key, value in start.node.parent.items():
        read = read_duration(key, value) if elapsed_stem(key) == stem else None
        if read is None:
            continue
        if abs(real - read[0]) > max(Fraction(1), real / 100, read[0] / 100) + coarse + (read[1] / 2 if read[1] > 1 else 0):
            wrong.append(Node((*start.node.path[:-1], key), value, start.node.parent))
        else:
            agrees = True
    for node in wrong:
        if "duration" in words(node.key) and (agrees or _is_workload(node)):
            continue
        text = (
            f"`{node.key}` is {_shown(node.value)}, but `{start.node.key}` {start.moment.text} and `{end.node.key}` {end.moment.text} "
            f"are {float(real):.12g} s apart"
        )
        yield _finding(bundle, path, "An elapsed time disagrees with its start and end", text, (node, start.node, end.node))


def _is_workload(node: Node) -> bool:
    return not isinstance(node.value, Number) or bool(_MEDIA & {word for key in node.parent for word in words(key)})


def _shown(value: object) -> str:
    return value.text if isinstance(value, Number) else str(value)[:80]


# ---------------------------------------------------------------- events


def _events(bundle: Bundle, path: str, held: Outline) -> Iterator[Item]:
    for node in held.nodes(lambda _: True, list):
        if len(node.value) >= 2 and isinstance(node.value[0], dict) and _is_log(node) and all(isinstance(item, dict) for item in node.value):
            yield from _of_list(bundle, path, node)


def _is_log(node: Node) -> bool:
    """A list whose order is the order of time: its name says so, or its elements name events."""
    keys = {word for key in node.value[0] for word in words(key)}
    return bool(set(words(node.key)) & _LISTS or keys & _NAMES)


def _of_list(bundle: Bundle, path: str, node: Node) -> Iterator[Finding]:
    lanes: dict[str, list[Placed]] = defaultdict(list)
    strict = bool(set(words(node.key)) & _STRICT_LISTS or "event" in node.value[0])
    for index, item in enumerate(node.value):
        placed = _placed(item, (*node.path, index), index, strict)
        if placed:
            lanes[_lane(item)].append(placed)
    back: list[tuple[Placed, Placed]] = []
    for lane in lanes.values():
        steps = list(pairwise(lane))
        if any(after.at > before.at for before, after in steps):
            back += [(before, after) for before, after in steps if after.at + max(before.coarse, after.coarse) <= before.at]
    if back:
        before, after = back[0]
        text = (
            f"event {after.index + 1} ({_shown(after.node.value)}) is earlier than event {before.index + 1} ({_shown(before.node.value)}) before it"
        )
        text += f"; {len(back)} such steps in all" if len(back) > 1 else ""
        yield _finding(bundle, path, "Events of a record go back in time", text, (after.node, before.node))


@dataclass(frozen=True, slots=True)
class Placed:
    """One event: its place in the list, the node of its time, the time as a number, and the unit of its last digit."""

    index: int
    node: Node
    at: Fraction
    coarse: Fraction


def _placed(item: dict[str, object], path: Path, index: int, strict: bool) -> Placed | None:
    """The one time of an event: a moment with a zone, or (`strict`) a number since the beginning. None for spans with start and end."""
    nodes = [Node((*path, key), value, item) for key, value in item.items()]
    times = [timed for node in nodes if (timed := timed_at(node))]
    if len(times) == 1 and times[0].key.role != "end":
        at = times[0].moment.micros
        return Placed(index, times[0].node, Fraction(at), Fraction(times[0].moment.coarse)) if at is not None else None
    numbers = [n for n in nodes if isinstance(n.value, Number) and n.value.exact is not None and _is_relative(n.key)] if strict else []
    return Placed(index, numbers[0], numbers[0].value.exact, numbers[0].value.precision) if len(numbers) == 1 and not times else None


def _is_relative(key: str) -> bool:
    parts = words(key)
    return bool(parts) and parts[0] in _RELATIVE and len(parts) <= 3 and (len(parts) == 1 or parts[-1] in {"s", "ms", "us", "ns", "sec", "seconds"})


def _lane(item: dict[str, object]) -> str:
    return "|".join(
        f"{key}={_shown(value)}" for key, value in sorted(item.items()) if set(words(key)) & _LANES and not isinstance(value, (dict, list))
    )


# ---------------------------------------------------------------- commits


def _before_commit(snapshot: Snapshot, bundle: Bundle, path: str, held: _Dated) -> Iterator[Item]:
    """A run that started before the revision it ran was made: a commit of this repository, or one whose date the record itself gives."""
    history = snapshot.history
    times = held.times
    starts = [timed for timed in times if timed.key.role == "start" and timed.moment.micros is not None]
    starts = starts or [timed for timed in times if timed.key.role == "end" and timed.moment.micros is not None]
    if not starts:
        return
    first = min(starts, key=lambda timed: timed.moment.micros or 0)
    for node, sha in held.revisions:
        commit = _commit(history, sha) if history else None
        if commit and _micros(commit) - (first.moment.micros or 0) > MINUTE:
            made = min(commit.time, commit.author_time).isoformat()
            text = f"`{first.node.path[-1]}` is {first.moment.text}, before its own revision `{sha[:12]}` was committed ({made})"
            yield _finding(bundle, path, "A run is older than the revision it ran", text, (first.node, node))
            return
    yield from _before_stated(bundle, path, times, first)


def _before_stated(bundle: Bundle, path: str, times: Sequence[Timed], first: Timed) -> Iterator[Item]:
    for timed in times:
        held = [word for part in timed.node.path if isinstance(part, str) for word in words(part)]
        if {"committed", "authored"} & set(held) or ("commit" in held and timed.key.role in ("event", "recorded")):
            ahead = later(timed.moment, first.moment)
            if timed is not first and ahead is not None and ahead > MINUTE and not {"evidence", "record", "result"} & set(held):
                text = f"`{first.node.path[-1]}` is {first.moment.text}, before its own revision was committed (`{timed.node.path[-1]}` {timed.moment.text})"
                yield _finding(bundle, path, "A run is older than the revision it ran", text, (first.node, timed.node))
                return


def _commit(history: History, sha: str) -> Commit | None:
    if len(sha) == 40:
        return history.commits.get(sha)
    held = [commit for id, commit in history.commits.items() if id.startswith(sha)] if len(sha) >= 7 else []
    return held[0] if len(held) == 1 else None


def _micros(commit: Commit) -> int:
    return int(min(commit.time, commit.author_time).timestamp()) * MICRO


def _after_commit(snapshot: Snapshot, bundle: Bundle, path: str, times: Sequence[Timed]) -> Iterator[Item]:
    """A time of the run that lies after the commit that first brought these bytes."""
    history = snapshot.history
    oid = snapshot.head.files[path].oid
    if all(timed.moment.micros is None for timed in times):
        return
    change = next((c for c in changes_in(snapshot, bundle) if c.path == path and c.after == oid), None)
    if change is None or history is None or change.commit not in history.commits:
        return
    commit = history.commits[change.commit]
    made = int(max(commit.time, commit.author_time).timestamp()) * MICRO
    late = [timed for timed in times if timed.moment.micros is not None and timed.moment.micros - made > SKEW]
    if late:
        last = max(late, key=lambda timed: timed.moment.micros or 0)
        text = f"`{last.node.path[-1]}` is {last.moment.text}, but commit `{commit.id[:8]}` that brings the file is of {commit.time.isoformat()}"
        yield _finding(bundle, path, "A result is later than the commit that brought it", text, (last.node,))


# ---------------------------------------------------------------- words


def _finding(bundle: Bundle, path: str, title: str, text: str, nodes: Sequence[Node]) -> Finding:
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        title=title,
        problem=f"`{bundle.relative(path)}`: {text}.",
        impact="Times that cannot all be true put the figures of the same record in doubt.",
        next="Correct the time from the raw log and say in the record what was corrected; if no log is left, say that the time is unknown (edit text).",
        locations=tuple(Location(path, pointer=node.pointer, role="record") for node in nodes),
        evidence=tuple((str(node.path[-1]), _shown(node.value)) for node in nodes),
        roots=(f"record:{path}#{nodes[0].pointer.rpartition('/')[0]}",),
    )


RULE = Rule("timeline-impossible", "freeze", Severity.MEDIUM, check, each=each, reads=reads)
