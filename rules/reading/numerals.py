"""Numerals: the numbers of a text that measure or count something, told from names, versions, dates, addresses and labels that hold digits."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction

from rules.reading.units import COUNTS, SECOND, Unit, unit_at, words

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
    r"(?:(?:[0-9]{1,3}+(?:,[0-9]{3}){1,8}+|[0-9]{1,3}+(?:_[0-9]{3}){1,8}+)(?![0-9])|[0-9]++)(?:\.[0-9]++)?(?:[eE][-+−]?[0-9]{1,4}(?![0-9A-Za-z_]))?"
)
_POWER = re.compile(r"[ \u00a0]?[×x·*][ \u00a0]?10(?:\^|\*\*)\{?(?P<power>[-−]?[0-9]{1,3}+)\}?(?![0-9.])")
_NAME = re.compile(r"[A-Za-z0-9_]*+")
_CHUNK = re.compile(r"[A-Za-z0-9_]*+(?:[.:@+/-][A-Za-z0-9_]++)*+")
_DATE = re.compile(
    r"(?:[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2(?:[0-9]{4}|[0-9]{2}))(?![0-9]|\.[0-9])|(?:19|20)[0-9]{2}-[01][0-9](?![0-9]|\.[0-9])"
)
_DATE_TAIL = re.compile(r"[ \u00a0]?(?:年|月|日|号|时|点钟|版|期)|[ \u00a0](?:a\.?m|p\.?m|AM|PM)(?![A-Za-z])")
_MONTH = r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
_MONTH_AFTER = re.compile(r"(?:st|nd|rd|th)?[ -]" + _MONTH + r"(?![A-Za-z])")
_MONTH_BEFORE = re.compile(r"(?<![A-Za-z])" + _MONTH + r"\.?\Z")
_CLOCK = re.compile(
    r"(?:(?P<h>[0-9]{1,4}+) ?(?:h|hrs?|hours?|小时)[ ,]{0,2})?(?:(?P<m>[0-9]{1,4}+) ?(?:minutes?|mins?|m|分钟?)[ ,]{0,2})?"
    r"(?P<s>[0-9]{1,2}+(?:\.[0-9]{1,9}+)?) ?(?P<unit>seconds?|secs?|s|秒)(?![A-Za-z0-9])"
)
_URL = re.compile(r"[^\s<>\"'`）]*+")


_Exact = tuple[Fraction, Fraction, int, bool]
_Left = tuple[int, int, str, int]


def exact(literal: str) -> _Exact | None:
    """Value, half of the last printed place, significant digits, has decimals; None for what is too long to be a measurement."""
    mantissa, _, power = literal.replace(",", "").replace("_", "").replace("−", "-").replace("E", "e").partition("e")
    whole, point, decimals = mantissa.partition(".")
    if len(mantissa) > _DIGITS or (power and abs(int(power)) > _EXPONENT):
        return None
    value, shift = int(whole + decimals or "0"), (int(power) if power else 0) - len(decimals)
    printed = str(abs(value))
    digits = len(printed if point else printed.rstrip("0")) or 1
    if shift < 0:
        scale: int = 10**-shift
        return Fraction(value, scale), Fraction(1, 2 * scale), digits, bool(point)
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
        if isinstance(read, int):
            at = skipped = read
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


def _read(text: str, match: re.Match[str], last: int, skipped: int) -> Numeral | int:
    """The number at `match`, or the offset to go on from where it is none. `last` is the end of the number before, `skipped` of the last refused."""
    start, end = match.span()
    literal = match[0]
    after = text[end : end + 1]
    if after and after in ".:-/" and _is_chunk(text, start, end, after):
        return _end(_CHUNK, text, start)
    if "," in literal and _in_list(text, start, end):
        end = start + literal.index(",")
        literal = text[start:end]
    elif "e" in literal and len(literal) >= 7 and literal.replace("e", "").isdigit():
        return _end(_NAME, text, start)  # 47205e41 is a hash
    left = _left(text, start, last, skipped, literal)
    if left[3] == _NO or (left[3] == _MEASURE and not ("." in literal and _has_measure(text, end))):
        return _end(_NAME, text, end)
    parsed = exact(literal)
    return _right(text, start, end, left, parsed) if parsed else _end(_NAME, text, end)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return max(found.end(), at + 1) if found else at + 1


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
    """`[1,440]` and `8,256,1` are lists: what looks like a thousands separator parts their elements."""
    before, after = text[max(0, start - 2) : start].strip(), text[end : end + 2].strip()
    if (after[:1] == "," and after[1:].isdigit()) or (before[-1:] == "," and before[:1].isdigit()):
        return True
    opened = before[-1:] == "[" or (before[-1:] == "," and text.rfind("[", max(0, start - 400), start) > text.rfind("]", max(0, start - 400), start))
    closed = after[:1] == "]" or after[:1] == ","
    return opened and closed and not text.startswith("](", text.find("]", end, end + 400))


# ---------------------------------------------------------------- left of a number

# What the left says: read it; a part of a name; only a printed measurement may stand here; a label's number; a version's; a factor.
_YES, _NO, _MEASURE, _LABEL, _VERSION, _FACTOR = range(6)
# Words that lose their blank before a number when markup is stripped.
_GLUED = words(
    "at to only all exit exited exits in of from by and or is was are were took takes than about around approx on for over under after within"
    " reached reaches code status returned exitcode least most be near just with per mean median average elapsed total latency until up"
    " down before reports reported measured between"
)
_VERSIONED = words(
    "python torch pytorch cuda cann driver firmware version ver release linux ubuntu debian centos openeuler gcc clang glibc numpy nodejs java jdk"
    " cmake vllm sglang transformers triton tensorrt onnx onnxruntime postgres postgresql mysql redis sqlite mindspore mindie docker kubernetes"
    " macos ios android windows ffmpeg rocm nccl hccl openmpi spec schema pip ruff mypy llama qwen deepseek gpt glm mixtral ascend atlas minimax api"
    " tls pcie gen ddr usb unicode apache gpl semver go golang swift kernel llvm cudnn cutlass flashinfer deepspeed megatron lustre"
    " section chapter appendix clause ceph rust spark flink hadoop kafka nginx envoy"
)
_LABELS = words(
    "figure fig table line lines page pages row issue pr pull rfc item finding step rank gpu npu device card worker node core"
    " stage phase trial layer epoch level tier option case part rule note footnote job shard slot id pid build port no run iteration request"
    " campaign column attempt round week day issues pulls"
)
_YEARS = words("in since during year until copyright early late mid of by from")
_RELATIONS = {
    **dict.fromkeys(sorted(words("about around approximately approx roughly nearly almost circa")), "~"),
    **dict.fromkeys(sorted(words("below under")), "<"),
    **dict.fromkeys(sorted(words("above exceeds exceeded exceeding")), ">"),
}
_PHRASES = (
    (re.compile(r"\bat least\Z", re.I), ">="),
    (re.compile(r"\b(?:at most|up to|no more than|not more than)\Z", re.I), "<="),
    (re.compile(r"\b(?:no|not) (?:less|fewer) than\Z", re.I), ">="),
    (re.compile(r"\b(?:less|fewer|lower|shorter|smaller) than\Z", re.I), "<"),
    (re.compile(r"\b(?:more|greater|higher|larger|longer) than\Z", re.I), ">"),
    (re.compile(r"\bsub-\Z", re.I), "<"),
)
_PHRASE_ENDS = frozenset(["least", "most", "to", "than"])
_CHINESE_BEFORE = re.compile(
    r"(?:(?P<ge>至少|不少于|不低于|不小于)|(?P<le>至多|最多|不超过|不大于|不高于|不多于)|(?P<lt>不到|小于|低于|少于|不足)|(?P<gt>超过|大于|高于|多于|逾)|(?P<about>大约|约为|约|接近|近))\s?\Z"
)
_CHINESE_AFTER = (("以上", ">="), ("以下", "<="), ("以内", "<="), ("之内", "<="), ("左右", "~"), ("上下", "~"))
_CHINESE_LABEL = re.compile(r"(?:第|表|图|版本?|编号|昇腾|章|节|端口|行号|议题|号) ?\Z")
_NAMES = {"ge": ">=", "le": "<=", "lt": "<", "gt": ">", "about": "~"}
_SIGN = re.compile(r"(?P<relation><=|>=|=<|≤|≥|≦|≧|⩽|⩾|≈|≃|≅|~|∼|～|<|>)?[ \u00a0]?(?P<sign>[-+−–])?(?P<zero>\.)?\Z")
_SIGNS = frozenset("<>=≤≥≦≧⩽⩾≈≃≅~∼～-+−–. \u00a0")
_RELATION = {"=<": "<=", "≤": "<=", "≦": "<=", "⩽": "<=", "≥": ">=", "≧": ">=", "⩾": ">=", "≈": "~", "≃": "~", "≅": "~", "∼": "~", "～": "~"}
_OPENS = frozenset(" \t\n\u00a0\u2009\u202f([{（［【《「『=,;|<>≤≥≈~～∼→⇒➔/\"'`*!?，。；：、“‘·•±Δ∆…+")
_CHAINED = frozenset(["", ",", "and", "or", "/", "|", "、", "和", "或", "to", "-", "–", "&", "~"])


def _left(text: str, start: int, last: int, skipped: int, literal: str) -> _Left:
    """What stands before a number: where its relation and its sign begin, the relation, and whether it is to be refused."""
    begin = sign = start
    relation = "="
    before = text[start - 1] if start else ""
    if before in _SIGNS and before:
        begin, sign, relation = _signed(text, start, last)
        if begin < 0:
            return start, start, "=", _NO
        before = text[begin - 1] if begin else ""
    if not before or begin == last:
        return begin, sign, relation, _marker(text, begin, start, literal)
    if before.isspace() or before in "([（=\"'`*":
        return _after_word(text, begin, sign, relation, literal, skipped)
    if before.isascii() and (before.isalpha() or before == "_"):
        return begin, sign, relation, _glued(text, begin, literal)
    if before == ":":
        return begin, sign, relation, _after_colon(text, begin, literal)
    if _is_cjk(before):
        return _after_chinese(text, begin, sign, relation)
    if before == "×":
        return begin, sign, relation, _NO if text[max(0, begin - 2) : begin - 1].isalnum() else _FACTOR
    return begin, sign, relation, _YES if before in _OPENS and before != "/" else _connected(text, begin, last)


def _connected(text: str, begin: int, last: int) -> int:
    """After a dash or a slash a number counts only as the next member of a group; an em dash parts a sentence."""
    before = text[begin - 1]
    if begin - 1 == last and before in "-–—−‑/~～∼":
        return _YES
    return _YES if before == "—" else _NO


def _signed(text: str, start: int, last: int) -> tuple[int, int, str]:
    """Relation and sign before a number; (-1, …) where a dash or a point belongs to a name."""
    at = max(0, start - 5, last)
    while at < start and text[at] not in _SIGNS:
        at += 1
    found = _SIGN.search(text, at, start)
    if not found or found.end() == found.start():
        return start, start, "="
    begin, relation = found.start(), found["relation"]
    if found["zero"] is not None:
        return -1, -1, "="
    if found["sign"] and not _is_sign(text, found.start("sign"), last):
        return start, start, "="
    joins = begin == last or (begin - 1 == last and text[begin + 1 : begin + 2].isspace())
    if relation in {">", "~", "～", "∼"} and (joins or text[begin - 1 : begin] in {"-", "=", "—", "–", "~"}):
        begin, relation = (found.start("sign") if found["sign"] else start), None
    if relation is None:
        begin = found.start("sign") if found["sign"] else start
    sign = found.start("sign") if found["sign"] else start
    return begin, sign, _RELATION.get(relation, relation) if relation else "="


def _is_sign(text: str, at: int, last: int) -> bool:
    before = text[at - 1 : at]
    return at != last and (not before or before in _OPENS or before == ":" or _is_cjk(before))


def _is_cjk(char: str) -> bool:
    return "\u2e80" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af" or "\uff00" <= char <= "\uffef"


def _marker(text: str, begin: int, start: int, literal: str) -> int:
    """`1. ` and `2) ` at the beginning number a list's items."""
    end = start + len(literal)
    return _NO if begin == 0 and len(literal) <= 3 and literal.isdigit() and text[end : end + 2] in {". ", ") "} else _YES


def _glued(text: str, begin: int, literal: str) -> int:
    """`at168.956s`, `exited0`, `All40`: a word that lost its blank; other letters before digits make a name (`BF16`, `tp4`)."""
    at = begin
    while at > 0 and begin - at < 24 and text[at - 1].isascii() and text[at - 1].isalpha():
        at -= 1
    if at > 0 and (text[at - 1].isalnum() or text[at - 1] in "_-/.@#") and not _is_cjk(text[at - 1]):
        return _NO
    word = text[at:begin]
    low = word.lower()
    if low in _GLUED and (word == low or word.istitle()):
        return _YES
    if low == "http" and len(literal) == 3 and literal.isdigit():
        return _YES
    return _MEASURE if word == low and low not in _VERSIONED and len(literal.partition(".")[2]) > 1 else _NO


def _after_colon(text: str, begin: int, literal: str) -> int:
    """`path.py:274` and `:237` are lines; `latency:12.5` and `exit:1` are values."""
    at = begin - 1
    while at > 0 and begin - at < 48 and ((text[at - 1].isascii() and text[at - 1].isalnum()) or text[at - 1] in "_./-"):
        at -= 1
    word = text[at : begin - 1]
    if not word:
        return _NO if begin < 2 or not (text[begin - 2] in "\"'`)]）*" or _is_cjk(text[begin - 2])) else _YES
    if "." in word or "/" in word:
        return _YES if "." in literal else _NO
    return _NO if word.lower() in _VERSIONED or word.lower() in _LABELS or word[0].isdigit() else _YES


def _after_word(text: str, begin: int, sign: int, relation: str, literal: str, skipped: int) -> _Left:
    if skipped >= 0 and begin - skipped <= 5 and text[skipped:begin].strip() in _CHAINED and skipped > 0 and text[skipped - 1].isdigit():
        return begin, sign, relation, _VERSION
    window = text[max(0, begin - 24) : begin].rstrip(" \u00a0\n\t(=")
    word = window.rstrip(".:#").rsplit(None, 1)[-1].lstrip("([*`\"'").lower() if window else ""
    if not word.isascii():
        return _after_chinese(text, begin, sign, relation) if _is_cjk(word[-1]) else (begin, sign, relation, _YES)
    if relation == "=" and (word in _RELATIONS or word in _PHRASE_ENDS):
        relation = _worded(window, word) or relation
    if word in _VERSIONED:
        return begin, sign, relation, _VERSION
    if word in _LABELS and literal.isdigit():
        return begin, sign, relation, _LABEL
    if word in _YEARS and len(literal) == 4 and "1990" <= literal <= "2099" and literal.isdigit():
        return begin, sign, relation, _LABEL
    return begin, sign, relation, _NO if literal.isdigit() and _MONTH_BEFORE.search(window) else _YES


def _worded(window: str, word: str) -> str | None:
    if word in _RELATIONS:
        return _RELATIONS[word]
    return next((relation for phrase, relation in _PHRASES if phrase.search(window)), None)


def _after_chinese(text: str, begin: int, sign: int, relation: str) -> _Left:
    window = text[max(0, begin - 6) : begin]
    if _CHINESE_LABEL.search(window):
        return begin, sign, relation, _NO
    found = _CHINESE_BEFORE.search(window)
    if found and relation == "=":
        relation = next(_NAMES[name] for name, value in found.groupdict().items() if value)
    return begin, sign, relation, _YES


# ---------------------------------------------------------------- right of a number


_FACTOR_UNIT = Unit("×", "factor", Fraction(1))


def _has_measure(text: str, end: int) -> bool:
    found = unit_at(text, end)
    return found is not None and found[0].family not in COUNTS


def _right(text: str, start: int, end: int, left: _Left, parsed: _Exact) -> Numeral | int:
    """The numeral with its unit, or the offset to go on from where what follows makes it a name, a label or a version."""
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
        return _end(_NAME, text, end)
    if kind in (_LABEL, _VERSION) and (found is None or (kind == _VERSION and found[0].family in COUNTS)):
        return end
    if text[sign] in "-−–":
        value = -value
    if text[end : end + 1] == "+" and finish > end:
        relation = ">="
    elif relation == "=":
        relation, finish = _stated_after(text, finish)
    unit = found[0] if found else None
    return Numeral(text[sign:end], begin, sign, finish, unit, relation, value, value - half, value + half, digits, decimals)


_TIMES = frozenset(["×", "x", "·", "*"])


def _unit_after(text: str, end: int, kind: int) -> tuple[Unit, int] | None:
    """The unit behind a number (`100+ users` too); behind `×` a number without one is a factor."""
    if text[end : end + 1] == "+":
        return unit_at(text, end + 1)
    found = unit_at(text, end)
    return found or ((_FACTOR_UNIT, end) if kind == _FACTOR else None)


def _ends(text: str, end: int, literal: str) -> bool:
    """Nothing right of a number without unit makes it a part of a name, a date or an expression."""
    after = text[end : end + 1]
    if not after:
        return True
    if (after.isascii() and (after.isalnum() or after in "_^@")) or (after.isalpha() and not _is_cjk(after)):
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


def _clock(text: str, start: int, left: _Left) -> Numeral | None:
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
    if after and (after == " " or _is_cjk(after)):
        at = finish + (after == " ")
        for word, relation in _CHINESE_AFTER:
            if text.startswith(word, at):
                return relation, at + len(word)
    return "=", finish
