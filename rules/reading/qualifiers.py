"""Statements that one text makes with a qualifier and another without it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from rules.reading.keys import family as keywords
from rules.reading.statements import Statement
from rules.reading.words import AUTHOR_REPORTED, UNVERIFIED, has_word
from rules.reading.words import family as spoken_family

# Nobody can check it: stronger than "author-reported", which often labels a whole text.
STRONG = spoken_family(
    r"un(?:verified|confirmed|receipted|validated|substantiated)",
    r"author commentary",
    r"uncommitted (?:\w{1,24} )?(?:commentary|figure|claim|number)",
    r"no (?:committed |public )?(?:receipts?|raw record|raw sample|records?|evidence)(?: \w{1,24})? ?(?:is|are|was|has|have|exists?|committed|at|for|behind)?",
    r"(?:without|lacks?|lacking) (?:a |any )?(?:committed )?receipts?",
    r"(?<!has\s)(?<!have\s)(?<!did\s)not (?:yet )?(?:independently |externally )?(?:verified|confirmed|reproduced|reproducible|replicated|validated|audited|substantiated|backed|receipted)",
    r"preliminary|provisional(?:ly)?|tentative(?:ly)?|anecdotal(?:ly)?|unofficial(?:ly)?",
    r"(?:from |on |in |of )?(?:a |one )?single (?:run|sample|measurement|observation|request|trial)(?: only)?|one (?:run|sample|measurement|request|trial) only|only one (?:run|sample|measurement|request|trial)",
    r"(?:to be|awaiting|pending|needs?|subject to) (?:\w{2,14} )?(?:confirm\w{2,5}|verif\w{1,8}|reproduc\w{1,5}|replicat\w{1,4}|valid\w{3,6})",
    r"(?:not|never) (?:yet )?been (?:independently )?(?:verified|confirmed|checked|reproduced|substantiated)",
    zh=(
        "未(?:经)?(?:核实|验证|证实|确认|复核)",
        "尚未(?:独立)?(?:核实|验证|证实|确认|复核|复现)",
        "未(?:经)?(?:独立|第三方)(?:核实|验证|证实|确认|复核|复现)",
        "初步(?:结果|数据|结论|观察)|仅(?:为)?(?:单次|一次|一轮)|待(?:核实|验证|确认|复现|复核)",
        "(?:没有|无|缺少)(?:已?提交的)?(?:回执|收据|凭据|记录|原始记录)",
        "作者(?:的)?(?:评论|自述|说法)",
    ),
)
_THING = r"(?:figures?|numbers?|values?|timings?|measurements?|claims?|statements?|results?|controls?|runs?|requests?|samples?|comparisons?|sentences?|latter|former)"
BACK = re.compile(
    rf"\b(?:it|they|them)\b|\b(?:this|that|these|those)\b(?=\s+(?:is|are|was|were|has|have|had|remains?|stays?|lacks?|{_THING}))|\bthe (?:same )?{_THING}\b|该|此|这|其|它|上述",
    re.IGNORECASE,
)
UNIVERSAL = re.compile(
    r"\b(?:all|every|each|any|none of|the (?:figures|numbers|measurements|timings|results|values) (?:here|below|above|in this)|everything|these|below|above)\b|所有|全部|均|以下|上述",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"(?<![\d.])(\d{1,9}(?:,\d{3}){0,3}\.\d{1,9}|\d{3,9})(?![\d]|\.\d)")
_WORD = re.compile(r"[A-Za-z][A-Za-z]{2,}|[\u4e00-\u9fff]")
_SMALL = keywords(
    "the and for with that this was were has have had are its it's from but not all any into than then only still while which who whose will been being our their there here also now one two "
    "pull issue narrative reports report reported says said states author authors draft latest"
)
MATTERS = 400
"""Qualified sentences of the other text that are compared at most."""
SHARED = 3
"""Words that two sentences share at least to be about one matter."""


@dataclass(frozen=True, slots=True)
class _Matter:
    """What a qualified sentence is about: its figures, its words, and the sentence that qualifies."""

    statement: Statement
    qualifier: str
    figures: frozenset[str]
    words: frozenset[str]
    strong: bool


def missing_qualifiers(said: Sequence[Statement], other: Sequence[Statement]) -> Iterator[tuple[Statement, Statement, str]]:
    """(statement, the other text's qualified statement, its qualifier) for every statement of `said` that `other` makes with a qualifier."""
    if any(has_word(one.text, STRONG) and UNIVERSAL.search(one.text) for one in said if one.standing not in ("quoted", "withdrawn")):
        return
    labelled = any(has_word(one.text, AUTHOR_REPORTED) or has_word(one.text, UNVERIFIED) for one in said)
    matters = list(islice(_matters(other, weak=not labelled), MATTERS))
    for index, one in enumerate(said):
        if _is_plain(one) and not any(_qualifies(said, index, step) for step in (-1, 1)):
            about = _About(_figures(one.text), _content(one.text), tuple(_content(c.text) for c in one.clauses if c.standing == "asserted"))
            found = next((matter for matter in matters if _same_matter(about, matter)), None)
            if found:
                yield one, found.statement, found.qualifier


def _is_plain(one: Statement) -> bool:
    """The author states it, without a qualifier."""
    return (
        any(c.standing == "asserted" and c.hedge is None for c in one.clauses)
        and not has_word(one.text, AUTHOR_REPORTED)
        and not has_word(one.text, UNVERIFIED)
        and not has_word(one.text, STRONG)
    )


def _qualifies(said: Sequence[Statement], index: int, step: int) -> bool:
    """The next sentence of the same paragraph qualifies this one ("It has no committed receipt"); the one before only if it speaks of what follows."""
    near = said[index + step] if 0 <= index + step < len(said) else None
    if near is None or abs(near.line - said[index].line) > 1 or near.section != said[index].section or near.kind != said[index].kind:
        return False
    held = has_word(near.text, STRONG) or has_word(near.text, AUTHOR_REPORTED) or has_word(near.text, UNVERIFIED)
    return held and (bool(BACK.search(near.text)) if step > 0 else bool(re.search(r"[:：]\s*\Z|\b(?:following|below|next)\b|以下", near.text)))


def _matters(other: Sequence[Statement], weak: bool) -> Iterator[_Matter]:
    """Each qualified sentence; one that refers back is about the sentence before it as well."""
    for index, one in enumerate(other):
        if one.standing in ("quoted", "withdrawn"):
            continue
        strong = STRONG.search(one.text)
        found = strong or (AUTHOR_REPORTED.search(one.text) if weak else None)
        if not found:
            continue
        before = other[index - 1] if index and BACK.search(one.text) and other[index - 1].section == one.section else None
        text = f"{before.text} {one.text}" if before else one.text
        yield _Matter(one, found[0], _figures(text), _content(text), strong is not None)


def _figures(text: str) -> frozenset[str]:
    return frozenset(figure.replace(",", "") for figure in _FIGURE.findall(text) if len(figure.replace(".", "").lstrip("0")) >= 3)


def _content(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in (w.casefold() for w in _WORD.findall(text)) if word not in _SMALL)


def _stem(word: str) -> str:
    return re.sub(r"(?:ing|ed|es|s)\Z", "", word) if len(word) > 4 else word


@dataclass(frozen=True, slots=True)
class _About:
    """A plain sentence's figures and words, and the words of each of its clauses."""

    figures: frozenset[str]
    words: frozenset[str]
    clauses: tuple[frozenset[str], ...]


def _same_matter(one: _About, matter: _Matter) -> bool:
    """They share a figure, or most of the words of a clause; beside "author-reported", which often labels a whole text, nearly all of them."""
    if one.figures & matter.figures and (not matter.strong or one.words & matter.words):
        return True
    if one.figures and matter.figures:
        return False
    least, share = (SHARED, 60) if matter.strong else (SHARED + 1, 85)
    return any(len(words & matter.words) >= least and 100 * len(words & matter.words) >= share * len(words) for words in one.clauses)
