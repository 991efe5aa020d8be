"""Two runs hold the same measured times

What it checks: whole sequences of at least three measured times with at least four significant digits each (an array, one object per trial,
or a CSV column) that stand in two receipts of different runs, arms or dates.

Why: two runs never agree to the last digit in every time; one of the two receipts was copied and relabelled.

Fix: commit the receipt that belongs to the run, or say that the second is a copy of the first.

Example: the candidate's five timings are the baseline's, to the microsecond.

Not flagged: seeds, sizes and settings; equal output hashes; copies declared as such; a summary that repeats a receipt of the same arm.

Strength: high.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rules.core.model import Bundle, Facts, Finding, Item, Location, Missing, Rule, Severity, Snapshot
from rules.reading.documents import LINES_SUFFIXES, Number, document, is_document, places, pointer, resolve
from rules.reading.layout import bundle_at, bundles
from rules.reading.named_paths import split_key
from rules.reading.outline import keys_of
from rules.reading.records import is_records, records
from rules.reading.unit_keys import unit_of_key

SHORTEST = 3
DIGITS = 4
_TIMES = re.compile(
    r"(?:^|[_\W])(?:time|times|timing|timings|latency|latencies|elapsed|duration|durations|wall|wallclock|runtime|runtimes|delay|rtt|ttft|itl|tpot|samples?"
    r"|measurements?|values?|observations?|raw|runs?|trials?|repetitions?|reps?|iterations?|laps?|results?)(?:[_\W]|\Z)|耗时|时间|延迟|时延|样本|用时",
    re.IGNORECASE,
)
_SETTING = re.compile(
    r"period|clock|freq|power|watt|seed|size|shape|dim|count|hash|digest|step|config|setting|param|input|expected|threshold|limit|target|quantile|bucket|bin",
    re.I,
)
_COPY_KEY = re.compile(
    r"cop(?:y|ied)|duplicate|mirror|derived|same_as|reexport|re_export|alias|source_(?:file|receipt|path|record)|from_receipt|复制|副本", re.I
)
_COPY_TEXT = re.compile(r"\bcop(?:y|ies|ied)\b|\bduplicates?\b|\bre-?export|\bmirrors?\b|\bverbatim\b|复制|副本|拷贝|转录", re.I)
_IDENTITY = (
    "arm",
    "label",
    "variant",
    "role",
    "run",
    "run_id",
    "session",
    "date",
    "day",
    "started_at",
    "recorded_at",
    "timestamp",
    "host",
    "node",
    "name",
    "id",
)


@dataclass(frozen=True, slots=True)
class Sequence:
    """One sequence of measured times: where it stands and which run it belongs to, as (what, value) pairs."""

    path: str
    pointer: str | None
    line: int | None
    identity: frozenset[tuple[str, str]]
    digest: str
    length: int
    shown: tuple[str, ...]

    def location(self) -> Location:
        return Location(self.path, pointer=self.pointer, line=self.line, role="record", text=None if self.pointer is not None else self.digest)


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    yield from _duplicates(snapshot, [bundle], across=False)


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    yield from _duplicates(snapshot, bundles(snapshot), across=True)


def _duplicates(snapshot: Snapshot, held: Iterable[Bundle], across: bool) -> Iterator[Finding]:
    """Pairs of receipts with the same times: within one bundle, or across bundles."""
    groups: dict[str, list[Sequence]] = defaultdict(list)
    for bundle in held:
        for path in bundle.files:
            for sequence in _sequences(snapshot, path):
                groups[sequence.digest].append(sequence)
    said: set[tuple[str, str]] = set()
    for found in groups.values():
        pair = _different_runs(snapshot, found, across) if len(found) > 1 else None
        if pair and (pair[0].path, pair[1].path) not in said:
            said.add((pair[0].path, pair[1].path))
            yield _finding(*pair)


def _sequences(snapshot: Snapshot, path: str) -> tuple[Sequence, ...]:
    entry = snapshot.head.files[path]
    if not entry.is_file or entry.size > snapshot.config.limits.scan:
        return ()
    try:
        if is_document(path):
            return snapshot.cache.by_blob("sequences:" + path, entry.oid, 512, lambda: tuple(_in_document(snapshot, path)))
        if is_records(path):
            return snapshot.cache.by_blob("sequences:" + path, entry.oid, 512, lambda: tuple(_in_records(snapshot, path)))
    except Missing:
        pass
    return ()


def _in_document(snapshot: Snapshot, path: str) -> Iterator[Sequence]:
    held = places(snapshot, path)
    for node in held.nodes(lambda shape: not any(_SETTING.search(key) for key in keys_of(shape)), list):
        if len(node.value) >= SHORTEST:
            for key, texts in _columns(node.value):
                if _is_time(*(str(part) for part in (*node.path, key))) and _measured(texts):
                    place = pointer((*node.path, *((0, key) if key else ())))
                    yield _sequence(path, place, None, _identity(held.top, node.path), texts)


def _is_time(*names: str) -> bool:
    """True when the nearest name that declares a unit declares one of time, or none does and a name speaks of times or of samples."""
    units = [unit for name in names if (unit := unit_of_key(name)) is not None]
    return units[-1].family == "time" if units else any(_TIMES.search(split_key(name)) for name in names)


def _columns(held: list[Any]) -> Iterator[tuple[str, list[str]]]:
    """The printed numbers of the list itself, or where it holds one object per trial of each of their numeric keys."""
    if isinstance(held[0], Number):
        if _promising(held[:SHORTEST]):
            yield "", [item.text if isinstance(item, Number) else "" for item in held]
    elif isinstance(held[0], dict):
        for key in held[0]:
            if not _SETTING.search(key) and _promising([item.get(key) if isinstance(item, dict) else None for item in held[:SHORTEST]]):
                values = [item.get(key) if isinstance(item, dict) else None for item in held]
                yield key, [value.text if isinstance(value, Number) else "" for value in values]


def _promising(first: list[Any]) -> bool:
    return all(isinstance(value, Number) and _significant(value.text) >= DIGITS for value in first)


def _measured(texts: list[str]) -> bool:
    """True when each is a number with enough digits, and they are times rather than whole settings or one value over and over."""
    if not texts or min(map(len, texts)) < DIGITS or not all(_significant(text) >= DIGITS for text in texts[:SHORTEST]):
        return False
    whole = not any("." in text or "e" in text.lower() for text in texts[:SHORTEST])
    return len(set(texts)) >= SHORTEST and not (whole and min(map(len, texts)) < 6)


def _significant(text: str) -> int:
    return len(text.lower().partition("e")[0].lstrip("-").replace(".", "").lstrip("0"))


def _sequence(path: str, place: str | None, line: int | None, identity: frozenset[tuple[str, str]], texts: list[str]) -> Sequence:
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    return Sequence(path, place, line, identity, digest, len(texts), (*texts[:SHORTEST], texts[-1]))


def _in_records(snapshot: Snapshot, path: str) -> Iterator[Sequence]:
    """The columns of a table or of a stream of objects."""
    found = records(snapshot, path)
    rows = [_row(row) for row in found.value if isinstance(row, dict)] if found else []
    is_stream = path.lower().endswith(LINES_SUFFIXES)
    for name, texts in _columns(rows) if len(rows) >= SHORTEST else ():
        if _is_time(name) and _measured(texts):
            yield _sequence(path, None, 1 if is_stream else 2, _identity(rows[0], ()) if is_stream else frozenset(), texts)


def _row(held: dict[str, Any]) -> dict[str, Any]:
    """The row itself, also of a statistic (`{"mean": {column: value}}`)."""
    inside = next(iter(held.values()), None) if len(held) == 1 else None
    return inside if isinstance(inside, dict) else held


def _identity(root: Any, path: tuple[str | int, ...]) -> frozenset[tuple[str, str]]:
    """What tells this run from another: the identifying fields on the way down, nearest last, and the keys themselves."""
    found: dict[str, str] = {}
    for depth in range(len(path) + 1):
        held = resolve(root, path[:depth])
        for key in _IDENTITY if isinstance(held, dict) else ():
            if isinstance(held.get(key), (str, Number)):
                found[key] = str(getattr(held[key], "text", held[key]))
    return frozenset(found.items())


def _different_runs(snapshot: Snapshot, found: list[Sequence], across: bool) -> tuple[Sequence, Sequence] | None:
    for i, one in enumerate(found):
        for other in found[i + 1 :]:
            same_bundle = bundle_at(snapshot, one.path) is bundle_at(snapshot, other.path)
            if same_bundle is not across and _differ(one, other) and not _declared(snapshot, one, other):
                return one, other
    return None


def _differ(one: Sequence, other: Sequence) -> bool:
    """Two runs: a field that both carry differs, or neither says and the files differ and none is a summary."""
    mine, yours = dict(one.identity), dict(other.identity)
    common = [key for key in mine.keys() & yours.keys() if key not in ("name", "id") or one.path == other.path]
    if any(mine[key].casefold() != yours[key].casefold() for key in common):
        return True
    if one.path == other.path:
        return (one.pointer or "").rpartition("/")[2] == (other.pointer or "").rpartition("/")[2] and not common
    summary = re.compile(r"summar|report|overview|aggregat|combined|merged|compar|all[-_.]|index|readme", re.I)
    return not any(summary.search(sequence.path.rpartition("/")[2]) for sequence in (one, other))


def _declared(snapshot: Snapshot, one: Sequence, other: Sequence) -> bool:
    """True when one of the two says that it is a copy, or names the other file."""
    for mine, yours in ((one, other), (other, one)):
        name = yours.path.rpartition("/")[2]
        doc = document(snapshot, mine.path)
        for node in places(snapshot, mine.path).all():
            if isinstance(node.value, str) and (_COPY_TEXT.search(node.value[:2000]) or (name in node.value and mine.path != yours.path)):
                return True
            if node.value not in (None, False, "") and _COPY_KEY.search(node.key):
                return True
        if doc is None and mine.path in snapshot.head.files and _COPY_TEXT.search(snapshot.head.read(mine.path)[:4000].decode("utf-8", "replace")):
            return True
    return False


def _finding(one: Sequence, other: Sequence) -> Finding:
    first, second = sorted((one, other), key=lambda s: (s.path, s.pointer or ""))
    a, b = _short(first.path, second.path), _short(second.path, first.path)
    shown = ", ".join(first.shown[:SHORTEST]) + (", …" if first.length > SHORTEST else "")
    differs = [
        f"`{key}` is {dict(first.identity)[key]} and {dict(second.identity)[key]}"
        for key in sorted(dict(first.identity).keys() & dict(second.identity).keys())
        if dict(first.identity)[key] != dict(second.identity)[key]
    ]
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title=f"{b} holds the measured times of {a}" if a != b else f"Two runs in {a} hold the same measured times",
        problem=f"All {first.length} times ({shown}) stand in the same order in `{a}` and in `{b}`"
        + (f"; {'; '.join(differs[:3])}." if differs else "."),
        impact="At most one of the two runs was measured; a comparison of the two compares a run with itself.",
        next="Commit the receipt that belongs to the run, or say in the file that it is a copy of the other (commit a file).",
        locations=(second.location(), first.location()),
        evidence=(("values", str(first.length)), ("first", first.shown[0]), ("last", first.shown[-1])),
        roots=(f"file:{first.path}", f"file:{second.path}"),
    )


def _short(path: str, other: str) -> str:
    """`path` without the folders that both have in common above the last two."""
    mine, yours = path.split("/"), other.split("/")
    same = next((i for i, (x, y) in enumerate(zip(mine, yours, strict=False)) if x != y), min(len(mine), len(yours)) - 1)
    return "/".join(mine[min(same, max(0, len(mine) - 2)) :])


RULE = Rule("receipt-duplicated", "integrity", Severity.HIGH, check, each=each)
