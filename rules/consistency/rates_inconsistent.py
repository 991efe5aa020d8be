"""Quantities that an identity binds disagree beyond rounding

What it checks: inside one object or one row, amount ÷ time = rate (tokens, frames, requests, bytes); speed-up = a / b of two arms; RTF = processing
time / audio time; hits ÷ all = hit rate; and between the rows of one table, RTF × frames/s = the codec's own frame rate, the same in every row. In a
sentence: a change with its factor behind it ("12.5 -> 10.0 s (1.25×)").

Why: when three figures cannot all be true, one of them is not what the reader takes it for.

Fix: compute the derived figure again (edit text), or name what it is of: per stream, without the first token.

Example: `{"output_tokens": 51200, "elapsed_s": 40.0, "tokens_per_second": 1380}`; 51200 / 40.0 is 1280.

Not flagged: averages of ratios; rates per stream or per device where their number stands beside; several amounts or times of which one fits.

Strength: low.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, islice
from typing import Any

from rules.core.model import Bundle, Finding, Item, Location, Rule, Severity, Snapshot
from rules.reading.canonical_words import words
from rules.reading.documents import Document, Node, Path
from rules.reading.few import few
from rules.reading.markdown import markdown
from rules.reading.outline import Column, Outline
from rules.reading.prefilter import mentions
from rules.reading.quantities import Quantity, of_value, quantities
from rules.reading.records import of_tables, place, source
from rules.reading.statements import Statement, statements
from rules.reading.statistic_keys import read_key
from rules.reading.unit_keys import unit_of_key
from rules.reading.units import COUNTS
from rules.reading.units import words as word_set

SLACK = Fraction(1, 200)
"""Half a percent for clocks that are not read at the same moment."""
KEYS, ROWS = 64, 2000
"""Fields of one object, and objects of one column, that are looked at."""
_HINTS = (
    "per_",
    "per-",
    "Per",
    "/s",
    "tps",
    "fps",
    "qps",
    "rps",
    "throughput",
    "speed",
    "rtf",
    "hit",
    "×",
    "加速",
    "吞吐",
    "每",
    "b_s",
    "bandwidth",
    "iops",
    "ratio",
)
_AVERAGED = frozenset(["mean", "median", "percentile", "geomean", "hmean", "min", "max", "best", "worst", "stdev", "other"])
_BEFORE = word_set("baseline control before reference old original ref base stock unoptimized eager serial")
_AFTER = word_set("candidate after new optimized optimised treatment patched tuned current compiled parallel fused")
_SPEEDUP = word_set("speedup acceleration 加速比 加速")
_ELAPSED = word_set("elapsed duration wall time total runtime generation decode encode second s processing compute run measured window test")
_NOT_ELAPSED = word_set("ttft ttfa tpot itl first warmup startup load timeout limit start end latency queue wait per interval compile setup budget")
_AUDIO = word_set("audio media speech clip sound content")


@dataclass(frozen=True)
class Term:
    """One number of an object: its key, its place and its interval in base units."""

    key: str
    path: Path
    quantity: Quantity
    words: frozenset[str]

    @property
    def family(self) -> str:
        return self.quantity.unit.family if self.quantity.unit else ""

    @property
    def low(self) -> Fraction:
        return self.quantity.low * (self.quantity.unit.factor if self.quantity.unit else 1)

    @property
    def high(self) -> Fraction:
        return self.quantity.high * (self.quantity.unit.factor if self.quantity.unit else 1)

    @property
    def value(self) -> Fraction:
        return self.quantity.value * (self.quantity.unit.factor if self.quantity.unit else 1)


@dataclass(frozen=True)
class Broken:
    """One identity that does not hold: `left` states it, the `operands` give `expected`."""

    identity: str
    left: Term
    operands: tuple[Term, ...]
    expected: str


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    yield from few(_each(snapshot, bundle), "derived figures")


def _each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    for path in bundle.files:
        doc = source(snapshot, path)
        if doc is not None and mentions(doc.text, *_HINTS):
            yield from (_finding(bundle, doc, broken) for broken in _in_document(doc.outline))
        if path.lower().endswith((".md", ".markdown")):
            for table in of_tables(markdown(snapshot, path)):
                yield from (_finding(bundle, table, broken) for broken in _in_document(table.outline))
            for one in statements(snapshot, path):
                yield from _in_sentence(bundle, one)


def _in_document(held: Outline) -> Iterator[Broken]:
    for node in held.pick(lambda column: _worth_reading(column, held)):
        if isinstance(node.value, list):
            yield from _frame_rate(node)
            continue
        terms = _terms(node.path, node.value)
        for check in (_rates, _named_rates, _speedups, _real_time, _paced, _hits):
            yield from check(terms, node)


def _worth_reading(column: Column, held: Outline) -> list[int]:
    """The rows that hold an object whose fields an identity may bind, or a list of rows with a real-time factor."""
    inside = held.inside.get(column, [])
    wanted: list[int] = []
    if dict in column.types and _may_bind(inside):
        wanted += [row for row, value in enumerate(column.values) if isinstance(value, dict) and 2 <= len(value) <= KEYS][:ROWS]
    rows = next((one for one in inside if one.shape[-1] is None), None) if list in column.types else None
    if rows is not None and any("rtf" in words(one.key) for one in held.inside.get(rows, ())):
        wanted += [
            row for row, value in enumerate(column.values) if isinstance(value, list) and 2 <= len(value) <= 10_000 and isinstance(value[0], dict)
        ]
    return wanted


def _may_bind(fields: list[Column]) -> bool:
    """Whether the keys of an object, and the units in its strings, leave one of the identities possible."""
    keys = [one.key for one in fields]
    if any(_names_ratio(key) for key in keys):
        return True
    families = [(one.key, family) for one in fields for family in _families(one)]
    rates = {family.partition("/")[0] for _, family in families if family.endswith("/time")}
    timed = any(family == "time" and _is_elapsed(key) for key, family in families)
    return timed and any(family in rates or _per_time(key) is not None for key, family in families)


@lru_cache(maxsize=4096)
def _names_ratio(key: str) -> bool:
    said = frozenset(words(key))
    return bool(said & _SPEEDUP) or {"speed", "up"} <= said or _says_real_time(key, said) or ("hit" in said and bool(said & {"rate", "ratio"}))


@lru_cache(maxsize=4096)
def _is_elapsed(key: str) -> bool:
    said = set(words(key))
    return bool(said & _ELAPSED) and not said & _NOT_ELAPSED


def _families(column: Column) -> set[str]:
    """The families of units that a field's key declares, or that its strings carry."""
    own = unit_of_key(column.key)
    if str not in column.types:
        return {own.family if own else ""}
    texts = {value for value in column.values if isinstance(value, str) and 0 < len(value) <= 60 and any(char.isdigit() for char in value)}
    read = (of_value(text, own) for text in texts)
    return {one.unit.family for one in read if one and one.unit} | {own.family if own else ""}


def _terms(path: Path, held: dict[str, Any]) -> list[Term]:
    made = []
    for key, value in held.items():
        quantity = of_value(value, unit_of_key(key)) if not isinstance(value, (dict, list)) else None
        if quantity is not None and quantity.relation == "=" and quantity.value > 0:
            made.append(Term(key, (*path, key), quantity, frozenset(words(key))))
    return made


_OTHER_RATES = word_set(
    "peak burst instantaneous instant steady sustained target limit nominal rated required allowed theoretical spec cap 峰值 瞬时 目标 上限"
)


def _is_average(key: str) -> bool:
    """True for a figure that is not the quotient of the whole: an average of ratios, a peak, a target."""
    return (
        not _OTHER_RATES.isdisjoint(words(key))
        or any(s.kind in _AVERAGED for s in read_key(key).statistics)
        or "per_request" in key.lower()
        or "each" in words(key)
    )


# ---------------------------------------------------------------- amount ÷ time = rate


def _rates(terms: list[Term], _: Node) -> Iterator[Broken]:
    for rate in terms:
        amount, _mark, below = rate.family.partition("/")
        if below != "time" or _is_average(rate.key):
            continue
        amounts = [
            t for t in terms if t.family == amount and not _is_average(t.key) and "per" not in t.words and not t.words & {"max", "limit", "batch"}
        ]
        times = [t for t in terms if t.family == "time" and not _is_average(t.key) and not t.words & _NOT_ELAPSED and t.words & _ELAPSED]
        if not 0 < len(amounts) <= 6 or len(times) != 1:
            continue
        sums = [(t.low, t.high, t) for t in amounts] + [(a.low + b.low, a.high + b.high, a) for a, b in combinations(amounts, 2)]
        known = [Fraction(1), *islice(_multipliers(terms, rate, amounts), 24)]
        spans = list(_spans(times[0], terms))
        if any(_meets(rate, low / longest * k, high / shortest * k) for low, high, _t in sums for shortest, longest in spans for k in known):
            continue
        if len(amounts) == 1:
            yield Broken(
                f"{amount} ÷ time",
                rate,
                (amounts[0], times[0]),
                _number(amounts[0].value / times[0].value / (rate.quantity.unit.factor if rate.quantity.unit else 1)),
            )


_COUNTING = word_set("total count number n all overall of the")


def _named_rates(terms: list[Term], _: Node) -> Iterator[Broken]:
    """The same for what is no unit: `reads`, `elapsed_s` and `reads_per_s`, 请求数 and 每秒请求."""
    for rate in terms:
        found = _per_time(rate.key)
        if rate.family.endswith("/time") or found is None or _is_average(rate.key):
            continue
        noun, second = found
        amounts = [t for t in terms if t is not rate and not t.family.startswith("time") and set(words(t.key)) - _COUNTING == noun]
        times = [t for t in terms if t.family == "time" and not _is_average(t.key) and not t.words & _NOT_ELAPSED and t.words & _ELAPSED]
        if len(amounts) != 1 or len(times) != 1 or "per" in amounts[0].words:
            continue
        known = [Fraction(1), *islice(_multipliers(terms, rate, amounts), 24)]
        amount, k = amounts[0].quantity, second
        spans = list(_spans(times[0], terms))
        if not any(_meets(rate, amount.low * k / longest * m, amount.high * k / shortest * m) for shortest, longest in spans for m in known):
            yield Broken(f"{' '.join(sorted(noun))} ÷ time", rate, (amounts[0], times[0]), _number(amount.value * k / times[0].value))


@lru_cache(maxsize=4096)
@lru_cache(maxsize=4096)
def _per_time(key: str) -> tuple[set[str], Fraction] | None:
    """What is counted per time in a key, and the seconds of that time: `reads_per_min`, 每秒请求."""
    held = words(key)
    at = held.index("per") if "per" in held and held[-1] != "per" else len(held)
    seconds = _SECONDS.get(held[at + 1]) if at + 1 < len(held) else None
    noun = {word for i, word in enumerate(held) if i not in (at, at + 1)} - _COUNTING - {"rate", "throughput"}
    return (noun, seconds) if seconds and noun else None


_SECONDS = {"s": Fraction(1), "minute": Fraction(60), "min": Fraction(60), "hour": Fraction(3600), "ms": Fraction(1, 1000)}


def _spans(time: Term, terms: list[Term]) -> Iterator[tuple[Fraction, Fraction]]:
    """The time, and what is left of it without a first token, a start or a warm-up that stands beside."""
    if time.low > 0:
        yield time.low, time.high
    for term in terms:
        if term.family == "time" and term.words & _NOT_ELAPSED and term.high < time.low:
            yield time.low - term.high, time.high - term.low


def _multipliers(terms: list[Term], rate: Term, amounts: list[Term]) -> Iterator[Fraction]:
    """Small whole numbers beside: a rate may be per stream, or the amount per run."""
    for term in terms:
        value = term.quantity.value
        if (
            term is not rate
            and term not in amounts
            and value.denominator == 1
            and 1 < value <= 4096
            and "." not in term.quantity.text
            and term.family != "time"
        ):
            yield value
            yield 1 / value


def _meets(stated: Term, low: Fraction, high: Fraction) -> bool:
    return stated.low <= high * (1 + SLACK) and low * (1 - SLACK) <= stated.high


def _number(value: Fraction) -> str:
    return f"{float(value):.4g}" if value < 10_000 else f"{float(value):.0f}"


# ---------------------------------------------------------------- speed-up = a / b


def _speedups(terms: list[Term], node: Node) -> Iterator[Broken]:
    for ratio in terms:
        said = ratio.words | ({"speedup"} if {"speed", "up"} <= ratio.words else frozenset())
        if not said & _SPEEDUP or ratio.family not in ("", "factor", "ratio") or _is_average(ratio.key):
            continue
        pairs = list(islice(_pairs(terms), 16)) or list(islice(_nested_pairs(node), 16))
        if not pairs or any(_meets(ratio, a.low / b.high, a.high / b.low) or _meets(ratio, b.low / a.high, b.high / a.low) for a, b in pairs):
            continue
        a, b = pairs[0]
        top, bottom = (a, b) if "time" in a.family and not a.family.endswith("/time") else (b, a)
        yield Broken("speed-up", ratio, (a, b), _number(top.value / bottom.value))


def _pairs(terms: list[Term]) -> Iterator[tuple[Term, Term]]:
    """(before, after) of one thing in one object: `control_s` and `candidate_s`."""
    for a in terms:
        for b in terms:
            alike = a.family == b.family and a.words - _BEFORE == b.words - _AFTER and a.family not in COUNTS
            if alike and a.words & _BEFORE and b.words & _AFTER and a.low > 0 and b.low > 0:
                yield a, b


def _nested_pairs(node: Node) -> Iterator[tuple[Term, Term]]:
    """`control: {elapsed_s}` and `candidate: {elapsed_s}` beside a speed-up."""
    sides: list[list[Term]] = [[], []]
    for key, value in node.value.items():
        if isinstance(value, dict) and len(value) <= KEYS:
            for side, known in enumerate((_BEFORE, _AFTER)):
                if set(words(key)) & known:
                    sides[side] += _terms((*node.path, key), value)
    for a in sides[0]:
        for b in sides[1]:
            if a.key == b.key and a.family and a.family == b.family and a.family not in COUNTS and a.low > 0 and b.low > 0:
                yield a, b


# ---------------------------------------------------------------- RTF and hit rates


def _real_time(terms: list[Term], _: Node) -> Iterator[Broken]:
    """RTF = processing time / audio time, or its inverse."""
    for rtf in terms:
        if not _is_real_time(rtf) or _is_average(rtf.key):
            continue
        audio = [t for t in terms if t.family == "time" and t.words & _AUDIO]
        spent = [t for t in terms if t.family == "time" and not t.words & _AUDIO and not t.words & _NOT_ELAPSED and t.words & _ELAPSED]
        if len(audio) == 1 and len(spent) == 1 and audio[0].low > 0 and spent[0].low > 0:
            a, b = spent[0], audio[0]
            if not _meets(rtf, a.low / b.high, a.high / b.low) and not _meets(rtf, b.low / a.high, b.high / a.low):
                yield Broken("real-time factor", rtf, (a, b), _number(a.value / b.value))


_FRAME_RATES = ("frames/time", "samples/time", "images/time", "steps/time", "events/time", "messages/time", "packets/time", "pages/time", "frequency")
_SOURCE = word_set(
    "source input native codec media video clip content nominal original target playback recording camera sensor capture real stream realtime 源 原 片源 输入 采集"
)
_DONE = word_set(
    "decode encode process processed processing output achieved measured render generate generation throughput infer inference produced done model 解码 处理 生成 输出 实测 编码"
)


def _paced(terms: list[Term], _: Node) -> Iterator[Broken]:
    """RTF = the source's rate / the rate at which it is processed, or its inverse."""
    for rtf in terms:
        if not _is_real_time(rtf) or _is_average(rtf.key):
            continue
        rates = [t for t in terms if t.family in _FRAME_RATES and not _is_average(t.key)]
        source = [t for t in rates if _parts_of(t) & _SOURCE and not _parts_of(t) & _DONE]
        done = [t for t in rates if t not in source]
        if len(source) != 1 or len(done) != 1 or source[0].low <= 0 or done[0].low <= 0:
            continue
        a, b = source[0], done[0]
        known = [Fraction(1), *islice(_multipliers(terms, rtf, [a, b]), 24)]
        if not any(_meets(rtf, a.low / b.high * k, a.high / b.low * k) or _meets(rtf, b.low / a.high * k, b.high / a.low * k) for k in known):
            yield Broken("source rate ÷ processed rate", rtf, (a, b), _number(a.value / b.value))


def _is_real_time(term: Term) -> bool:
    return _says_real_time(term.key, term.words)


def _says_real_time(key: str, said: frozenset[str]) -> bool:
    return bool(said & {"rtf", "realtime"}) or {"real", "time", "factor"} <= said or "实时率" in key or "实时因子" in key


def _parts_of(term: Term) -> frozenset[str]:
    """The words of a key with the stems of its verbs: `decoded` is decode. Chinese keys are looked through for the known words."""
    stems = {
        word[: -len(end)] + more for word in term.words for end, more in (("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")) if word.endswith(end)
    }
    return term.words | stems | {word for word in _SOURCE | _DONE if not word.isascii() and word in term.key}


def _hits(terms: list[Term], _: Node) -> Iterator[Broken]:
    """hits ÷ (hits + misses), or ÷ lookups."""
    for rate in terms:
        if (not {"hit", "rate"} <= rate.words and not {"hit", "ratio"} <= rate.words) or _is_average(rate.key):
            continue
        rest = rate.words - {"hit", "rate", "ratio", "percent"}
        hits = [t for t in terms if t is not rate and "hit" in t.words and not t.words & {"rate", "ratio"} and _one_cache(t.words, rest)]
        misses = [t for t in terms if "miss" in t.words and not t.words & {"rate", "ratio"} and _one_cache(t.words, rest)]
        wholes = [t for t in terms if t.words & {"lookup", "access", "query", "request"} and not t.words & {"hit", "miss", "per"}]
        if len(hits) != 1 or len(misses) + len(wholes) != 1:
            continue
        whole = hits[0].quantity.value + misses[0].quantity.value if misses else wholes[0].quantity.value
        share = hits[0].quantity.value / whole
        if not any(abs(rate.quantity.value - share * k) <= (rate.quantity.high - rate.quantity.low) / 2 + SLACK * share * k for k in (1, 100)):
            yield Broken("hits ÷ all", rate, (hits[0], (misses or wholes)[0]), _number(share * (100 if rate.quantity.value > 1 else 1)))


def _one_cache(said: frozenset[str], rest: frozenset[str]) -> bool:
    """`cache_hits` is of the `hit_ratio` and of the `cache_hit_ratio`, not of the `l2_hit_ratio`."""
    own = said - {"hit", "miss", "count", "total"}
    return own <= rest or not rest


# ---------------------------------------------------------------- RTF × frames/s is the codec's frame rate


def _frame_rate(node: Node) -> Iterator[Broken]:
    """In the rows of one table the product (or the quotient, for an inverse RTF) is one constant."""
    rows: list[tuple[Term, Term]] = []
    for index, item in enumerate(node.value):
        terms = _terms((*node.path, index), item) if isinstance(item, dict) and len(item) <= KEYS else []
        fps = [t for t in terms if t.family == "frames/time" and not _is_average(t.key)]
        rtf = [t for t in terms if "rtf" in t.words and not _is_average(t.key)]
        if len(fps) == 1 and len(rtf) == 1:
            rows.append((fps[0], rtf[0]))
    if len(rows) < 2 or _agree(rows, False) == len(rows) or _agree(rows, True) == len(rows):
        return
    inverse = _agree(rows, True) > _agree(rows, False)
    common = _common(rows, inverse)
    for rate, factor in rows:
        low, high = _product(rate, factor, inverse)
        if not (low <= common[1] and common[0] <= high):
            yield Broken(
                f"RTF {'÷' if inverse else '×'} frames/s",
                factor,
                (rate,),
                _number((common[0] + common[1]) / 2) + " frames/s of the codec in the other rows",
            )


def _product(fps: Term, rtf: Term, inverse: bool) -> tuple[Fraction, Fraction]:
    pair = (fps.low / rtf.high, fps.high / rtf.low) if inverse and rtf.low > 0 else (fps.low * rtf.low, fps.high * rtf.high)
    return pair[0] * (1 - SLACK), pair[1] * (1 + SLACK)


def _common(rows: list[tuple[Term, Term]], inverse: bool) -> tuple[Fraction, Fraction]:
    """The interval that most rows share."""
    spans = [_product(fps, rtf, inverse) for fps, rtf in rows[:500]]
    return max(spans, key=lambda span: sum(span[0] <= other[1] and other[0] <= span[1] for other in spans))


def _agree(rows: list[tuple[Term, Term]], inverse: bool) -> int:
    low, high = _common(rows, inverse)
    return sum(span[0] <= high and low <= span[1] for span in (_product(fps, rtf, inverse) for fps, rtf in rows))


# ---------------------------------------------------------------- sentences


def _in_sentence(bundle: Bundle, one: Statement) -> Iterator[Finding]:
    """`62.5 -> 50.0 s (1.25×)`: a change and the factor right behind it."""
    if one.kind == "row" or not ("×" in one.text or "x" in one.text or "倍" in one.text) or one.standing != "asserted":
        return
    found = quantities(one.text[:4000])
    for i in range(len(found) - 2):
        a, b, factor = found[i : i + 3]
        if not (a.form == b.form == "change" and a.group == b.group and factor.unit is not None and factor.unit.family == "factor"):
            continue
        if factor.start - b.end > 12 or (i + 3 < len(found) and found[i + 3].group == a.group) or min(a.low, b.low) <= 0 or factor.relation != "=":
            continue
        scale = (a.unit.factor / b.unit.factor) if a.unit and b.unit else Fraction(1)
        spans = ((a.low * scale / b.high, a.high * scale / b.low), (b.low / a.high / scale, b.high / a.low / scale))
        if not any(factor.low <= high * (1 + SLACK) and low * (1 - SLACK) <= factor.high for low, high in spans):
            yield _sentence_finding(bundle, one, a, b, factor, max(a.value * scale / b.value, b.value / a.value / scale))


def _sentence_finding(bundle: Bundle, one: Statement, a: Quantity, b: Quantity, factor: Quantity, right: Fraction) -> Finding:
    where = one.location()
    return _made(
        f"The stated factor {factor.text} does not follow from {a.text} and {b.text}",
        f"`{bundle.relative(where.path)}:{where.line}` states {factor.text}× for {a.text} and {b.text}; their ratio is {_number(right)}.",
        (where,),
        (("stated", factor.text), ("computed", _number(right))),
        f"claim:{where.path}#{where.text}",
    )


# ---------------------------------------------------------------- findings


def _finding(bundle: Bundle, doc: Document, broken: Broken) -> Finding:
    claim = place(doc, broken.left.path)
    operands = ", ".join(f"`{term.key}` = {term.quantity.text}" for term in broken.operands)
    where: tuple[Location, ...] = tuple(dict.fromkeys([claim, *(place(doc, term.path, "operand") for term in broken.operands)]))
    at = f"{bundle.relative(claim.path)}{'#' + claim.pointer if claim.pointer is not None else f':{claim.line}'}"
    return _made(
        f"`{broken.left.key}` = {broken.left.quantity.text} does not follow from what stands beside it",
        f"`{at}` states {broken.left.quantity.text}; {broken.identity} of {operands} gives {broken.expected}.",
        where,
        (("stated", broken.left.quantity.text), ("computed", broken.expected)),
        f"record:{claim.path}#{claim.pointer or claim.line}",
    )


def _made(title: str, problem: str, where: tuple[Location, ...], evidence: tuple[tuple[str, str], ...], root: str) -> Finding:
    return Finding(
        rule=RULE.id,
        severity=Severity.LOW,
        title=title,
        problem=problem,
        impact="The figures cannot all be of the same run and meaning; a reader who combines them is misled.",
        next="Compute the derived figure again, or name what it is of (per stream, without the first token, an average of ratios) (edit text).",
        locations=where,
        evidence=evidence,
        roots=(root,),
    )


RULE = Rule("rates-inconsistent", "consistency", Severity.LOW, each=each, norms=(("derived", "rate"), ("speed-up", "from")))
