"""What stands before a number: its sign and its relation, and the words and signs that make it a name's, a label's or a version's."""

from __future__ import annotations

import re
from enum import Enum

from rules.reading.units import words


class Standing(Enum):
    """What the left side says of a number."""

    READ = "read it"
    NAME = "it is a part of a name"
    MEASUREMENT_ONLY = "only a printed measurement may stand here"
    LABEL = "it numbers a thing, unless a unit follows"
    VERSION = "it is a version, unless a unit of measure follows"
    FACTOR = "it is a factor"
    LINE = "it is a line of a file or a day, and so are those listed behind it"


Left = tuple[int, int, str, Standing]  # where its relation begins, where its sign does, the relation, the standing
MONTH = r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
_MONTH_BEFORE = re.compile(r"(?<![A-Za-z])" + MONTH + r"\.?\Z")
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
    " section chapter appendix clause ceph rust spark flink hadoop kafka nginx envoy rtx gtx epyc xeon ryzen tesla radeon quadro opteron rhel rocky"
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
)
_PHRASE_ENDS = frozenset(["least", "most", "to", "than"])
_CHINESE_BEFORE = re.compile(
    r"(?:(?P<ge>至少|不少于|不低于|不小于)|(?P<le>至多|最多|不超过|不大于|不高于|不多于)|(?P<lt>不到|小于|低于|少于|不足)|(?P<gt>超过|大于|高于|多于|逾)|(?P<about>大约|约为|约|接近|近))\s?\Z"
)
_CHINESE_LABEL = re.compile(r"(?:第|表|图|版本?|编号|昇腾|章|节|端口|行号|议题|号) ?\Z")
_NAMES = {"ge": ">=", "le": "<=", "lt": "<", "gt": ">", "about": "~"}
_SIGN = re.compile(r"(?P<relation><=|>=|=<|≤|≥|≦|≧|⩽|⩾|≈|≃|≅|~|∼|～|<|>)?[ \u00a0]?(?P<sign>[-+−–])?(?P<zero>\.)?\Z")
_SIGNS = frozenset("<>=≤≥≦≧⩽⩾≈≃≅~∼～-+−–. \u00a0")
_RELATION = {"=<": "<=", "≤": "<=", "≦": "<=", "⩽": "<=", "≥": ">=", "≧": ">=", "⩾": ">=", "≈": "~", "≃": "~", "≅": "~", "∼": "~", "～": "~"}
_OPENS = frozenset(" \t\n\u00a0\u2009\u202f([{（［【《「『=,;|<>≤≥≈~～∼→⇒➔/\"'`*!?，。；：、“‘·•±Δ∆…+")
_CHAINED = frozenset(["", ",", "and", "or", "/", "|", "、", "和", "或", "to", "-", "–", "&", "~"])


def left_of(text: str, start: int, last: int, skipped: int, literal: str) -> Left:
    """What stands before a number: where its relation and its sign begin, the relation, and whether it is to be refused."""
    begin = sign = start
    relation = "="
    before = text[start - 1] if start else ""
    if before in _SIGNS and before:
        begin, sign, relation = _signed(text, start, last)
        if begin < 0:
            return start, start, "=", Standing.NAME
        before = text[begin - 1] if begin else ""
    if not before or begin == last:
        return begin, sign, relation, _marker(text, begin, start, literal)
    if before == "," and begin - 1 == skipped:
        return begin, sign, relation, Standing.VERSION  # `path.yml:13,29`
    if before.isspace() or before in "([（=\"'`*":
        return _after_word(text, begin, sign, relation, literal, skipped)
    if before.isascii() and (before.isalpha() or before == "_"):
        return begin, sign, relation, _glued(text, begin, literal)
    if before == ":":
        return begin, sign, relation, _after_colon(text, begin, literal)
    if is_cjk(before):
        return _after_chinese(text, begin, sign, relation)
    if before == "×":
        return begin, sign, relation, Standing.NAME if text[max(0, begin - 2) : begin - 1].isalnum() else Standing.FACTOR
    return begin, sign, relation, Standing.READ if before in _OPENS and before != "/" else _connected(text, begin, last)


def _connected(text: str, begin: int, last: int) -> Standing:
    """After a dash or a slash a number counts only as the next member of a group; an em dash parts a sentence."""
    before = text[begin - 1]
    if begin - 1 == last and before in "-–—−‑/~～∼":
        return Standing.READ
    return Standing.READ if before == "—" else Standing.NAME


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
    return at != last and (not before or before in _OPENS or before == ":" or is_cjk(before))


def is_cjk(char: str) -> bool:
    return "\u2e80" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af" or "\uff00" <= char <= "\uffef"


def _marker(text: str, begin: int, start: int, literal: str) -> Standing:
    """`1. ` and `2) ` at the beginning number a list's items."""
    end = start + len(literal)
    return Standing.NAME if begin == 0 and len(literal) <= 3 and literal.isdigit() and text[end : end + 2] in {". ", ") "} else Standing.READ


def _glued(text: str, begin: int, literal: str) -> Standing:
    """`at168.956s`, `exited0`, `All40`: a word that lost its blank; other letters before digits make a name (`BF16`, `tp4`)."""
    at = begin
    while at > 0 and begin - at < 24 and text[at - 1].isascii() and text[at - 1].isalpha():
        at -= 1
    if at > 0 and (text[at - 1].isalnum() or text[at - 1] in "_-/.@#") and not is_cjk(text[at - 1]):
        return Standing.NAME
    word = text[at:begin]
    low = word.lower()
    if low in _GLUED and (word == low or word.istitle()):
        return Standing.READ
    if low == "http" and len(literal) == 3 and literal.isdigit():
        return Standing.READ
    return Standing.MEASUREMENT_ONLY if word == low and low not in _VERSIONED and len(literal.partition(".")[2]) > 1 else Standing.NAME


def _after_colon(text: str, begin: int, literal: str) -> Standing:
    """`path.py:274` and `:237` are lines; `latency:12.5` and `exit:1` are values."""
    at = begin - 1
    while at > 0 and begin - at < 48 and ((text[at - 1].isascii() and text[at - 1].isalnum()) or text[at - 1] in "_./-"):
        at -= 1
    word = text[at : begin - 1]
    if not word:
        return Standing.LINE if begin < 2 or not (text[begin - 2] in "\"'`)]）*" or is_cjk(text[begin - 2])) else Standing.READ
    if "." in word or "/" in word:
        return Standing.READ if "." in literal else Standing.LINE
    return Standing.LINE if word.lower() in _VERSIONED or word.lower() in _LABELS or word[0].isdigit() else Standing.READ


def _after_word(text: str, begin: int, sign: int, relation: str, literal: str, skipped: int) -> Left:
    if skipped >= 0 and begin - skipped <= 5 and text[skipped:begin].strip() in _CHAINED and skipped > 0 and text[skipped - 1].isdigit():
        return begin, sign, relation, Standing.VERSION
    window = text[max(0, begin - 24) : begin].rstrip(" \u00a0\n\t(=")
    word = (window.rstrip(".:#").split() or [""])[-1].lstrip("([*`\"'").lower()
    if not word.isascii():
        return _after_chinese(text, begin, sign, relation) if is_cjk(word[-1]) else (begin, sign, relation, Standing.READ)
    if relation == "=" and (word in _RELATIONS or word in _PHRASE_ENDS):
        relation = _worded(window, word) or relation
    if word in _VERSIONED:
        return begin, sign, relation, Standing.VERSION
    if word in _LABELS and literal.isdigit():
        return begin, sign, relation, Standing.LABEL
    if word in _YEARS and len(literal) == 4 and "1990" <= literal <= "2099" and literal.isdigit():
        return begin, sign, relation, Standing.LABEL
    return begin, sign, relation, Standing.LINE if literal.isdigit() and _MONTH_BEFORE.search(window) else Standing.READ


def _worded(window: str, word: str) -> str | None:
    if word in _RELATIONS:
        return None if window[: -len(word)].rstrip().endswith("%") else _RELATIONS[word]
    return next((relation for phrase, relation in _PHRASES if phrase.search(window)), None)


def _after_chinese(text: str, begin: int, sign: int, relation: str) -> Left:
    window = text[max(0, begin - 6) : begin]
    if _CHINESE_LABEL.search(window):
        return begin, sign, relation, Standing.NAME
    found = _CHINESE_BEFORE.search(window)
    if found and relation == "=":
        relation = next(_NAMES[name] for name, value in found.groupdict().items() if value)
    return begin, sign, relation, Standing.READ
