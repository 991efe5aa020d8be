"""Revisions that a text calls the head of a pull, and what changed between such a revision and the head."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rules.core.model import Snapshot

_HEX = re.compile(r"(?<![0-9A-Za-z_#/.-])(?=[0-9]{0,39}[a-f])([0-9a-f]{7,40})(?![0-9A-Za-z_/])(?!\.\.|-\d)")
_PULL = re.compile(
    r"(?P<repo>[\w.-]{1,100}/[\w.-]{1,100}|(?<![\w#&/])[\w-]{2,100})?(?:#(?P<number>\d{1,9})\b|/pull/(?P<path>\d{1,9})\b)"
    r"|(?<![\w#])(?:pull(?: request)?|PR|MR) (?P<word>\d{1,9})\b",
    re.IGNORECASE,
)
_URL = re.compile(
    r"https?://[\w.-]{1,100}/(?P<repo>[\w.-]{1,100}/[\w.-]{1,100})/(?:pull/\d{1,9}/)?(?:commits?|tree|blob)/(?=[0-9a-f]{7,40}\b)", re.IGNORECASE
)
# What may stand between a role's word and its revision.
_FILLER = (
    r"(?:[\s:：=()（）\[\]`'\"“”|*,]|\b(?:commit|revision|rev|sha|is|was|now|at|of|on|to|the|this|that|its|our|pull|pr|request|branch|draft|currently|stands?|remains?|still"
    r"|exact|current|latest|as|against|head|evidence|from|in|version|bundle|campaign|results?|receipts?|files?|content)\b|#\d{1,9}|[\w.-]{1,40}/[\w.-]{1,40}#\d{1,9}|的|为|是|在|于|提交|版本|修订|当前|目前){0,20}\Z"
)
_HEAD = re.compile(r"(?:\b(?:head|tip)(?:s|ed)?\b|头部?提交|最新提交|最新版本)" + _FILLER, re.IGNORECASE)
_REVIEWED = re.compile(
    r"(?:\b(?:re-?)?(?:reviewed|inspected|assessed|audited|synced|synchroni[sz]ed|refreshed|checked|examined)\b|\b(?:review|synchroni[sz]ation|status|state|snapshot|evidence) (?:of|at|as of)\b"
    r"|评审|审阅|复核|核对|同步)" + _FILLER,
    re.IGNORECASE,
)
_PUBLISHED = re.compile(r"(?:\bpublish(?:es|ed|ing)?\b|\bpinned (?:at|to)\b|\bas of\b|发布|截至)" + _FILLER, re.IGNORECASE)
_PULL_PIN = re.compile(
    r"(?:#\d{1,9}\b|/pull/\d{1,9}|\b(?:pull|pr|mr|request) \d{1,9}\b)[\s]{0,2}(?:[(（\[@,`:：]|(?:\b(?:currently|now|still|which) ?)?(?:\b(?:stands?|sits?|is|are|points?|rests?|stays?|remains?) (?:now |currently |still )?)?\b(?:at|head)\b|目前|当前|现在|位于|停在)"
    + _FILLER,
    re.IGNORECASE,
)
_RIGHT = re.compile(
    r"[`'\"\s]{0,4}(?:[(（]\s?(?:the |its |current |latest |当前|最新){0,3}(?:head|tip)\b|[,，]?\s?(?:which|that) is(?: now)?(?: its| the)?(?: current| latest)? (?:head|tip)\b"
    r"|[)）]?\s?(?:is|as)(?: now| still)?(?: its| the)?(?: current| latest)? (?:head|tip)\b|[)）]?\s?publish|[,，]?\s?(?:是|为|即)(?:当前|最新)?的?\s?(?:head|tip))",
    re.IGNORECASE,
)
_OTHER_ROLE = re.compile(
    r"(?:\b(?:merge[- ]base|base|baseline|control|candidate|parent|measured|from|since|until|before|after|between|fork(?:ed)?|branched|previous|previously|earlier|old|older|former"
    r"|superseded?|replaced|prior|first|original|upstream|runs? on|built from|engine|source|产生|基线|基准|候选|之前|此前|旧|来自)\b[\s:：=(`'\"]{0,4}"
    r"(?:\b(?:the|is|was|at|of|commit|revision|sha|head|tip|pull|its)\b[\s:：=(`'\"]{0,3}){0,5}|基线|基准|候选|旧|之前的?|此前的?)\Z",
    re.IGNORECASE,
)
_HISTORY = re.compile(
    r"\bat th(?:at|e) time\b|\bback then\b|\bat the moment of\b|\bthen[- ]head\b|\bformerly\b|\bno longer\b|\boriginally\b|\bused to\b|\bhas since\b|\bhave since\b|\bsuperseded\b|当时|彼时|曾经?|原先",
    re.IGNORECASE,
)
_PAST = re.compile(r"\b(?:was|were|had|stood|pointed|named|reviewed|published|inspected|checked|recorded)\b|(?<=[\u4e00-\u9fff])了|过", re.IGNORECASE)
_PRESENT = re.compile(r"\b(?:is|are|has|have|publishes|now|current|currently)\b|当前|目前", re.IGNORECASE)
_DATE = re.compile(
    r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}(?:st|nd|rd|th)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6} \d{1,2}\b|\d{1,2} ?月 ?\d{1,2} ?日|\b(?:yesterday|last (?:week|month|monday|tuesday|wednesday|thursday|friday))\b|昨天|上周",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Pin:
    """A revision that a sentence calls a head. `pull` is the pull it is said of, None where the sentence names none."""

    sha: str
    pull: int | None


def head_pins(sentence: str, repository: str | None = None) -> Iterator[Pin]:
    """The revisions that `sentence` calls the present head, or the one that is reviewed or published. Dated history is left out."""
    if _HISTORY.search(sentence) or (_DATE.search(sentence) and _PAST.search(sentence) and not _PRESENT.search(sentence)):
        return
    sentence = _URL.sub(lambda match: " " if _is_own(match["repo"], repository) else f" {match['repo']}#0 x", sentence)
    pulls = list(_PULL.finditer(sentence))
    for match in _HEX.finditer(sentence):
        left = sentence[max(0, match.start() - 120) : match.start()]
        if not _has_role(left, sentence[match.end() : match.end() + 60]) or sentence[max(0, match.start() - 3) : match.start()].endswith(".."):
            continue
        near = _nearest(pulls, match.start())
        if near is not None and _foreign(near, repository):
            continue
        number = (near["number"] or near["path"] or near["word"]) if near else None
        yield Pin(match[1].lower(), int(number) if number else None)


def _is_own(named: str, repository: str | None) -> bool:
    return repository is not None and named.casefold() == repository.casefold()


_OF_ANOTHER = re.compile(
    r"\b(?:engine|upstream|library|dependency|submodule|compiler|toolchain|dataset|harness|simulator|driver)s?\b[^,;，；]{0,60}\Z|(?:引擎|上游|依赖|子模块|编译器|数据集)[^，；,;]{0,40}\Z",
    re.IGNORECASE,
)
_OWN = re.compile(r"\b(?:this|the|our) (?:pull|pr|branch)\b|#\d|\bpull request\b|本(?:分支|PR|次提交)", re.IGNORECASE)


def _has_role(left: str, right: str) -> bool:
    if _OTHER_ROLE.search(left) or ((other := _OF_ANOTHER.search(left)) and not _OWN.search(other[0])):
        return False
    return any(role.search(left) for role in (_HEAD, _REVIEWED, _PUBLISHED, _PULL_PIN)) or bool(_RIGHT.match(right))


def _nearest(pulls: list[re.Match[str]], position: int) -> re.Match[str] | None:
    """The last pull or issue named before `position`, else the first after it."""
    before = [match for match in pulls if match.start() < position]
    return before[-1] if before else pulls[0] if pulls else None


def _foreign(match: re.Match[str], repository: str | None) -> bool:
    """True for a pull of another repository: `owner/name#9698`, `name#9308`."""
    named = (match["repo"] or "").casefold()
    if not named or match["path"]:
        return bool(match["path"] and repository and named and not repository.casefold().endswith(named.rpartition("/")[2]))
    own = (repository or "").casefold()
    return named not in (own, own.rpartition("/")[2]) or not own


def changed_since(snapshot: Snapshot, sha: str, head: str) -> frozenset[str] | None:
    """The paths whose content differs between revision `sha` and the head `head`; None where one of them is not in the object store."""
    history = snapshot.history
    old = history.tree(sha) if history is not None else None
    new = snapshot.head if head == snapshot.head.commit else history.tree(head) if history is not None else None
    if old is None or new is None:
        return None
    before, after = old.files, new.files
    return frozenset(path for path in before.keys() | after.keys() if path not in before or path not in after or before[path].oid != after[path].oid)
