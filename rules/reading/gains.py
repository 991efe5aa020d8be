"""Gains: the fields and sentences that claim that a candidate is better by so much, and the order of runs that a paired comparison rests on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rules.reading.documents import Node, Number
from rules.reading.end_keys import held_words
from rules.reading.keys import family
from rules.reading.outline import Column, Outline, Shape, keys_of
from rules.reading.quantities import quantities
from rules.reading.statements import Clause, Statement, string_statements
from rules.reading.verdict_words import said_of
from rules.reading.words import family as phrases

_GAIN_KEYS = family(
    "gain gains speedup speedups reduction reductions improvement improvements improved saving savings uplift faster delta benefit acceleration decrease lower shortened advantage win 提升 降低 加速 收益 增益 减少 加速比 降幅 提升率"
)
_NO_GAIN_KEYS = family(
    "target targets min minimum max least most required require expected expect threshold thresholds limit limits gate gates planned plan goal goals criteria criterion acceptance wanted needed hypothesis "
    "tolerance noise resolution memory_budget budget predicted projected 目标 门槛 要求 预期 计划"
)
_GAIN_WORDS = phrases(
    r"gains?|gained|speed[- ]?ups?|sped up|reductions?|reduc(?:es?|ed|ing)|improv(?:es?|ed|ement|ements)|sav(?:es?|ed|ings?)|faster|quicker|lower(?:s|ed)?|shorter|shortened|cuts?|less(?= (?:time|latency|memory))|smaller|outperform(?:s|ed)?|beats?|wins?|uplift|drop(?:s|ped)?|better|higher|more(?= throughput)|accelerat(?:es?|ed|ion)",
    zh=("提升", "提高", "降低", "加速", "缩短", "减少", "快了", "更快", "收益", "增益", "下降", "改善", "节省"),
)
_IN_PERCENT = re.compile(r"[%％×倍]|\d ?x\b|percent")
_NOT_CLAIMED = re.compile(
    r"(?<![A-Za-z])(?:no (?:\w{1,12} ){0,3}(?:gain|speed-?up|reduction|improvement|claim)|not (?:\w{1,12} ){0,4}(?:gain|comparable|claimed?|comparison|speed-?up|inferred|metric|qualif\w{1,6})|diagnostic only|for (?:context|reference|orientation)(?: only)?|context only"
    r"|separate(?:ly)? (?:campaigns?|from)|remain(?:s)? separate|cannot be compared|incomparable|must not be)(?![A-Za-z])|不可比|不能比较|仅供参考|不作(?:为)?(?:收益|增益|结论|比较)|不构成|并非.{0,6}(?:收益|增益|提升)|无(?:收益|增益)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Gain:
    """A field of a document that claims a gain: its place and what it says."""

    node: Node
    shown: str


def gains(held: Outline) -> Iterator[Gain]:
    """Every field that claims a gain with a number, and every string that says so; targets, gates and plans claim none."""
    for node in held.pick(_claiming):
        if isinstance(node.value, Number):
            yield Gain(node, f"{node.key}: {node.value.text}")
        else:
            yield Gain(node, f"{node.key}: {node.value[:80]}")


def _claiming(column: Column) -> list[int]:
    """The rows that claim a gain: numbers under a key that names one, and strings that say so."""
    if not column.shape or _promises(column.shape):
        return []
    key = held_words(column.key)
    numbers = column.shape[-1] is not None and bool(key & _GAIN_KEYS) and not key & _NO_GAIN
    told = {value for value in {value for value in column.values if type(value) is str} if _says_gain(key, value)} if str in column.types else set()
    if not numbers and not told:
        return []
    return [
        row for row, value in enumerate(column.values) if (numbers and isinstance(value, Number) and value) or (type(value) is str and value in told)
    ]


_NO_GAIN = family("control baseline count id")


@lru_cache(maxsize=8192)
def _promises(shape: Shape) -> bool:
    return any(held_words(part) & _NO_GAIN_KEYS for part in keys_of(shape))


def _says_gain(key: frozenset[str], text: str) -> bool:
    """`gain: "12.3 %"`, or a sentence that claims one."""
    if not 1 < len(text) <= 2000 or not re.search(r"\d", text) or not (key & _GAIN_KEYS or (_IN_PERCENT.search(text) and _GAIN_WORDS.search(text))):
        return False
    value = bool(key & _GAIN_KEYS) and said_of(text) is None and re.match(r"[-+−~≈]?\s?\d", text.strip()) is not None
    return value or any(claims_gain(one) for one in string_statements(text))


def claims_gain(statement: Statement) -> bool:
    """The author asserts in this sentence, with a percentage or a factor, that something became better."""
    text = statement.text
    if statement.kind == "heading" or not _IN_PERCENT.search(text) or not _GAIN_WORDS.search(text) or _NOT_CLAIMED.search(text):
        return False
    told = any(
        clause.standing == "asserted"
        and clause.hedge is None
        and any(not _denied(clause, match.start()) for match in _GAIN_WORDS.finditer(clause.text))
        for clause in statement.clauses
    )
    return told and any(
        one.unit is not None
        and (one.unit.family in ("percent", "ratio", "factor") or one.unit.name in ("×", "%"))
        and one.relation not in ("<", ">", "<=", ">=")
        for one in quantities(statement.text)
    )


def _denied(clause: Clause, position: int) -> bool:
    """Denied there; "8.1 s instead of 10.0 s: 19 % faster" denies nothing of the gain."""
    inside = [(first, inverts) for first, last, inverts in clause.scopes if first < position < last]
    return any(not inverts or not _INSTEAD.match(clause.text, first) for first, inverts in inside) and clause.denies(position)


_INSTEAD = re.compile(r"instead|rather", re.IGNORECASE)


# ---------------------------------------------------------------- the order of runs

_ORDER = family("order sequence schedule design pattern interleaving 顺序 次序 序列")
_PLANNED = family("planned plan intended target required scheduled protocol expected preregistered prescribed 计划")
_DONE = family(
    "completed run executed actual observed done performed ran realised realized achieved finished recorded measured 实际 已完成 完成 执行"
)
_NOUNS = family("pairs pair blocks block rounds round cycles cycle repetitions reps arms runs legs passes sessions replicates")
_SEQUENCE = re.compile(r"[A-D](?:[\s,;/|>→-]{0,3}[A-D]){1,63}")


@dataclass(frozen=True, slots=True)
class Order:
    """A paired order that was not finished: what was planned, what was run, and where."""

    planned: str
    done: str
    node: Node


def unfinished(held: Outline, plan: Iterable[Node] = ()) -> Iterator[Order]:
    """Orders of which less was run than planned: in fields of one object, or of a document whose `plan` gives the order."""
    given = [(node, said) for node in plan if node.path and _is_order(node, _PLANNED | {"order", "sequence"}) and (said := sequence(node.value))]
    outside = given[0][1] if len({said for _, said in given}) == 1 else None
    ordered = {column.holders for column in held.columns if column.shape and _may_order(column.shape[-1] or "")}
    for node in held.pick(lambda column: [row for row, value in enumerate(column.values) if isinstance(value, dict)] if column in ordered else ()):
        yield from _of_object(node, outside)
        yield from _counted(node)


@lru_cache(maxsize=8192)
def _may_order(key: str) -> bool:
    return bool(held_words(key) & (_ORDER | _PLANNED | _DONE | {"abba"})) or any(
        word in key for word in ("顺序", "次序", "计划", "完成", "执行", "实际")
    )


def _of_object(node: Node, outside: tuple[str, ...] | None) -> Iterator[Order]:
    children = [Node((*node.path, key), value, node.value) for key, value in node.value.items()]
    done = next(((child, said) for child in children if _is_order(child, _DONE) and (said := sequence(child.value)) is not None), None)
    planned = next((said for child in children if _is_order(child, _PLANNED) and (said := sequence(child.value))), None)
    plain = next((said for child in children if _is_order(child, frozenset()) and (said := sequence(child.value))), None)
    ran = done or next(((child, said) for child in children if (said := _arms_run(child.value))), None)
    wanted = planned or plain or (outside if done else None)
    if ran is not None and wanted and ran[1] != wanted and _is_less(ran[1], wanted):
        yield Order(_joined(wanted), _joined(ran[1]), ran[0])
    elif wanted and ran is None:
        flag = next((child for child in children if child.value is False and held_words(child.key) & {"complete", "completed", "finished"}), None)
        if flag is not None:
            yield Order(_joined(wanted), "not completed", flag)


def _is_order(node: Node, qualifying: frozenset[str]) -> bool:
    key = node.path[-1]
    if not isinstance(key, str):
        return False
    held = held_words(key)
    named = bool(held & (_ORDER | {"abba"})) or "顺序" in key or "次序" in key
    if not qualifying:
        return named and not held & (_PLANNED | _DONE) and not any(word in key for word in ("计划", "完成", "实际", "执行"))
    return (named and (bool(held & qualifying) or any(word in key for word in qualifying if not word.isascii()))) or (
        bool(held & qualifying) and bool(held & {"arms", "runs", "legs"}) and isinstance(node.value, list)
    )


def sequence(value: Any) -> tuple[str, ...] | None:
    """`ABBA`, `A-B-B-A`, `["A", "B"]`, `[control, candidate]` as a tuple of names; None for anything else. An empty list is an order of nothing."""
    if isinstance(value, list) and len(value) <= 256 and all(isinstance(item, str) for item in value):
        return tuple(item.strip().casefold() for item in value)
    if isinstance(value, str) and len(value) <= 300:
        bare = value.strip()
        if _SEQUENCE.fullmatch(bare.upper()) or re.fullmatch(r"[A-D]", bare):
            return tuple(re.findall(r"[a-d]", bare.casefold()))
        parts = [part.strip().casefold() for part in re.split(r"\s*(?:,|→|->|>|;|/|、|，)\s*", bare)]
        return tuple(parts) if 1 < len(parts) <= 64 and len(set(parts)) == 2 and all(re.fullmatch(r"[\w .-]{1,24}", part) for part in parts) else None
    return None


_STOPPED = re.compile(
    r"abort|interrupt|stopped|killed|crash|time[d ]?-?out|cancel|incomplete|discard|error|中断|中止|取消|超时|未完成", re.IGNORECASE
)


def _arms_run(value: Any) -> tuple[str, ...] | None:
    """The arms of a list of runs, in order; runs that failed or were stopped are not among them."""
    if not isinstance(value, list) or not value or not all(isinstance(item, Mapping) for item in value):
        return None
    named = [
        next((v for k, v in item.items() if k.lower() in ("arm", "label", "variant", "leg", "role") and isinstance(v, str)), None) for item in value
    ]
    if not all(named):
        return None
    bad = [
        any(
            (isinstance(v, str) and (said_of(v) in ("fail", "open") or _STOPPED.search(v) is not None)) or v is False
            for k, v in item.items()
            if held_words(k) & {"status", "state", "completed", "ok", "done"}
        )
        for item in value
    ]
    return tuple(str(name).strip().casefold() for name, failed in zip(named, bad, strict=True) if not failed)


def _is_less(done: tuple[str, ...], planned: tuple[str, ...]) -> bool:
    """Fewer runs than planned, of the same names. The names of two vocabularies (A, control) are only counted."""
    left, right = Counter(done), Counter(planned)
    if set(left) <= set(right):
        return any(left[name] < number for name, number in right.items())
    return len(done) < len(planned) and len(set(done)) <= len(set(planned))


def _joined(order: tuple[str, ...]) -> str:
    return "".join(order).upper() if all(len(name) == 1 for name in order) else ", ".join(order) or "nothing"


def _counted(node: Node) -> Iterator[Order]:
    """`pairs_planned: 4` beside `pairs_completed: 2`."""
    numbers = [(key, held_words(key), value) for key, value in node.value.items() if isinstance(value, Number) and value.is_integer_literal]
    for key, held, value in numbers:
        nouns = held & _NOUNS
        if not nouns or not held & _PLANNED:
            continue
        for other, theirs, number in numbers:
            if (
                theirs & _DONE
                and {n.rstrip("s") for n in theirs & _NOUNS} == {n.rstrip("s") for n in nouns}
                and number < value
                and nouns & {"pairs", "pair", "blocks", "block", "rounds", "cycles", "legs", "arms", "repetitions", "reps"}
            ):
                yield Order(f"{key} {value.text}", f"{other} {number.text}", Node((*node.path, other), number, node.value))
