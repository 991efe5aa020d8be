"""The gates that a plan or a result lists, under whatever key and in whatever form: which entries are gates and which are diagnostics or software checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rules.reading.documents import Node, Number, Path
from rules.reading.end_keys import held_words, stem
from rules.reading.keys import family, words
from rules.reading.thresholds import FLAGS, MEASURED, NAMES, limits
from rules.reading.unit_keys import unit_of_key

_GATE_KEYS = family(
    "gate gates criteria criterion acceptance requirements requirement thresholds constraints 门 门槛 门禁 闸门 准则 验收项 验收 验收标准 通过条件 判据 指标要求"
)
_NOT_GATES = family(
    "diagnostic diagnostics software smoke unit lint ci informational advisory optional test tests check checks info supplementary observational sanity style format static monitoring "
    "note notes history version file files path manifest record integrity superseded old previous planned plan future next upcoming proposed template 诊断 冒烟 单元测试 可选 参考"
)
STRONG = family("verdict conclusion adjudication judgement judgment decision ruling overall 结论 判定 裁决 总评 最终结论 总体结论")
WEAK = family("outcome result status acceptance accepted passed pass qualified qualification approved state 结果 状态 验收 通过 验收结果 是否通过")


def _is_gate_key(key: str) -> bool:
    held = held_words(key)
    chinese = any(word in key for word in ("门槛", "门禁", "闸门", "准则", "验收项", "判据"))
    checks = {"check", "checks", "test", "tests"} if held & {"gate", "gates", "acceptance"} else set()
    return bool(held & _GATE_KEYS or chinese) and not (held - checks) & _NOT_GATES and not _BY_GATE.search(key)


_BY_GATE = re.compile(r"(?:by|per)_?(?:gate|criteri)|(?:By|Per)(?:Gate|Criteri)")
"""`agreement_by_gate` sorts something else by gate."""


def is_elsewhere(path: tuple[str | int | None, ...]) -> bool:
    """It stands under diagnostics, software checks, a plan, a history."""
    return any(isinstance(part, str) and held_words(part) & _NOT_GATES and not _is_gate_key(part) for part in path)


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
            named += [v for k, v in self.value.items() if k in NAMES and isinstance(v, str) and len(v) <= 120]
        return frozenset(split for name in named if (split := name_words(name)))

    def has_name_of(self, other: Entry) -> bool:
        """One of its names is one of the other's."""
        return bool(self.keys & other.keys)

    def same_gate(self, other: Entry) -> bool:
        """A name of one holds all words of a name of the other: `latency` and `latency_p50`."""
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
        if not node.path and _is_schema(node.value):
            return ()
        if any(node.path[:depth] in inside for depth in range(1, len(node.path))) or not node.path or is_elsewhere(node.path):
            continue
        found = _listed(node)
        if found:
            inside.add(node.path)
            made += found
    return tuple(made)


def _is_schema(value: Any) -> bool:
    """A JSON Schema describes a document; it judges nothing."""
    if not isinstance(value, Mapping):
        return False
    return ("schema" in str(value.get("$schema", "")) and bool({"properties", "$defs", "definitions", "items"} & value.keys())) or (
        value.get("type") == "object" and isinstance(value.get("properties"), Mapping)
    )  # fmt: skip


def _listed(node: Node) -> list[Entry]:
    key = node.path[-1]
    if not isinstance(key, str) or not isinstance(node.value, (dict, list)) or not node.value:
        return []
    if isinstance(node.value, list):
        named = _is_gate_key(key) or all(isinstance(item, dict) and _is_held_to_a_limit(item) and _flag_or_value(item) for item in node.value)
        return [entry for i, item in enumerate(node.value) if named and (entry := _entry((*node.path, i), item, str(i)))]
    if not _is_gate_key(key) or _is_one_gate(node.value):
        return [Entry(_name(node.value, key), node.path, node.value, node.path[:-1])] if _is_gate_key(key) and limits(node.value) else []
    return [entry for name, item in node.value.items() if not _says_all(name) and (entry := _entry((*node.path, name), item, name))]


def _is_held_to_a_limit(item: Mapping[str, Any]) -> bool:
    """A limit of the element's own metric: `max`, `max_ms`, `threshold`; `max_bucket_ratio` of a candidate is something that was measured."""
    names = {word for key in NAMES if isinstance(item.get(key), str) for word in name_words(item[key])}
    return any({stem(word) for word in one.measure if unit_of_key(word) is None} <= names for one in limits(item))


def _is_one_gate(value: Mapping[str, Any]) -> bool:
    """`acceptance: {metric: …, max: 250}` is one gate and not a map of gates."""
    return not any(isinstance(item, (dict, list)) for item in value.values()) and (any(key in NAMES for key in value) or bool(limits(value)))


def _says_all(name: str) -> bool:
    held = held_words(name)
    return bool(
        held
        & (
            STRONG
            | {
                "all",
                "rule",
                "version",
                "total",
                "count",
                "passed",
                "failed",
                "note",
                "notes",
                "workload",
                "campaign",
                "mode",
                "quorum",
                "validator",
                "summary",
            }
        )
    ) or (held <= WEAK and bool(held))


def _entry(place: Path, item: Any, name: str) -> Entry | None:
    if isinstance(item, Mapping):
        return None if _is_no_gate(item) else Entry(_name(item, name), place, item, place[:-2])
    if isinstance(item, str) and isinstance(place[-1], int):
        return Entry(item[:120], place, None, place[:-2]) if len(item) <= 120 else None
    return Entry(name, place, item, place[:-2]) if isinstance(item, (bool, str)) or item is None else None


def _is_no_gate(item: Mapping[str, Any]) -> bool:
    """An element that says that it gates nothing: `kind: diagnostic`, `required: false`."""
    kinds = [v for k, v in item.items() if held_words(k) & family("kind role type class category level 类型") and isinstance(v, str)]
    flags = [k for k, v in item.items() if v is False and held_words(k) & family("required blocking gating mandatory binding")]
    marks = [k for k, v in item.items() if v is True and held_words(k) & family("diagnostic advisory informational optional software waived smoke")]
    return any(held_words(kind) & _NOT_GATES for kind in kinds) or bool(flags or marks)


def _name(item: Mapping[str, Any], otherwise: str) -> str:
    return next((str(item[key])[:120] for key in NAMES if isinstance(item.get(key), str) and item[key].strip()), otherwise)


def _flag_or_value(item: Mapping[str, Any]) -> bool:
    return any(held_words(key) & (FLAGS | MEASURED) for key in item)


def is_bare_name(entry: Entry) -> bool:
    """An element of a list of names: a list of what is asked, not of what was judged."""
    return entry.value is None and isinstance(entry.place[-1], int)


_UNMET = family("failed failing failures unmet violated broken 失败 未通过")
_UNKNOWN = family("missing unmeasured unjudged pending open skipped 缺失 未测")


def tallies(held: Iterable[Node]) -> Iterator[Entry]:
    """Gates that are only counted or named by their outcome: `gates_passed: 2` of `gates_total: 3`, `failed_gates: ["quality"]`."""
    for node in held:
        key = held_words(str(node.path[-1])) if node.path and isinstance(node.path[-1], str) else set()
        if not key & {"gate", "gates", "criteria"} or is_elsewhere(node.path) or not isinstance(node.parent, Mapping):
            continue
        name, owner = str(node.path[-1]), node.path[:-1]
        if key & (_UNMET | _UNKNOWN) and isinstance(node.value, (Number, list)) and not isinstance(node.value, bool):
            if node.value and (not isinstance(node.value, Number) or node.value > 0):
                yield Entry(name, node.path, "fail" if key & _UNMET else "not measured", owner)
        elif "passed" in key and isinstance(node.value, Number):
            total = next(
                (
                    v
                    for k, v in node.parent.items()
                    if isinstance(v, Number) and {"total", "all"} & held_words(k) and {"gate", "gates", "criteria"} & held_words(k)
                ),
                None,
            )
            if total is not None and node.value < total:
                yield Entry(f"{name} {node.value.text} of {total.text}", node.path, "fail", owner)
