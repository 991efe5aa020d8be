"""Claims of a clean end: sentences and strings that say of workers, servers, a run, that they ended well, with 0, unforced, leaving nothing behind.

What is negated, hedged, required, planned, quoted, reported or withdrawn claims nothing; nor does what is said of some only, or of a tool's own exit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rules.reading.end_keys import Kind, stem, subject_family
from rules.reading.keys import family as word_family
from rules.reading.progress import NUMBERS
from rules.reading.statements import Clause, Statement

Claimed = Literal["zero", "clean", "unforced", "none-left", "no-oom", "no-timeout", "no-crash"]

CONTRADICTED: dict[Claimed, frozenset[Kind]] = {
    "zero": frozenset({"exit", "signal", "oom", "timeout", "crash"}),
    "clean": frozenset({"exit", "signal", "forced", "remaining", "oom", "timeout", "crash"}),
    "unforced": frozenset({"forced"}),
    "none-left": frozenset({"remaining"}),
    "no-oom": frozenset({"oom"}),
    "no-timeout": frozenset({"timeout"}),
    "no-crash": frozenset({"crash"}),
}
"""Which kinds of observation a claim can be held against."""

MENTIONS = (
    "exit", "process", "pid", "stray", "leak", "hung", "clean", "grace", "normal", "orderly", "regular", "signal", "kill", "force", "return", "rc", "code", "status", "left", "remain", "orphan", "zombie", "surviv",
    "linger", "oom", "memory", "time", "crash", "正常", "干净", "优雅", "平稳", "有序", "顺利", "退出", "返回", "信号", "强", "残留", "遗留", "僵尸", "超时", "崩溃", "进程",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose end is claimed: a noun in the singular, its family where it has one, and which of several (`rank 3`)."""

    noun: str
    family: str | None
    index: str | None = None


@dataclass(frozen=True, slots=True)
class CleanEnd:
    """One claim. `subjects` is empty where the run as a whole is meant; `count` is a stated number of them without "all"."""

    claimed: Claimed
    subjects: tuple[Subject, ...]
    statement: Statement
    text: str
    count: int | None = None


# ---------------------------------------------------------------- phrases

_ADVERBS = r"(?:(?:also|all|both|each|then|again|now|just|had|were|was|been|being|have|has|is|are|be|very|quite|fully|entirely|too|always|eventually|finally) ){0,3}"
_CODE_NOUN = r"(?:exit[ -]?(?:codes?|status(?:es)?|values?)|exits?|return[ -]?(?:codes?|values?|status(?:es)?)|status(?:es)?(?: codes?)?|codes?|rc|returncodes?|exitcodes?)"
_ZERO_NUMBER = r"(?:0x0+|0+(?::0)?|zero|nought)(?![\w.:%]*[\w%])(?!\s{0,2}(?:s|ms|seconds?|%)\b)"
_ENDED = r"(?:exit(?:s|ed|ing)?|end(?:s|ed|ing)?|finish(?:es|ed|ing)?|terminat(?:es?|ed|ing)|quit|return(?:s|ed|ing)?|stop(?:s|ped|ping)?|shut(?:s|ting)? ?down|complet(?:es?|ed)|came back|clos(?:es?|ed)|left|went down|came down|w(?:as|ere) torn down|torn? down|tore down|drained|wound down)"
_END_NOUN = (
    r"(?:lifecycles?|life cycles?|exits?|shut ?downs?|tear ?downs?|terminations?|endings?|clean ?ups?|stops?|finish|tear ?downs?|wind ?downs?|ends?)"
)
_CLEANLY = r"(?:cleanly|gracefully|normally|in order|in an orderly (?:way|manner|fashion)|orderly|regularly|as (?:they|it) should|without (?:any )?(?:errors?|incidents?|problems?|issues?|trouble|force|being forced|intervention))"
_ZERO = re.compile(
    rf"(?<![A-Za-z0-9_]){_ENDED} ?{_ADVERBS}(?:with |at |on |as )?(?:an? |the )?(?:{_CODE_NOUN} )?(?:of |was |were |= ?|: ?|== ?)?(?:all )?`?{_ZERO_NUMBER}"
    rf"|(?<![A-Za-z0-9_]){_CODE_NOUN}(?: (?!(?:worker|rank|task|shard|replica|server|step|gpu|npu|device)(?: ?\d| zero)|not\b|never\b|non\b)[A-Za-z/]{{2,14}}){{0,6}}?(?: ?(?:=|==|:|-) ?| (?:of|was|were|is|are|all|equal(?:s|ed)?|stayed|at) |\s?)(?:all )?`?(?<![\d.]){_ZERO_NUMBER}"
    rf"|(?<![A-Za-z0-9_.:-])(?:0|zero)[ -](?:exits?(?! nonzero)|{_CODE_NOUN})(?![A-Za-z])"
    rf"|(?<![A-Za-z0-9_])(?:no|without(?: any)?|zero|0|free of|not (?:one|a single)|none|nothing|never) (?:[A-Za-z]{{1,12}} ){{0,6}}?non[ -]?zero(?![A-Za-z])"
    r"|(?:退出码|退出状态码?|退出值|返回码|返回值|状态码|返回)\s?[:：]?\s?(?:均|都|全部|全|一律|皆|也)?\s?(?:是|为|=|：|:)?\s?`?(?:0|零)`?(?![\d.])"
    r"|(?:以|用|按)\s?(?:退出码|退出状态|状态码|状态|返回码|返回值|代码|码)?\s?`?(?:0|零)`?\s?(?:码|值|状态)?\s?(?:退出|结束|返回|终止|完成)|(?:零|0)\s?(?:码)?退出|退出(?:了)?\s?(?:均|都|全)?(?:为|是)\s?(?:0|零)(?!\d)"
    r"|(?:没有|无|未(?:出现|见|有)?)(?:任何)?(?:非零|非\s?0)",
    re.IGNORECASE,
)
_CLEAN = re.compile(
    rf"(?<![A-Za-z0-9_-])(?:clean|orderly|normal|graceful|regular|uneventful|unforced)(?:ly)? (?:[A-Za-z/]{{2,12}} ){{0,2}}?(?:{_END_NOUN}|{_ENDED})(?![A-Za-z])"
    rf"|(?<![A-Za-z0-9_-]){_ENDED} (?:[A-Za-z]{{2,12}} ){{0,3}}?{_CLEANLY}(?![A-Za-z])"
    rf"|(?<![A-Za-z0-9_-]){_END_NOUN}[ :：]{{1,2}}(?:[A-Za-z]{{2,12}} ){{0,4}}?(?:clean(?:ly)?|orderly|normal|graceful(?:ly)?|regular|uneventful)(?![A-Za-z-])"
    rf"|(?<![A-Za-z0-9_-])(?:cleanly|gracefully|normally) (?:{_ENDED})(?![A-Za-z])"
    r"|(?:正常|干净|优雅|平稳|有序|顺利|完好)(?:地)?(?:全部)?(?:退出|结束|终止|关闭|停止|收尾|下线|停机|关停|退场|拆除)"
    r"|(?:退出|关闭|收尾|停机|关停|拆除|清理|终止|结束|生命周期)(?:过程|流程|阶段|状态)?(?:也|均|都|全部|是|为|很|全程|保持)?(?:干净|正常|优雅|平稳|有序|顺利|完整无异常|无异常)",
    re.IGNORECASE,
)
_FORCE_NOUN = r"(?:forced[ -](?:\w{2,12}[ -])?(?:signals?|kills?|terminations?|teardowns?|stops?|exits?|shut ?downs?)|force[- ]kill\w{0,4}|(?:kill |termination |unix )?signals?|sig(?:kill|term)s?|kills?|forced|force)"
_UNFORCED = re.compile(
    rf"(?<![A-Za-z0-9_])(?:no|without(?: (?:any|a single|the use of|sending|using|needing))?|zero|0|free of|not (?:one|a single)) (?:(?!oom\b)[A-Za-z]{{2,12}} ){{0,4}}?{_FORCE_NOUN}(?![A-Za-z0-9-])(?! processing)"
    r"|(?<![A-Za-z0-9_])(?:no|none|nothing|neither|nobody|not one|never)(?: [A-Za-z]{2,12}){0,4}? (?:was|were|had to be|got|needed to be|needed|has been|have been|had been|required|to be) (?:[A-Za-z]{2,10} )?(?:killed|forced|force[- ]killed|signall?ed|signals?|sigkill(?:ed)?|sigterm(?:ed)?|terminated by force)(?![A-Za-z])"
    r"|(?<![A-Za-z0-9_])(?:without (?:having to (?:kill|force)|being (?:killed|forced|signall?ed)|force|killing)|not (?:been )?(?:force[- ])?(?:killed|forced)|unforced|signal[- ]free)(?![A-Za-z])"
    r"|(?:未|没有|无|毫无|无须|无需|不曾|并未)(?:曾)?(?:被|收到|发送|发出|出现|使用|用到|动用|触发|经|有)?(?:过)?(?:任何|一次)?(?:强制|强行|强)(?:信号|终止|杀死|杀|结束|关闭|退出|kill|停止)?(?:信号)?(?:进程)?"
    r"|(?:未|没有|无)(?:被|收到|发送|发出|出现|使用)?(?:过)?(?:任何)?(?:信号|SIG(?:KILL|TERM)|kill(?:ed)?|杀死|杀)|零强制信号|强制信号(?:数)?(?:为|是|：|:)?\s?(?:0|零)(?!\d)",
    re.IGNORECASE,
)
_LEFT_WORD = r"(?:left(?: (?:behind|over|running|alive))?|remain(?:s|ed|ing)?|surviv(?:es?|ed|ing)|lingers?|lingered|running|alive|leaked|behind|stayed|hanging)"
_PROCESS_NOUN = r"(?:process(?:es)?|pids?|workers?|threads?|child(?:ren)?|subprocess(?:es)?|ranks?|containers?)"
_NONE_LEFT = re.compile(
    rf"(?<![A-Za-z0-9_])(?:no|without(?: any| leaving)?|zero|0|not (?:one|a single)|none of the|free of|never)(?: [A-Za-z]{{2,12}}){{0,3}}? {_PROCESS_NOUN}(?: [A-Za-z]{{2,12}}){{0,3}}? {_LEFT_WORD}(?![A-Za-z])"
    rf"|(?<![A-Za-z0-9_])(?:no|without(?: any)?|zero|0|free of|not (?:one|a single)) (?:[A-Za-z]{{2,12}} ){{0,2}}?(?:left-?over|remaining|residual|orphan(?:ed)?|zombie|stray|lingering|dangling|surviving|leaked|stale) {_PROCESS_NOUN}"
    rf"|(?<![A-Za-z0-9_])(?:no|without(?: any)?|zero|0|free of) (?:[A-Za-z]{{2,12}} ){{0,2}}?(?:orphans?|zombies?|leftovers?|survivors?|stragglers?)(?![A-Za-z])"
    r"|(?<![A-Za-z0-9_])(?:nothing|none)(?: (?:was|were|is|has been|of it))? (?:left|remained|remains?|survived|behind|stayed|lingered)(?![A-Za-z])|(?<![A-Za-z])left nothing (?:behind|running)"
    r"|(?:没有|无|未|毫无|并无)(?:任何|一个)?(?:残留|遗留|僵尸|孤儿|剩余|存活|未退出)(?:的)?(?:子)?(?:进程|pid|线程)?|(?:没有|无|未见)(?:任何)?(?:子)?进程(?:残留|遗留|留下|存活|剩余)|残留进程(?:数)?(?:为|是)?\s?(?:0|零|无)(?!\d)",
    re.IGNORECASE,
)
_NO_OOM = re.compile(
    r"(?<![A-Za-z0-9_])(?:no|without(?: any| an)?|zero|0|free of|never|not)(?: [A-Za-z]{2,12}){0,3}? (?:oom(?:[- ]?kill(?:s|ed)?)?s?|out[- ]of[- ]memory|ran out of memory)(?![A-Za-z])"
    r"|(?:未|没有|无)(?:发生|出现|触发|因)?(?:任何)?\s?(?:OOM|内存溢出|内存不足|爆内存)",
    re.IGNORECASE,
)
_NO_TIMEOUT = re.compile(
    r"(?<![A-Za-z0-9_])(?:no|without(?: any| an?)?|zero|0|free of)(?: [A-Za-z]{2,12}){0,2}? (?:time-?outs?|hangs?)(?![A-Za-z])"
    r"|(?<![A-Za-z0-9_])(?:nothing|none|no [a-z]{2,12}|never|not|neither)(?: [A-Za-z]{2,12}){0,3}? (?:timed out|time out|hung|hit (?:the|its|a) (?:deadline|time-?out))(?![A-Za-z])|(?:未|没有|无)(?:发生|出现|任何)?超时",
    re.IGNORECASE,
)
_NO_CRASH = re.compile(
    r"(?<![A-Za-z0-9_])(?:no|without(?: any| a)?|zero|0|free of)(?: [A-Za-z]{2,12}){0,2}? (?:crash(?:es|ed)?|segfaults?|core dumps?)(?![A-Za-z])"
    r"|(?<![A-Za-z0-9_])(?:nothing|none|never|not|neither)(?: [A-Za-z]{2,12}){0,3}? crash(?:ed)?(?![A-Za-z])|(?:未|没有|无)(?:发生|出现|任何)?崩溃",
    re.IGNORECASE,
)
_PHRASES: tuple[tuple[Claimed, re.Pattern[str]], ...] = (
    ("zero", _ZERO), ("clean", _CLEAN), ("none-left", _NONE_LEFT), ("no-oom", _NO_OOM), ("unforced", _UNFORCED), ("no-timeout", _NO_TIMEOUT), ("no-crash", _NO_CRASH),
)  # fmt: skip

# ---------------------------------------------------------------- whose

_NOUNS = (
    r"workers?|ranks?|tasks?|devices?|shards?|replicas?|executors?|actors?|trainers?|child(?:ren)?|subprocess(?:es)?|servers?|services?|daemons?|frontends?|backends?|brokers?|gateways?|engines?"
    r"|containers?|pods?|clients?|load ?gens?|launchers?|parents?|orchestrators?|schedulers?|coordinators?|supervisors?|jobs?|runs?|builds?|processes|process|pids?|benchmarks?|nodes?|hosts?|agents?|followers?|steps?|arrays?"
)
_SUBJECT = re.compile(
    rf"(?<![A-Za-z0-9_-])(?P<en>{_NOUNS})(?:[ #-]{{0,2}}(?P<n>\d{{1,5}})(?![\d.%/]))?(?![A-Za-z0-9_]*[A-Za-z])"
    r"|(?P<zh>工作进程|子进程|主进程|进程|服务器|服务端|服务|容器|客户端|副本|启动器|作业|任务|运行|worker|server|rank)(?:\s?(?P<m>\d{1,5})(?=\s?(?:号|以|的|退|正|也|，|、)))?",
    re.IGNORECASE,
)
_SOME = re.compile(
    r"(?<![A-Za-z])(?:except|other than|apart from|aside from|but (?:one|two|for|rank|worker|not)|some|most|many|several|a few|majority|at least|not all|not every|nearly|almost|rest|others?|remaining|half|only|one of|none but)(?![A-Za-z])"
    r"|除[^，。]{0,20}外|其余|其他|其它|部分|大部分|多数|多半|至少|个别|有的|有些|只有|仅",
    re.IGNORECASE,
)
_EVERY = re.compile(
    r"(?<![A-Za-z])(?:all|both|every|each|entire|whole|everything|everyone)(?![A-Za-z])|全部|所有|均|都|每个|每一|各|皆|一律|两个", re.IGNORECASE
)
_RATIO = re.compile(r"(?<![\d.])(\d{1,6})\s?(?:/|of(?: the)?|out of)\s?(\d{1,6})(?![\d.])", re.IGNORECASE)
_COUNT = re.compile(
    rf"(?<![A-Za-z0-9.])(?P<n>\d{{1,5}}|{'|'.join(w for w in NUMBERS if w.isascii())})(?: of the)? (?:[A-Za-z]{{2,12}} ){{0,2}}?(?:{_NOUNS})(?![A-Za-z])|(?P<zh>\d{{1,5}}|[一二两三四五六七八九十])\s?个",
    re.IGNORECASE,
)
_WORD_COUNT = re.compile(
    rf"(?P<n>{'|'.join(w for w in NUMBERS if w.isascii())}) of (?:the )?(?P<m>\d{{1,4}}|{'|'.join(w for w in NUMBERS if w.isascii())})(?![A-Za-z])",
    re.IGNORECASE,
)
_TOOL = re.compile(
    r"(?<![A-Za-z])(?:validat\w{1,4}|pytest|tests?|checks?|checker|lint\w{0,4}|ruff|mypy|ci|scripts?|make|makefile|tool|command|compil\w{1,4}|grep|diff|sha256sum|git|hook|smoke|verifier|\w{1,40}\.(?:py|sh|js|rs|go))(?![A-Za-z])|校验|测试|脚本|检查|命令|编译",
    re.IGNORECASE,
)
_NOT_SAID = re.compile(
    r"\s{0,2}`?\s?(?:alone|is not|are not|isn|does not|do not|doesn|by itself|proves?\b|means?\b|would|could|代表|不代表|不等于|不是|并不|不能)",
    re.IGNORECASE,
)
_LISTED = re.compile(r"(?:\s?(?:/|:|,|、|and)\s?[-−]?\d{1,5}(?![\d.%])){1,64}(?!\s?[A-Za-z\u3400-\u9fff])", re.IGNORECASE)
_EXCEPT = re.compile(
    r"[^.;,，。；]{0,20}?(?<![A-Za-z])(?:except|other than|apart from|aside from|besides|but (?:one|two|rank|worker|not|for)|save for)(?![A-Za-z])|[^。；]{0,10}除",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"(?<![A-Za-z])(?:counts?|valid|eligible|admissible|considered|treated|defined|means?|criteri(?:a|on)|polic(?:y|ies)|by design|convention)(?![A-Za-z])|视为|算作|定义为|判据|准则",
    re.IGNORECASE,
)
_SAID_OF = re.compile(
    r"(?:of|from|for|on|across|by) (?:(?:all|every|each|both|the|\d{1,4}|two|three|four|five|six|eight) ){1,3}([A-Za-z][A-Za-z-]{2,24})(?![A-Za-z])",
    re.IGNORECASE,
)
_NO_NOUN = word_family(
    "also all both each then again now had were was been have has is are be it they and or that which not with the a an this those these of to code codes status request requests http served response none nothing everything everywhere everyone lifecycle exit exits shutdown teardown end control candidate baseline arm"
)


def clean_ends(made: Iterable[Statement]) -> Iterator[CleanEnd]:
    """Every claim of a clean end that the author of `made` asserts."""
    for statement in made:
        if statement.standing in ("asserted",) or any(clause.standing == "asserted" for clause in statement.clauses):
            yield from _of_statement(statement)


def _of_statement(statement: Statement) -> Iterator[CleanEnd]:
    told: tuple[Subject, ...] = ()
    for clause in statement.clauses:
        text, counted = clause.text[:_CLAUSE], None
        for position, claimed, match in _phrases(text):
            before = text[position : match.start()]
            if clause.standing != "asserted" or clause.hedge is not None or clause.denies(match.start()) or _is_no_claim(text, match):
                continue
            subjects = _subjects(text, position, match)
            told = subjects or (told if claimed == "zero" else ())
            counted = _count(before) or counted
            if not _of_some(before) and not _TOOL.search(before) and not _EXCEPT.match(text, match.end()):
                yield CleanEnd(claimed, told if claimed in ("zero", "clean") else subjects, statement, clause.text, counted)


_CLAUSE = 2000
"""Characters of a clause that are read."""
_MOST = 20
"""Phrases of one clause that are read."""


def _phrases(text: str) -> Iterator[tuple[int, Claimed, re.Match[str]]]:
    """(end of the phrase before, what is claimed, where) of the phrases of a clause, in order."""
    position = 0
    for _ in range(_MOST):
        found = [(match.start(), rank, name, match) for rank, (name, pattern) in enumerate(_PHRASES) if (match := pattern.search(text, position))]
        if not found:
            return
        _, _, claimed, match = min(found, key=lambda one: one[:2])
        yield position, claimed, match
        position = max(match.end(), position + 1)


def _is_no_claim(text: str, match: re.Match[str]) -> bool:
    """A list of codes that are not all 0, a definition, or a remark about what a zero means."""
    listed = _LISTED.match(text, match.end())
    if _NOT_SAID.match(text, match.end()) or (listed and any(int(code) for code in re.findall(r"\d{1,5}", listed[0]))):
        return True
    return bool(_DEFINES.search(text)) and re.search(r"(?<![A-Za-z])(?:when|where|if|as)(?![A-Za-z])|视为|算作|定义", text) is not None


def _of_some(before: str) -> bool:
    ratio = next((m for m in _RATIO.finditer(before)), None)
    if ratio:
        return int(ratio[1]) < int(ratio[2])
    worded = _WORD_COUNT.search(before)
    if worded:
        return _number(worded["n"]) != _number(worded["m"])
    return _SOME.search(before) is not None


def _number(text: str) -> int | None:
    return int(text) if text.isdigit() else NUMBERS.get(text.lower())


def _count(before: str) -> int | None:
    """The number of subjects that is stated without "all"."""
    found = None if _EVERY.search(before) or _RATIO.search(before) else _COUNT.search(before)
    return _number(found["n"] or found["zh"]) if found else None


def _subjects(text: str, position: int, match: re.Match[str]) -> tuple[Subject, ...]:
    """The nouns before the phrase; else those within and behind it; else the word it is said of; else none."""
    start, end = match.span()
    named = tuple(dict.fromkeys(_nouns(text, position, start))) or tuple(dict.fromkeys(_nouns(text, start, min(len(text), end + 60))))
    if named:
        return named
    before = re.search(
        r"([A-Za-z][A-Za-z-]{2,24})(?:[ #-]{1,2}(?P<n>\d{1,4}))?(?: (?:all|both|each|then|also|was|were|had|have|has|is|are)){0,2}[ /]*\Z",
        text[max(position, start - 60) : start],
    )
    word = before[1].lower() if before else ""
    if not word or word in _NO_NOUN or word.endswith(("ly", "ed", "ing")):
        inside = _SAID_OF.search(text, start, min(len(text), end + 60))
        before, word = None, inside[1].lower() if inside else ""
    return (Subject(stem(word), subject_family(word), (before and before["n"]) or None),) if word and word not in _NO_NOUN else ()


def _nouns(text: str, start: int, end: int) -> Iterator[Subject]:
    for match in _SUBJECT.finditer(text, start, end):
        word = (match["en"] or match["zh"]).lower()
        yield Subject(stem(word), subject_family(word), (match["n"] or match["m"] or "").lstrip("0") or ("0" if match["n"] or match["m"] else None))


# ---------------------------------------------------------------- what a text admits

_ADMITS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("signal", re.compile(r"(?<![A-Za-z])SIG(?:KILL|TERM|INT|SEGV|ABRT|HUP|QUIT|BUS)(?![A-Za-z])", re.IGNORECASE)),
    ("forced", re.compile(r"(?<![A-Za-z])(?:forced|force-?killed|killed|kill|forcibly|signals?)(?![A-Za-z])|强制|强杀|被杀", re.IGNORECASE)),
    ("remaining", re.compile(r"(?<![A-Za-z])(?:left (?:behind|over|running)|leftovers?|orphans?|zombies?|remaining (?:pids?|process\w{0,2})|lingering|survivors?|still alive)(?![A-Za-z])|残留|遗留|僵尸", re.IGNORECASE)),
    ("oom", re.compile(r"(?<![A-Za-z])(?:oom\w{0,8}|out of memory)(?![A-Za-z])|内存溢出", re.IGNORECASE)),
    ("timeout", re.compile(r"(?<![A-Za-z])(?:timed out|time-?outs?|hung|deadline)(?![A-Za-z])|超时", re.IGNORECASE)),
    ("crash", re.compile(r"(?<![A-Za-z])(?:crash\w{0,3}|segfault\w{0,2}|core dump\w{0,2})(?![A-Za-z])|崩溃", re.IGNORECASE)),
)  # fmt: skip
_CODES = re.compile(
    r"(?<![\w.:/-])([-−]\d{1,5}(?::\d{1,3})?)(?![\w.%/])|(?:exit\w{0,4}|codes?|status|rc|signal|returned|退出\w{0,2}|返回\w{0,2})[ ,:：=(]{0,3}(?:with |was |were |of |为|是)?(\d{1,5}(?::\d{1,3})?)(?![\w.%/])|以\s?(\d{1,5})\s?退出",
    re.IGNORECASE,
)
_SAID_UNKNOWN = re.compile(
    r"(?:not|never|un)[ -]?(?:recorded|captured|known|available|observed)|unknown|missing|null|未记录|未知|缺失", re.IGNORECASE
)


def admits(made: Iterable[Statement]) -> frozenset[str]:
    """Kinds of event, exit codes, and `null`, that the text itself tells of undenied: what it admits it does not contradict."""
    said: set[str] = set()
    for statement in made:
        for clause in statement.clauses:
            said |= _admitted(clause)
    return frozenset(said)


def _admitted(clause: Clause) -> set[str]:
    text = clause.text[:_CLAUSE]
    denials = [match.span() for _, _, match in _phrases(text)]
    said: set[str] = {kind for kind, pattern in _ADMITS for match in pattern.finditer(text) if not _is_denied(clause, denials, match.start())}
    said |= {(m[1] or m[2] or m[3]).replace("−", "-") for m in _CODES.finditer(text)} - {"0"}
    return said | ({"null"} if _SAID_UNKNOWN.search(text) else set())


def _is_denied(clause: Clause, denials: Sequence[tuple[int, int]], position: int) -> bool:
    """Denied by the clause, or part of a phrase that denies ("without forced signals")."""
    return clause.denies(position) or any(first <= position < last for first, last in denials)
