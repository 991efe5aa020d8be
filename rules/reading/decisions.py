"""Decisions that a text attributes to somebody with authority, and the comments that record one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rules.core.model import Comment, Issue, Snapshot
from rules.reading.statements import Clause, Statement, string_statements

Topic = Literal["target", "scope", "acceptance", "stop"]

_ROLE = (
    r"(?:request[eo]rs?|customers?|(?:our|paying|end) clients?|sponsors?|stakeholders?|product (?:owner|manager|team)s?|business (?:owner|side)|commissioner|task owner|issue owner|acceptance owners?"
    r"|accepting (?:party|owner)|需求方|需求提出(?:者|方|人)|请求(?:者|方|人)|提出(?:者|方)|发起(?:者|方|人)|委托(?:方|人)|甲方|客户|业务方|产品(?:负责人|经理)|验收(?:方|人|负责人))"
)
_ANY_ROLE = rf"(?:{_ROLE}|maintainers?|(?:the |our )?(?:\w{{1,24}} )?(?:team|lead|committee|board|group)|project owner|campaign owner|management|负责人|维护者|团队|委员会)"
_DECIDES = (
    r"(?:select(?:s|ed)|pick(?:s|ed)|chose|chooses|chosen|request(?:s|ed)|ask(?:s|ed)(?= for| that| to| us)|want(?:s|ed)|decid(?:es|ed)|set(?:s)?|approv(?:es|ed)|agree(?:s|d)|accept(?:s|ed)|authori[sz](?:es|ed)"
    r"|instruct(?:s|ed)|direct(?:s|ed)|specif(?:ies|ied)|defin(?:es|ed)|confirm(?:s|ed)|requir(?:es|ed)|demand(?:s|ed)|mandat(?:es|ed)|stipulat(?:es|ed)|order(?:s|ed)|sign(?:s|ed) off|fix(?:es|ed)"
    r"|assign(?:s|ed)|limit(?:s|ed)|expects|expected|needs|gave|gives|insist(?:s|ed)|call(?:s|ed)(?= for)|restrict(?:s|ed)|prescrib(?:es|ed)|nam(?:es|ed)|stat(?:es|ed) that|given|communicated)"
)
_ADVERB = r"(?:\s+(?:has|have|had|also|now|explicitly|already|clearly|formally|verbally|still|already|recently|originally|itself|themselves|then|only|therefore|\(@[\w-]{1,39}\)|@[\w-]{1,39})){0,4}"
_SAYS = re.compile(
    rf"(?<![A-Za-z])(?:{_ROLE}){_ADVERB}\s+{_DECIDES}(?![A-Za-z])"
    rf"|(?<![A-Za-z])(?:users?){_ADVERB}\s+(?:instructed|directed|authori[sz]ed|approved|decided|mandated)(?![A-Za-z])"
    rf"|(?<![A-Za-z])(?:maintainers?|management|(?:steering )?committee|project owners?|campaign owners?){_ADVERB}\s+"
    r"(?:set|decided|approved|authori[sz]ed|requested|asked(?= for)|mandated|required|ask(?= for)|want|wants)(?![A-Za-z])",
    re.IGNORECASE,
)
_BY = re.compile(
    rf"(?<![A-Za-z]){_DECIDES}\s+(?:by|with|upon by)\s+(?:the |our |its |this )?(?:\w{{1,24}} )?{_ROLE}(?![A-Za-z])"
    rf"|(?<![A-Za-z])(?:per|according to|under|following|at|on|by|as)\s+(?:the |our )?(?:\w{{1,24}} )?{_ROLE}['’]?s?\s+(?:\w{{1,24}} )?(?:instructions?|requests?|directions?|decisions?|orders?|wish(?:es)?|requirements?|demands?|approval|authori[sz]ation|mandate)"
    rf"|(?<![A-Za-z])(?:instructions?|requests?|directions?|decisions?|orders?|approval|authori[sz]ation|requirements?|mandate)\s+(?:of|from|by)\s+(?:the |our )?{_ROLE}(?![A-Za-z])"
    rf"|(?<![A-Za-z]){_ROLE}['’]?s?\s+(?:directions?|instructions?|requests?|requirements?|decisions?|approval|authori[sz]ation|targets?|wish(?:es)?|mandate|scope|stop (?:condition|rule))(?![A-Za-z])"
    rf"|(?<![A-Za-z])(?:comes?|came|originates?|stems?|taken)\s+(?:directly )?from\s+(?:the |our )?{_ROLE}|(?<![A-Za-z])user['’]s\s+(?:explicit )?(?:instructions?|directions?|decisions?)",
    re.IGNORECASE,
)
_SAYS_ZH = re.compile(
    rf"{_ROLE}.{{0,10}}?(?:要求|指定|选定|选择|同意|批准|决定|确定|授权|接受|提出|认可|希望|明确)|(?:由|经|按|按照|根据|应){_ROLE}(?:的)?.{{0,8}}?(?:决定|确认|要求|指定|选定|同意|批准|授权|提出|指示|设定)"
)
_OWNED = re.compile(
    rf"(?<![A-Za-z])(?:(?:final |formal |overall |campaign )?(?:acceptance|sign[- ]?off|approval)(?: (?:decision|authority|ownership|owner))?)\s*(?:still |only |always )?"
    rf"(?:(?:remains?|rests?|lies?|stays?|is|sits?|resides?|belongs?|falls?|goes?)\s+(?:\w{{1,24}} )?(?:with|to|by|up to|on|held by|owned by|left to|for|in the hands of)|[:：=]|is|by|belongs to)\s*(?:the |our |an? )?{_ANY_ROLE}(?![A-Za-z])"
    rf"|(?<![A-Za-z])(?:{_ANY_ROLE})\s+(?:owns?|holds?|retains?|keeps?|has|decides on|gives)\s+(?:the )?(?:final |formal )?(?:acceptance|sign[- ]?off|approval)"
    rf"|(?:最终)?验收(?:权|人|方|负责人|决定)?(?:仍|仍然|依然)?(?:归|由|属于|在于?|为|是|[:：])\s*{_ANY_ROLE}|由{_ANY_ROLE}(?:最终)?(?:负责)?验收",
    re.IGNORECASE,
)
_LOGIN = re.compile(r"(?<![\w.])@[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})\b")
_NUMBER = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*(?:%|％|percent\b|per cent\b|pct\b)")
_TOPICS: tuple[tuple[Topic, re.Pattern[str]], ...] = (
    ("stop", re.compile(r"\bstop(?:s|ping|ped)?\b|\bbudget\b|\babort\b|\bterminat\w{0,6}|\bdevice hours?\b|停止|终止|预算", re.IGNORECASE)),
    (
        "target",
        re.compile(
            r"\d\s*(?:%|％|percent)|\btargets?\b|\bgoals?\b|\bthresholds?\b|\bgates?\b|\bat (?:least|most)\b|\b(?:lower|higher|faster|slower|below|under|above|within|fewer|less|more) than\b|\b(?:below|under|above|within)\s+\d"
            r"|\d(?:\.\d+)?\s*(?:x|×|ms|s|seconds?|fps|tokens?|gib|gb|mib|mb|rps|qps)\b|\blimits?\b|\bcriteri(?:a|on)\b|目标|阈值|至少|不超过|不低于|低于|高于|以上|以下",
            re.IGNORECASE,
        ),
    ),
    ("acceptance", re.compile(r"\baccept(?:ance|s|ed)?\b|\bsign(?:s|ed)?[- ]?off\b|\bapprov\w{1,10}|验收|批准", re.IGNORECASE)),
    (
        "scope",
        re.compile(
            r"\bscope\b|\b(?:devices?|cards?|gpus?|npus?|nodes?|machines?|hosts?|hardware|contract|workloads?|campaign|models?|datasets?|durations?|instructions?|directions?|boundar(?:y|ies)|"
            r"constraints?|region|cluster|boards?|chips?|cores?|phones?|only)\b|范围|设备|卡|硬件|模型|负载|约束|节点|机器",
            re.IGNORECASE,
        ),
    ),
)
_WORDS = {"target": "the numeric target", "scope": "the scope", "acceptance": "the acceptance owner", "stop": "the stop condition"}


@dataclass(frozen=True, slots=True)
class Attributed:
    """A decision that a text lays into somebody's mouth. `percents` are the percentages it names."""

    statement: Statement
    topics: frozenset[Topic]
    percents: frozenset[str]

    @property
    def what(self) -> str:
        return " and ".join(_WORDS[topic] for topic in ("scope", "target", "acceptance", "stop") if topic in self.topics)


def attributed(statements: tuple[Statement, ...]) -> Iterator[Attributed]:
    """The sentences that attribute scope, a target, acceptance or a stop condition to a requester, or acceptance to a role without a login."""
    for statement in statements:
        if statement.standing in ("quoted", "withdrawn", "question"):
            continue
        topics = {topic for clause in statement.clauses for topic in _topics(statement, clause)}
        if topics:
            yield Attributed(statement, frozenset(topics), frozenset(_NUMBER.findall(statement.text)))


def _topics(statement: Statement, clause: Clause) -> Iterator[Topic]:
    if clause.standing in ("quoted", "withdrawn", "question"):
        return
    owned = _OWNED.search(clause.text)
    if owned and not clause.denies(owned.start()) and not _LOGIN.search(statement.text):
        yield "acceptance"
    for pattern in (_SAYS, _BY, _SAYS_ZH):
        match = pattern.search(clause.text)
        if match and not clause.denies(match.start()) and not clause.denies(match.end() - 1) and not _missing(clause.text, match.start()):
            yield from _topic(clause.text) or _topic(statement.text)
            return


def _missing(text: str, position: int) -> bool:
    """ "pending requester decision", "missing …", "awaits …" say that there is none."""
    return bool(
        re.search(
            r"\b(?:pending|missing|awaits?|awaiting|until|needs?|required?|without|lacks?|unrecorded|any|whether|if)\b[^,.;]{0,30}\Z|待|缺|等待",
            text[max(0, position - 40) : position],
            re.IGNORECASE,
        )
    )


def _topic(text: str) -> tuple[Topic, ...]:
    return tuple(topic for topic, pattern in _TOPICS if pattern.search(text))[:2]


# ---------------------------------------------------------------- records

_DECISION = re.compile(
    r"\b(?:i|we)(?:['’](?:d|ll|ve|m|re))?\s+(?:\w{1,24} ){0,3}(?:accept|approve|agree|confirm|authori[sz]e|want|request|ask|decide|set|select|choose|chose|require|own|sign off|need|am|are|would like|expect|take|limit|fix|stand by)\w*"
    r"|\b(?:accepted|approved|agreed|confirmed|authori[sz]ed|decided|signed off|go ahead|granted|scope|target|decision|acceptance|stop (?:condition|after|when|at|rule|once|if)|requester)\b"
    r"|\b(?:accepts|approves|owns|decides|will accept|must be|shall be|should be|has to be)\b"
    r"|接受|批准|同意|确认|授权|决定|目标|范围|验收|要求|停止",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(
    r"\b(?:not|never|cannot|n['’]t|nobody|no one|without|reject(?:ed|s)?|declin(?:e|ed)|withdraw|undecided|need(?:s)? (?:more|to)|before (?:i|we)|who (?:decided|accepted|set)|where is|unclear|missing)\b"
    r"|\?|？|不同意|不接受|未决|尚未|拒绝|没有",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\b(?:as (?:described|stated|written|proposed|above|in the issue)|this (?:campaign|issue|proposal|plan|scope|contract|charter)|the (?:campaign|issue|proposal|plan|charter|above)|all of (?:it|this|that)|it|this|that)\b|如上|本活动|该活动|此活动|上述",
    re.IGNORECASE,
)
_COMMENT_LINK = re.compile(
    r"(?P<owner>[\w.-]{1,100}/[\w.-]{1,100})?/?(?:issues|pull)/(?P<number>\d{1,9})#issuecomment-(?P<id>\d{1,18})|(?<![\w/\d])#issuecomment-(?P<bare>\d{1,18})"
)


def authorities(snapshot: Snapshot, issue: Issue) -> list[Comment]:
    """The comments by somebody who may decide: a configured login, else an owner, member or collaborator; never a bot, never an author."""
    decisions = snapshot.config.decisions
    known = {login.lstrip("@").casefold() for login in (*decisions.requesters, *decisions.acceptance_owners)}
    pulls = (*issue.linked_pulls, *((snapshot.pull,) if snapshot.pull else ()))
    authors = {issue.user.login.casefold(), *(pull.user.login.casefold() for pull in pulls)}

    def may(comment: Comment) -> bool:
        login = comment.user.login.casefold()
        if comment.user.is_bot or login in authors or login == "ghost":
            return False
        return login in known if known else comment.association in ("OWNER", "MEMBER", "COLLABORATOR")

    return [comment for comment in issue.comments if may(comment)]


@dataclass(frozen=True, slots=True)
class Recorded:
    """One sentence of a comment that decides something. `whole` is True where it decides on all that was proposed."""

    topics: frozenset[Topic]
    percents: frozenset[str]
    whole: bool

    def covers(self, wanted: Attributed) -> bool:
        """True when this states what `wanted` attributes: one of its topics, with the same percentage where both name one."""
        if "target" in wanted.topics and wanted.percents and self.percents and not wanted.percents & self.percents:
            return False
        return self.whole or bool(self.topics & wanted.topics)


def recorded(comment: Comment) -> Iterator[Recorded]:
    """The decisions that a comment states: undenied, no questions, none of its quotations."""
    percents = frozenset(_NUMBER.findall(comment.body))
    for statement in string_statements(comment.body):
        if statement.text.startswith(">"):
            continue
        said = " ".join(clause.text for clause in statement.clauses if clause.standing != "quoted") or statement.text
        if _DECISION.search(said) and not _NEGATIVE.search(said):
            topics = frozenset(topic for topic, pattern in _TOPICS if pattern.search(said))
            yield Recorded(topics, percents, bool(_WHOLE.search(said)))


@dataclass(frozen=True, slots=True)
class Linked:
    """A comment that a text links: its id, and the issue's or pull's number where the link names one."""

    id: int
    number: int | None
    repository: str | None


def linked_comments(text: str) -> tuple[Linked, ...]:
    """The comments that `text` (Markdown source) links, each once."""
    found = [
        Linked(int(match["id"] or match["bare"]), int(match["number"]) if match["number"] else None, match["owner"])
        for match in _COMMENT_LINK.finditer(text)
    ]
    return tuple(dict.fromkeys(found))
