"""Verdicts and judged gates of a result: what each gate's own numbers and flags say, and which verdict is stated over them.

A number against its limit outranks a `passed` flag; null is not a pass. Diagnostics, software checks and waived gates are no gates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

from rules.reading.documents import Node, Number, Path
from rules.reading.gates import Direction, direction_of, rules_in_words
from rules.reading.keys import family, words
from rules.reading.lifecycle import stem
from rules.reading.quantities import of_value
from rules.reading.unit_keys import unit_of_key
from rules.reading.units import Unit, comparable
from rules.reading.units import unit as unit_named

Said = Literal["pass", "fail", "open", "waived"]

MENTIONS = ("verdict", "gate", "criteri", "accept", "passed", "conclusion", "decision", "outcome", "result", "status", "adjudicat", "qualif", "judg", "结论", "判定", "裁决", "门", "验收", "通过")

_PASS = re.compile(
    r"(?:overall[ :-]{1,3})?(?:pass(?:ed|es)?|accept(?:ed|s)?|approved?|qualif(?:ied|ies)|success(?:ful(?:ly)?)?|met|ok|okay|satisfied|holds?|promoted?|true|yes|green|go|验收通过|通过|合格|达标|接受|采纳|满足|是)(?![A-Za-z\u3400-\u9fff])",
    re.IGNORECASE,
)
_FAIL = re.compile(
    r"(?:overall[ :-]{1,3})?(?:fail(?:ed|s|ure|ing)?|reject(?:ed|s)?|not[ _-](?:pass(?:ed)?|accept(?:ed|able)|qualified|met|satisfied|ok)|disqualified|no[- ]go|unmet|violated|exceeded|refused|false|red|不通过|未通过|没通过|不合格|拒绝|失败|未达标|不达标|否决|驳回|否)(?![A-Za-z])",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"(?:inconclusive|undecided|undetermined|pending|unknown|not[ _-](?:yet[ _-])?(?:measured|evaluated|run|judged|tested|recorded|available|assessed|executed|checked|done|collected)|un(?:measured|tested|evaluated|judged)"
    r"|skipped|missing|none|null|todo|tbd|deferred|blocked|n/a|na|-|\?|未定|未测(?:量|试)?|待定|待测|无结论|不确定|尚未.{0,6}|未评估|未判定|缺失|跳过|没有测量|无)(?![A-Za-z])",
    re.IGNORECASE,
)
_WAIVED = re.compile(r"(?:waived|not[ _-]applicable|exempt(?:ed)?|withdrawn|superseded|豁免|不适用|撤销)(?![A-Za-z])", re.IGNORECASE)
_UNSURE = re.compile(r"(?<![A-Za-z])(?:pending|unless|subject to|conditional(?:ly)?|provisional(?:ly)?|except|until|tentative|partial(?:ly)?)(?![A-Za-z])|待|有条件|暂|部分", re.IGNORECASE)


def said_of(value: Any) -> Said | None:
    """What a flag, status or verdict says; None for text that is no such word. Null and an empty text are open."""
    if value is None or value == "":
        return "open"
    if isinstance(value, bool):
        return "pass" if value else "fail"
    if not isinstance(value, str) or len(value) > 300:
        return None
    bare = value.strip().strip("*`_\"'“”")
    for said, pattern in (("waived", _WAIVED), ("open", _OPEN), ("fail", _FAIL)):
        if pattern.match(bare):
            return said  # type: ignore[return-value]
    if _PASS.match(bare):
        return "open" if _UNSURE.search(bare) else "pass"
    return None


# ---------------------------------------------------------------- what is what

_GATE_KEYS = family(
    "gate gates criteria criterion acceptance requirements requirement thresholds constraints 门 门槛 门禁 闸门 准则 验收项 验收 验收标准 通过条件 判据 指标要求"
)
_NOT_GATES = family(
    "diagnostic diagnostics software smoke unit lint ci informational advisory optional test tests check checks info supplementary observational sanity style format static monitoring "
    "note notes history version file files path manifest record integrity superseded old previous planned plan 诊断 冒烟 单元测试 可选 参考"
)
_STRONG = family("verdict conclusion adjudication judgement judgment decision ruling overall 结论 判定 裁决 总评 最终结论 总体结论")
_WEAK = family("outcome result status acceptance accepted passed pass qualified qualification approved state 结果 状态 验收 通过 验收结果 是否通过")
_NO_VERDICT = family("rule rules when if by at time date reason note notes gate gates owner maker policy expected required software ci previous count counts number path file log baseline control id")
_NAMES = ("id", "name", "gate", "metric", "criterion", "title", "label", "key", "gate_id", "gateId", "名称", "指标", "门槛")
_FLAGS = family("passed pass ok met satisfied holds status result verdict outcome state success accepted passes 通过 是否通过 结果 状态 判定")
_MEASURED = family(
    "observed measured actual value got achieved measurement observation result candidate score reading observedvalue 实测 测得 观测 实际 实测值 观测值 实际值 测量值 数值"
)
_LIMITS = family("limit threshold target bound 阈值 限值 目标 上限 下限")
_OPERATORS = family("op operator comparator comparison relation direction cmp better goal 比较 方向")
_EQUALS = family("equal equals expected expect must exactly")


def _is_gate_key(key: str) -> bool:
    held = set(words(key))
    chinese = any(word in key for word in ("门槛", "门禁", "闸门", "准则", "验收项", "判据"))
    return bool(held & _GATE_KEYS or chinese) and not held & _NOT_GATES


def _is_elsewhere(path: Path) -> bool:
    return any(isinstance(part, str) and set(words(part)) & _NOT_GATES for part in path)


@dataclass(frozen=True, slots=True)
class JudgedGate:
    """One gate of a result.

    stated   what its flag or status says; None where it has none
    unmeasured  its measured value is null or said not to be there
    holds    whether its number keeps its limit; None where it has no number or no limit that can be compared
    shown    what was seen: `observed 263.4 against max 250`, `passed: false`
    """

    name: str
    place: Path
    stated: Said | None
    unmeasured: bool
    holds: bool | None
    shown: str

    @property
    def outcome(self) -> Said:
        if self.stated == "waived":
            return "waived"
        if self.holds is not None:
            return "pass" if self.holds else "fail"
        if self.stated == "fail":
            return "fail"
        return "open" if self.unmeasured or self.stated is None else self.stated


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit in a gate's entry, exact, in `unit` where its key or text declares one; `strict` where equality fails."""

    direction: Direction
    value: Fraction
    shown: str
    measure: tuple[str, ...] = ()
    unit: Unit | None = None
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One gate as a plan or a result lists it: its name, where it stands, its object or flag, and the object that holds the list it stands in."""

    name: str
    place: Path
    value: Any
    owner: Path = ()

    @property
    def keys(self) -> frozenset[tuple[str, ...]]:
        """Its names as tuples of words, without words that say nothing."""
        named = [self.name]
        if isinstance(self.value, Mapping):
            named += [v for k, v in self.value.items() if k in _NAMES and isinstance(v, str) and len(v) <= 120]
        return frozenset(split for name in named if (split := name_words(name)))

    def same_gate(self, other: Entry) -> bool:
        return any(mine == theirs or set(mine) <= set(theirs) or set(theirs) <= set(mine) for mine in self.keys for theirs in other.keys)


_EMPTY_WORDS = family("gate gates check criterion the of is must be a all 门槛")


@lru_cache(maxsize=4096)
def name_words(name: str) -> tuple[str, ...]:
    """The words of a gate's name, singular; the whole name where it has no other."""
    split = tuple(stem(word) for word in words(name) if word not in _EMPTY_WORDS)
    return split or tuple(words(name)) or ((name.strip().casefold(),) if name.strip() else ())


# ---------------------------------------------------------------- the gates of a document


def entries(held: Iterable[Node]) -> tuple[Entry, ...]:
    """Every gate that a document lists: elements of `gates`, `criteria`, … and of any list whose elements all hold a limit and a value."""
    made: list[Entry] = []
    inside: set[Path] = set()
    for node in held:
        if any(node.path[:depth] in inside for depth in range(1, len(node.path))) or not node.path or _is_elsewhere(node.path):
            continue
        found = _listed(node)
        if found:
            inside.add(node.path)
            made += found
    return tuple(made)


def _listed(node: Node) -> list[Entry]:
    key = node.path[-1]
    if not isinstance(key, str) or not isinstance(node.value, (dict, list)) or not node.value:
        return []
    if isinstance(node.value, list):
        named = _is_gate_key(key) or all(isinstance(item, dict) and _limits(item) and _flag_or_value(item) for item in node.value)
        return [entry for i, item in enumerate(node.value) if named and (entry := _entry((*node.path, i), item, str(i)))]
    if not _is_gate_key(key) or _is_one_gate(node.value):
        return [Entry(_name(node.value, key), node.path, node.value, node.path[:-1])] if _is_gate_key(key) and _limits(node.value) else []
    return [entry for name, item in node.value.items() if not _says_all(name) and (entry := _entry((*node.path, name), item, name))]


def _is_one_gate(value: Mapping[str, Any]) -> bool:
    """`acceptance: {metric: …, max: 250}` is one gate and not a map of gates."""
    return not any(isinstance(item, (dict, list)) for item in value.values()) and (any(key in _NAMES for key in value) or bool(_limits(value)))


def _says_all(name: str) -> bool:
    held = set(words(name))
    return bool(held & (_STRONG | {"all", "rule", "version", "total", "count", "passed", "failed", "note", "notes", "workload", "campaign", "mode", "quorum", "validator", "summary"})) or (
        held <= _WEAK and bool(held)
    )


def _entry(place: Path, item: Any, name: str) -> Entry | None:
    if isinstance(item, Mapping):
        return None if _is_no_gate(item) else Entry(_name(item, name), place, item, place[:-2])
    if isinstance(item, str) and isinstance(place[-1], int):
        return Entry(item[:120], place, None, place[:-2]) if len(item) <= 120 else None
    return Entry(name, place, item, place[:-2]) if isinstance(item, (bool, str)) or item is None else None


def _is_no_gate(item: Mapping[str, Any]) -> bool:
    """An element that says that it gates nothing: `kind: diagnostic`, `required: false`."""
    kinds = [v for k, v in item.items() if set(words(k)) & family("kind role type class category level 类型") and isinstance(v, str)]
    flags = [k for k, v in item.items() if v is False and set(words(k)) & family("required blocking gating mandatory binding")]
    marks = [k for k, v in item.items() if v is True and set(words(k)) & family("diagnostic advisory informational optional software waived smoke")]
    return any(set(words(kind)) & _NOT_GATES for kind in kinds) or bool(flags or marks)


def _name(item: Mapping[str, Any], otherwise: str) -> str:
    return next((str(item[key])[:120] for key in _NAMES if isinstance(item.get(key), str) and item[key].strip()), otherwise)


def _flag_or_value(item: Mapping[str, Any]) -> bool:
    return any(set(words(key)) & (_FLAGS | _MEASURED) for key in item)


def judged(entry: Entry, frozen: Entry | None = None) -> JudgedGate:
    """What a result's entry says of its gate. `frozen` is the same gate in the plan: its limit governs."""
    item = entry.value
    if not isinstance(item, Mapping):
        said = said_of(item) if isinstance(item, (bool, str)) or item is None else None
        return JudgedGate(entry.name, entry.place, said, False, None, _shown(entry.name, item))
    flags = [(key, item[key]) for key in item if set(words(key)) & _FLAGS and not set(words(key)) & {"count", "at", "by"} and not isinstance(item[key], (Number, list, Mapping))]
    told = [(key, said) for key, value in flags if (said := said_of(value))]
    stated = next((said for wanted in ("waived", "fail", "open", "pass") for _, said in told if said == wanted), None)
    measured = _measured(item, entry)
    holds, why = _holds(item, measured, entry, frozen)
    unmeasured = any(_is_nothing(value) for _, value in measured) and not any(not _is_nothing(value) for _, value in measured)
    seen = why or ", ".join(_shown(key, value) for key, value in [*measured[:1], *flags[:2]]) or "no value and no result"
    return JudgedGate(entry.name, entry.place, stated, unmeasured, holds, seen)


def _shown(key: str, value: Any) -> str:
    text = value.text if isinstance(value, Number) else "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)[:80]
    return f"`{key}: {text}`"


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and said_of(value) == "open")


def _measured(item: Mapping[str, Any], entry: Entry) -> list[tuple[str, Any]]:
    """(key, value) of what was measured: under `observed`, `value`, …, or under the gate's or the metric's own name."""
    made = [(key, value) for key, value in item.items() if key not in _NAMES and set(words(key)) & _MEASURED and not _is_limit_key(key, item) and not isinstance(value, (list, Mapping))]
    strict = [pair for pair in made if not set(words(pair[0])) & {"result", "candidate"} or isinstance(pair[1], Number)]
    limited = any(set(words(key)) & _LIMITS for key in item)
    own = [
        (key, value) for key, value in item.items()
        if key not in _NAMES and isinstance(value, Number) and name_words(key) in entry.keys and (limited or not _is_limit_key(key, item)) and not set(words(key)) & _LIMITS
    ]  # fmt: skip
    return strict or own


def _is_limit_key(key: str, item: Mapping[str, Any]) -> bool:
    return bool(set(words(key)) & (_LIMITS | _EQUALS)) or direction_of(words(key), None) is not None


# ---------------------------------------------------------------- numbers against limits


def _limits(item: Mapping[str, Any]) -> list[Threshold]:
    made: list[Threshold] = []
    for key, value in item.items():
        held = words(key)
        if set(held) & {"observed", "measured", "actual"}:
            continue
        if isinstance(value, Number) and value.exact is not None:
            made += _limit_of_number(key, held, value, item)
        elif isinstance(value, str) and len(value) <= 200 and set(held) & (_LIMITS | family("rule rules condition must requirement require max min accept expression 规则 要求 条件")):
            made += _limit_of_text(key, value)
        elif isinstance(value, list) and len(value) == 2 and set(held) & {"range", "between", "bounds", "interval"} and all(isinstance(v, Number) and v.exact is not None for v in value):
            made += [Threshold("min", value[0].exact, f"{key} {value[0].text}"), Threshold("max", value[1].exact, f"{key} {value[1].text}")]
    explicit = [one for one in made if one.shown.split(" ")[0].lower() in _LIMITS]
    return explicit or made


def _limit_of_number(key: str, held: tuple[str, ...], value: Number, item: Mapping[str, Any]) -> list[Threshold]:
    operator = next((str(v).strip().lower() for k, v in item.items() if set(words(k)) & _OPERATORS and isinstance(v, str)), "")
    better = [("max" if {"lower", "smaller"} & set(words(k)) else "min") for k, v in item.items() if v is True and "better" in words(k)]
    direction = _of_operator(operator) if operator and set(held) & _LIMITS else None
    direction = direction or (better[0] if better and set(held) & _LIMITS else None)  # type: ignore[assignment]
    direction = direction or ({"le": "max", "lt": "max", "ge": "min", "gt": "min"}.get(key.lower()) or direction_of(held, item))  # type: ignore[assignment]
    if direction is None or value.exact is None:
        return []
    strict = operator in ("<", ">", "lt", "gt") or key.lower() in ("lt", "gt") or bool(set(held) & {"below", "above", "exceeds", "under", "over"} and not set(held) & {"not"})
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
    strict = re.search(r"(?<![<>=])[<>](?!=)|below|under|less than|more than|greater than|above|小于|大于|低于|高于", text) is not None and "not" not in text
    return [Threshold(direction, value, f"{key} {text[:60]}", (), spelled, strict)]


def _holds(item: Mapping[str, Any], measured: list[tuple[str, Any]], entry: Entry, frozen: Entry | None) -> tuple[bool | None, str]:
    """Whether the measured number keeps every limit that can be compared, the plan's before the result's own; and what was seen."""
    values = [(key, value) for key, value in measured if not _is_nothing(value)]
    if not values:
        return None, ""
    key, value = values[0]
    same = _equality(item, value)
    if same is not None:
        return same[0], f"{_shown(key, value)} against {same[1]}"
    own = [(limit, "") for limit in _limits(item)]
    plan = [(limit, " in the plan") for limit in _limits(frozen.value)] if frozen and isinstance(frozen.value, Mapping) else []
    told = [(limit, where, kept) for limit, where in [*plan, *own] if (kept := keeps(limit, key, value, item, entry)) is not None]
    broken = [f"{limit.shown}{where}" for limit, where, kept in told if not kept]
    if broken:
        return False, f"{_shown(key, value)} against {broken[0]}"
    return (True, f"{_shown(key, value)} against {told[0][0].shown}") if told else (None, "")


def _equality(item: Mapping[str, Any], value: Any) -> tuple[bool, str] | None:
    wanted = [(k, v) for k, v in item.items() if set(words(k)) & {"equal", "equals", "expected", "expect"} and not set(words(k)) & {"tolerance", "gain"}]
    for key, want in wanted:
        if isinstance(want, bool) and isinstance(value, bool):
            return want == value, _shown(key, want)
        if isinstance(want, Number) and isinstance(value, Number) and want.exact is not None and value.exact is not None:
            slack = next((v.exact for k, v in item.items() if set(words(k)) & {"tolerance", "atol", "slack"} and isinstance(v, Number) and v.exact is not None), None)
            if slack is not None or not set(words(key)) & {"expected", "expect"} or (want.is_integer_literal and value.is_integer_literal):
                return abs(want.exact - value.exact) <= (slack or 0), _shown(key, want)
    return None


def keeps(limit: Threshold, key: str, value: Any, item: Mapping[str, Any], entry: Entry) -> bool | None:
    """Whether `value` keeps `limit`; None where the two cannot be compared: another measure, units of different kinds."""
    named = next((unit_of_key(v) for k, v in item.items() if k in ("metric", "id", "name", "gate") and isinstance(v, str) and unit_of_key(v)), None)
    declared = next((v for k, v in item.items() if set(words(k)) & {"unit", "units"} and isinstance(v, str)), None)
    common = (unit_named(declared) if declared else None) or named
    quantity = of_value(value, unit_of_key(key) or common)
    if quantity is None or quantity.relation not in ("=", "~"):
        return None
    if not _same_measure(limit, key, entry):
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


def _same_measure(limit: Threshold, key: str, entry: Entry) -> bool:
    """`min_reduction_pct` is no limit for `observed_s`: what is left of the limit's key must stand in the measured key or the gate's names."""
    left = {stem(word) for word in limit.measure if unit_of_key(word) is None and unit_named(word) is None}
    known = {stem(word) for word in words(key)} | {word for name in entry.keys for word in name}
    return left <= known


def _is_bare_name(entry: Entry) -> bool:
    """An element of a list of names: a list of what is asked, not of what was judged."""
    return entry.value is None and isinstance(entry.place[-1], int)


_UNMET = family("failed failing failures unmet violated broken 失败 未通过")
_UNKNOWN = family("missing unmeasured unjudged pending open skipped 缺失 未测")


def tallies(held: Iterable[Node]) -> Iterator[Entry]:
    """Gates that are only counted or named by their outcome: `gates_passed: 2` of `gates_total: 3`, `failed_gates: ["quality"]`."""
    for node in held:
        key = set(words(str(node.path[-1]))) if node.path and isinstance(node.path[-1], str) else set()
        if not key & {"gate", "gates", "criteria"} or _is_elsewhere(node.path) or not isinstance(node.parent, Mapping):
            continue
        name, owner = str(node.path[-1]), node.path[:-1]
        if key & (_UNMET | _UNKNOWN) and isinstance(node.value, (Number, list)) and not isinstance(node.value, bool):
            if node.value and (not isinstance(node.value, Number) or node.value > 0):
                yield Entry(name, node.path, "fail" if key & _UNMET else "not measured", owner)
        elif "passed" in key and isinstance(node.value, Number):
            total = next((v for k, v in node.parent.items() if isinstance(v, Number) and {"total", "all"} & set(words(k)) and {"gate", "gates", "criteria"} & set(words(k))), None)
            if total is not None and node.value < total:
                yield Entry(f"{name} {node.value.text} of {total.text}", node.path, "fail", owner)


# ---------------------------------------------------------------- verdicts


@dataclass(frozen=True, slots=True)
class Stated:
    """A verdict as recorded: its place, its word, and the gates of the same object. `strong` where the key itself says verdict."""

    place: Path
    said: Said
    text: str
    strong: bool
    gates: tuple[Entry, ...]


def stated_verdicts(held: Iterable[Node]) -> tuple[Stated, ...]:
    """Every verdict of a document over gates of its own object, and every one under a key that says verdict, outermost first."""
    known = tuple(held)
    listed = (*(entry for entry in entries(known) if not _is_bare_name(entry)), *tallies(known))
    inside = {entry.place for entry in listed}
    found = [node for node in known if _is_verdict(node, inside)]
    owners = {node.path[:-1] for node in found if _strong(node)}
    made = []
    for node in found:
        mine = _gates_of(node, listed, owners)
        said = said_of(node.value)
        if said and (_strong(node) or any(entry.owner == node.path[:-1] for entry in mine)):
            made.append(Stated(node.path, said, str(node.value), _strong(node), mine))
    return tuple(made)


def _strong(node: Node) -> bool:
    return bool(set(words(str(node.path[-1]))) & _STRONG) or any(word in str(node.path[-1]) for word in ("结论", "判定", "裁决"))


def _is_verdict(node: Node, gates: set[Path]) -> bool:
    if not node.path or not isinstance(node.path[-1], str) or not isinstance(node.value, (str, bool)) or any(node.path[:depth] in gates for depth in range(1, len(node.path) + 1)):
        return False
    held = set(words(node.path[-1]))
    return (_strong(node) or (bool(held & _WEAK) and held <= _WEAK | {"overall", "final", "campaign", "all", "gates", "is"})) and not (held - {"gates"}) & _NO_VERDICT and not _is_elsewhere(node.path)


def _gates_of(node: Node, listed: tuple[Entry, ...], owners: set[Path]) -> tuple[Entry, ...]:
    """The gates of the nearest object around the verdict that has any, without those that another verdict's object holds."""
    for depth in range(len(node.path) - 1, -1, -1):
        place = node.path[:depth]
        others = [other for other in owners if len(other) > depth and other[:depth] == place and node.path[: len(other)] != other]
        mine = tuple(e for e in listed if e.place[:depth] == place and not any(e.place[: len(other)] == other for other in others))
        if mine:
            return mine
        if depth and isinstance(node.path[depth - 1], int):
            break
    return ()
