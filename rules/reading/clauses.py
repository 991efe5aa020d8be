"""The clauses of one sentence: where they end, what is negated in them, how sure they are, and whether the author asserts them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from rules.reading.words import HEDGES, MAY, PLACEHOLDER

Standing = Literal["asserted", "quoted", "reported", "withdrawn", "required", "planned", "question"]


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a sentence.

    start     its offset in the sentence
    negated   its predicate or its subject is denied ("no worker", "did not", 没有); "without X" alone denies X, not the clause
    hedge     the word that says nobody but the author knows, or that it is a guess; None where there is none
    standing  whether the author asserts it
    scopes    (start, end, inverts) in `text`: what lies inside is denied; a scope that inverts turns a denial around ("no run failed to …")
    """

    text: str
    start: int
    negated: bool
    hedge: str | None
    standing: Standing = "asserted"
    scopes: tuple[tuple[int, int, bool], ...] = ()

    def denies(self, position: int) -> bool:
        """True when the word at offset `position` of `text` is denied. A phrase that begins with its own "no" is not denied by it."""
        inside = [inverts for first, last, inverts in self.scopes if first < position < last]
        return (False in inside) != (inside.count(True) % 2 == 1)


# ---------------------------------------------------------------- borders

_STRONG = re.compile(
    r"(?P<mark>[;；。!！?？]|—|\s–\s|\s-{1,2}\s|\s\|\s)"
    r"|(?P<word>(?<![A-Za-z0-9_-])(?:but(?!\s+(?:not\s+)?(?:for|limited)\b)|however|although|though|whereas|nevertheless|nonetheless|while|albeit)(?![A-Za-z0-9_-]))"
    r"|(?P<zh>但是|但(?!书)|然而|不过(?!滤)|可是|尽管|虽然|只是(?!说))",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"(?P<zh>，)|,(?=\s)|[:：](?=\s|[\u3000-\u9fff])|\s\(|(?<![A-Za-z0-9_-])(?:and|or|nor|so|because|since|which|who|if|unless|until|once|when|before|after|whether|that)"
    r"(?![A-Za-z0-9_-])",
    re.IGNORECASE,
)
# A word in -ed counts where a preposition, a number or the like follows: `exited zero`, but not `measured values`.
_VERB = re.compile(
    r"(?<![A-Za-z0-9_-])(?:(?:is|are|was|were|has|have|had|does|do|did|ca|wo|would|could|should)(?:n[’']t)?|be|been|will|can|cannot|may|might|must|shall"
    r"|remains?|stays?|holds?|shows?|says?|reports?|states?|claims?|needs?|fails?|exits?|ends?|ran|runs|began|begins?|begun|makes?|made|took|takes|got|gets"
    r"|became|becomes|left|leaves|kept|keeps|found|went|goes|came|comes|gave|gives|stood|stands|lives|lies|covers|names|pins|uses|follows?|means|records|"
    r"(?!need|seed|speed|feed|embed)[a-z]{2,24}ed(?=\s*(?:\Z|[.,;:!?)，。；—])"
    r"|\s+(?:\d|[a-z]{2,20}ly(?![a-z])|(?:zero|no|not|none|the|an?|its|their|all|each|every|both|to|with|without|on|in|at|by|for|from|of|as|after|before|until|when"
    r"|while|because|under|over|through|via|into|out|only|again|later|first|early|twice|once|and|or|but|nor|than|that|this|it|yet|so|normal)(?![a-z]))))(?![A-Za-z0-9_-])",
    re.IGNORECASE,
)
_TEMPORAL = re.compile(r"(?:before|after|when|until|as soon as|because|since)(?![A-Za-z])", re.IGNORECASE)
_SUBJECT = re.compile(
    r"(?:no|none|nothing|nobody|neither|the|a|an|all|each|every|both|it|they|we|he|she|i|this|that|these|those|its|their|our|there|only|any|some|many|\d{1,6})"
    r"(?![A-Za-z0-9_-])",
    re.IGNORECASE,
)
# A phrase in front of its clause: `With no forced signals, all workers …`.
_LEAD = re.compile(r"\s*(?:with|without|after|before|in|on|for|at|under|during|despite|from|by|given)(?![A-Za-z0-9_-])", re.IGNORECASE)
_NO_SUBJECT = re.compile(
    r"(?:with|without|including|using|for|in|of|by|on|at|from|to|as|not|and|or|but|than|under|per|via|due|because|after|before|until|when|if|see|"
    r"[a-z]{2,24}ed|[a-z]{2,24}ing|is|are|was|were|has|have|had|does|do|did|will|can|may|must)(?![A-Za-z0-9_-])",
    re.IGNORECASE,
)
_LOOK = 100


def _borders(text: str) -> list[tuple[int, int, bool]]:
    """(end of a clause, start of the next, whether the border is a strong one), in order."""
    strong = [(m.start(), m.end() if m["mark"] else m.start(), m[0].lower() != "while") for m in _STRONG.finditer(text)]
    made: list[tuple[int, int, bool]] = []
    position = 0
    for border in [*strong, (len(text), len(text), True)]:
        made += _weak(text, position, border[0])
        made.append(border)
        position = border[1]
    return made[:-1]


def _weak(text: str, first: int, last: int) -> list[tuple[int, int, bool]]:
    """Borders inside one stretch: where a new subject and verb begin after a clause that has its own verb. Each part is looked at once."""
    made: list[tuple[int, int, bool]] = []
    has_verb, denied, scanned = _LEAD.match(text, first) is not None, False, first
    for match in _WEAK.finditer(text, first, last):
        has_verb = has_verb or _VERB.search(text, scanned, match.start()) is not None
        denied = denied or _NEGATION.search(text, scanned, match.start()) is not None
        scanned = match.start()
        is_mark = match[0] in ("，", ",", ":", "：")
        colon = match[0] in (":", "：")
        said = has_verb and not denied and colon
        if match["zh"] or said or ((has_verb or (colon and denied)) and _new_clause(text, match, last)):
            made.append((match.start(), match.end() if is_mark else match.start(), False))
            has_verb, denied, scanned = _LEAD.match(text, match.end()) is not None, False, match.end()
    return made


_RELATIVE = frozenset(["which", "who", "if", "unless", "until", "once", "when", "because", "since", "whether", "so"])
_LIGHT = frozenset(["and", "or", "nor", "before", "after"])


def _new_clause(text: str, match: re.Match[str], last: int) -> bool:
    """True when a subject with its verb follows: `, workers exited`, `and no search has begun`."""
    word = match[0].lower()
    if word == "that":
        return False
    rest = text[match.end() : min(last, match.end() + _LOOK)].lstrip(" (")
    rest = rest[3:].lstrip() if rest.lower().startswith("and ") else rest
    verb = _VERB.search(rest)
    if verb is None or re.search(r"[,)]", rest[: verb.start()]):
        return False
    if word in _RELATIVE:
        return len(rest[: verb.start()].split()) <= 6
    if word in _LIGHT:
        return bool(_SUBJECT.match(rest)) and len(rest[: verb.start()].split()) <= 6
    return verb.start() > 0 and not _NO_SUBJECT.match(rest) and len(rest[: verb.start()].split()) <= 6


# ---------------------------------------------------------------- negation

_NEGATION = re.compile(
    r"(?<![A-Za-z0-9_-])(?:(?P<phrase>no\s+longer|by no means|(?:fail(?:s|ed)?|unable|refus(?:es|ed))\s+to|never|nor|neither|none|nothing|nobody|cannot"
    r"|not(?!\s+(?:only|just|merely|least)\b)|(?:do|does|did|is|are|was|were|has|have|had|ca|wo|could|would|should|must)n[’']t|hardly|lacks?|lacking|absence of|rather than|instead of)"
    r"|(?P<noun>without|no(?!\s+(?:matter|doubt|less|more than|later than|sooner|fewer|earlier|one['’]s|\d)\b)(?!\.\s?\d)))(?![A-Za-z0-9_-])"
    r"|(?P<zh>并未|尚未|从未|未曾|未能|未(?![来必])|没有|没(?!收)|无(?![论损线人疑关符序状限须需缝])|并非|不是|绝非|而非|不(?![仅但过同断少久止妨管])|缺乏|缺少|毫无)",
    re.IGNORECASE,
)
_INVERTS = re.compile(r"(?:fail|unable|refus|lack|absence|rather|instead|缺)", re.IGNORECASE)
_NOUN_END = re.compile(
    r",\s|\s(?:with|but)\s|\sand\s(?=(?:with|all|the|is|are|was|were|has|have|had|both|each|every|[a-z]{2,24}ed)\s)|\)|且|同时", re.IGNORECASE
)
_AND = re.compile(r"\sand\s", re.IGNORECASE)
_DO_END = re.compile(r"\sand\s(?=(?:[a-z]{2,24}ed|is|are|was|were|has|have|then)\s)", re.IGNORECASE)
_ZH_END = re.compile(r"[，、]?(?:而且|并且|且|同时|只有|仅(?!仅))|[，）)]")
_HAVING = re.compile(r"(?<![A-Za-z0-9_-])(?:with|had|having)\s*$", re.IGNORECASE)


def _scopes(text: str) -> tuple[tuple[tuple[int, int, bool], ...], bool]:
    """What is denied in a clause, and whether the clause itself is."""
    scopes: list[tuple[int, int, bool]] = []
    negated = False
    has_verb, scanned = False, 0
    for match in _NEGATION.finditer(text):
        has_verb = has_verb or _VERB.search(text, scanned, match.start()) is not None
        scanned = match.start()
        end = len(text)
        if match["noun"]:
            end, of_subject = _noun_scope(text, match, has_verb)
            negated = negated or of_subject or (match[0].lower() == "no" and not _HAVING.search(text, max(0, match.start() - 12), match.start()))
        elif match["zh"]:
            found = _ZH_END.search(text, match.end(), match.end() + _FAR)
            end = found.start() if found else end
            negated = True
        else:
            found = _DO_END.search(text, match.end(), match.end() + _FAR)
            end = found.start() if found else end
            negated = negated or not _INVERTS.match(match[0])
        scopes.append((match.start(), end, bool(_INVERTS.match(match[0]))))
        if len(scopes) >= _MOST:
            break
    return tuple(scopes), negated


# No clause of a real text has so many denials; what follows is left undenied rather than looked at again and again.
_MOST = 40
_FAR = 400


def _noun_scope(text: str, match: re.Match[str], has_verb: bool) -> tuple[int, bool]:
    """Where "no …" or "without …" ends: with the clause when it denies the subject, else with its noun."""
    if match[0].lower() == "no" and not has_verb and _VERB.search(text, match.end(), match.end() + _FAR):
        return len(text), True
    found = _NOUN_END.search(text, match.end(), match.end() + _FAR)
    if match[0].lower() == "no":
        joined = _AND.search(text, match.end(), match.end() + _FAR)
        found = min((one for one in (found, joined) if one), key=lambda one: one.start(), default=None)
    return (found.start() if found else len(text)), False


# ---------------------------------------------------------------- standing

_SAY = r"(?:sa(?:ys?|id)|stat(?:es?|ed)|claim(?:s|ed)?|read|reported|wrote|described|called|asserted|listed|showed|gave|named|had)"
_TEXTS = (
    r"(?:claims?|statements?|sentences?|wording|conclusions?|lines?|figures?|numbers?|descriptions?|assertions?|texts?|entry|entries|paragraphs?)"
)
_WITHDRAWN = re.compile(
    rf"(?<![A-Za-z])(?:(?<!\bas )(?:previously|formerly|originally|earlier|once|incorrectly|wrongly|mistakenly|erroneously|used to)\s+(?:\w{{2,12}}\s+)?{_SAY}"
    rf"|{_SAY}\s+(?:previously|earlier|incorrectly|wrongly|mistakenly|erroneously)"
    rf"|(?:earlier|previous|prior|older|old|former|first|original|initial)\s+(?:\w{{2,14}}\s+)?(?:version|draft|revision|text|wording|description|edition|statement|claim|body|page|readme|summary)s?\b.{{0,60}}?\s{_SAY}"
    rf"|no longer\s+(?:claims?|says?|states?|asserts?|describes?|reads?)"
    rf"|(?:remov|dropp|delet|withdr|retract|correct|replac|reword|struck|strik)\w{{0,4}}\s+(?:[\w'’-]{{1,24}}\s+){{0,4}}{_TEXTS}"
    rf"|{_TEXTS}\s.{{0,200}}?(?:was|were|is|are|has been|have been)\s+(?:\w{{2,10}}\s+)?(?:wrong|false|incorrect|inaccurate|mistaken|withdrawn|retracted|corrected|removed|an error|a mistake|untrue|unsupported)"
    rf"|(?:was|were)\s+(?:wrong|incorrect|inaccurate|mistaken|an error|a mistake|untrue)(?![A-Za-z])"
    rf"|(?:has|have)\s+been\s+(?:withdrawn|retracted)|(?:is|are)\s+(?:withdrawn|retracted)|we\s+(?:withdraw|retract)|it is (?:not|no longer) true that|contrary to"
    r")(?![A-Za-z])"
    r"|(?:之前|此前|先前|早先|早前|原先|原来|原文|旧版|旧文|上一版|早期版本|曾(?:经)?)(?:的)?.{0,12}?(?:写|称|说|声称|宣称|描述|记为|表述|报)"
    r"|(?:是|系|属|为)(?:错误|不正确|不准确)的?|有误|写错|误(?:写|称|报|记)|(?:已|予以|现)(?:撤回|撤销|更正|删除|收回)",
    re.IGNORECASE,
)
_PEOPLE = (
    r"(?:re?viewers?|reviews?|maintainers?|bots?|authors?|requesters?|owners?|vendors?|upstream|pull(?: request)?|prs?|issues?|narrative|descriptions?|bod(?:y|ies)"
    r"|comments?|papers?|blogs?|posts?|readme(?:\.md)?|guides?|users?|colleagues?|someone|he|she|they|@[\w-]{1,39}|\#\d{1,7})"
)
_TELL = (
    r"(?:reports?|reported|notes?|noted|writes|wrote|argues|argued|alleges|alleged|mentions|mentioned|describes|described|calls|called|asks|asked|requests|requested"
    r"|wants|thinks|believes|finds|found|suggests|suggested|records|recorded|concludes|concluded|observes|observed|expects)"
)
_REPORTED = re.compile(
    rf"(?<![A-Za-z]){_PEOPLE}(?:\s+(?:now|also|still|explicitly|again|correctly|only|itself|text|\#?\d{{1,7}}|\([^()]{{1,60}}\)|for|of|the|this|last|latest)){{0,4}}\s+{_TELL}(?![A-Za-z])"
    r"|(?<![A-Za-z])(?<!\bwe )(?<!\bi )(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbe )(?<!\bbeen )(?<!\bnot )(?<!\bas )(?:says|asserts|alleges|reads(?=:)"
    r"|(?:said|stated|claimed|asserted|alleged|states|claims)(?=\s*[:,\"“]|\s+(?:that|to|the|all|no|an?|both|every|each|it)(?![a-z])))(?![A-Za-z])"
    r"|(?<![A-Za-z])(?:according to|as (?:reported|claimed|stated|described) (?:by|in)|quot(?:es?|ing|ed)|in the words of)(?![A-Za-z])"
    r"|(?:评审|审阅|审查|评论|作者|维护者|请求者|需求方|厂商|机器人|负责人|有人|对方|他们?|她)(?:人|者|意见|方)?(?:们)?(?:在.{1,20}?)?(?:中)?(?:说|称|认为|指出|报告|表示|声称|宣称|写道|提到|提出)"
    r"|据.{1,20}?(?:称|说|报告|报道|表示)|根据.{1,30}?(?:的说法|的报告|的评论|所述)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?<![A-Za-z])(?:(?<!as )(?<!even )(?:only\s+)?if|unless|provided(?:\s+that)?(?=\s+(?:that|all|the|no|every|each)\b)|only\s+(?:when|after|once)|in case|whether|as long as|until|once(?=\s+(?:[\w'’-]{1,24}\s+){1,4}(?:is|are|has|have)(?![A-Za-z]))"
    r"|qualif(?:y|ies)\s+only|assuming)(?![A-Za-z])|只有|才(?:能|算|可|会|合格|通过)|方可|如果|倘若|假如|若(?!干)|除非|一旦|是否|当且仅当",
    re.IGNORECASE,
)
_BOUND_TO = re.compile(
    r"(?<![A-Za-z])(?:must|shall|should|ought to|(?:has|have|needs?|need) to|needs?(?=\s+(?:a|an|the|to|its|their)\b)|(?:is|are|be) (?:required|expected|supposed|needed|mandatory|forbidden|allowed|permitted)"
    r"|requires?|may\s+(?:not|only|never)|may(?=\s+(?:begin|start|be (?:run|started|used|changed|counted)|run)\b)|never(?=\s+[a-z]{2,12}\s+(?:the|a|an)\b))(?![A-Za-z])|\A\s*(?:do not|don[’']t)\s"
    r"|必须|必需|务必|(?<!无)(?<!不)须(?!知)|应当|应该|(?<![响对反适相供效])应(?![用答急对付])|(?<!无)(?<!不)需(?:要)?(?!求)|要求(?!者|方|人)|不得|禁止|不准|不允许|方能",
    re.IGNORECASE,
)
_RULE_LABEL = re.compile(
    r"\s*(?:gates?|requirements?|acceptance(?: criteri(?:on|a)| rule)?|success criteri(?:on|a)|criteri(?:on|a)|pass criteri(?:on|a)|stop (?:condition|rule)s?|rules?|targets?|goals?"
    r"|验收(?:标准|条件|规则)?|门禁|门槛|要求|停止条件|目标|判据)\s*[:：]",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"\s*(?:(?:please|always|never|do not|don[’']t|ensure|make sure|avoid)(?![A-Za-z])|(?:freeze|keep|record|report|measure|compile|run|repeat|wait|commit|publish|verify|check|use|state|stop|start)"
    r"\s+(?:the|an?|all|each|every|both|any|raw|only|candidate|for|until|if|when|at least)(?![A-Za-z])|请|务必)",
    re.IGNORECASE,
)
_PLANNED = re.compile(
    r"(?<![A-Za-z])(?:will(?!\s*(?:power|ing))|(?:it|they|we|i|he|she|that|this)[’']ll|would|going to|plan(?:s|ned)?\s+to|(?:is|are|was|were|as yet|still)\s+(?:\w{2,10}\s+)?(?:planned|scheduled|intended)"
    r"|planned\s+(?:for|next)|pending|intends?|upcoming|awaits?|awaiting|(?:is|are|remains?|still|yet|has|have)\s+(?:yet\s+)?to be\s+[a-z]{2,20}|^\s*to be\s+[a-z]{2,20}|next step)(?![A-Za-z])"
    r"|(?<!即)将(?![军来领士])|即将|计划(?:在|于|将|用|进行|测|开展|下)|拟(?![合])|预计|打算|稍后|待(?:定|补|测|执行|运行|确认|验证|完成|填|更新)|尚待|有待|下一步",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"“[^“”]{1,2000}+”|「[^「」]{1,2000}+」|『[^『』]{1,2000}+』|«[^«»]{1,2000}+»|(?<![\w\"])\"[^\"]{1,2000}+\"(?![\w\"])")
_QUOTE_WORDS = 3
_QUESTION = re.compile(r"[?？][\s\"'”’）)」]*\Z")
_RULE_HEADING = re.compile(
    r"(?:gates?|requirements?|(?:acceptance|success|pass|stop|decision) (?:criteri(?:on|a)|rules?|gates?|conditions?)|rules?|验收(?:标准|条件|规则)|门禁|门槛|判据|要求|停止条件)\Z",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"(?<![A-Za-z])(?:is|are|was|were|has|have|had|been|did|status|verdict|result|no|none|not|yet|[a-z]{2,24}ed|ran|began|took|made|frozen|begun)(?![A-Za-z])|未|没|无|已|了|状态",
    re.IGNORECASE,
)


def clauses(sentence: str, section: tuple[str, ...] = ()) -> tuple[Clause, ...]:
    """The clauses of one sentence (white space normalised), in order. `section` are the headings above it."""
    question = bool(_QUESTION.search(sentence))
    made: list[Clause] = []
    for stretch in _stretches(sentence):
        whole = sentence[stretch[0][0] : stretch[-1][1]]
        shared = "question" if question else _shared(whole)
        for first, last in stretch:
            made += _subordinate(_clause(sentence, first, last, shared, section), made[-1] if made else None)
    return tuple(made)


def _subordinate(found: list[Clause], main: Clause | None) -> list[Clause]:
    """`before the validator is frozen` says nothing that is so where the main clause only demands or plans."""
    if main and main.standing in ("required", "planned") and found and _TEMPORAL.match(found[0].text):
        return [replace(clause, standing=main.standing) if clause.standing == "asserted" else clause for clause in found]
    return found


def _stretches(sentence: str) -> list[list[tuple[int, int]]]:
    """The clauses as (start, end), grouped between strong borders: what is said of one in a group ("the reviewer says", "if") holds for all."""
    quoted = [match.span() for match in _QUOTES.finditer(sentence)]
    groups: list[list[tuple[int, int]]] = [[]]
    position, quote = 0, 0
    for end, start, strong in [*_borders(sentence), (len(sentence), len(sentence), True)]:
        while quote < len(quoted) and quoted[quote][1] <= end:
            quote += 1
        if quote < len(quoted) and quoted[quote][0] < end:
            continue
        groups[-1].append((position, end))
        position = start
        if strong or sentence[end : end + 1] in (":", "："):
            groups.append([])
    return [kept for group in groups if (kept := [(a, b) for a, b in group if sentence[a:b].strip(" ,，:：()")])]


def _shared(text: str) -> Standing | None:
    if _WITHDRAWN.search(text):
        return "withdrawn"
    if _REPORTED.search(text):
        return "reported"
    if _CONDITION.search(text) or _RULE_LABEL.match(text) or _IMPERATIVE.match(text):
        return "required"
    return None


def _clause(sentence: str, first: int, last: int, shared: Standing | None, section: tuple[str, ...]) -> list[Clause]:
    """The clause at (first, last); a quotation of some words inside it is a clause of its own."""
    made: list[Clause] = []
    for match in _QUOTES.finditer(sentence, first, last):
        inner = match[0][1:-1].strip()
        if len(inner.split()) >= _QUOTE_WORDS or len(re.findall(r"[\u3400-\u9fff]", inner)) >= 5:
            made += _plain_clause(sentence, first, match.start(), shared, section)
            made += _plain_clause(sentence, match.start() + 1, match.end() - 1, shared if shared in ("withdrawn", "question") else "quoted", section)
            first = match.end()
    return made + _plain_clause(sentence, first, last, shared, section)


def _plain_clause(sentence: str, first: int, last: int, shared: Standing | None, section: tuple[str, ...]) -> list[Clause]:
    raw = sentence[first:last]
    text = raw.strip(" ,，:：\u3000")
    if not text.strip("().\"“”'"):
        return []
    scopes, negated = _scopes(text)
    return [Clause(text, first + raw.index(text), negated, _hedge(text), shared or _own(text, section), scopes)]


def _own(text: str, section: tuple[str, ...]) -> Standing:
    if _BOUND_TO.search(text):
        return "required"
    if _PLANNED.search(text) or PLACEHOLDER.search(text):
        return "planned"
    if section and _RULE_HEADING.search(section[-1].strip()) and not _STATE.search(text):
        return "required"
    return "asserted"


def _hedge(text: str) -> str | None:
    found = HEDGES.search(text) or MAY.search(text)
    return " ".join(found[0].lower().split()) if found else None
