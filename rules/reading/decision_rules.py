"""Decision rules: what a plan or a result says must hold before the verdict is PASS ("PASS when all gates pass", "2 of 3", a quorum)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rules.reading.documents import Node, Number
from rules.reading.end_keys import held_words
from rules.reading.keys import family


@dataclass(frozen=True, slots=True)
class DecisionRule:
    """When a verdict is PASS: `need` gates of all (None: every one of them), or the ones `named`; `known` is False for a rule that is not understood."""

    need: int | None = None
    majority: bool = False
    named: tuple[str, ...] = ()
    known: bool = True
    text: str = ""


_COUNTS = (
    {w: n for n, w in enumerate(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"])}
    | {w: n for n, w in enumerate("零一二三四五六七八九十")}
    | {"两": 2}
)
_N_OF_M = re.compile(
    rf"(?<![\w.])(\d{{1,3}}|{'|'.join(w for w in _COUNTS if w.isascii())})\s?(?:of|out of|/)\s?(?:the |its |all )?(\d{{1,3}}|{'|'.join(w for w in _COUNTS if w.isascii())})(?![\w.])",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(
    rf"(?:at least|any|minimum of|≥|>=)\s?(\d{{1,3}}|{'|'.join(w for w in _COUNTS if w.isascii())})\s(?:of (?:the |its )?)?(?:gates?|criteria|criterion|checks?|requirements?|them)",
    re.IGNORECASE,
)
_ZH_COUNT = re.compile(r"(?:至少|任意|不少于|有)\s?(\d{1,3}|[一二两三四五六七八九十])\s?(?:个|项|条|道)")
_ZH_OF = re.compile(
    r"(\d{1,3}|[一二两三四五六七八九十])\s?(?:个|项|条|道)?(?:门槛|门禁|闸门|准则|条件)?(?:中|里)(?:的)?(?:有|至少)?\s?(\d{1,3}|[一二两三四五六七八九十])\s?(?:个|项|条|道)?"
)
_EVERY = re.compile(r"(?<![A-Za-z])(?:all|every|each|both)(?![A-Za-z])|全部|所有|均|每|都", re.IGNORECASE)
_ANY = re.compile(
    r"(?<![A-Za-z])(?:any (?:one )?(?:of )?(?:the )?(?:gates?|criteria|criterion|one)|either)(?![A-Za-z])(?!.{0,20}fail)|任一|任意一", re.IGNORECASE
)
_PASSES = re.compile(
    r"(?<![A-Za-z])(?:pass(?:es|ed|ing)?|accept(?:ed|s|ance)?|qualif\w{1,4}|hold|met|succeed\w{0,3})(?![A-Za-z])|通过|合格|接受|达标", re.IGNORECASE
)


def decision_rule(text: str, gates: Iterable[str] = ()) -> DecisionRule:
    """What a sentence such as "PASS when all gates pass" or "2 of 3 gates must hold" demands. `gates` are the names it may mention."""
    bare = " ".join(text.split())[:1000]
    clause = next((part for part in re.split(r"[;；。]|\.\s|\belse\b|\botherwise\b|否则", bare) if _PASSES.search(part)), bare)
    if re.search(r"weight|score|averag|mean of|加权|平均", clause, re.IGNORECASE):
        return DecisionRule(known=False, text=bare)
    if found := _N_OF_M.search(clause) or _AT_LEAST.search(clause) or _ZH_COUNT.search(clause):
        return DecisionRule(need=_count(found[1]), text=bare)
    if found := _ZH_OF.search(clause):
        return DecisionRule(need=_count(found[2]), text=bare)
    if re.search(r"majority|more than half|most of|多数|过半", clause, re.IGNORECASE):
        return DecisionRule(majority=True, text=bare)
    if re.fullmatch(r"all|and|every|conjunction|all[_ -]of|全部", clause, re.IGNORECASE) or _EVERY.search(clause):
        return DecisionRule(text=bare)
    if re.fullmatch(r"any|or|one|any[_ -]of|任一", clause, re.IGNORECASE) or _ANY.search(clause):
        return DecisionRule(need=1, text=bare)
    said = held_words(clause.replace("-", " "))
    named = tuple(name for name in gates if held_words(name) <= said)
    return DecisionRule(named=named, known=bool(named), text=bare)


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else _COUNTS.get(text.lower(), 1)


_RULE_KEYS = family(
    "decision verdict pass acceptance aggregation combine combination quorum logic passes 判定 判定规则 通过 通过条件 裁决规则 决策规则 结论规则"
)
_RULE_WORDS = family(
    "rule rules when if policy requires requirement condition logic mode aggregation combine combination quorum 判定规则 通过条件 裁决规则 决策规则 结论规则"
)
_LEAST_KEYS = family("min minimum required need needed quorum least require")


def decision_rules(held: Iterable[Node], gates: tuple[str, ...]) -> tuple[tuple[Node, DecisionRule], ...]:
    """Every decision rule that a document states: `decision_rule: "PASS when …"`, `pass_when`, `quorum: 2`, `gates_required: 2`."""
    made = []
    for node in held:
        key = held_words(str(node.path[-1])) if node.path and isinstance(node.path[-1], str) else set()
        if (isinstance(node.value, str) and len(node.value) <= 1000 and key & _RULE_KEYS and key & _RULE_WORDS) or (
            isinstance(node.value, str)
            and key == {"rule"}
            and _PASSES.search(node.value)
            and re.search(r"\bgates?\b|criteria|门槛|门禁|PASS", node.value)
            and not isinstance(node.path[-2:][0], int)
        ):
            made.append((node, decision_rule(node.value, gates)))
        elif (
            isinstance(node.value, Number)
            and node.value.is_integer_literal
            and (key == {"quorum"} or (key & _LEAST_KEYS and key & {"passed", "passes", "passing", "gates", "pass"}))
        ):
            made.append((node, DecisionRule(need=int(node.value), text=f"{node.path[-1]}: {node.value.text}")))
    return tuple(made)
