"""Changes that a JSON or YAML object states in one key beside its operands: `{"baseline_ms": 384.16, "candidate_ms": 266.6, "reduction_pct": 30.6}`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from rules.reading.changes import Change, Direction, span
from rules.reading.documents import Number, Path
from rules.reading.keys import family, words
from rules.reading.outline import Outline
from rules.reading.quantities import Quantity, of_value
from rules.reading.record_places import declared_unit, unit_of_part
from rules.reading.units import COUNTS, FOLDED, SPELLINGS, Unit, comparable

MENTIONS = (
    *("delta", "change", "diff", "reduc", "improve", "gain", "saving", "saved", "decrease", "increase", "regression", "uplift", "drop"),
    *("变化", "降幅", "增幅", "提升", "降低", "下降", "改善", "差值", "节省"),
)
"""What a document mentions in which a change may be stated."""
_BEFORE = family(
    "before baseline base control ctrl reference ref original orig old prev previous stock vanilla initial from pre unoptimized unoptimised unpatched"
)
_AFTER = family("after candidate cand new optimized optimised treatment treated patched variant updated current tuned final to post")
_DELTA = family(
    "delta deltas change changes changed diff difference reduction reductions reduced improvement improvements improved gain gains saving savings saved decrease decreased increase increased"
    " regression uplift drop"
)
_CHINESE_BEFORE, _CHINESE_AFTER = ("优化前", "基线", "基准", "对照", "之前", "修改前", "原始"), ("优化后", "候选", "之后", "修改后", "实验组", "改后")
_CHINESE_DELTA = ("变化", "降幅", "增幅", "提升", "降低", "下降", "改善", "差值", "节省", "增量")
_NOT_STATED = family(
    "target goal required requirement min minimum max maximum threshold limit expected budget allowed at least most speedup factor ratio times x ci std stderr pvalue significance"
    " confidence count log logs file files path id by date time_at tolerance gate allowed budgeted planned 目标 阈值 上限 下限 加速比"
)
_DOWN, _UP = family("reduction reductions reduced decrease decreased drop saving savings saved"), family("increase increased")
_FORM = family("pct percent percentage points point pp relative rel absolute abs rate signed net overall")
_TRIALS = 24
"""Operands of one object that are looked at."""


@dataclass(frozen=True, slots=True)
class Keyed:
    """A change stated under a key; the places of it and of its operands, and the operands as printed."""

    place: Path
    operands: tuple[Path, Path]
    printed: tuple[str, str]
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class _Operands:
    stem: frozenset[str]
    before: tuple[Path, Quantity]
    after: tuple[Path, Quantity]


def keyed_changes(held: Outline) -> Iterator[Keyed]:
    """Every change that an object states beside its two operands. `changes` holds one reading per pair of operands that may be meant; any that holds will do."""
    stating = {column.holders for column in held.columns if column.shape and _is_delta(column.shape[-1] or "")}
    for node in held.pick(lambda column: range(len(column.values)) if column in stating else ()):
        if isinstance(node.value, dict) and len(node.value) <= 400:
            yield from _of_object(held.top, node.path, node.value)


def _of_object(root: Any, path: Path, held: dict[str, Any]) -> Iterator[Keyed]:
    deltas = [key for key in held if isinstance(key, str) and _is_delta(key)]
    if not deltas:
        return
    pairs = list(_pairs(root, path, held))
    if not pairs:
        return
    for key in deltas:
        for place, value in _stated(path, key, held[key]):
            stem = _stem(key) | (_stem(str(place[-1])) if len(place) > len(path) + 1 else frozenset())
            meant = _meant(stem, pairs)
            unit = _own_unit(held if len(place) == len(path) + 1 else held[key], str(place[-1])) or (
                _own_unit(held, key) if len(place) > len(path) + 1 else None
            )
            stated = of_value(value, unit)
            if stated is not None and meant:
                yield _keyed(place, key, stem, stated, meant)


def _keyed(place: Path, key: str, stem: frozenset[str], stated: Quantity, meant: list[_Operands]) -> Keyed:
    said = set(words(key)) | set(words(str(place[-1])))
    changes = []
    for one in meant:
        alike = stem <= one.stem or not stem
        direction: Direction = "" if not alike else "down" if said & _DOWN else "up" if said & _UP else ""
        before, after = one.before[1], one.after[1]
        left = span(before).scaled(before.unit.factor / after.unit.factor) if before.unit and after.unit else span(before)
        changes.append(Change(stated, left, span(after), after.unit, direction))
    first = meant[0]
    return Keyed(place, (first.before[0], first.after[0]), (first.before[1].text, first.after[1].text), tuple(changes))


_REFERENCE = family("vs versus against over relative to from than")


def _of_other(key: str) -> bool:
    """`improvement_vs_864332`: compared with something else than the operands' own baseline."""
    said = words(key)
    at = next((i for i, word in enumerate(said) if word in ("vs", "versus", "against", "over", "than")), None)
    return at is not None and not set(said[at + 1 :]) & _BEFORE


def _is_arm(key: str, names: frozenset[str], others: frozenset[str]) -> bool:
    """The arm's word stands first or last in a short key, and the key names no other arm and no comparison."""
    said = tuple(word for word in words(key) if not _is_unit(word))
    if not said or len(said) > 5 or set(said) & (others | (_REFERENCE - names)):
        return False
    return said[0] in names or said[-1] in names


@lru_cache(maxsize=8192)
def _is_delta(key: str) -> bool:
    said = set(words(key))
    if _of_other(key) or ("p", "value") in pairwise(words(key)):
        return False
    chinese = any(word in key for word in _CHINESE_DELTA)
    return (bool(said & _DELTA) or chinese) and not said & _NOT_STATED and not said & (_BEFORE | _AFTER) - {"to", "from", "base", "final", "new"}


def _stated(path: Path, key: str, value: Any) -> Iterator[tuple[Path, Any]]:
    """The key's own value, or the values of an object of changes (`delta: {"latency_pct": …}`)."""
    if isinstance(value, (Number, str)):
        yield (*path, key), value
    elif isinstance(value, dict):
        for inner, child in list(value.items())[:_TRIALS]:
            if isinstance(child, (Number, str)) and not set(words(inner)) & _NOT_STATED and not set(words(inner)) & (_BEFORE | _AFTER):
                yield (*path, key, inner), child


# ---------------------------------------------------------------- operands


def _pairs(root: Any, path: Path, held: dict[str, Any]) -> Iterator[_Operands]:
    before = _side(root, path, held, (_BEFORE, _AFTER), _CHINESE_BEFORE)
    after = _side(root, path, held, (_AFTER, _BEFORE), _CHINESE_AFTER)
    for stem, found in before.items():
        other = after.get(stem)
        if other and len(found) == 1 and len(other) == 1 and comparable(found[0][1].unit, other[0][1].unit):
            yield _Operands(stem, found[0], other[0])


def _side(
    root: Any, path: Path, held: dict[str, Any], names: tuple[frozenset[str], frozenset[str]], chinese: tuple[str, ...]
) -> dict[frozenset[str], list[tuple[Path, Quantity]]]:
    """What an object holds for one arm: stem → values."""
    made: dict[frozenset[str], list[tuple[Path, Quantity]]] = {}
    for key, value in held.items():
        if not isinstance(key, str) or _is_delta(key) or not (_is_arm(key, *names) or any(word in key for word in chinese)):
            continue
        inside = value.items() if isinstance(value, dict) else [(None, value)]
        for inner, child in list(inside)[:_TRIALS]:
            place: Path = (*path, key) if inner is None else (*path, key, inner)
            quantity = of_value(child, declared_unit(root, place)[0]) if isinstance(child, (Number, str)) else None
            if quantity is not None:
                made.setdefault(_stem(key, chinese) | (_stem(inner) if inner else frozenset()), []).append((place, quantity))
    return made


def _stem(key: str, chinese: tuple[str, ...] = ()) -> frozenset[str]:
    """What a key is about, without its arm, its word of change, its form and its unit."""
    for word in (*chinese, *_CHINESE_BEFORE, *_CHINESE_AFTER, *_CHINESE_DELTA):
        key = key.replace(word, "_")
    return frozenset(w for w in words(key) if w not in _BEFORE | _AFTER | _DELTA | _FORM and not _is_unit(w))


def _is_unit(word: str) -> bool:
    found = SPELLINGS.get(word) or FOLDED.get(word)
    return (found is not None and found.family not in COUNTS) or word in ("s", "per", "sec")


def _meant(stem: frozenset[str], pairs: list[_Operands]) -> list[_Operands]:
    """The operands that a change is of: those of the same thing; without a thing all there are, if few."""
    exact = [one for one in pairs if one.stem == stem]
    if exact:
        return exact
    if len(pairs) == 1 and (not stem or not pairs[0].stem or stem & pairs[0].stem):
        return pairs
    if stem:
        around = [one for one in pairs if stem < one.stem]
        return around if len(around) <= 4 else []
    return pairs if len(pairs) <= 4 else []


def _own_unit(held: Any, key: str) -> Unit | None:
    """The unit of a change: by its own key only; what stands beside it is the operands'."""
    said = words(key)
    if {"pct", "percent", "percentage"} & set(said) and not {"points", "point", "pp"} & set(said):
        return SPELLINGS["%"]
    unit = unit_of_part({}, key) if isinstance(held, dict) else None
    return None if unit and unit.family in COUNTS else unit
