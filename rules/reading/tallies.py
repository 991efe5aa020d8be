"""Counts in prose: `60 requests`, `n = 12`, `five repetitions`, `40 次请求`, with the noun that is counted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rules.reading.canonical_words import singular, words
from rules.reading.statistic_keys import COUNTED, FAMILY
from rules.reading.units import COUNTS, unit
from rules.reading.units import words as word_set

MOST = 100
_NAMES = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
_SPELLED = {name: value for value, name in enumerate(_NAMES.split(), 1)} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "hundred": 100,
    "dozen": 12,
    "both": 2,
}
_CHINESE_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"两": 2}
_ENGLISH = re.compile(
    r"(?<![\w.,/#:+-])(?P<n>\d{1,3}(?:,\d{3}){1,3}|\d{1,9}|(?:a )?(?:"
    + "|".join(_SPELLED)
    + r"))(?P<k>k\b)?(?:[ -]|\s)(?P<words>(?:[A-Za-z][A-Za-z-]{0,24}\s){0,3}?)"
    r"(?P<noun>[A-Za-z]{2,24}s|[Rr]epeat|[Rr]un|[Ss]ample|[Rr]equest|[Qq]uer(?:y|ies)|[Tt]rial|[Rr]epetition)(?![A-Za-z])(?!\s?(?:/\s?s|per (?:second|sec|s|minute|hour))(?![A-Za-z]))",
    re.IGNORECASE,
)
_LETTER = re.compile(
    r"(?<![A-Za-z0-9_])(?:n|N|sample size(?: of| is)?|sample count(?: of| is)?|样本数|样本量)\s?(?:[=:＝：为]\s?|\s)(?P<n>\d{1,3}(?:,\d{3}){1,3}|\d{1,9})(?![\w.%])"
)
_CHINESE = re.compile(
    r"(?P<n>\d{1,3}(?:,\d{3}){1,3}|\d{1,9}|[一二两三四五六七八九十百]{1,5})\s?(?P<k>万|千)?\s?(?P<measure>个|次|条|轮|份|组|场|笔|段|趟|遍)\s?的?(?P<noun>[\u4e00-\u9fff]{0,6})"
)
_RUN_BEFORE = re.compile(r"(?:重复|运行|重跑|跑|测试|测|试验|测量|执行|迭代|采集|采样|做|压测|调用|打印|共|总共|合计)了?\s?\Z")
_RAN = re.compile(r"\b(?:run|ran|repeated|executed|measured|tested|sampled|benchmarked|launched)\b[^.;]{0,24}\Z", re.IGNORECASE)
_PRODUCT = re.compile(r"(?<![\d.])(\d{1,6})\s?[×x*]\s?\Z")
_NOT_COUNTED = word_set(
    "concurrent parallel simultaneous inflight in-flight outstanding warm-up warmup discarded failed excluded warm cold per additional extra other more "
    "further of or and to than which in"
)
_NOUNS_IN_CHINESE = {
    "请求": "request",
    "查询": "query",
    "样本": "sample",
    "采样": "sample",
    "观测": "observation",
    "测量": "measurement",
    "重复": "repetition",
    "运行": "run",
    "试验": "trial",
    "实验": "trial",
    "测试": "run",
    "迭代": "iteration",
    "回执": "receipt",
    "收据": "receipt",
    "会话": "session",
    "回合": "episode",
    "片段": "clip",
    "视频": "clip",
    "调用": "call",
    "操作": "operation",
    "消息": "message",
    "进程": "worker",
    "节点": "node",
    "评分者": "rater",
    "评委": "rater",
    "轮": "round",
}


@dataclass(frozen=True, slots=True)
class Tally:
    """One count: `noun` in the singular (`n` where none is named), its family as in `statistic_keys.FAMILY`; `known` where the noun is one of `statistic_keys.COUNTED`."""

    value: int
    noun: str
    family: str
    known: bool
    start: int
    end: int


def tallies(text: str) -> tuple[Tally, ...]:
    """The counts of a sentence in order, at most 100. Rates, concurrent and warm-up requests, and units of measure are none."""
    made = [*_english(text), *_letters(text), *_chinese(text)]
    return tuple(sorted(made, key=lambda t: t.start)[:MOST])


def _english(text: str) -> list[Tally]:
    made = []
    for match in _ENGLISH.finditer(text):
        before = match["words"].lower().split()
        noun = singular(match["noun"].lower())
        if _NOT_COUNTED & set(before) or _measures(match["noun"]) or any(_measures(word) for word in before):
            continue
        if noun == "time":
            noun = "repetition" if _RAN.search(text, max(0, match.start() - 40), match.start()) else noun
        product = _PRODUCT.search(text, max(0, match.start() - 12), match.start())
        value = _value(match["n"]) * (1000 if match["k"] else 1) * (int(product[1]) if product else 1)
        made.append(_tally(value, (words(noun) or (noun,))[0], match.start(), match.end()))
    return made


def _measures(word: str) -> bool:
    found = unit(word)
    return found is not None and found.family not in COUNTS


def _letters(text: str) -> list[Tally]:
    return [Tally(_value(match["n"]), "n", "n", True, match.start(), match.end()) for match in _LETTER.finditer(text)]


def _chinese(text: str) -> list[Tally]:
    made = []
    for match in _CHINESE.finditer(text):
        if text[max(0, match.start() - 1) : match.start()] in ("第", ".", "每", "/"):
            continue
        noun = next((english for chinese, english in _NOUNS_IN_CHINESE.items() if match["noun"].startswith(chinese)), None)
        if noun is None and match["measure"] in ("次", "轮", "遍", "趟"):
            noun = "repetition" if _RUN_BEFORE.search(text, max(0, match.start() - 5), match.start()) else None
        if noun:
            scale = {"万": 10_000, "千": 1000}.get(match["k"] or "", 1)
            made.append(_tally(_value(match["n"]) * scale, noun, match.start(), match.end()))
    return made


def _tally(value: int, noun: str, start: int, end: int) -> Tally:
    return Tally(value, noun, FAMILY.get(noun, noun), noun in COUNTED, start, end)


def _value(text: str) -> int:
    low = text.lower().removeprefix("a ")
    if low in _SPELLED:
        return _SPELLED[low]
    if low[0].isdigit() and low[0].isascii():
        return int(low.replace(",", ""))
    return _chinese_value(low)


def _chinese_value(text: str) -> int:
    """Up to three digits: 十二, 二十, 一百二十."""
    total = digit = 0
    for sign in text:
        if sign in "十百":
            total += max(digit, 1) * (10 if sign == "十" else 100)
            digit = 0
        else:
            digit = _CHINESE_DIGITS[sign]
    return total + digit
