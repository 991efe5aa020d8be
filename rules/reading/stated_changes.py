"""Changes that a sentence states beside their operands: `17.31 -> 22.4 (+29.4 %)`, `a 30.6 % reduction from 384.16 to 266.60 ms`, 降低12.9%.

Only adjacent forms: between the operands and the change stand nothing but signs, words of change and fillers. Never a window over prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rules.reading.changes import Change, Direction, Span, span
from rules.reading.quantities import Quantity, quantities
from rules.reading.units import Unit, comparable

_DOWN = r"reduc\w{1,6}|decreas\w{1,5}|drop(?:s|ped)?|declin\w{1,4}|降低|下降|减少|缩短|降幅|减幅|降"
_UP = r"increas\w{1,5}|rises?|rose|risen|grow\w{0,4}|grew|增加|上升|增长|增幅|升高"
_TURN = (
    rf"{_DOWN}|{_UP}|fell|falls?|fallen|cut|gains?|gained|improv\w{{1,8}}|sav\w{{1,5}}|speed-?ups?|faster|slower|quicker|lower|higher|less|more|fewer|shorter|longer|better|worse|smaller"
    r"|larger|greater|below|above|down|up|change[ds]?|delta|diff(?:erence)?s?|regress\w{1,5}|uplift|overhead|提升|提高|改善|加快|变慢|变快|变化|相差|差异|节省|优化|Δ|∆"
)
_FILL = (
    r"i\.e\.|that is|that's|which is|or|is|was|are|were|an?|the|by|of|in|at|about|around|roughly|approximately|nearly|almost|relative|overall|net|total|thus|so|giving|meaning|just|only|even"
    r"|equal|equals|equivalent|to|absolute|latency|time|即|约为?|为|了|大约|相当于|总体|相对"
)
_ARM = (
    r"baselines?|controls?|candidates?|reference|original|before|after|old|new|stock|vanilla|patched|unpatched|optimi[sz]ed|unoptimi[sz]ed|treatment|variant|default|upstream|main"
    r"|基线|基准|对照组?|候选组?|优化前|优化后|原始|原版|实验组|之前|之后"
)
_THAN = r"than|vs\.?|versus|against|compared|over|relative to|with|from"
_WORDS = re.compile(rf"(?:[\s,，:：;；=≈~—–(（-]|(?<![A-Za-z])(?:{_TURN}|{_FILL})(?![A-Za-z]))*+", re.IGNORECASE)
_TAIL = re.compile(rf"(?:[\s,，:：]|(?<![A-Za-z])(?:{_TURN}|{_FILL}|{_THAN}|{_ARM})(?![A-Za-z]))*+", re.IGNORECASE)
_TURN_AT = re.compile(rf"(?<![A-Za-z])(?:{_TURN})(?![A-Za-z])", re.IGNORECASE)
_TURN_NEXT = re.compile(rf"\s?(?:{_TURN})(?![A-Za-z])", re.IGNORECASE)
_DIRECT = re.compile(rf"(?<![A-Za-z])(?:(?P<down>{_DOWN})|(?P<up>{_UP}))(?![A-Za-z])", re.IGNORECASE)
_OF = re.compile(r"\s?(?:of|as (?:long|much|fast))(?![A-Za-z])|\s?(?:的)?(?:倍|占比)|相当于|原来的", re.IGNORECASE)
_BRACKET = re.compile(r"[\s,，]{0,2}[(（\[](?P<inside>[^()（）\[\]]{1,160})[)）\]]")
_PARTS = re.compile(r"[,;，；、]\s?|\s/\s|\sor\s|\sand\s")
_LEADS = re.compile(
    rf"\s?(?:(?:{_TURN})(?:\s(?!and\b|while\b|but\b)[\w/.'-]{{1,20}}){{0,4}}?)?[\s,，:：]{{0,2}}(?:\(|（|from\s|(?:when |on )?going from\s|由\s?|从\s?){{0,2}}",
    re.IGNORECASE,
)
_MOVED = re.compile(rf"(?<![A-Za-z])(?:{_TURN})(?:\s(?:from|of)|由|从)?[\s:：]{{0,2}}\Z", re.IGNORECASE)
_LABEL = re.compile(
    r"(?:(?: (?!and\b|or\b|by\b|with\b|while\b|but\b|to\b|i\.e)[A-Za-z][\w/-]{0,15}){1,2}(?=[,:(（，] ?| \())?"
)  # `266.60 ms E2E, a 30.60 % reduction`
_VERSUS = re.compile(r"\s?(?:vs\.?|versus|against|compared (?:to|with)|对比|相比)\s?", re.IGNORECASE)
_BETWEEN_ARMS = re.compile(
    rf"(?:[\s,，/;；:：=()-]|(?<![A-Za-z])(?:the|an?|to|and|at|is|was|took|takes|of|with|{_THAN}|{_ARM})(?![A-Za-z]))*+", re.IGNORECASE
)
_ARM_AT = re.compile(rf"(?<![A-Za-z])(?:{_ARM})(?![A-Za-z])", re.IGNORECASE)
_IS = re.compile(r"(?:\s|,|\(|:|—|is|was|are|were|which|being|runs|ran|takes|took|at|about|roughly|，|为|，?即)*+", re.IGNORECASE)
_THAN_OPERAND = re.compile(
    rf"\s?(?:{_TURN})\s(?:than|vs\.?|versus|against|from)?\s?(?:(?:the|its|our|an?)\s)?(?:(?:{_ARM})(?:'s|’s)?\s?)?(?:of|at|\(|:)?\s?", re.IGNORECASE
)
_ZH_BY = re.compile(rf"\s?(?:{_TURN})了?约?\s?")
_ZH_TO = re.compile(r"\s?(?:后)?(?:至|到|为)\s?")
_ZH_THAN = re.compile(r"\s?[，,]?\s?(?:较|比|相比|相较于|相对于?)(?:基线|对照组?|原来|之前|优化前|原始)?的?\s?")
_ZH_TURN = re.compile(rf"\s?的?(?:{_TURN})了?约?\s?")


@dataclass(frozen=True, slots=True)
class Beside:
    """A change stated beside its operands; `shown` is the piece of the sentence that holds both."""

    change: Change
    shown: str


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two operands of a sentence, and where they stand."""

    before: Span
    after: Span
    unit: Unit | None
    start: int
    end: int


def stated_changes(text: str) -> Iterator[Beside]:
    """Every change of one sentence (or table cell) that stands beside its two operands, each once."""
    held = quantities(text)
    if len(held) < 3 or len(held) > 200:
        return
    seen: set[int] = set()
    for pair in (*_grouped(text, held), *_of_arms(text, held)):
        for stated, of_whole in (*_after(text, held, pair), *_ahead(text, held, pair)):
            if stated.start not in seen and not pair.start <= stated.start < pair.end:
                seen.add(stated.start)
                yield _beside(text, pair, stated, of_whole)
    for pair, stated in _around(text, held):
        if stated.start not in seen:
            seen.add(stated.start)
            yield _beside(text, pair, stated, False)


def _beside(text: str, pair: _Pair, stated: Quantity, of_whole: bool) -> Beside:
    first, last = min(pair.start, stated.start), max(pair.end, stated.end)
    near = text[max(0, stated.start - 24) : stated.start] if stated.start else ""
    direction = _direction(near, text[stated.end : stated.end + 14])
    return Beside(Change(stated, pair.before, pair.after, pair.unit, direction, of_whole), text[first:last])


def _direction(before: str, after: str) -> Direction:
    """What the word right beside the change says; words that depend on what is measured (improvement, faster, higher) say nothing."""
    found = [m for m in _DIRECT.finditer(before) if not re.sub(rf"(?:{_FILL}|\W)", "", before[m.end() :], flags=re.IGNORECASE)]
    match = found[-1] if found else re.match(rf"\s?(?:(?P<down>{_DOWN})|(?P<up>{_UP}))(?![A-Za-z])", after, re.IGNORECASE)
    if match is None:
        return ""
    return "down" if match["down"] else "up"


# ---------------------------------------------------------------- operands


def _grouped(text: str, held: Sequence[Quantity]) -> Iterator[_Pair]:
    """`a -> b`, `from a to b`, `a vs b`."""
    groups: dict[int, list[Quantity]] = {}
    for one in held:
        if one.form in ("change", "pair"):
            groups.setdefault(one.group, []).append(one)
    for members in groups.values():
        spans: dict[int, Span] = {}
        for one in members:
            spans[one.position] = spans[one.position].joined(span(one)) if one.position in spans else span(one)
        between = text[members[0].end : members[-1].start]
        if len(spans) == 2 and (members[0].form == "change" or _VERSUS.fullmatch(between)):
            yield _pair(spans[0], spans[1], members[0], members[-1])


def _pair(before: Span, after: Span, first: Quantity, last: Quantity) -> _Pair:
    unit = last.unit or first.unit
    if first.unit and last.unit and first.unit.factor != last.unit.factor:
        before = before.scaled(first.unit.factor / last.unit.factor)
    return _Pair(before, after, unit, first.start, last.end)


def _of_arms(text: str, held: Sequence[Quantity]) -> Iterator[_Pair]:
    """`control 173.211 s, candidate 365.884 s`: two values parted by nothing but words for arms."""
    for first, last in pairwise(held):
        if first.form in ("change",) or last.form in ("change",) or first.group == last.group or not comparable(first.unit or last.unit, last.unit):
            continue
        between = text[first.end : last.start]
        lead = text[max(0, first.start - 24) : first.start]
        if (
            len(between) <= 40
            and _BETWEEN_ARMS.fullmatch(between)
            and _ARM_AT.search(between)
            and (_ARM_AT.search(lead) or len(_ARM_AT.findall(between)) > 1 or _ARM_AT.search(text[last.end : last.end + 16]))
        ):
            yield _pair(span(first), span(last), first, last)


# ---------------------------------------------------------------- the change beside them


def _after(text: str, held: Sequence[Quantity], pair: _Pair) -> Iterator[tuple[Quantity, bool]]:
    """In brackets right behind the operands, or behind nothing but words of change."""
    at = _LABEL.match(text, pair.end).end()  # type: ignore[union-attr]
    bracket = _BRACKET.match(text, at)
    if bracket:
        yield from _inside(bracket["inside"], bracket.start("inside"), held, pair.unit)
        return
    following = next((one for one in held if one.start >= at), None)
    if following is None or following.start - at > 60 or following.form not in ("single", "range"):
        return
    gap = text[at : following.start]
    if not _WORDS.fullmatch(gap) or not _is_change(following, pair.unit, bool(_TURN_AT.search(gap) or _TURN_NEXT.match(text, following.end))):
        return
    moved = _MOVED.search(text, max(0, pair.start - 40), pair.start) is not None and _is_percent(following)
    if moved or _is_change_word_or_sign(text, following, gap):
        yield following, bool(_OF.match(text, following.end))


def _is_change_word_or_sign(text: str, one: Quantity, gap: str) -> bool:
    return one.text[0] in "+-−–" or _TURN_AT.search(gap) is not None or _TURN_NEXT.match(text, one.end) is not None


def _inside(inside: str, offset: int, held: Sequence[Quantity], unit: Unit | None) -> Iterator[tuple[Quantity, bool]]:
    """The changes among the comma-separated parts of a bracket; a part with other words ("CV 3.2 %") is none."""
    at = 0
    for match in (*_PARTS.finditer(inside), None):
        last = match.start() if match else len(inside)
        found = [one for one in held if offset + at <= one.start and one.end <= offset + last]
        if found and len({one.group for one in found}) == 1 and found[0].form in ("single", "range"):
            first = found[0]
            lead, tail = inside[at : first.start - offset], inside[found[-1].end - offset : last]
            turned = bool(_TURN_AT.search(lead) or _TURN_AT.search(tail))
            if _WORDS.fullmatch(lead) and _TAIL.fullmatch(tail) and _is_change(first, unit, turned):
                yield _joined(found), bool(_OF.match(tail))
        at = match.end() if match else last


def _joined(found: Sequence[Quantity]) -> Quantity:
    """`22–24 %` as one stated interval."""
    return found[0] if len(found) == 1 else _range(found[0], found[-1])


def _range(low: Quantity, high: Quantity) -> Quantity:
    return Quantity(
        f"{low.text}–{high.text}",
        low.value,
        min(low.low, high.low),
        max(low.high, high.high),
        low.unit,
        low.digits,
        low.start,
        high.end,
        low.relation,
    )


def _is_change(one: Quantity, unit: Unit | None, turned: bool) -> bool:
    """A percentage, points, or with a sign or a word of change a difference in the operands' unit. Factors are not."""
    family = one.unit.family if one.unit else ""
    if family in ("percent", "percentage-points"):
        return True
    return family not in ("factor", "ratio") and comparable(one.unit, unit) and (turned or one.text[0] in "+-−–")


def _ahead(text: str, held: Sequence[Quantity], pair: _Pair) -> Iterator[tuple[Quantity, bool]]:
    """`a 30.6 % reduction in latency from a to b`, `fell by 12.9 % (a -> b)`, `-30.6 % (a -> b)`."""
    earlier = [one for one in held if one.end <= pair.start]
    if not earlier or earlier[-1].form not in ("single", "range") or pair.start - earlier[-1].end > 70:
        return
    one = earlier[-1]
    between = text[one.end : pair.start]
    if one.unit is None or one.unit.family not in ("percent", "percentage-points") or not _LEADS.fullmatch(between):
        return
    turned = _TURN_AT.search(between) or _TURN_AT.search(text, max(0, one.start - 24), one.start) or one.text[0] in "+-−–"
    if turned and (between.strip() or one.text[0] in "+-−–"):
        members = [other for other in held if other.group == one.group]
        yield _joined(members) if len(members) > 1 else one, False


def _around(text: str, held: Sequence[Quantity]) -> Iterator[tuple[_Pair, Quantity]]:
    """`266.60 ms is 30.6 % lower than 384.16 ms`; 从 a 降低 x% 至 b; b，较 a 降低 x%."""
    for one, two, three in zip(held, held[1:], held[2:], strict=False):
        left, right = text[one.end : two.start], text[two.end : three.start]
        if _is_percent(two) and comparable(one.unit, three.unit) and not _is_percent(one):
            if len(left) <= 24 and len(right) <= 50 and _IS.fullmatch(left) and left.strip() and _THAN_OPERAND.fullmatch(right):
                yield _pair(span(three), span(one), three, one), two
            elif _ZH_BY.fullmatch(left) and _ZH_TO.fullmatch(right):
                yield _pair(span(one), span(three), one, three), two
        elif _is_percent(three) and comparable(one.unit, two.unit) and _ZH_THAN.fullmatch(left) and _ZH_TURN.fullmatch(right):
            yield _pair(span(two), span(one), two, one), three


def _is_percent(one: Quantity) -> bool:
    return one.unit is not None and one.unit.family == "percent"
