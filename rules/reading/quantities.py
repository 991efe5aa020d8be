"""Quantities: every number of a sentence, cell or JSON value that measures or counts something, as an interval of its printed precision."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

from rules.reading.documents import Number
from rules.reading.measuring import is_measuring_context
from rules.reading.numerals import MOST, Numeral, exact, numerals
from rules.reading.unit_keys import unit_of_key
from rules.reading.units import ANY, COUNTS, Unit, comparable, unit_at
from rules.reading.units import unit as unit_named

__all__ = [
    "Quantity",
    "Unit",
    "convertible",
    "is_measuring_context",
    "of_number",
    "of_value",
    "quantities",
    "same_quantity",
    "scaled",
    "spelled_counts",
    "unit_named",
    "unit_of_key",
]

Form = Literal["single", "range", "change", "pair", "list"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number with what it measures.

    text       the number as printed, with its sign, without unit
    value      exact, in the printed unit; of `15 ± 5` the 15
    low, high  the values that print so, in the printed unit: 168.956 is 168.9555 to 168.9565; `15 ± 5` is 10 to 20. Independent of `relation`
    unit       None where none is printed (or declared by the key before it: `elapsed_s=12.5`)
    digits     significant digits; the trailing zeros of an integer do not count
    start, end offsets in the text read, with sign and unit; -1 for JSON numbers
    relation   "=", "<", "<=", ">", ">=" or "~" as stated before or after it
    form       "single", or what its group is: a "range" (`a-b`), a "change" (`a -> b`, `from a to b`), a "pair" (`a/b unit`, `a vs b`) or a
               "list" that shares one unit (`a, b and c unit`)
    group      the same for all members of a group of one text
    position   of the member in its group; the two ends of a range inside a change or pair (`1.237 -> 0.947-0.962`) share one position
    """

    text: str
    value: Fraction
    low: Fraction
    high: Fraction
    unit: Unit | None = None
    digits: int = 1
    start: int = -1
    end: int = -1
    relation: str = "="
    group: int = 0
    form: Form = "single"
    position: int = 0


def quantities(text: str) -> tuple[Quantity, ...]:
    """The quantities of one sentence, table cell or string, in order; at most 1,000.

    Names that hold digits (`BF16`, `tp4`, `910B1`, `1344x768`), versions, dates, times of day, hashes, addresses, paths and list markers are
    none. `1,440` is one number in prose and two in a list in brackets.
    """
    return _grouped(text, _spread(text, numerals(text)))


# ---------------------------------------------------------------- groups

_JOINTS = re.compile(
    r"(?P<change>\s{0,2}(?:-{1,2}>|—>|–>|=>|→|⇒|➔|➜|⟶|⇨)\s{0,2}|\s?(?:下?降|升|提升|提高|增加?|减少?|缩短|降低|上升|改善?|变|优化|压缩|涨|跌)(?:至|到|为|成)(?:了)?\s?)"
    r"|(?P<range>[-–—−‑~～∼]|\s(?:[-–—−~～∼]|--)\s)"
    r"|(?P<to>\s(?:(?:up |down |back )?to|through)\s|\s?[至到]\s?)"
    r"|(?P<pair>\s?/\s?|\s(?:vs\.?|versus|against|compared (?:to|with))\s)"
    r"|(?P<list>\s?(?:、|和|与|及|以及)\s?|,\s|,?\s(?:and|or)\s)"
    r"|(?P<spread>\s?(?:±|\+/-|\+-|\\pm)\s?)"
)
_FROM = re.compile(r"(?:\bfrom|由|从|自)\s?(?:about |roughly |~)?\Z", re.IGNORECASE)
_BETWEEN = re.compile(r"(?:\bbetween|介于|在)\s?\Z", re.IGNORECASE)
_KEYED = re.compile(
    r"(?:[(（\[]\s?([A-Za-z/%µμ秒帧毫微每次请求]{1,16})\s?[)）\]]|([A-Za-z_%][A-Za-z0-9_/%µ-]{0,39}+))[\"'`*]{0,3}\s?(?P<sign>[:=：|]|\s)?\s?\Z"
)
_SETTING = re.compile(
    r"\b(?:batch(?: size)?|bs|threads?|streams?|concurrency|n|size|ranks?|workers?"
    r"|context|length|depth|tile|page|chunk|devices?|gpus?|tp)[ =:]{0,2}\Z"
    r"|(?:批大小|并发|线程数?|长度)\s?\Z",
    re.IGNORECASE,
)
_FACTOR_OF = re.compile(r"\b(?:factor|speed-?up) of\s\Z", re.IGNORECASE)
_EVERY_SECOND = re.compile(r"(?:每秒钟?|每秒约)\s?\Z")


def _spread(text: str, reads: list[Numeral]) -> list[Numeral]:
    """`15 ± 5 ms` is one quantity."""
    made: list[Numeral] = []
    for read in reads:
        joint = _JOINTS.fullmatch(text, made[-1].end, read.begin) if made and read.begin - made[-1].end <= 5 else None
        if joint and joint["spread"]:
            made[-1] = _widened(made[-1], read)
        else:
            made.append(read)
    return made


def _widened(center: Numeral, spread: Numeral) -> Numeral:
    width = abs(spread.value)
    unit = center.unit or spread.unit
    if center.unit and spread.unit and spread.unit != center.unit:
        if spread.unit.family == "percent":
            width = abs(center.value) * width / 100
        elif comparable(center.unit, spread.unit):
            width = width * spread.unit.factor / center.unit.factor
    return replace(center, low=center.value - width, high=center.value + width, unit=unit, end=spread.end)


def _grouped(text: str, reads: list[Numeral]) -> tuple[Quantity, ...]:
    made: list[Quantity] = []
    first = 0
    while first < len(reads):
        kinds: list[str] = []
        while first + len(kinds) + 1 < len(reads):
            here = first + len(kinds)
            kind = _joint(text, reads[here], reads[here + 1])
            outer = {k for k in (*kinds, kind) if k not in {"range", None}}
            if kind is None or len(outer) > 1:
                break
            kinds.append(kind)
        members = reads[first : first + len(kinds) + 1]
        made.extend(_members(text, members, kinds, len(made)))
        first += len(members)
    return tuple(made)


def _joint(text: str, left: Numeral, right: Numeral) -> str | None:
    """How two neighbours belong together: change, range, pair, list, or "drop" for an identifier such as `12-5`; None where they do not."""
    if not 0 < right.begin - left.end <= 16:
        return None
    match = _JOINTS.fullmatch(text, left.end, right.begin)
    kind = match.lastgroup if match else None
    bare = left.unit is None and right.unit is None
    if kind == "change" and left.unit is None and not left.decimals and _SETTING.search(text, max(0, left.begin - 20), left.begin):
        return None  # `batch 8 -> 12.5 ms`
    if kind == "to":
        opened = _FROM.search(text, max(0, left.begin - 16), left.begin)
        return "change" if opened or left.value > right.value else "range"
    if kind == "range" and left.value > right.value:
        spaced = match is not None and match[0][0].isspace()
        return None if spaced else "range" if not bare or left.decimals else "drop"
    if kind == "pair" and bare and _are_versions(left, right):
        return "drop"
    if kind == "list":
        if _BETWEEN.search(text, max(0, left.begin - 10), left.begin) and left.value <= right.value:
            return "range"
        alike = (left.decimals and right.decimals) or (left.digits > 3 and right.digits > 3)
        return "list" if left.unit is None and alike and (right.unit is None or right.unit.family != "percent") else None
    return kind if kind != "spread" else None


def _are_versions(left: Numeral, right: Numeral) -> bool:
    """`3.10/3.11`."""
    a, b = left.text.partition("."), right.text.partition(".")
    return a[0] == b[0] and a[0].isdigit() and 0 < int(a[0]) < 100 and 0 < len(a[2]) < 3 and 0 < len(b[2]) < 3 and 0 <= int(b[2]) - int(a[2]) <= 4


def _members(text: str, reads: list[Numeral], kinds: list[str], group: int) -> list[Quantity]:
    if "drop" in kinds:
        return []
    if "list" in kinds and not _is_list(text, reads):
        cuts = [0, *(i + 1 for i, kind in enumerate(kinds) if kind == "list"), len(reads)]
        parts = [_members(text, reads[a:b], kinds[a : b - 1], group + a) for a, b in pairwise(cuts)]
        return [quantity for part in parts for quantity in part]
    _share_units(text, reads, kinds)
    outer: Any = next((kind for kind in kinds if kind != "range"), "range" if kinds else "single")
    if outer not in {"single", "list"} and not all(comparable(a.unit, b.unit) for a, b in pairwise(reads)):
        outer, kinds = "single", []
    made, position = [], 0
    for index, read in enumerate(reads):
        if index and kinds and (outer == "range" or kinds[index - 1] != "range"):
            position += 1
        own = group if kinds else group + index
        printed = (read.text, read.value, read.low, read.high, read.unit, read.digits, read.start, read.end, read.relation)
        made.append(Quantity(*printed, own, outer, position))
    return made


def _is_list(text: str, reads: list[Numeral]) -> bool:
    """`a and b unit`, `a, b, c unit`: the last has a unit, and two numbers are not just parted by a comma."""
    return reads[-1].unit is not None and (len(reads) > 2 or not text.startswith(",", reads[0].end))


def _share_units(text: str, reads: list[Numeral], kinds: list[str]) -> None:
    """The last member's unit holds for those before it; of a change or range the first's for those after; else what the key before declares."""
    for index in range(len(reads) - 2, -1, -1):
        reads[index].unit = reads[index].unit or reads[index + 1].unit
    if kinds and ("change" in kinds or set(kinds) == {"range"}):
        for left, right in pairwise(reads):
            right.unit = right.unit or left.unit
    first = reads[0]
    if first.unit is None and first.begin:
        declared = _declared(text, first.begin)
        for read in reads:
            read.unit = declared
    elif first.unit is not None and first.unit.family in COUNTS and _EVERY_SECOND.search(text, max(0, first.begin - 6), first.begin):
        for read in reads:
            read.unit = unit_named(f"{read.unit.name}/s") if read.unit else None


def _declared(text: str, begin: int) -> Unit | None:
    """`elapsed_s=12.5`, `frames/s: 17.31`, `frames/s 17.31`, `latency (ms): 12.5`: the unit that a key before a number declares."""
    near = text[max(0, begin - 3) : begin].strip(" *\"'`")
    window = text[max(0, begin - 48) : begin]
    if near.endswith("of") and _FACTOR_OF.search(window):
        return unit_named("×")
    if near[-1:] not in {":", "=", "：", ")", "）"} and "/" not in window:
        return None
    match = _KEYED.search(window)
    if not match:
        return None
    if match[1]:
        return unit_named(match[1])
    return unit_of_key(match[2]) if match["sign"] in {":", "=", "：", "|"} or "/" in match[2] else None


# ---------------------------------------------------------------- counts in words

_ENGLISH = "zero,one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve,thirteen,fourteen,fifteen,sixteen,seventeen,eighteen,nineteen,twenty"
_SPELLED = {name: value for value, name in enumerate(_ENGLISH.split(","))} | {"thirty": 30, "forty": 40, "fifty": 50, "hundred": 100}
_SPELLED |= {"两": 2, "十": 10} | {sign: value for value, sign in enumerate("零一二三四五六七八九")}
_SPELLED_AT = re.compile(
    r"(?<![A-Za-z-])(?:"
    + "|".join(n for n in _SPELLED if n.isascii())
    + r")(?=[ \n-])|(?<![第一-九十百两零])[一二两三四五六七八九十](?![一-九十百分])",
    re.I,
)


def spelled_counts(text: str) -> tuple[Quantity, ...]:
    """The counts that are words before what they count: `five runs`, `three independent runs`, `三次测量`; exact. At most 1,000."""
    made: list[Quantity] = []
    for match in _SPELLED_AT.finditer(text):
        found = unit_at(text, match.end())
        if found and found[0].family in COUNTS and (found[0].family != ANY or match[0].lower() not in {"one", "一"}):
            value = Fraction(_SPELLED[match[0].lower()])
            made.append(Quantity(match[0], value, value, value, found[0], 1, match.start(), found[1], group=len(made)))
        if len(made) >= MOST:
            break
    return tuple(replace(one, group=index) for index, one in enumerate(made))


# ---------------------------------------------------------------- values of documents


def of_number(number: Number, unit: Unit | None = None) -> Quantity | None:
    """A JSON number as the interval of its printed literal (`1.10` is 1.095 to 1.105); None for NaN, Infinity and what is too long."""
    literal = number.text
    parsed = exact(literal) if literal[-1:].isdigit() else None
    if parsed is None:
        return None
    value, half, digits, _ = parsed
    return Quantity(literal, value, value - half, value + half, unit, digits)


def of_value(value: Any, unit: Unit | None = None) -> Quantity | None:
    """A JSON number, or a string that is one quantity as a whole (`"12.5 ms"`, `"1,237.5"`, `"<0.1"`); `unit` is what its key declares."""
    if isinstance(value, Number):
        return of_number(value, unit)
    if not isinstance(value, str) or not 0 < len(value) <= 60:
        return None
    text = value.strip()
    found = quantities(text)
    if len(found) != 1 or found[0].end != len(text) or text[: found[0].start].strip(" <>=≤≥≈~"):
        return None
    return found[0] if found[0].unit else replace(found[0], unit=unit)


# ---------------------------------------------------------------- comparing


def scaled(quantity: Quantity) -> tuple[Fraction, Fraction]:
    """(low, high) in the base of its unit's family."""
    factor = quantity.unit.factor if quantity.unit else Fraction(1)
    return quantity.low * factor, quantity.high * factor


def convertible(a: Quantity, b: Quantity) -> bool:
    """True when the two measure the same thing, whatever the scale."""
    return comparable(a.unit, b.unit)


def same_quantity(a: Quantity, b: Quantity) -> bool:
    """True when one value may have been printed in both ways: the same family, and the finer value lies in what the coarser one's digits allow.

    Two values printed in equally fine steps that differ by one step are different. The relations are not looked at.
    """
    if not comparable(a.unit, b.unit):
        return False
    (low, high), (bottom, top) = scaled(a), scaled(b)
    if low < top and bottom < high:
        return True
    coarse, fine = (a, b) if high - low >= top - bottom else (b, a)
    left, right = scaled(coarse)
    return left <= fine.value * (fine.unit.factor if fine.unit else 1) <= right
