"""A stated mean of whole numbers cannot come from the stated number of observations

What it checks: a mean of what is counted (retries, collisions, dropped frames) or is stated to be whole numbers (Likert scores), with its number of
observations beside it: is there a whole sum that gives this mean at the printed digits? Ties count in both directions. It is asked only where
n < 10^digits, else every mean is possible (GRIM; Brown and Heathers, 2017).

Why: such a mean was computed from other data, from another n, or typed by hand.

Fix: compute the mean again, or state the right n (edit text); commit the observations (commit a file).

Example: 2.51 collisions per episode over nine episodes; 22/9 is 2.44 and 23/9 is 2.56.

Not flagged: times and other continuous measures; an n that counts raters and not their scores; several possible n of which one fits.

Strength: medium.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import ceil, floor
from typing import Any

from rules.core.model import Bundle, Facts, Finding, Item, Location, Rule, Severity, Snapshot
from rules.reading.canonical_words import singular, words
from rules.reading.conversation import texts
from rules.reading.documents import Document, Number, Path, number, resolve
from rules.reading.few import few
from rules.reading.layout import bundle_at, documents_in_scope
from rules.reading.markdown import markdown
from rules.reading.outline import Shape
from rules.reading.owners import owner
from rules.reading.prefilter import mentions
from rules.reading.records import of_tables, place, source
from rules.reading.samples import literal, sampled, whole_number
from rules.reading.statements import Statement, statements, text_statements
from rules.reading.statistic_keys import LIMIT_WORDS, Key, counts, read_key
from rules.reading.tallies import tallies
from rules.reading.units import words as word_set

_EVENTS = word_set(
    "retry error collision drop eviction failure fail crash timeout restart miss fault intervention defect bug violation hop preemption stall disconnect rebuffer "
    "rebuffering swap warning mistake correction conflict deadlock abort rollback reconnect reconnection recovery alarm incident event attempt goal win loss click edit "
    "insertion deletion substitution step token frame packet page call query message request iteration spike glitch hang oom takeover fall slip contact anomaly "
    "disengagement rejection cancellation retransmission retransmit migration split merge flush stutter freeze artifact typo flip allocation backtrack replan "
    "dropout outage jam misfeed misread reprint chargeback decline refund hiccup respawn kick brownout misprint violation bounce redirect truncation gap hole seam clash overrun underrun "
    "interrupt preempt pass hit kill wakeup switch invalidation exception panic leak duplicate reorder outlier tick grasp pick"
)
_PASSIVE = word_set("drop miss fail evict lose lost reject skip")
_MEASURED = word_set(
    "rate ratio fraction percent share probability prob accuracy abs absolute relative squared square rms rmse l1 l2 position prediction loss norm cost distance "
    "time latency duration weight depth size length price log speed score error_rate throughput bandwidth level"
)
_INTEGERS = re.compile(
    r"(?<![a-z])integer|(?<![a-z])whole[-_ ]?number|(?<![a-z])likert|(?<![a-z])discrete(?![a-z])|[15]-point|整数|李克特|[五七]级", re.IGNORECASE
)
_RATERS = word_set("rater listener participant subject respondent annotator judge reviewer evaluator assessor")
_RATINGS = word_set("rating score vote response answer judgement judgment annotation")
_PLACES = word_set("worker rank process node host device gpu npu card thread seed arm shard core user client layer point time")
_ONE_EACH = re.compile(
    r"one (?:[a-z]{2,12} )?(?:score|rating|vote|answer)s? (?:each|per|by each)|each (?:\w+ )?(?:gave|scored|rated|voted)(?: \w+)? (?:one|once)|每人(?:一|1)(?:次|个|分)",
    re.IGNORECASE,
)
_MEAN_WORD = re.compile(r"\b(?:mean|averag\w*|avg|per)\b|平均|均值|每", re.IGNORECASE)
_VALUE_FIRST = re.compile(
    r"(?<![\w.,/-])(?P<v>\d{1,6}\.\d{1,4})(?!\w|\.\d|\s?%)\s(?P<words>(?:[A-Za-z-]{2,20}\s){0,2}?)(?P<noun>[A-Za-z]{3,20}s|errata)(?![A-Za-z])(?!\s(?:per|an?|each)\s(?:second|minute|hour|s|ms)\b|/s)"
)
_NOUN_FIRST = re.compile(
    r"(?:mean|average|avg\.?)\s(?:number of |count of )?(?P<words>(?:[A-Za-z-]{2,20}\s){0,2}?)(?P<noun>[A-Za-z]{3,20}s)(?P<tail>(?:\s(?:per|in each|an?)\s[a-z]{2,20})?(?:\scount)?(?:\s(?:over|across|in|for|of|from)\s(?:\S{1,12}\s){1,2}[a-z]{3,20})?)\s?"
    r"(?:was|is|were|are|of|:|=|at|came to|,)?\s?(?P<v>\d{1,6}\.\d{1,4})(?!\w|\.\d|\s?%)",
    re.IGNORECASE,
)
_SCORE = re.compile(
    r"(?:mean|average)(?:\s[a-z-]{2,20}){0,2}\s(?:score|rating|vote|opinion score)(?:\s(?:was|is|of))?\s?[:=]?\s?(?P<v>\d{1,3}\.\d{1,4})(?!\w|\.\d|\s?%)|平均(?:得分|评分|分)(?:为|是|：)?\s?(?P<z>\d{1,3}\.\d{1,4})",
    re.IGNORECASE,
)
_OVER = re.compile(r"\b(?:over|across|from|among|in|during|of)(?: (?:the|all|these))?\s\Z", re.IGNORECASE)
_CHINESE_EVENT = "碰撞|重试|错误|失败|丢帧|崩溃|超时|重启|驱逐|卡顿|接管|中断|冲突|丢包|回滚|告警|异常"
_CHINESE = re.compile(
    rf"平均[^。；，,]{{0,12}}?(?P<v>\d{{1,6}}\.\d{{1,4}})\s?(?:次|个|帧|处)?(?:{_CHINESE_EVENT})|(?:平均)(?:{_CHINESE_EVENT})(?:次|个|帧)?数?(?:为|是|：|:)?\s?(?P<w>\d{{1,6}}\.\d{{1,4}})"
    rf"|(?:{_CHINESE_EVENT})(?:次|个|帧)?数?(?:的)?(?:平均值|均值|平均)(?:为|是|：|:)?\s?(?P<x>\d{{1,6}}\.\d{{1,4}})"
)


@dataclass(frozen=True, slots=True)
class Impossible:
    """One mean that no whole sum gives: for `n` observations the nearest means are `below` and `above`."""

    value: str
    n: int
    below: tuple[int, Fraction]
    above: tuple[int, Fraction]
    where: Location
    count: Location | None


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    plan = frozenset(bundle.part("plan"))
    found: list[Impossible] = []
    for path in bundle.files:
        if path not in plan:
            found += _in_file(snapshot, path)
    for path in bundle.files:
        if path.lower().endswith((".md", ".markdown")) and path not in plan:
            found += (*_in_tables(snapshot, path), *_in_text(statements(snapshot, path)))
    yield from few(_findings(found), "means")


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    """The conversation, and changed documents outside of bundles."""
    for path in documents_in_scope(snapshot):
        if bundle_at(snapshot, path) is None:
            yield from _findings([*_in_tables(snapshot, path), *_in_text(statements(snapshot, path))])
    for text in texts(snapshot):
        yield from _findings(_in_text(text_statements(snapshot, text)))


# ---------------------------------------------------------------- the arithmetic


def is_possible(value: Fraction, precision: Fraction, n: int) -> bool:
    """True when some whole sum over n prints as `value` at `precision` (ties either way)."""
    return any(abs(Fraction(s, n) - value) <= precision / 2 for s in (floor(value * n), ceil(value * n)))


def _judge(text: str, candidates: Iterable[int], where: Location, count: Location | None) -> Impossible | None:
    """None where one of the possible numbers of observations allows the mean, or is too large to tell."""
    value, precision = Fraction(text), number(text).precision
    ns = sorted({n for n in candidates if n > 0})
    if not ns or any(n >= 1 / precision or is_possible(value, precision, n) for n in ns):
        return None
    n = ns[0]
    low, high = floor(value * n), ceil(value * n)
    return Impossible(text, n, (low, Fraction(low, n)), (high, Fraction(high, n)), where, count)


# ---------------------------------------------------------------- documents and tables


def _in_file(snapshot: Snapshot, path: str) -> Iterator[Impossible]:
    doc = source(snapshot, path)
    if doc is None or not mentions(doc.text, "mean", "avg", "average", "per_", "per-", "Per", "平均", "均值"):
        return
    held = sampled(snapshot, path)
    listed = {stated.path for stated in held.stated if owner(held, stated) is not None}
    yield from (one for at, one in _in_document(doc) if at not in listed)


def _in_tables(snapshot: Snapshot, path: str) -> Iterator[Impossible]:
    for table in of_tables(markdown(snapshot, path)):
        yield from (one for _, one in _in_document(table))


def _in_document(doc: Document) -> Iterator[tuple[Path, Impossible]]:
    for node in doc.outline.nodes(_names_mean, (Number, str)):
        text = _mean_text(node.value)
        if text is None or not (_is_count(node.path) or _says_integers(doc, node.path)):
            continue
        found = _numbers(doc, node.path)
        if found:
            ns = [n for _, n in found]
            products = [a * b for a, b in combinations(ns, 2)]
            one = _judge(text, [*ns, *products], place(doc, node.path), place(doc, found[0][0], "record"))
            if one:
                yield node.path, one


@lru_cache(maxsize=8192)
def _names_mean(shape: Shape) -> bool:
    """True for a key that says mean, or per something, and declares no unit."""
    if not shape or shape[-1] is None:
        return False
    key = read_key(shape[-1])
    above = read_key(shape[-2]) if len(shape) > 1 and shape[-2] is not None else None
    kinds = [s.kind for s in key.statistics] or [s.kind for s in (above.statistics if above else ())]
    return (kinds == ["mean"] or (not kinds and key.per is not None)) and key.unit is None and LIMIT_WORDS.isdisjoint(key.words)


def _mean_text(value: Number | str) -> str | None:
    """The printed number, where it has decimals and is no share."""
    text = literal(value)
    return text if text and "." in text and "e" not in text.lower() and not (isinstance(value, str) and value.strip()[-1] in "%s") else None


def _is_count(path: Path) -> bool:
    """True when the key, or the object's around it, names events in the plural or as a count."""
    for part in (path[-1], *(path[-2:-1])):
        if isinstance(part, str):
            key = read_key(part)
            if key.unit is not None or not _MEASURED.isdisjoint(key.words):
                return False
            if _names_events(part, key):
                return True
    return False


def _names_events(part: str, key: Key) -> bool:
    said = [word for word in key.words if word != key.per and word != "per"]
    events = [word for word in said if word in _EVENTS]
    plural = any(
        singular(token) in _EVENTS and token != singular(token)
        for token in re.findall(r"[a-z]{3,24}", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", part).lower())
    )
    return bool(events) and (plural or "count" in said or any(ord(char) > 0x4E00 for char in part))


def _says_integers(doc: Document, path: Path) -> bool:
    key = read_key(str(path[-1]))
    if {"latency", "time"} & set(key.words):
        return False
    for up in (1, 2):
        holder = resolve(doc.value, path[:-up]) if up <= len(path) else None
        for name, value in holder.items() if isinstance(holder, dict) and len(holder) <= 100 else ():
            if (isinstance(value, str) and len(value) < 500 and _INTEGERS.search(value)) or (_INTEGERS.search(name) and value is True):
                return True
    return False


def _numbers(doc: Document, path: Path) -> list[tuple[Path, int]]:
    """The numbers of observations that may stand behind a mean, nearest object first."""
    key = read_key(str(path[-1]))
    for up in (1, 2):
        if up > len(path):
            break
        base = path[:-up]
        holder = resolve(doc.value, base)
        if not isinstance(holder, dict) or len(holder) > 200:
            continue
        found = list(_in_holder(holder, base, key))
        if found:
            return found
    return []


def _in_holder(holder: dict[str, Any], base: Path, mean: Key) -> Iterator[tuple[Path, int]]:
    ints = {name: n for name, value in holder.items() if (n := whole_number(value)) is not None}
    said = {name: words(name) for name in ints}
    raters = next((n for name, n in ints.items() if _RATERS & set(said[name]) and "per" not in said[name]), None)
    shares = next((n for name, n in ints.items() if "per" in said[name] and _RATERS & set(said[name])), None)
    for name, n in ints.items():
        plain = [word for word in said[name] if word not in ("count", "n", "number", "total")]
        if (
            (mean.per and plain == [mean.per] and mean.per not in _RATERS)
            or (not plain and said[name] != ("total",))
            or (len(plain) == 1 and plain[0] in _RATINGS)
            or (not mean.per and len(plain) == 1 and (found := counts(name)) and found.noun not in _PLACES | _RATERS and not found.per)
        ):
            yield (*base, name), n
        elif raters and shares and n == raters and _RATERS & set(said[name]) and "per" not in said[name]:
            yield (*base, name), raters * shares


# ---------------------------------------------------------------- sentences


def _in_text(made: tuple[Statement, ...]) -> Iterator[Impossible]:
    for one in made:
        if one.kind not in ("row", "heading") and _MEAN_WORD.search(one.text[:2000]) and one.standing in ("asserted", "reported"):
            for text, skipped in _means(one.text[:2000]):
                ns = _tallied(one.text[:2000], text, skipped)
                found = _judge(text, ns, one.location(), None)
                if found:
                    yield found


def _means(text: str) -> Iterator[tuple[str, str]]:
    """(printed mean, the noun it is of) of every mean of events or of whole scores."""
    for pattern in (_VALUE_FIRST, _NOUN_FIRST):
        for match in pattern.finditer(text):
            noun = singular(match["noun"].lower())
            before = set(match["words"].lower().split())
            if noun in _EVENTS and not before & _MEASURED:
                yield match["v"], noun
    for match in _CHINESE.finditer(text):
        yield match["v"] or match["w"] or match["x"], ""
    if _INTEGERS.search(text):
        for match in _SCORE.finditer(text):
            yield match["v"] or match["z"], "score"


def _tallied(text: str, mean: str, noun: str) -> list[int]:
    """The numbers of observations in the sentence: those after `per`, else all counts of observations, and their products."""
    held = [t for t in tallies(text) if t.noun != noun and t.noun not in _PLACES and not text[t.start : t.end].startswith(mean)]
    one_each = bool(_ONE_EACH.search(text))
    held = [t for t in held if t.noun not in _RATERS or one_each]
    after = re.search(r"(?:per|in each|an?|each)\s([a-z]{3,20})|每(?:个|次|场|轮|段)?([\u4e00-\u9fff]{1,4})", text[text.find(mean) + len(mean) :])
    wanted = {singular(after[1])} if after and after[1] else set()
    exact = [t for t in held if t.noun in wanted]
    ns = [t.value for t in (exact or [t for t in held if t.known or t.noun in _RATINGS or (one_each and t.noun in _RATERS)])]
    if not ns and len(held) == 1 and _OVER.search(text, max(0, held[0].start - 12), held[0].start):
        ns = [held[0].value]
    others = [t.value for t in held if t not in exact] if exact else []
    return [*ns, *(a * b for a, b in combinations(ns, 2)), *(a * b for a in ns for b in others)]


# ---------------------------------------------------------------- findings


def _findings(found: Iterable[Impossible]) -> Iterator[Finding]:
    """A sentence that repeats a record's mean stands in the record's finding."""
    kept: dict[tuple[str, int], list[Impossible]] = {}
    alone: list[list[Impossible]] = []
    for one in found:
        if one.count is not None:
            alone.append([one])
            kept.setdefault((one.value, one.n), alone[-1])
        elif (one.value, one.n) in kept:
            kept[one.value, one.n].append(one)
        else:
            alone.append([one])
            kept[one.value, one.n] = alone[-1]
    for held in alone:
        yield _finding(held)


def _finding(held: list[Impossible]) -> Finding:
    one = held[0]
    decimals = len(one.value.partition(".")[2])
    near = " and ".join(f"{total}/{one.n} is {float(mean):.{decimals}f}" for total, mean in dict.fromkeys((one.below, one.above)))
    counted = [other.count for other in held if other.count is not None]
    root = f"record:{one.where.path}#{one.where.pointer}" if one.where.pointer is not None else f"claim:{one.where.path}#{one.where.text}"
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        title=f"A mean of {one.value} cannot come from {one.n} whole numbers",
        problem=f"{one.value} is stated as the mean of {one.n} whole-numbered observations; {near}, and nothing lies between.",
        impact="The mean, or the number of observations, is not that of the data.",
        next="Compute the mean again or state the number of observations it is over (edit text); best, commit the observations (commit a file).",
        locations=tuple(dict.fromkeys([other.where for other in held] + counted)),
        evidence=(("mean", one.value), ("n", str(one.n))),
        roots=(root,),
    )


RULE = Rule(
    "mean-impossible", "consistency", Severity.MEDIUM, check, each=each, norms=(("mean", "observations"), ("state", "number of observations"))
)
