"""Numerals: the numbers of a text that measure or count something, told from names, versions, dates, addresses and labels that hold digits."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction

from rules.reading.before_numerals import MONTH, Left, Standing, is_cjk, left_of
from rules.reading.documents import DOUBLE, DOUBLE_DIGITS
from rules.reading.units import COUNTS, SECOND, Unit, unit_at

MOST = 1000  # numbers of one text; what comes after is not read
_DIGITS = 30  # more digits are an identifier
_EXPONENT = 100


@dataclass(slots=True)
class Numeral:
    """One number, not yet grouped. `begin` is where its relation starts, `start` its sign, `end` the end of its unit."""

    text: str
    begin: int
    start: int
    end: int
    unit: Unit | None
    relation: str
    value: Fraction
    low: Fraction
    high: Fraction
    digits: int
    decimals: bool


# ---------------------------------------------------------------- one number

_NUMBER = re.compile(
    r"(?:(?:[0-9]{1,3}+(?:,[0-9]{3}){1,8}+|[0-9]{1,3}+(?:[_'’\u00a0\u2009\u202f][0-9]{3}){1,8}+)(?![0-9])|[0-9]++)(?:\.[0-9]++)?(?:[eE][-+−]?[0-9]{1,4}(?![0-9A-Za-z_]))?"
)
_POWER = re.compile(r"[ \u00a0]?[×x·*][ \u00a0]?10(?:\^|\*\*)\{?(?P<power>[-−]?[0-9]{1,3}+)\}?(?![0-9.])")
_NAME = re.compile(r"[A-Za-z0-9_]*+")
_CHUNK = re.compile(r"[A-Za-z0-9_]*+(?:[.:@+/-][A-Za-z0-9_]++)*+")
_DATE = re.compile(
    r"(?:[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2(?:[0-9]{4}|[0-9]{2}))(?![0-9]|\.[0-9])|(?:19|20)[0-9]{2}-[01][0-9](?![0-9]|\.[0-9])"
)
_DATE_TAIL = re.compile(r"[ \u00a0]?(?:年|月|日|号|时|点钟|版|期)|[ \u00a0](?:a\.?m|p\.?m|AM|PM)(?![A-Za-z])")
_MONTH_AFTER = re.compile(r"(?:st|nd|rd|th)?[ -]" + MONTH + r"(?![A-Za-z])")
_CHINESE_AFTER = (("以上", ">="), ("以下", "<="), ("以内", "<="), ("之内", "<="), ("左右", "~"), ("上下", "~"))
_CLOCK = re.compile(
    r"(?:(?P<h>[0-9]{1,4}+) ?(?:h|hrs?|hours?|小时)[ ,]{0,2})?(?:(?P<m>[0-9]{1,4}+) ?(?:minutes?|mins?|m|分钟?)[ ,]{0,2})?"
    r"(?P<s>[0-9]{1,2}+(?:\.[0-9]{1,9}+)?) ?(?P<unit>seconds?|secs?|s|秒)(?![A-Za-z0-9])"
)
_URL = re.compile(r"[^\s<>\"'`）]*+")


_Exact = tuple[Fraction, Fraction, int, bool]


@dataclass(frozen=True, slots=True)
class _Refused:
    """No quantity: reading goes on at `end`. `chains`: the next in an enumeration is none either (`Python 3.10, 3.11`, `x.py:13,29`)."""

    end: int
    chains: bool = False


_PLAIN = str.maketrans({**dict.fromkeys(",_'’\u00a0\u2009\u202f"), "−": "-", "E": "e"})


def exact(literal: str) -> _Exact | None:
    """Value, half of the last printed place, significant digits, has decimals; None for what is too long to be a measurement."""
    mantissa, _, power = literal.translate(_PLAIN).partition("e")
    whole, point, decimals = mantissa.partition(".")
    if len(mantissa) > _DIGITS or len(power) > 5 or (power and abs(int(power)) > _EXPONENT):
        return None
    value, shift = int(whole + decimals or "0"), (int(power) if power else 0) - len(decimals)
    printed = str(abs(value))
    digits = len(printed if point else printed.rstrip("0")) or 1
    if shift < 0:
        scale: int = 10**-shift
        held, half = Fraction(value, scale), Fraction(1, 2 * scale)
        return held, max(half, abs(held) * DOUBLE) if digits >= DOUBLE_DIGITS else half, digits, bool(point)
    return Fraction(value * 10**shift), Fraction(10**shift, 2), digits, bool(point)


def numerals(text: str) -> list[Numeral]:
    """Every number of `text` that is no part of a name, in order; at most `MOST`. Linear time."""
    made: list[Numeral] = []
    urls = _urls(text) if "://" in text else []
    at, skipped = 0, -1
    while len(made) < MOST:
        match = _NUMBER.search(text, at)
        if not match:
            break
        inside = bisect_right(urls, (match.start(), len(text))) - 1
        if inside >= 0 and match.start() < urls[inside][1]:
            at = urls[inside][1]
            continue
        last = made[-1] if made else None
        read = _read(text, match, last.end if last else -1, skipped)
        if isinstance(read, _Refused):
            at, skipped = read.end, read.end if read.chains else -1
        else:
            made.append(read)
            at = read.end
    return made


def _urls(text: str) -> list[tuple[int, int]]:
    made, at = [], text.find("://")
    while at >= 0:
        found = _URL.match(text, at)
        end = found.end() if found else at + 3
        made.append((at, end))
        at = text.find("://", end)
    return made


def _read(text: str, match: re.Match[str], last: int, skipped: int) -> Numeral | _Refused:
    """The number at `match`, or its refusal. `last` is the end of the number before, `skipped` of a refused one whose kind goes on behind a comma."""
    start, end = match.span()
    literal = match[0]
    after = text[end : end + 1]
    if after and after in ".:-/" and _is_chunk(text, start, end, after):
        return _Refused(_end(_CHUNK, text, start), chains=True)
    if "," in literal and _in_list(text, start, end):
        end = start + literal.index(",")
        literal = text[start:end]
    elif "e" in literal and len(literal) >= 7 and literal.replace("e", "").isdigit():
        return _Refused(_end(_NAME, text, start))  # 47205e41 is a hash
    left = left_of(text, start, last, skipped, literal)
    if left[3] in (Standing.NAME, Standing.LINE) or (left[3] == Standing.MEASUREMENT_ONLY and not ("." in literal and _has_measure(text, end))):
        return _Refused(_end(_NAME, text, end), chains=left[3] == Standing.LINE)
    parsed = exact(literal)
    return _right(text, start, end, left, parsed) if parsed else _Refused(_end(_NAME, text, end))


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _is_chunk(text: str, start: int, end: int, after: str) -> bool:
    """A version, an address, a time or a date begins here; a file's name ends here."""
    following = text[end + 1 : end + 2]
    if after == "." and following.isascii() and following.isalnum():
        return not _begins_sentence(text, end + 1)
    if after == ":" and "0" <= following <= "9":
        return True
    return after != ":" and "0" <= following <= "9" and _DATE.match(text, start) is not None and not _triple_with_unit(text, start)


def _begins_sentence(text: str, at: int) -> bool:
    """`30.Then`: a sentence that lost its blank, no file name."""
    return text[at : at + 1].isupper() and text[at + 1 : at + 2].islower()


_TRIPLE = re.compile(r"[0-9]{1,3}+/[0-9]{1,3}+/[0-9]{1,3}+(?=[ \u00a0]?[A-Za-zµμ%秒毫])")


def _triple_with_unit(text: str, start: int) -> bool:
    """`5/10/15 s` are three times and no date."""
    match = _TRIPLE.match(text, start)
    return match is not None and unit_at(text, match.end()) is not None


def _in_list(text: str, start: int, end: int) -> bool:
    """`[1,440]` and `8,256,1024` are lists: what looks like a thousands separator parts their elements."""
    before, after = text[max(0, start - 2) : start].strip(), text[end : end + 2].strip()
    if (after[:1] == "," and after[1:].isdigit()) or (before[-1:] == "," and before[:1].isdigit()):
        return True
    opened = before[-1:] == "[" or (before[-1:] == "," and text.rfind("[", max(0, start - 400), start) > text.rfind("]", max(0, start - 400), start))
    closed = after[:1] == "]" or after[:1] == ","
    return opened and closed and not text.startswith("](", text.find("]", end, end + 400))


# ---------------------------------------------------------------- right of a number


_FACTOR_UNIT = Unit("×", "factor", Fraction(1))


def _has_measure(text: str, end: int) -> bool:
    found = unit_at(text, end)
    return found is not None and found[0].family not in COUNTS


def _right(text: str, start: int, end: int, left: Left, parsed: _Exact) -> Numeral | _Refused:
    """The numeral with its unit, or its refusal where what follows makes it a name, a label or a version."""
    begin, sign, relation, kind = left
    literal = text[start:end]
    clock = _clock(text, start, left) if literal.isdigit() else None
    if clock:
        return clock
    value, half, digits, decimals = parsed
    power = _POWER.match(text, end) if text[end : end + 2].strip()[:1] in _TIMES else None
    if power and abs(int(power["power"].replace("−", "-"))) <= _EXPONENT:
        shift = Fraction(10) ** int(power["power"].replace("−", "-"))
        value, half, end = value * shift, half * shift, power.end()
    found, finish = _unit_after(text, end, kind), end
    if found:
        finish = found[1]
    if _is_name(text, end, finish, literal) if found else not _ends(text, end, literal):
        return _Refused(_end(_NAME, text, end), chains=found is None and literal.isdigit() and _DATE_TAIL.match(text, end) is not None)
    if kind in (Standing.LABEL, Standing.VERSION) and (found is None or (kind == Standing.VERSION and found[0].family in COUNTS)):
        return _Refused(end, chains=True)
    if text[sign] in "-−–":
        value = -value
    if text[end : end + 1] == "+" and finish > end:
        relation = ">="
    elif relation == "=":
        relation, finish = _stated_after(text, finish)
    unit = found[0] if found else None
    return Numeral(text[sign:end], begin, sign, finish, unit, relation, value, value - half, value + half, digits, decimals)


_TIMES = frozenset(["×", "x", "·", "*"])


def _unit_after(text: str, end: int, kind: Standing) -> tuple[Unit, int] | None:
    """The unit behind a number (`100+ users` too); behind `×` a number without one is a factor."""
    if text[end : end + 1] == "+":
        return unit_at(text, end + 1)
    found = unit_at(text, end)
    return found or ((_FACTOR_UNIT, end) if kind == Standing.FACTOR else None)


def _ends(text: str, end: int, literal: str) -> bool:
    """Nothing right of a number without unit makes it a part of a name, a date or an expression."""
    after = text[end : end + 1]
    if not after:
        return True
    if (after.isascii() and (after.isalnum() or after in "_^@")) or (after.isalpha() and not is_cjk(after)):
        return False
    following = text[end + 1 : end + 2]
    if (after in "-/" and following.isalpha() and following.isascii()) or (after == "*" and following == "*" and text[end + 2 : end + 3].isdigit()):
        return False
    if literal.isdigit() and (_DATE_TAIL.match(text, end) or (after in " -" and following in _MONTHS_BEGIN and _MONTH_AFTER.match(text, end))):
        return False
    return not (after in "x×" and "0" <= following <= "9")


_MONTHS_BEGIN = frozenset("JFMASOND")


def _is_name(text: str, end: int, finish: int, literal: str) -> bool:
    """With a unit glued to it, a number is still a name where the word goes on: `15s-baseline`, `5s.json`, `15s/results/x`; `1990s` is a decade."""
    if finish == end or text[end] in " \u00a0\n\t-":
        return False
    after, following = text[finish : finish + 1], text[finish + 1 : finish + 2]
    if after == "." and _begins_sentence(text, finish + 1):
        return False
    if after and after in "-./" and following.isascii() and (following.isalpha() or following == "_"):
        return text[finish - 1].isascii() and text[finish - 1].isalpha()
    return len(literal) == 4 and literal[:2] in {"19", "20"} and literal.endswith("0") and text[end:finish] == "s"


def _clock(text: str, start: int, left: Left) -> Numeral | None:
    """`2 min 30.5 s`, `1h 2m 3s`, `3分20秒`: one duration, in its last unit."""
    match = _CLOCK.match(text, start)
    if not match or (match["h"] is None and match["m"] is None):
        return None
    last = exact(match["s"])
    if last is None:
        return None
    total = Fraction(3600 * int(match["h"] or 0) + 60 * int(match["m"] or 0)) + last[0]
    digits = len(str(int(total))) + len(match["s"].partition(".")[2])
    printed = text[left[1] : match.end("s")]
    return Numeral(printed, left[0], left[1], match.end(), SECOND, left[2], total, total - last[1], total + last[1], digits, last[3])


def _stated_after(text: str, finish: int) -> tuple[str, int]:
    """`100+`, `30% 以上`, `5秒左右`."""
    after = text[finish : finish + 1]
    if after == "+" and not text[finish + 1 : finish + 2].isalnum() and text[finish + 1 : finish + 2] not in {"/", "-"}:
        return ">=", finish + 1
    if after and (after == " " or is_cjk(after)):
        at = finish + (after == " ")
        for word, relation in _CHINESE_AFTER:
            if text.startswith(word, at):
                return relation, at + len(word)
    return "=", finish
