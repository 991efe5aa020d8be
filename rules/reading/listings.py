"""Declared counts against what is listed: which lists and maps hold one entry per run, rank or worker, and what explains a difference."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rules.reading.canonical_words import words
from rules.reading.documents import Document, Path, resolve
from rules.reading.left_out import KEYS, is_out
from rules.reading.outline import Outline
from rules.reading.samples import is_trial_map, literal, whole_number
from rules.reading.statistic_keys import COUNTED, CUT_WORDS, FAMILY, read_key
from rules.reading.units import words as word_set

_ENTRY_KEY = re.compile(r"[A-Za-z_.\u4e00-\u9fff -]{0,40}[-_.:#]?\d{1,6}(?:[:/.@_-][A-Za-z0-9]{1,24}){0,3}\Z")
_NUMBERED = re.compile(r"([A-Za-z]{2,20})[-_ .:#]?\d{1,6}")
_LOST = CUT_WORDS | {
    "error",
    "timeout",
    "crash",
    "missing",
    "lost",
    "incomplete",
    "cancel",
    "cancelled",
    "oom",
    "interrupt",
    "interrupted",
    "unfinished",
    "dead",
}
_KEPT = word_set("complete success valid measured kept used accepted finished recorded ok passed included")
_ID_WORDS = word_set("rank worker id index idx run trial repetition pid host name seed sample iteration replicate attempt round number")
_EXIT_WORDS = word_set("exit code status return returncode exitcode signal rc")
_UNFINISHED = re.compile(
    r"\b(?:running|queued|in[- _]progress|interrupted|incomplete|partial|aborted|pending|ongoing)\b|进行中|排队|中断|未完成", re.IGNORECASE
)
_NOTED = re.compile(
    r"warm.?up|discard|exclud|outlier|dropp|fail|abort|crash|lost|missing|not recorded|did not (?:finish|complete)|timed out|skipp|预热|剔除|丢弃|失败|缺失|中断|未记录|超时",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Listing:
    """A list or map with one entry per thing: its place, the family of what it lists, and the numbers of entries that may be counted."""

    path: Path
    family: str
    length: int
    counted: frozenset[int]


def listings(held: Outline) -> Iterator[Listing]:
    """Every list and map of a document that names what it has one entry for: `ranks: […]`, `worker_exits: […]`, `per_worker: {"0": …}`."""
    for node in held.nodes(lambda shape: bool(shape) and shape[-1] is not None, (list, dict)):
        family = _lists(str(node.path[-1])) or (_keyed_by(node.value) if isinstance(node.value, dict) else None)
        entries = _entries(node.value) if family else None
        if family and entries is not None and _are_entries(family, str(node.path[-1]), node.value, entries):
            kept = sum(not (isinstance(item, dict) and is_out(item)) for item in entries)
            present = sum(item is not None for item in entries)
            yield Listing(node.path, family, len(entries), frozenset((len(entries), kept, present)))


@lru_cache(maxsize=8192)
def _lists(key: str) -> str | None:
    """The family that a list's key names: `ranks`, `worker_exits`, `per_rank_memory`; None where it names none or several."""
    read = read_key(key)
    nouns = [word for word in (*read.words, *([read.per] if read.per else [])) if word in COUNTED]
    families = {FAMILY.get(noun, noun) for noun in nouns}
    rest = [
        w
        for w in read.words
        if w not in COUNTED and w not in ("per", "list", "all", "record", "result", "by", "detail", "entry", "measured", "timed")
    ]
    if len(families) != 1 or read.cut or (rest and not set(rest) <= _EXIT_WORDS and not read.per and "per" not in read.words):
        return None
    return families.pop()


def _keyed_by(held: dict[str, Any]) -> str | None:
    """The family of `{"rank0": …, "rank1": …}`: what all keys name before their number."""
    if len(held) < 2 or len(held) > 100_000:
        return None
    nouns = {words(match[1])[-1:] for key in held if (match := _NUMBERED.fullmatch(key))} if all(_NUMBERED.fullmatch(key) for key in held) else set()
    noun = nouns.pop() if len(nouns) == 1 else ()
    return FAMILY.get(noun[0], noun[0]) if noun and noun[0] in COUNTED else None


def _entries(held: Any) -> list[Any] | None:
    if isinstance(held, list):
        return held
    keys = list(held)
    numbered = is_trial_map(held) or (len(keys) > 1 and all(_ENTRY_KEY.match(key) for key in keys) and len({type(v) for v in held.values()}) == 1)
    return list(held.values()) if numbered else None


def _are_entries(family: str, key: str, held: Any, entries: list[Any]) -> bool:
    """One entry per thing: objects, exit codes under a key that says so, or names and ids; not LoRA ranks `[8, 16, 32]` or settings to try."""
    if all(isinstance(item, dict) for item in entries):
        return not any(_is_summary(item) for item in entries[:3])
    if isinstance(held, list) and len(held) == 1 and "per" in words(key):
        return False  # `rows_per_shard: [1024]` are the values that occur
    if isinstance(held, dict) or "per" in words(key) or _EXIT_WORDS & set(words(key)):
        return all(not isinstance(item, (list, dict)) or item for item in entries)
    numbers = [whole_number(item) for item in entries]
    if all(n is not None for n in numbers):
        values = [n for n in numbers if n is not None]
        return len(set(values)) == len(values) and min(values) in (0, 1) and max(values) <= 2 * len(values)
    if family in ("run", "sample"):
        return all(literal(item) is not None or item is None for item in entries)
    return all(isinstance(item, str) and len(item) < 200 for item in entries)


def _is_summary(item: dict[str, Any]) -> bool:
    return any(read_key(key).statistic is not None and isinstance(value, (int, float)) for key, value in item.items()) and not any(
        _ID_WORDS & set(words(key)) for key in item
    )


# ---------------------------------------------------------------- what explains a difference


@dataclass(frozen=True, slots=True)
class Explained:
    """Numbers that are declared beside a count: what was left out or failed (`lost`), what was kept (`kept`); `vague`: said without a number."""

    lost: tuple[int, ...]
    kept: frozenset[int]
    vague: bool

    def allows(self, declared: int, actual: int) -> bool:
        """True when what is declared beside the count makes up the difference, in either direction."""
        if self.vague or actual in self.kept:
            return True
        sums = {0}
        for n in self.lost[:6]:
            sums |= {s + n for s in sums} | {s - n for s in sums}
        return actual - declared in sums


def explained(doc: Document, place: Path) -> Explained:
    """What the objects around `place`, and those right below them, declare about failures, warm-ups and discarded runs."""
    lost: list[int] = []
    kept: set[int] = set()
    vague = False
    for holder in _around(doc.value, place):
        for key, value in holder.items():
            said = set(words(key))
            count = whole_number(value)
            if isinstance(value, str):
                vague |= bool(_NOTED.search(value[:2000])) and not said <= _EXIT_WORDS
                vague |= "status" in said and bool(_UNFINISHED.search(value[:200]))
            elif said & _LOST and read_key(key).unit is None:
                if count is not None:
                    lost += [count] if count else []
                elif isinstance(value, (list, dict)) and value:
                    lost.append(len(value))
                elif value is True:
                    vague = True
            elif said & _KEPT and count is not None:
                kept.add(count)
    return Explained(tuple(lost), frozenset(kept), vague)


def _around(value: Any, place: Path) -> Iterator[dict[str, Any]]:
    for part in place:
        if isinstance(value, dict) and len(value) <= KEYS:
            yield value
            if len(value) <= 64:
                yield from (child for child in value.values() if isinstance(child, dict) and len(child) <= 16)
        value = resolve(value, (part,))
