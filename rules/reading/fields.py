"""What the body of an issue holds under which label, what a label asks for, and whether a text is an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

BODY_LIMIT = 256 * 1024
LINE_LIMIT = 4096


@dataclass(frozen=True, slots=True)
class Field:
    """One question of a form. `line` is that of its `required: true`; `options` are the boxes that must be ticked."""

    id: str
    label: str
    kind: str
    required: bool
    line: int | None = None
    placeholder: str = ""
    value: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One answer in a body: its label (a heading, `Label: value`, a table's first cell), the label's line, level (0 for a line) and text.

    first, last  the lines of the text; equal to `line` where there is none
    """

    label: str
    line: int
    level: int
    text: str
    first: int
    last: int


_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(\S[^\n]{0,300}?)[ \t#]*\Z")
_BOLD_HEADING = re.compile(r" {0,3}(?:\*\*|__)([^*_\n]{2,80}?)[:：]?(?:\*\*|__)[ \t]*[:：]?[ \t]*\Z")
_BOLD_VALUE = re.compile(
    r"[ \t>]{0,8}(?:[-*+][ \t]+)?(?:\*\*|__)([^*_\n]{2,80}?)[ \t]*[:：]?(?:\*\*|__)[ \t]*(?:[:：]|[-–—]|[ \t])[ \t]*(\S[^\n]*)\Z"
)
_LABELLED = re.compile(
    r"[ \t]{0,8}(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?`?([^:：|`*\n]{2,80}?)`?[ \t]*(?::[ \t]+|：[ \t]*|:(?=[@`]))(\S[^\n]*)\Z"
)
_OPEN_LABEL = re.compile(r"[ \t]{0,8}(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?([^:：|`*\n]{2,80}?)[ \t]*[:：][ \t]*\Z")
_ROW = re.compile(r"[ \t]{0,3}\|[ \t]*([^|\n]{1,100}?)[ \t]*\|[ \t]*([^|\n]{0,500}?)[ \t]*\|")
_INLINE = re.compile(r"(?<=[.;,。；，])\s*((?:[A-Z]|[\u4e00-\u9fff])[^:：.;,。；，`|\n]{1,60}?)(?::[ \t]+|：[ \t]*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_COMMENT = re.compile(r"<!--(?:(?!-->)[\s\S])*+(?:-->|\Z)")


def body_lines(body: str) -> list[tuple[str, bool]]:
    """Each line with HTML comments blanked out, and whether it lies in a code fence."""
    text = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), body[:BODY_LIMIT])
    made: list[tuple[str, bool]] = []
    fence = ""
    for line in (raw[:LINE_LIMIT].rstrip() for raw in text.split("\n")):
        mark = _FENCE.match(line)
        if fence:
            made.append((line, True))
            fence = "" if mark and mark[1].startswith(fence) else fence
            continue
        fence = mark[1] if mark else ""
        made.append((line, bool(mark)))
    return made


def parts(body: str, known: Iterable[str] = ()) -> tuple[Part, ...]:
    """Every labelled part of `body`, in order of line. A heading's text ends at the next heading of its level or above.

    known  labels of a form: where most of them are headings, the body was rendered by GitHub, and a heading that an answer holds itself
           ends nothing
    """
    lines = body_lines(body)
    headings = [(number, *found) for number, (line, fenced) in enumerate(lines, 1) if not fenced and (found := _heading(line))]
    wanted = {normal(label) for label in known}
    rendered = bool(wanted) and 2 * len(wanted & {normal(label) for _, _, label in headings}) >= len(wanted)
    made = [_section(lines, headings, i, wanted if rendered else None) for i in range(len(headings))]
    for number, (line, fenced) in enumerate(lines, 1):
        if not fenced:
            whole = _line_part(lines, number, line)
            made += [*([whole] if whole else []), *_inline_parts(number, line)]
    return tuple(sorted(made, key=lambda part: (part.line, part.level == 0)))


def _heading(line: str) -> tuple[int, str] | None:
    match = _HEADING.match(line)
    if match:
        return len(match[1]), match[2]
    bold = _BOLD_HEADING.match(line)
    return (7, bold[1]) if bold else None


def _section(lines: list[tuple[str, bool]], headings: list[tuple[int, int, str]], i: int, wanted: set[str] | None) -> Part:
    start, level, label = headings[i]

    known = wanted is not None and normal(label) in wanted

    def ends(other: tuple[int, int, str]) -> bool:
        return (wanted is not None and normal(other[2]) in wanted) or (not known and other[1] <= level)

    later = (headings[j] for j in range(i + 1, len(headings)))
    end = next((other[0] - 1 for other in later if ends(other)), len(lines))
    return _part(label, start, level, [line for line, _ in lines[start:end]])


def _part(label: str, line: int, level: int, below: list[str]) -> Part:
    """A part whose text stands in the lines below its label; blank lines around it are left out."""
    filled = [i for i, text in enumerate(below) if text.strip()]
    if not filled:
        return Part(label, line, level, "", line, line)
    first, last = filled[0], filled[-1]
    return Part(label, line, level, "\n".join(below[first : last + 1]), line + 1 + first, line + 1 + last)


def _line_part(lines: list[tuple[str, bool]], number: int, line: str) -> Part | None:
    """`Label: value`, `**Label** value`, `| Label | value |`, or `Label:` with a list or paragraph right below it."""
    if _HEADING.match(line):
        return None
    match = _BOLD_VALUE.match(line) or _ROW.match(line) or _LABELLED.match(line)
    if match:
        return Part(match[1].strip(), number, 0, match[2].strip(), number, number)
    opened = _OPEN_LABEL.match(line)
    if not opened or _BOLD_HEADING.match(line):
        return None
    end = number
    while end < len(lines) and end - number < 60 and not _heading(lines[end][0]) and (lines[end][0].strip() or end == number):
        end += 1
    return _part(opened[1].strip(), number, 0, [text for text, _ in lines[number:end]])


def _inline_parts(number: int, line: str) -> list[Part]:
    """The later ones of several `Label: value` sentences on one line: "Owner: @mara. Stop condition: end of the year."."""
    found = list(_INLINE.finditer(line))
    if not found or _HEADING.match(line):
        return []
    ends = [match.start() for match in found[1:]] + [len(line)]
    texts = [line[match.end() : end].strip().rstrip(".;,。；，") for match, end in zip(found, ends, strict=True)]
    return [Part(match[1].strip(), number, 0, text, number, number) for match, text in zip(found, texts, strict=True) if text]


def normal(label: str) -> str:
    """A label for comparison: casefolded words without marks; a bracketed remark ("(required)") is left out."""
    bare = re.sub(r"[(（][^()（）]{0,80}[)）]", " ", label.casefold())
    return " ".join(re.findall(r"[^\W_]+", bare))


# ---------------------------------------------------------------- what a field means

CONCEPTS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern)
    for name, pattern in {
        "acceptance_owner": r"accept\w* (?:owner|by|authority)|accepted by|approv(?:er|ed by|al owner)|sign ?off|who accepts|验收人|验收负责人|批准人|审批人",
        "campaign_id": r"(?:campaign|experiment|study|effort) (?:id|identifier|name|slug|key|code)\Z|(?:id|name) of the campaign"
        r"|\Acampaign\Z|活动 ?(?:id|编号|名称|标识)|战役 ?(?:id|编号|名称)|实验 ?(?:id|编号)",
        "evidence_path": r"(?:evidence|bundle|artifacts?) (?:paths?|dir(?:ectory|ectories)?|folders?|locations?|roots?|trees?|bundles?)\b"
        r"|\Aevidence\Z|\Abundles?\Z|(?:path|directory|folder|location) (?:of|to|for) the (?:evidence|bundle)|证据 ?(?:路径|目录|位置|包)|\A证据\Z",
        "candidate": r"\bcandidates?(?: \w+){0,2} (?:revisions?|commits?|sha|shas|hash|id|ref|version|build)\b|\Acandidates?\Z|\bcandidate sha\b"
        r"|(?:revision|commit|sha) (?:of the candidate|under test)|候选 ?(?:版本|修订|提交|commit|sha|revision)?\Z|候选(?:版本|修订|提交)",
        "baseline": r"\b(?:baseline|control|reference)(?: \w+){0,2} (?:revisions?|commits?|sha|hash|ref|version)\b|\bbaseline\Z|基线|基准(?:版本|提交|修订)",
        "gates": r"\bgates?\b|\baccept\w* (?:criteria|criterion|rules?|checklist|thresholds?|conditions?|limits?|bar)\b"
        r"|\b(?:success|pass|passing|qualification) (?:criteria|criterion|rules?|thresholds?|conditions?|limits?)\b|门槛|门限|验收(?:标准|条件|准则|规则)|通过(?:标准|条件)|准入",
        "owner": r"\bowners?\b|\bresponsible\b|\bdri\b|\baccountable\b|\bmaintainers?\b|\bcontact\b|\bassignee\b|\bled by\b|\blead\b|负责人|责任人|归属|所有者",
        "stop": r"\b(?:stop|stops|stopping|abort|exit|termination|terminate|halt|kill|end)(?: the \w+)? (?:conditions?|rules?|criteria|criterion|points?|limits?)\b"
        r"|\bstop\Z|\bwhen (?:do|does|will|to|it) (?:we |it |the campaign )?stops?\b|\bstops? when\b|停止|终止|中止|退出条件|结束条件",
    }.items()
}
"""What a campaign has to declare, by the words that head it. In order: the first that matches names the field."""

_REVISION = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,40}(?![0-9A-Za-z])|\bv\d+(?:\.\d+)+\b", re.IGNORECASE)
_UNSELECTED = re.compile(
    r"\bunselected\b|\bunchosen\b|\b(?:not|none|nothing)(?: is| are| has been| was)?(?: yet)? (?:selected|chosen|picked)\b"
    r"|\bno candidate(?: is| has been| was)?(?: yet)? (?:selected|chosen|picked)\b|未选定|未选择|尚未选|暂未选|没有选定",
    re.IGNORECASE,
)
_SLUG = re.compile(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)+")
_PATHLIKE = re.compile(r"[\w.\-]+/[\w.\-/<>{},*]*")


def concept(label: str) -> str | None:
    """Which part of a campaign's declaration `label` asks for, or None."""
    words = normal(label)
    return next((name for name, pattern in CONCEPTS.items() if pattern.search(words)), None)


def concepts(label: str) -> frozenset[str]:
    """All that a joint label asks for: "Owner and acceptance owner" asks for both."""
    return frozenset(name for part in _JOINT.split(label) if (name := concept(part)))


_JOINT = re.compile(r"\s+(?:and|&|or)\s+|[/、,，]|及|和|与")


def fits(name: str, text: str) -> bool:
    """True when `text` has the shape that a loosely matched part must have to answer `name`."""
    match name:
        case "candidate" | "baseline":
            return bool(_REVISION.search(text) or _UNSELECTED.search(text))
        case "campaign_id":
            return len(text) <= 120 and bool(_SLUG.search(text) or re.fullmatch(r"`?[\w-]{2,60}`?[.。]?", text.strip()))
        case "evidence_path":
            return bool(_PATHLIKE.search(text))
        case _:
            return True


# ---------------------------------------------------------------- answered or not

_BLANKS = re.compile(r"_?no (?:response|answer|reply)(?: (?:given|provided|yet))?_?", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"(?:tbd|tba|tbc|tbh|todo|to[- ]do|fixme|wip|xxx+|(?:lorem|placeholder|fill(?: me| this)?(?: in| out)?)\b.{0,40}"
    r"|(?:it |this |they |that )?(?:(?:is|are|will|shall|must|should) )?(?:still )?(?:yet )?to be "
    r"(?:decided|determined|defined|filled|announced|confirmed|added|set|named|chosen|selected|specified|agreed|provided|written|done|clarified|supplied|completed|advised)"
    r"|(?:will|shall) (?:be )?(?:decided?|determined?|defined?|filled|announced?|confirm(?:ed)?|add(?:ed)?|named?|cho(?:ose|sen)|selected|specif(?:y|ied)|follow|come|provided?)(?: later)?"
    r"|(?:not|none|nothing)(?: is| are)?(?: yet)? (?:decided|determined|defined|known|set|named|specified|agreed|available|filled(?: in)?)(?: yet)?"
    r"|undecided|undefined|unspecified|later|pending|coming soon|same as above|please (?:select|choose|fill|enter).{0,60}|(?:select|choose) (?:one|an option).{0,40}"
    r"|待定|待补充?|待填写?|待确定|待确认|待决定|待更新|待添加|未定|尚未(?:确定|决定|填写)|暂缺|以后补|稍后补充?|后续补充?|占位)",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"(?:n ?/ ?a|na|nil|none|null|nothing|no|unknown|not applicable|not available|无|没有|暂无|不适用|未知|空)", re.IGNORECASE)
_TOKEN_ONLY = re.compile(r"(?:<[^<>\n]{1,80}>|\{\{[^{}\n]{1,80}\}\}|\$\{[^{}\n]{1,80}\}|\[[^\[\]\n]{1,60}\]|[-–—.…?*_~·。？/\\ ]{1,40})")
_TEMPLATE_PATH = re.compile(r"[\w./-]*<[A-Za-z][\w -]{1,40}>[\w./{},-]*")
_MENTION_TEMPLATE = re.compile(r"@(?:login|user(?:name)?|owner|handle|name|someone|todo|tbd|your-?(?:login|name|handle))", re.IGNORECASE)


def _bare(text: str) -> str:
    """The words of an answer: without list marks, emphasis, quotes, closing marks and fences."""
    text = re.sub(r"^[ \t]*(?:`{3,}|~{3,})\w*[ \t]*$", " ", text, flags=re.MULTILINE)
    text = re.sub(r"^[ \t]*(?:[-*+]|\d{1,3}[.)])?[ \t]*(?:\[[ ]?\])?[ \t]+", " ", text, flags=re.MULTILINE)
    return " ".join(text.split()).strip(" \t`*_\"'“”‘’!！.。,，;；:：")


def is_blank(text: str, name: str | None = None, placeholder: str = "", value: str = "") -> bool:
    """True for an empty answer, `_No response_`, a placeholder, or the form's own text left as it was.

    name  the concept of the field: for a part of a campaign's declaration "none" and "n/a" are no answers; elsewhere they may be
    """
    bare = _bare(text)
    if not bare or _BLANKS.fullmatch(bare) or _TOKEN_ONLY.fullmatch(bare) or _TEMPLATE_PATH.fullmatch(bare) or _MENTION_TEMPLATE.fullmatch(bare):
        return True
    if name == "candidate" and _UNSELECTED.search(bare):
        return False
    if name is not None and _NOTHING.fullmatch(bare):
        return True
    if any(own and bare == _bare(own) for own in (placeholder, value)):
        return True
    return _starts_as_placeholder(bare)


def _starts_as_placeholder(bare: str) -> bool:
    """A placeholder word, alone or with a short remark that gives no value ("TBD by the requester", "to be decided after bringup")."""
    match = _PLACEHOLDER.match(bare)
    if not match:
        return False
    rest = bare[match.end() :]
    if rest[:1].isalnum() and rest[:1].isascii() and bare[match.end() - 1].isascii():
        return False
    return len(rest) <= 100 and not re.search(r"[0-9a-f]{7,40}|\d+ ?(?:%|hours?|h\b|runs?|s\b|小时)|[\w-]+/[\w-]+|@\w", rest)


def ticked(part_text: str, options: tuple[str, ...]) -> bool:
    """True when every option that must be ticked is; without such, when any is."""
    done = {normal(line) for line in re.findall(r"^[ \t]*[-*+][ \t]+\[[xX]\][ \t]+(.{1,400})$", part_text, re.MULTILINE)}
    return all(any(normal(option) in line or line in normal(option) for line in done) for option in options) if options else bool(done)


@dataclass(frozen=True)
class Answer:
    """What a body says to one field: the part that answers it, or the parts under its heading that do not."""

    field: Field
    part: Part | None = None
    empty: tuple[Part, ...] = ()


def answer(field: Field, held: tuple[Part, ...], others: frozenset[str] = frozenset(), aliases: tuple[str, ...] = ()) -> Answer:
    """How `held` (a body's parts) answers `field`.

    others   normal labels of the form's other fields: a part that is another field's own answers this one not
    aliases  other headings that answer it, from the config
    """
    own = {normal(label) for label in (field.label, field.id.replace("_", " ").replace("-", " "), *aliases) if label}
    name = concept(field.label) or concept(field.id.replace("_", " ").replace("-", " "))
    exact = [part for part in held if normal(part.label) in own]
    loose = [part for part in held if part not in exact and normal(part.label) not in others and _related(name, own, part)]
    tests: list[tuple[list[Part], Callable[[Part], bool]]] = [
        (exact, lambda part: _answered(field, name, part)),
        (loose, lambda part: _answered(field, name, part) and (name is None or fits(name, part.text))),
    ]
    for group, good in tests:
        found = next((part for part in group if good(part)), None)
        if found:
            return Answer(field, found)
    return Answer(field, None, tuple(exact or (part for part in loose if is_blank(part.text, name))))


def _answered(field: Field, name: str | None, part: Part) -> bool:
    if field.kind == "checkboxes":
        return ticked(part.text, field.options)
    return not is_blank(part.text, name, field.placeholder, field.value)


def _related(name: str | None, own: set[str], part: Part) -> bool:
    """The same concept, or for a field of no known concept all words of one label in the other."""
    if name is not None:
        return concept(part.label) == name or name in concepts(part.label)
    words = {_stem(word) for word in normal(part.label).split()} - _SMALL
    return any(
        mine and words and (mine <= words or (len(words) > 1 and words <= mine))
        for mine in ({_stem(w) for w in label.split()} - _SMALL for label in own)
    )


_SMALL = frozenset(["the", "a", "an", "of", "to", "for", "and", "or", "in", "on", "is", "are", "your", "this", "that"])


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
