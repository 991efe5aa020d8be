"""What is declared to be left out of a series: warm-ups, discarded and failed trials."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rules.reading.canonical_words import words
from rules.reading.documents import Document, Number, Path, resolve, walk
from rules.reading.samples import Series, literal
from rules.reading.statistic_keys import read_key
from rules.reading.units import words as word_set

_OUT_STATUS = word_set(
    "fail failed failure error errored timeout timed_out aborted abort crashed crash warmup warm-up warm_up discarded excluded invalid rejected skipped oom "
    "cancelled canceled outlier ignored dropped killed interrupted 失败 预热 丢弃 剔除 超时 无效"
)
_OUT_FLAGS = word_set("warmup discard exclude skip ignore outlier fail invalid reject drop cooldown")
_IN_FLAGS = word_set("valid ok success pass passed measured included kept counted accepted")
_NOTE = re.compile(
    r"warm.?up|burn.?in|discard|exclud|outlier|dropped|trimm|skipp|ignor|remov|omit|first (?:run|sample|iteration|request|measurement)|cold|"
    r"预热|热身|剔除|丢弃|去掉|舍弃|首次|排除|忽略|离群|去除",
    re.IGNORECASE,
)
# What a group of samples is called says nothing of what was left out of it ("label": "cold"), unless it says so itself.
_NAMES = word_set(
    "label name id title campaign workload case scenario benchmark phase stage arm variant metric measure kind type group test suite clip model "
    "operation op method mode 名称 标签 标题 场景 阶段 指标 负载"
)
_WITHOUT = re.compile(
    r"\b(?:excl\w{0,8}|without|omitting|ignoring|less the|after (?:discarding|dropping|skipping|removing|trimming))\b|去掉|剔除|不含|不计|排除",
    re.IGNORECASE,
)

KEYS = 1000


@dataclass(frozen=True)
class Left:
    """What is declared to be left out of a series.

    leading  numbers of first elements
    some     a number of elements, not said which
    masks    sets of indices
    vague    a note says that something was left out, not how much
    """

    leading: frozenset[int] = frozenset()
    some: frozenset[int] = frozenset()
    masks: tuple[frozenset[int], ...] = ()
    vague: bool = False

    def __bool__(self) -> bool:
        return bool(self.leading or self.some or self.masks or self.vague)


def left_out(doc: Document, series: Series, flagged: dict[Path, frozenset[int]] | None = None) -> Left:
    """What the objects around `series`, and its elements' own flags, declare to be left out. `flagged` keeps the flags of lists that were read."""
    flagged = {} if flagged is None else flagged
    leading: set[int] = set()
    some: set[int] = set()
    masks: list[frozenset[int]] = []
    vague = False
    for holder in _holders(doc.value, series.path):
        for key, value in holder.items():
            if isinstance(value, str) and _is_note(key, value[:2000]):
                vague = True
            elif _cuts(key):
                vague |= _declare(key, value, series, leading, some, masks)
    if series.within:
        if series.path not in flagged:
            flagged[series.path] = _flagged(doc, series.path)
        masks += [flagged[series.path]] if flagged[series.path] else []
    return Left(frozenset(leading), frozenset(some), tuple(masks), vague)


def _is_note(key: str, value: str) -> bool:
    """True for a text that says that something was left out."""
    said = words(key)
    if value.isascii() and not any(char.isspace() for char in value) and not {"note", "comment", "remark", "caveat"} & set(said):
        return False
    return bool((_WITHOUT if said and said[-1] in _NAMES else _NOTE).search(value))


def _flagged(doc: Document, path: Path) -> frozenset[int]:
    """The elements of a list that say of themselves that they do not count."""
    held = resolve(doc.value, path)
    items = list(held.values()) if isinstance(held, dict) else held
    return frozenset(i for i, item in enumerate(items) if isinstance(item, dict) and is_out(item))


def _holders(value: Any, path: Path) -> Iterator[dict[str, Any]]:
    """The objects around a place, outermost first; those with very many keys are data, not descriptions."""
    for part in path:
        if isinstance(value, dict) and len(value) <= KEYS:
            yield value
        value = resolve(value, (part,))


def _cuts(key: str) -> bool:
    """True for a key that says what was left out: `warmups`, `discarded_runs`, `skip_first`, not `dropped_frames`."""
    read = read_key(key)
    return (read.cut and read.unit is None and read.content <= {"first", "last", "initial", "indices", "index"}) or key.lower() in (
        "valid",
        "measured",
        "ok",
    )


def _declare(key: str, value: Any, series: Series, leading: set[int], some: set[int], masks: list[frozenset[int]]) -> bool:
    """Notes what one key declares; True where it only says that something was left out."""
    first = bool({"warmup", "skip", "first", "initial"} & set(read_key(key).words))
    text = literal(value)
    if text is not None:
        count = int(Fraction(text)) if Fraction(text).denominator == 1 else 0
        if 0 < count < series.length and _cuts(key) and read_key(key).cut:
            (leading if first else some).add(count)
    elif isinstance(value, list) and len(value) == series.length and all(isinstance(v, bool) for v in value):
        wanted = not read_key(key).cut
        masks.append(frozenset(i for i, v in enumerate(value) if v is not wanted))
    elif isinstance(value, (list, dict)) and value and read_key(key).cut:
        some.add(min(len(value), series.length - 1))
        masks += _indices(value, series.length)
    elif (value is True or isinstance(value, str)) and read_key(key).cut and str(value).strip().lower() not in ("none", "no", "无", "false", "0"):
        return True
    return False


def _indices(value: Any, length: int) -> Iterator[frozenset[int]]:
    numbers = [int(item) for item in value if isinstance(item, Number) and item.is_integer_literal] if isinstance(value, list) else []
    if numbers and len(numbers) == len(value):
        for start in (0, 1):
            yield frozenset(n - start for n in numbers if 0 <= n - start < length)


def is_out(item: dict[str, Any]) -> bool:
    """True for a trial that says of itself that it does not count: a warm-up, a failure, a discarded run."""
    for key, value in item.items():
        said_words = set(words(key))
        if isinstance(value, bool):
            if (value and said_words & _OUT_FLAGS) or (not value and said_words <= _IN_FLAGS):
                return True
        elif (
            isinstance(value, str)
            and len(value) < 40
            and said_words & {"status", "phase", "kind", "type", "state", "role", "stage", "outcome", "result", "状态"}
        ):
            if value.strip().lower() in _OUT_STATUS:
                return True
        elif value is not None and value != "" and said_words & {"error", "exception"} and len(said_words) <= 2 and not isinstance(value, Number):
            return True
    return False


def warmups_of(doc: Document) -> Iterator[int]:
    """The numbers of warm-ups that a document declares anywhere."""
    for node in walk(doc.value):
        if (
            isinstance(node.value, Number)
            and node.value.is_integer_literal
            and 0 < node.value < 1000
            and node.path
            and isinstance(node.path[-1], str)
        ):
            read = read_key(node.path[-1])
            if "warmup" in read.words and read.unit is None:
                yield int(node.value)
