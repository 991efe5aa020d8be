"""Hex ids in a text that a word or an address calls a commit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from rules.reading.documents import Path
from rules.reading.named_paths import split_key

FULL = 40
SHORTEST = 7
MAYBE_ID = re.compile(r"[0-9a-fA-F]{7}")

_ID = re.compile(
    r"(?<![0-9A-Za-z_$#%&./])(?<![0-9A-Za-z_]-)(?P<id>[0-9a-fA-F]{7,40})(?![0-9A-Za-z_])(?!-(?!dirty)[0-9A-Za-z])(?!\.[0-9A-Za-z])(?!/\w)(?!\.{2,3}[0-9a-fA-F]{7})"
)
_RANGE = re.compile(
    r"(?<![0-9A-Za-z_$#%&./-])(?<!index )(?P<old>[0-9a-fA-F]{7,40})\.{2,3}(?P<new>[0-9a-fA-F]{7,40})(?![0-9A-Za-z_])(?!\.[0-9A-Za-z])"
)

_ALONE = re.compile(r"[0-9a-fA-F]{7,40}(?:…|\.{3})?\Z")
_FULL_ID = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{40}(?![0-9A-Za-z])")
COMMIT_URL = re.compile(
    r"(?:github\.com|api\.github\.com/repos)/(?P<owner>[\w-]{1,39})/(?P<name>[\w.-]{1,100})/"
    r"(?:(?P<kind>commits?|tree|blob|raw|blame|pull/\d{1,9}/(?:commits|changes)|archive)/(?P<id>[0-9a-fA-F]{7,40})(?![0-9A-Za-z_-])"
    r"|compare/(?P<old>[0-9a-fA-F]{7,40})\.{2,3}(?P<new>[0-9a-fA-F]{7,40})(?![0-9A-Za-z_-]))"
    r"|raw\.githubusercontent\.com/(?P<raw_owner>[\w-]{1,39})/(?P<raw_name>[\w.-]{1,100})/(?P<raw_id>[0-9a-fA-F]{40})(?![0-9A-Za-z_-])",
    re.IGNORECASE,
)
_NOUNS = re.compile(
    r"(?:revisions?|revs?|commits?|shas?|sha-?1|heads?|base|baselines?|candidates?|checkout|tip|parents?|pins?|pinned|changesets?|merge-base|ref)\Z",
    re.IGNORECASE,
)
_NOUNS_ZH = re.compile(r"提交|修订|版本|基线|基准|候选|头部|父提交")
_CERTAIN = re.compile(r"(?:revisions?|revs?|commits?|shas?|sha-?1)\Z|.*(?:提交|修订)", re.IGNORECASE)
_NEAR = re.compile(r"(?:at|against|onto|since|reviewed|rebased|branched|merged|synced)\Z", re.IGNORECASE)
_ANTI = re.compile(
    r"(?:trees?|blobs?|tags?|digests?|sha-?(?:2|224|256|384|512)|md5|checksums?|crc(?:32)?|images?|layers?|objects?|uuids?|etags?|seeds?|runs?|jobs?|builds?|ready|requests?|sessions?|traces?|containers?"
    r"|pids?|ports?|addresses|tokens?|keys?|serials?|devices?|index|colou?rs?|hex)\Z",
    re.IGNORECASE,
)
_PULL = re.compile(r"#\d{1,9}\Z")
_ANTI_ZH = re.compile(r"摘要|校验|镜像|哈希|种子|作业|任务|运行号|编号")
_FILLER = re.compile(
    r"(?:of|is|was|are|were|the|a|an|its|to|from|by|id|ids|hash|hashes|git|now|current|currently|latest|new|exact|full|short|public|and|or|then|both|pull|pr|public|source|in|this|that|with|as|be|still|only"
    r"|[^0-9A-Za-z\u3400-\u9fff]|[0-9a-fA-F]{7,40})\Z",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"[\w.-]{1,100}/[\w.-]{1,100}(?:#\d{1,9})?|#\d{1,9}|[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*|[0-9][0-9A-Za-z]*|[\u3400-\u9fff]+|[^\s0-9A-Za-z\u3400-\u9fff]"
)
_SUBJECT = re.compile(
    r"(?:models?|weights?|datasets?|tokenizers?|checkpoints?|corpus|harness|scorer|evaluator|validator|dictionary|lora|prompts?)\Z",
    re.IGNORECASE,
)
_SUBJECT_ZH = re.compile(r"模型|权重|数据集|语料|分词器|评测框架|测试框架")
_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\Z")
_LEFT_SHORT, _LEFT_FULL, _RIGHT = 60, 140, 48
# More ids in one sentence are a dump, not citations.
_MOST_IDS = 1000
DENIED = ("", False)
_WORDS_SHORT, _WORDS_FULL = 2, 12


def full_ids(text: str) -> tuple[str, ...]:
    """Every full hex id (40 digits) in `text`, whatever it is, lower case, each once: a run spec's pins need no role."""
    return tuple(dict.fromkeys(match[0].lower() for match in _FULL_ID.finditer(text)))


@dataclass(frozen=True, slots=True)
class Found:
    """One id with its role. `start` is its offset; `explicit` and `subject` as in `revisions.Cited`; `repository` only for an address."""

    id: str
    role: str
    explicit: bool
    start: int
    repository: str | None = None
    subject: str = ""


def find_ids(text: str) -> Iterator[Found]:
    """The citations in one sentence or string: addresses of commits, ranges, and ids with a word that gives them their role."""
    for match in islice(COMMIT_URL.finditer(text), _MOST_IDS):
        yield from ids_of_url(match)
    for match in islice(_RANGE.finditer(text), _MOST_IDS):
        yield from (_found(text, match[group], match.start(group), ("range", True)) for group in ("old", "new") if not match[group].isdigit())
    for match in islice(_ID.finditer(text), _MOST_IDS):
        role = _role(text, match)
        if role and role is not DENIED and plausible(match["id"], *role):
            yield _found(text, match["id"], match.start(), role)


def _found(text: str, id: str, start: int, role: tuple[str, bool]) -> Found:
    return Found(id.lower(), role[0], role[1], start, subject=subject_before(text[max(0, start - 60) : start]))


def _role(text: str, match: re.Match[str]) -> tuple[str, bool] | None:
    if text[match.start() - 1 : match.start()] == "@":
        return ("@", True) if re.match(r"[\w)]", text[max(0, match.start() - 2) :]) else None
    return _left_role(text, match.start(), len(match["id"])) or _right_role(text, match.end())


def ids_of_url(match: re.Match[str]) -> Iterator[Found]:
    """The ids in a match of `COMMIT_URL`. A short id after `/tree/` or `/blob/` may be a branch and is none."""
    owner, name = match["owner"] or match["raw_owner"], match["name"] or match["raw_name"]
    for group in ("id", "old", "new", "raw_id"):
        id = match[group]
        if id and (len(id) == FULL or group in ("old", "new") or (match["kind"] or "").lower().endswith(("commit", "commits", "changes"))):
            yield Found(id.lower(), "commit URL", True, match.start(group), f"{owner}/{name.removesuffix('.git')}")


@lru_cache(maxsize=8192)
def _sort(token: str) -> str:
    """What a token is beside an id: `role`, `other` (a word such as "digest"), `near` ("at"), `pull` (`#7`), `stop`, `filler` or `word`."""
    chinese = _is_chinese(token)
    if chinese and _ANTI_ZH.search(token):
        return "other"
    if _NOUNS.match(token) or (chinese and _NOUNS_ZH.search(token)):
        return "role"
    if _ANTI.match(token):
        return "other"
    if _NEAR.match(token):
        return "near"
    if token in (";", "；", "。"):
        return "stop"
    if _PULL.search(token):
        return "pull"
    return "filler" if _FILLER.match(token) or "/" in token or token[0] == "#" else "word"


def _left_role(text: str, start: int, length: int) -> tuple[str, bool] | None:
    """The nearest role word before the id; `DENIED` where a word such as "digest" or "tree" is nearer; None where too many words lie between."""
    words = 0
    is_full = length == FULL
    for token in reversed(_TOKEN.findall(text, max(0, start - (_LEFT_FULL if is_full else _LEFT_SHORT)), start)):
        match _sort(token):
            case "role":
                return token.lower(), words == 0
            case "other":
                return DENIED if words == 0 else None
            case "near" | "pull" if words == 0:
                return token.lower(), False
            case "word":
                words += 1
            case "stop" if not is_full:
                return None
        if words > (_WORDS_FULL if is_full else _WORDS_SHORT):
            return None
    return None


def _right_role(text: str, end: int) -> tuple[str, bool] | None:
    """A role word right after the id: `abc1234 (baseline)`, `abc1234 is the head`."""
    for token in _TOKEN.findall(text, end, end + _RIGHT)[:7]:
        sort = _sort(token)
        if sort == "role":
            return token.lower(), True
        if sort != "filler" or token in (".", ",", "，", ":", "：", "and", "or"):
            return None
    return None


def _is_chinese(token: str) -> bool:
    return "\u3400" <= token[0] <= "\u9fff"


def plausible(id: str, role: str, explicit: bool) -> bool:
    """A word of letters alone, or a number, is a revision only where a word at it says so."""
    if id.isdigit():
        return explicit and role != "@" and len(id) <= 12 and not _DATE.match(id)
    if len(id) < FULL and (id.isalpha() or re.fullmatch(r"\d+[eE]\d+", id)):
        return explicit and bool(_CERTAIN.match(role))
    return True


def subject_before(left: str) -> str:
    """What the words before an id say it is a revision of, within the last few."""
    for token in reversed(_TOKEN.findall(left)[-8:]):
        if token in (",", ";", "，", "；", "。", ".") or (_FILLER.match(token) and token.lower() == "and"):
            return ""
        found = _SUBJECT.match(token) or (_is_chinese(token) and _SUBJECT_ZH.search(token))
        if found:
            return found[0].lower()
    return ""


def is_id(text: str) -> bool:
    """True when `text` is one id and nothing else."""
    return _ALONE.match(text.strip()) is not None


def in_cell(cell: str, role: tuple[str, bool] | None) -> Iterator[Found]:
    """The citations in a table's cell or a form's answer: alone it takes `role` from outside, in a sentence its own."""
    text = cell.strip()
    if not is_id(text):
        yield from find_ids(cell)
    elif role and role is not DENIED and plausible(text.rstrip("…."), *role):
        yield Found(text.rstrip("….").lower(), role[0], True, 0, subject=subject_before(role[0]))


def cell_role(cell: str) -> tuple[str, bool] | None:
    """The role that a header or a row's label gives."""
    tokens = _TOKEN.findall(cell[:100])
    if any(_ANTI.match(token) or _ANTI_ZH.search(token) for token in tokens):
        return DENIED
    named = next((token for token in tokens if _NOUNS.match(token) or _NOUNS_ZH.search(token)), None)
    return (named.lower(), True) if named else None


def subject_of(path: Path) -> str:
    """What the keys say it is a revision of: a word of its own key, or a key above that says nothing else."""
    own = True
    for part in reversed(path):
        if isinstance(part, str):
            words = split_key(part).split("_")
            named = next((word for word in words if _SUBJECT.match(word)), "")
            zh = _SUBJECT_ZH.search(part)
            if zh or (named and (own or len(words) == 1)):
                return named or (zh[0] if zh else "")
            own = False
    return ""
