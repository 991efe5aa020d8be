"""Sample arrays and what is stated about them: the lists of observations of a document, the aggregates beside them, and what was left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import Any

from rules.core.model import Snapshot, Tree
from rules.reading.canonical_words import words
from rules.reading.documents import Document, Node, Number, Path, number, resolve
from rules.reading.outline import Column, Outline, Shape
from rules.reading.records import source
from rules.reading.statistic_keys import INDEX_WORDS, SETTING_WORDS, Key, Statistic, counts, read_key
from rules.reading.units import Unit
from rules.reading.units import unit as unit_named
from rules.reading.units import words as word_set
from rules.reading.values import NUMBERS

NEAR = 3
"""So many levels above a list or an aggregate, they may still speak of each other."""
FIELDS = 64
_NUMERIC = re.compile(
    r"\s*([-+]?\d{1,3}(?:,\d{3}){1,6}(?:\.\d{1,20})?|[-+]?\d{1,30}(?:\.\d{1,30})?(?:[eE][-+]?\d{1,3})?)\s*([A-Za-zµμ%/\u4e00-\u9fff]{0,12})\s*\Z"
)
_TRIAL_KEY = re.compile(
    r"(?:run|rep|repeat|repetition|trial|iter|iteration|sample|attempt|request|rank|worker|round|第)?[-_ ]?(\d{1,6})(?:次|轮)?\Z", re.IGNORECASE
)
_TRIALS = word_set("run repetition trial sample iteration measurement observation attempt request timing record")
_ARMS = word_set("arm variant build config configuration candidate branch revision treatment")
_SWEPT = word_set("batch thread size concurrency name label kind kernel method engine backend model case workload scenario level length stage phase")


# Of the settings, those that may be given as times; `step_ms`, `page_ms` and `tick_ms` are measured.
_SET_TIMES = SETTING_WORDS & word_set(
    "timestamp ts date at start end offset bin bucket edge threshold limit target gate schedule sweep axis x grid interval length config setting param parameter knob epoch"
)


@dataclass(frozen=True, slots=True)
class Series:
    """One list of observations.

    path    the list's place
    within  the keys inside each element (empty for a list of numbers)
    length  how many elements the list holds; `filled` of them hold a number
    setting True for lists of seeds, sizes, ids: never observations unless named
    """

    path: Path
    within: tuple[str, ...]
    length: int
    filled: int
    unit: Unit | None
    setting: bool


@dataclass(frozen=True, slots=True)
class Stated:
    """One aggregate that a document states. `text` is the printed number."""

    path: Path
    statistic: Statistic
    unit: Unit | None
    text: str

    @property
    def value(self) -> Fraction:
        return Fraction(self.text)

    @property
    def precision(self) -> Fraction:
        """The unit of the last printed digit."""
        return number(self.text).precision


@dataclass(frozen=True, slots=True)
class Declared:
    """A whole number that says how many there are, under a key that `statistic_keys.counts` understands."""

    path: Path
    value: int


@dataclass(frozen=True)
class Sampled:
    """What a document holds of samples. `near` lists the series that lie at most `NEAR` levels below a place; `blocked` holds the places
    below which series lie inside a list's elements; `summaries` holds the elements of lists that alone hold their aggregates; `kinds` the statistics stated in one object."""

    series: tuple[Series, ...] = ()
    stated: tuple[Stated, ...] = ()
    declared: tuple[Declared, ...] = ()
    near: dict[Path, tuple[Series, ...]] = field(default_factory=dict)
    blocked: frozenset[Path] = frozenset()
    summaries: frozenset[Path] = frozenset()
    kinds: dict[Path, frozenset[str]] = field(default_factory=dict)


def sampled(snapshot: Snapshot, path: str, tree: Tree | None = None) -> Sampled:
    """The samples of the document, table or record stream at `path`, kept by object id; nothing where it cannot be read."""
    doc = source(snapshot, path, tree)
    if doc is None:
        return Sampled()
    entry = (tree or snapshot.head).files[path]
    return snapshot.cache.by_blob("sampled:" + doc.language, entry.oid, 1024 + entry.size // 8, lambda: read_samples(doc.outline))


def read_samples(held: Outline) -> Sampled:
    """Every series, aggregate and declared number among the places of a document."""
    root = held.top
    series = [one for node in held.pick(_listing) for one in _series(node, unit_around(root, node.path))]
    stated: list[Stated] = []
    declared: list[Declared] = []
    for node in held.nodes(_may_state, (Number, str)):
        key = str(node.path[-1])
        found = _stated(node.path, node.value, node.parent, lambda node=node: unit_around(root, node.path[:-1]))  # type: ignore[misc]
        if found and not (found.statistic.kind == "total" and counts(key)):
            stated.append(found)
        elif counts(key) and (whole := whole_number(node.value)) is not None:
            declared.append(Declared(node.path, whole))
    near, blocked = _index(series)
    kinds: dict[Path, set[str]] = {}
    for one in stated:
        kinds.setdefault(one.path[:-1], set()).add(one.statistic.kind)
    held_kinds = {place: frozenset(names) for place, names in kinds.items()}
    return Sampled(tuple(series), tuple(stated), tuple(declared), near, blocked, _summaries(series, stated), held_kinds)


def _listing(column: Column) -> list[int]:
    """The rows that hold a list of two or more, or a map that may count like one."""
    if list not in column.types and dict not in column.types:
        return []
    return [row for row, held in enumerate(column.values) if isinstance(held, (list, dict)) and len(held) > 1 and _may_list(held)]


def _may_list(held: list[Any] | dict[str, Any]) -> bool:
    return isinstance(held, list) or _is_numbered(next(iter(held)))


@lru_cache(maxsize=4096)
def _is_numbered(key: str) -> bool:
    return _TRIAL_KEY.match(key) is not None


def _series(node: Node, unit: Unit | None) -> Iterator[Series]:
    return _of_list(node.path, node.value, unit) if isinstance(node.value, list) else _of_map(node.path, node.value, unit)


@lru_cache(maxsize=8192)
def _may_state(shape: Shape) -> bool:
    """True for the places of an aggregate or of a declared number."""
    key = shape[-1] if shape else None
    if key is None:
        return False
    unit = read_key(key).unit
    return bool(counts(key)) or statistic_at(shape if len(shape) == 3 else shape[-2:]) is not None or (unit is not None and unit.name == "min")


def _summaries(series: list[Series], stated: list[Stated]) -> frozenset[Path]:
    """The elements that hold aggregates which no other element of their list holds: a summary after the trials."""
    lists = {one.path for one in series}
    seen: dict[tuple[Path, Path], set[Path]] = {}
    for one in stated:
        for up in range(2, min(NEAR + 1, len(one.path)) + 1):
            if isinstance(one.path[-up], int) and one.path[:-up] in lists:
                seen.setdefault((one.path[:-up], one.path[len(one.path) - up + 1 :]), set()).add(one.path[: len(one.path) - up + 1])
                break
    return frozenset(next(iter(elements)) for elements in seen.values() if len(elements) == 1)


# ---------------------------------------------------------------- numbers and units


def literal(value: Any) -> str | None:
    """The printed number of a JSON number or of a string such as `"41.2"`, `"1,237.5 ms"`; None for anything else."""
    if isinstance(value, Number):
        text = value.text
        return text if isfinite(value) and (("e" not in text and "E" not in text) or value.exact is not None) else None
    if isinstance(value, str) and len(value) <= 48:
        match = _NUMERIC.match(value)
        return match[1].replace(",", "").lstrip("+") if match else None
    return None


def whole_number(value: Any) -> int | None:
    """A count from 0 to a billion, as a number or a string without unit; None for anything else."""
    if isinstance(value, Number):
        return int(value) if value.is_integer_literal and 0 <= value < 1e9 else None
    text = literal(value)
    return int(text) if text is not None and text.isdigit() and len(text) < 10 and value.strip()[-1].isdigit() else None


def _string_unit(value: Any) -> Unit | None:
    match = _NUMERIC.match(value) if isinstance(value, str) and len(value) <= 48 else None
    return unit_named(match[2]) if match and match[2] else None


def _key_unit(path: Path) -> Unit | None:
    return read_key(path[-1]).unit if path and isinstance(path[-1], str) else None


def unit_around(root: Any, path: Path) -> Unit | None:
    """The unit that the nearest object or list at or around `path` declares for what it holds."""
    found = _own_unit((), root) if isinstance(root, dict) else None
    held = root
    for depth, part in enumerate(path, 1):
        held = held[part]
        if isinstance(held, dict):
            found = _own_unit(path[:depth], held) or found
        elif isinstance(held, list):
            found = _key_unit(path[:depth]) or found
    return found


def _own_unit(path: Path, held: dict[str, Any]) -> Unit | None:
    """The unit that an object's own key or its `unit` field declares for what it holds."""
    for key in ("unit", "units", "time_unit", "timeUnit", "单位"):
        if isinstance(held.get(key), str):
            return unit_named(held[key])
    return _key_unit(path)


# ---------------------------------------------------------------- aggregates


def _stated(path: Path, held: Any, parent: Any, inherited: Callable[[], Unit | None]) -> Stated | None:
    key = str(path[-1])
    statistic, unit = statistic_at(path if len(path) == 3 else path[-2:]), read_key(key).unit
    if statistic is None and unit is not None and unit.name == "min" and isinstance(parent, dict) and key[:-3] + "max" in parent:
        statistic, unit = Statistic("min"), None
    text = literal(held) if statistic else None
    return Stated(path, statistic, unit or _string_unit(held) or inherited(), text) if statistic and text is not None else None


@lru_cache(maxsize=8192)
def statistic_at(path: tuple[str | int | None, ...]) -> Statistic | None:
    """The statistic that a place names: its own key's, a bare number's under `percentiles`, or that of the object around it."""
    own = read_key(str(path[-1]))
    above = read_key(path[-2]) if len(path) > 1 and isinstance(path[-2], str) else None
    if own.statistics:
        return None if above and any(s.kind == "other" for s in above.statistics) else own.statistic
    if above is None:
        return None
    if "percentile" in above.words and re.fullmatch(r"\d{1,2}(?:\.\d{1,3})?%?|0\.\d{1,5}", str(path[-1])):
        p = Fraction(str(path[-1]).rstrip("%"))
        p = p if p < 1 else p / 100
        return Statistic("median") if p == Fraction(1, 2) else Statistic("percentile", p) if 0 < p < 1 else None
    kinds = ("mean", "median", "stdev", "percentile") + (
        ("min", "max") if len(path) == 3 and not isinstance(path[0], str) and not above.content else ()
    )
    return above.statistic if above.statistic and above.statistic.kind in kinds else None


# ---------------------------------------------------------------- series


def _of_list(path: Path, held: list[Any], unit: Unit | None) -> Iterator[Series]:
    if len(held) < 2 or (path and isinstance(path[-1], str) and _SELECTED & set(words(path[-1]))):
        return
    if all(isinstance(item, Number) for item in held[:2]) or any(literal(item) for item in held[:8]):
        yield from _plain(path, held, unit)
    elif isinstance(held[0], dict):
        yield from _fields(path, [item for item in held if isinstance(item, dict)], len(held), unit)


def _of_map(path: Path, held: dict[str, Any], unit: Unit | None) -> Iterator[Series]:
    """A map with one entry per trial (`{"run1": 41.2, "run2": 40.9}`) counts like a list."""
    if is_trial_map(held) and not (path and "percentile" in read_key(str(path[-1])).words):
        inside = list(held.values())
        if all(isinstance(item, dict) for item in inside):
            yield from _fields(path, inside, len(inside), unit)
        else:
            yield from _plain(path, inside, unit)


def is_trial_map(held: dict[str, Any]) -> bool:
    """True when the keys number the entries one after another, from 0 or 1, under one word."""
    if len(held) < 2:
        return False
    stems = set()
    numbers = []
    for key in held:
        match = _TRIAL_KEY.match(key)
        if not match:
            return False
        numbers.append(int(match[1]))
        stems.add(key[: match.start(1)])
    return len(stems) == 1 and sorted(numbers) == list(range(min(numbers), min(numbers) + len(numbers))) and min(numbers) in (0, 1)


def _plain(path: Path, held: list[Any], unit: Unit | None) -> Iterator[Series]:
    if all(isinstance(item, Number) for item in held):
        filled = len(held)
    else:
        filled = sum(literal(item) is not None for item in held)
        if any(item is not None and literal(item) is None for item in held) or filled < 2:
            return
    index = unit is None and not _names_samples(path) and _counts_up(held)
    yield Series(path, (), len(held), filled, unit or _string_unit(held[0]), index or _is_setting(path, ()))


def _names_samples(path: Path) -> bool:
    return bool(path) and isinstance(path[-1], str) and not {"sample", "value", "observation", "measurement", "data"}.isdisjoint(words(path[-1]))


def _counts_up(held: list[Any]) -> bool:
    """True for 0, 1, 2, … or 1, 2, 3, …: indices, not observations."""
    if not isinstance(held[0], Number) or held[0] not in (0.0, 1.0):
        return False
    return all(isinstance(item, Number) and item == held[0] + i for i, item in enumerate(held))


def _fields(path: Path, held: list[dict[str, Any]], length: int, unit: Unit | None) -> Iterator[Series]:
    """One series per numeric key, or key inside a key, that most of the elements have."""
    filled = _filled(held)
    arms = _are_arms(path, held)
    for within, count in filled.items():
        last = read_key(within[-1])
        if count >= 2 and not last.statistics and not _is_index(within, last):
            own = last.unit or (read_key(within[0]).unit if len(within) > 1 else None) or _element_unit(held[0])
            yield Series(path, within, length, count, own or unit, arms or _is_setting(path, within))


def _filled(held: Sequence[dict[str, Any]], levels: int = 2) -> dict[tuple[str, ...], int]:
    """How many of the objects hold a number under each key, or under a key inside a key; by columns of the objects with the same keys."""
    alike: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for item in held:
        alike.setdefault(tuple(item), []).append(item)
    made: dict[tuple[str, ...], int] = {}
    for keys, items in alike.items():
        for key, values in zip(keys, zip(*(item.values() for item in items), strict=True), strict=True):
            inside = [value for value in values if isinstance(value, dict)] if levels > 1 and dict in set(map(type, values)) else []
            inner = {(key, *within): count for within, count in _filled(inside, levels - 1).items()}
            for within, count in (inner | {(key,): _count_numbers(values)}).items():
                if count and (len(made) < FIELDS or within in made):
                    made[within] = made.get(within, 0) + count
    return made


def _count_numbers(values: Sequence[Any]) -> int:
    if set(map(type, values)) <= NUMBERS:
        return sum(map(isfinite, values))
    return sum(literal(value) is not None for value in values)


def _are_arms(path: Path, held: list[dict[str, Any]]) -> bool:
    """True when the elements are arms or settings of a sweep, not trials of one thing."""
    trials = bool(path) and isinstance(path[-1], str) and not _TRIALS.isdisjoint(words(path[-1]))
    for key in held[0]:
        if len(held[0]) > FIELDS or not set(words(key)) & (_ARMS if trials else _ARMS | _SWEPT):
            continue
        if len({str(item.get(key)) for item in held[:1000] if key in item}) > 1:
            return True
    return False


def _element_unit(item: dict[str, Any]) -> Unit | None:
    named = item.get("unit")
    return unit_named(named) if isinstance(named, str) else None


def _is_index(within: tuple[str, ...], key: Key) -> bool:
    return len(within) == 1 and key.unit is None and len(key.words) <= 2 and all(word in INDEX_WORDS for word in key.words)


_SELECTED = word_set("best top worst selected selection subset shortlist example preview excerpt")
"""`best_by_rate` holds a choice of the samples, which nothing is computed from."""


def _is_setting(path: Path, within: tuple[str, ...]) -> bool:
    said = [w for part in (*path[-1:], *within) if isinstance(part, str) for w in words(part)]
    keys = [read_key(part) for part in (*path[-1:], *within) if isinstance(part, str)]
    timed = any(key.unit is not None and key.unit.family == "time" for key in keys[-1:])
    return any(word in (_SET_TIMES if timed else SETTING_WORDS) for word in said) or any(key.cut for key in keys)


def _index(series: list[Series]) -> tuple[dict[Path, tuple[Series, ...]], frozenset[Path]]:
    near: dict[Path, list[Series]] = {}
    blocked: set[Path] = set()
    for one in series:
        for up in range(1, NEAR + 1):
            if up > len(one.path):
                break
            if isinstance(one.path[-up], int):
                blocked.update(one.path[:end] for end in range(max(0, len(one.path) - NEAR - 2), len(one.path) - up + 1))
                break
            near.setdefault(one.path[: len(one.path) - up], []).append(one)
        if not one.path:
            near.setdefault((), []).append(one)
    return {place: tuple(held) for place, held in near.items()}, frozenset(blocked)


def texts(doc: Document, series: Series) -> list[str | None]:
    """The printed numbers of `series`, None for an element without one."""
    held = resolve(doc.value, series.path)
    items = list(held.values()) if isinstance(held, dict) else held
    if not series.within and all(isinstance(item, Number) for item in items):
        return [item.text for item in items]
    return [literal(_inside(item, series.within)) for item in items]


def _inside(item: Any, within: tuple[str, ...]) -> Any:
    for key in within:
        item = item.get(key) if isinstance(item, dict) else None
    return item
