"""Limits in a gate's entry, and whether a measured value keeps them: exact, in one unit, and only where both measure the same thing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rules.reading.documents import Number
from rules.reading.end_keys import held_words, stem
from rules.reading.gates import Direction, direction_of, rules_in_words
from rules.reading.keys import family, words
from rules.reading.quantities import of_value
from rules.reading.unit_keys import unit_of_key
from rules.reading.units import Unit, comparable
from rules.reading.units import unit as unit_named

NAMES = ("id", "name", "gate", "metric", "criterion", "title", "label", "key", "gate_id", "gateId", "名称", "指标", "门槛")
FLAGS = family("passed pass ok met satisfied holds status result verdict outcome state success accepted passes 通过 是否通过 结果 状态 判定")
MEASURED = family(
    "observed measured actual value got achieved measurement observation result candidate score reading observedvalue 实测 测得 观测 实际 实测值 观测值 实际值 测量值 数值"
)
LIMITS = family("limit threshold target bound 阈值 限值 目标 上限 下限")
_OPERATORS = family("op operator comparator comparison relation direction cmp better goal 比较 方向")
_EQUALS = family("equal equals expected expect must exactly")


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit in a gate's entry, exact, in `unit` where its key or text declares one; `strict` where equality fails."""

    direction: Direction
    value: Fraction
    shown: str
    measure: tuple[str, ...] = ()
    unit: Unit | None = None
    strict: bool = False


# ---------------------------------------------------------------- numbers against limits


def limits(item: Mapping[str, Any]) -> list[Threshold]:
    """Every limit that a gate's object states; where one is called limit, threshold or target, only those."""
    made: list[Threshold] = []
    for key, value in item.items():
        held = words(key)
        if set(held) & {"observed", "measured", "actual"}:
            continue
        if isinstance(value, Number) and value.exact is not None:
            made += _limit_of_number(key, held, value, item)
        elif (
            isinstance(value, str)
            and len(value) <= 200
            and set(held) & (LIMITS | family("rule rules condition must requirement require max min accept expression 规则 要求 条件"))
        ):
            made += _limit_of_text(key, value)
        elif (
            isinstance(value, list)
            and len(value) == 2
            and set(held) & {"range", "between", "bounds", "interval"}
            and all(isinstance(v, Number) and v.exact is not None for v in value)
        ):
            made += [Threshold("min", value[0].exact, f"{key} {value[0].text}"), Threshold("max", value[1].exact, f"{key} {value[1].text}")]
    explicit = [one for one in made if one.shown.split(" ")[0].lower() in LIMITS]
    return explicit or made


def _limit_of_number(key: str, held: tuple[str, ...], value: Number, item: Mapping[str, Any]) -> list[Threshold]:
    operator = next((str(v).strip().lower() for k, v in item.items() if held_words(k) & _OPERATORS and isinstance(v, str)), "")
    better = [("max" if {"lower", "smaller"} & held_words(k) else "min") for k, v in item.items() if v is True and "better" in words(k)]
    direction = _of_operator(operator) if operator and set(held) & LIMITS else None
    direction = direction or (better[0] if better and set(held) & LIMITS else None)  # type: ignore[assignment]
    direction = direction or ({"le": "max", "lt": "max", "ge": "min", "gt": "min"}.get(key.lower()) or direction_of(held, item))  # type: ignore[assignment]
    if direction is None or value.exact is None:
        return []
    strict = (
        operator in ("<", ">", "lt", "gt")
        or key.lower() in ("lt", "gt")
        or bool(set(held) & {"below", "above", "exceeds", "under", "over"} and not set(held) & {"not"})
    )
    left = tuple(word for word in held if word not in _PLAIN_LIMIT_WORDS)
    return [Threshold(direction, value.exact, f"{key} {value.text}", left, unit_of_key(key), strict)]


_PLAIN_LIMIT_WORDS = family(
    "max min maximum minimum limit threshold target bound upper lower at most least ceiling floor budget cap le lt ge gt value allowed required below above under over no more less than tolerance exceeds "
    "上限 下限 阈值 限值 目标 至多 至少 最大 最小 最大值 最小值"
)


def _of_operator(text: str) -> Direction | None:
    if re.match(r">|≥|ge\b|gt\b|gte\b|at[ _]least|higher|min|above|greater|up\b|不低于|至少|大于", text):
        return "min"
    return "max" if re.match(r"<|≤|le\b|lt\b|lte\b|at[ _]most|lower|max|below|less|down\b|smaller|不超过|至多|小于", text) else None


_RELATIVE = re.compile(r"baseline|control|reference|relative|of the|times|×|faster|slower|reduction|基线|对照|相对", re.IGNORECASE)


def _limit_of_text(key: str, text: str) -> list[Threshold]:
    """`<= 250 ms`, `at least 30`, `不超过 250`; nothing where the text speaks of a baseline or of several limits."""
    found = list(rules_in_words(text))
    if len(found) != 1 or _RELATIVE.search(text):
        return []
    direction, value, unit = found[0]
    spelled = unit_named(unit[-1]) if unit and unit[-1] else None
    strict = (
        re.search(r"(?<![<>=])[<>](?!=)|below|under|less than|more than|greater than|above|小于|大于|低于|高于", text) is not None
        and "not" not in text
    )
    return [Threshold(direction, value, f"{key} {text[:60]}", (), spelled, strict)]


def equality(item: Mapping[str, Any], value: Any) -> tuple[bool, str] | None:
    """Whether `value` is what the object says it must equal, and what that is; None where it says nothing that can be compared."""
    wanted = [
        (k, v) for k, v in item.items() if held_words(k) & {"equal", "equals", "expected", "expect"} and not held_words(k) & {"tolerance", "gain"}
    ]
    for key, want in wanted:
        if isinstance(want, bool) and isinstance(value, bool):
            return want == value, shown(key, want)
        if isinstance(want, Number) and isinstance(value, Number) and want.exact is not None and value.exact is not None:
            slack = next(
                (
                    v.exact
                    for k, v in item.items()
                    if held_words(k) & {"tolerance", "atol", "slack"} and isinstance(v, Number) and v.exact is not None
                ),
                None,
            )
            if slack is not None or not held_words(key) & {"expected", "expect"} or (want.is_integer_literal and value.is_integer_literal):
                return abs(want.exact - value.exact) <= (slack or 0), shown(key, want)
    return None


def keeps(limit: Threshold, key: str, value: Any, item: Mapping[str, Any], names: frozenset[tuple[str, ...]]) -> bool | None:
    """Whether `value` keeps `limit`; None where the two cannot be compared: another measure, units of different kinds."""
    named = next((unit_of_key(v) for k, v in item.items() if k in ("metric", "id", "name", "gate") and isinstance(v, str) and unit_of_key(v)), None)
    declared = next((v for k, v in item.items() if held_words(k) & {"unit", "units"} and isinstance(v, str)), None)
    common = (unit_named(declared) if declared else None) or named
    quantity = of_value(value, unit_of_key(key) or common)
    if quantity is None or quantity.relation not in ("=", "~"):
        return None
    if not _same_measure(limit, key, names):
        return None
    mine, theirs = quantity.unit, limit.unit or (common if limit.unit is None else None)
    exact, bound = quantity.value, limit.value
    if mine and theirs and mine != theirs:
        if not comparable(mine, theirs) or mine.family != theirs.family:
            return None
        exact, bound = exact * mine.factor, bound * theirs.factor
    if limit.strict and exact == bound:
        return False
    return exact >= bound if limit.direction == "min" else exact <= bound


def _same_measure(limit: Threshold, key: str, names: frozenset[tuple[str, ...]]) -> bool:
    """`min_reduction_pct` is no limit for `observed_s`: what is left of the limit's key must stand in the measured key or the gate's names."""
    left = {stem(word) for word in limit.measure if unit_of_key(word) is None and unit_named(word) is None}
    known = {stem(word) for word in words(key)} | {word for name in names for word in name}
    return left <= known


def is_limit_key(key: str) -> bool:
    """True for a key that states a limit or what must be equal."""
    return bool(held_words(key) & (LIMITS | _EQUALS)) or direction_of(words(key), None) is not None


def shown(key: str, value: Any) -> str:
    """A field as a finding prints it."""
    text = (
        value.text if isinstance(value, Number) else "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)[:80]
    )
    return f"`{key}: {text}`"
