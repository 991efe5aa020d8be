"""Statements: the sentences of a text with their lines, their clauses, and whether the author asserts, reports, withdraws or plans them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from rules.core.model import Location, Role, Snapshot, Tree
from rules.reading.clauses import Clause, Standing, clauses
from rules.reading.conversation import Text
from rules.reading.inline import CodeSpan
from rules.reading.markdown import Block, Kind, Markdown, markdown, markdown_of
from rules.reading.words import Family, has_word

__all__ = [
    "Clause",
    "Mention",
    "Sentence",
    "Standing",
    "Statement",
    "asserted",
    "has_word",
    "mentions",
    "sentences",
    "statements",
    "string_statements",
    "text_statements",
]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: `text` with white space normalised, the lines it covers, and its offsets in the text it was taken from."""

    text: str
    line: int
    end_line: int
    start: int
    end: int


@dataclass(frozen=True)
class Statement:
    """One sentence of a text and how it stands. Its clauses are read when they are asked for: look at the text first.

    path        file path, `pull:body`, `issue:comment:<id>`, or "" for a string
    line        first and `end_line` last source line of the sentence itself, 1-based
    section     the headings above it, outermost first
    kind        the block it stands in: paragraph, item, heading, row, quote, html, code, or string
    code_spans  the content of its code spans, with their lines
    decided     how all of it stands, where the block (quoted, an open task) or a following sentence ("that was wrong") decides
    """

    path: str
    text: str
    line: int
    end_line: int
    section: tuple[str, ...]
    kind: Kind | str
    code_spans: tuple[CodeSpan, ...] = ()
    decided: Standing | None = None

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """Its clauses in order; in a mixed sentence each has its own standing."""
        found = clauses(self.text, self.section)
        return tuple(replace(clause, standing=self.decided) for clause in found) if self.decided else found

    @property
    def standing(self) -> Standing:
        """Of the sentence: what is decided for all of it, else that of its first clause."""
        return self.decided or (self.clauses[0].standing if self.clauses else "asserted")

    def location(self, role: Role = "claim") -> Location:
        """Where it stands, with its text as the anchor."""
        return Location(self.path, line=self.line, end_line=self.end_line, role=role, text=self.text)


@dataclass(frozen=True, slots=True)
class Mention:
    """A word found in a statement. `negated`: it is denied at that place; `hedge` and `standing` are its clause's."""

    statement: Statement
    clause: Clause
    match: re.Match[str]
    negated: bool

    @property
    def hedge(self) -> str | None:
        return self.clause.hedge

    @property
    def standing(self) -> Standing:
        return self.clause.standing

    @property
    def is_claimed(self) -> bool:
        """True when the author says it, without denying and without a hedge."""
        return not self.negated and self.hedge is None and self.standing == "asserted"


# ---------------------------------------------------------------- sentences

_ABBREVIATION = re.compile(
    r"(?:(?<![A-Za-z])(?:e\.g|i\.e|vs|cf|etc|approx|resp|incl|excl|ca|fig|figs|eq|eqs|sec|ref|refs|ed|eds|al|dr|mr|ms|mrs|prof|st|jr|sr|inc|ltd|co|dept|est|min|max|avg"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|a\.k\.a|w\.r\.t)|(?:^|\n)[ \t]*\d{1,3})\Z",
    re.IGNORECASE,
)
_BORDER = re.compile(
    r"(?P<hard>\u2028|\n[ \t]*\n)"
    r"|(?P<zh>[。！？][。！？…]*+[\"'”’）)」』】]*+)"
    r"|(?P<latin>\.{3}|…|[.!?]++)[\"'”’)\]」』]*+(?=\s|\Z|[\u3400-\u9fff])"
    r"|(?P<line>\n)(?=[ \t]*(?:[-*+•·‣▪][ \t]|\d{1,3}(?:[.)][ \t]|、)|(?:[A-Z][\w/().-]{0,24}(?:[ ][\w/().#-]{1,24}){0,4}|[\u3400-\u9fff]{1,12}|[A-Z][A-Za-z-]{1,30})[ ]?[:：](?:\s|[\u3400-\u9fff])))"
)
_BULLET = re.compile(r"\A[-*+•·‣▪] ")
_WORD = re.compile(r"\w")
# More in one text are a dump, not sentences: a text at the limit of reading has 13 bytes for each.
MOST_SENTENCES = 20_000
_CJK = r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]"
_SOFT_ZH = re.compile(rf"(?<={_CJK})\s*\n\s*(?={_CJK})")


def sentences(text: str, line: int = 1) -> tuple[Sentence, ...]:
    """The sentences of `text`, whose first line is `line`. Soft line breaks join; bullets and `Label:` lines begin anew."""
    breaks = [match.start() for match in re.finditer("\n", text)]
    made = []
    for first, last in islice(_spans(text), MOST_SENTENCES):
        words = _BULLET.sub("", _normal(text[first:last]), count=1)
        if _WORD.search(words):
            first += len(text[first:last]) - len(text[first:last].lstrip())
            last = first + len(text[first:last].rstrip())
            made.append(Sentence(words, line + bisect_right(breaks, first - 1), line + bisect_right(breaks, last - 1), first, last))
    return tuple(made)


def _spans(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    for match in _BORDER.finditer(text):
        if match["latin"] and not _ends(text, match, position):
            continue
        if match.end() > position:
            yield position, match.end()
            position = match.end()
    yield position, len(text)


def _ends(text: str, match: re.Match[str], first: int) -> bool:
    """False for the point of an abbreviation, a list's number, or dots that only pause."""
    following = text[match.end() : match.end() + 4].lstrip()[:1]
    mark = match["latin"]
    if mark in ("...", "…"):
        return not following.islower() and following != ""
    if mark != ".":
        return True
    before = text[max(first, match.start() - 12) : match.start()]
    if before.lower().endswith(("no", "nos", "p", "pp")) and following.isdigit() and not before[-3:-2].isalnum():
        return False
    found = _ABBREVIATION.search(before)
    return found is None or (found[0].lower() in _MAY_END and following.isupper())


# These abbreviations also end sentences.
_MAY_END = frozenset(["etc", "min", "max", "avg", "al", "inc", "co", "ltd", "ref", "est", "ed", "sec"])


def _normal(text: str) -> str:
    """One line; between Chinese characters a line break is nothing, elsewhere it is a blank."""
    return " ".join((_SOFT_ZH.sub("", text) if "\n" in text else text).split())


# ---------------------------------------------------------------- statements


def statements(snapshot: Snapshot, path: str, tree: Tree | None = None) -> tuple[Statement, ...]:
    """The statements of the Markdown file at `path` (of `tree`, default head), kept by object id; none where it cannot be read."""
    entry = (tree or snapshot.head).files.get(path)
    if entry is None:
        return ()
    found = markdown(snapshot, path, tree)
    return snapshot.cache.fleeting("statements:" + path, entry.oid, max(entry.size, 0) * 16, lambda: of_markdown(found)) if found else ()


def text_statements(snapshot: Snapshot, text: Text) -> tuple[Statement, ...]:
    """The statements of one text of a pull or an issue (a title, a body, a comment)."""
    return snapshot.memo(("statements of", text), lambda: of_markdown(markdown_of(snapshot, text)))


def string_statements(value: str, path: str = "") -> tuple[Statement, ...]:
    """The statements in a string of a document: no Markdown, lines counted from 1 in the string."""
    return _corrected([Statement(path, s.text, s.line, s.end_line, (), "string") for s in sentences(value[:_STRING])])


_STRING = 256 * 1024


def of_markdown(document: Markdown | None) -> tuple[Statement, ...]:
    """The statements of a document that was read, quoted blocks included as such; code blocks and HTML comments hold none."""
    if document is None:
        return ()
    return _corrected(
        [
            one
            for block in document.blocks
            if block.kind != "code" and not (block.kind == "html" and block.quoted)
            for one in _of_block(document.path, block)
        ]
    )


def _of_block(path: str, block: Block) -> Iterator[Statement]:
    for sentence in sentences(block.text, block.line):
        spans = tuple(span for span in block.code_spans if sentence.start <= span.start < sentence.end)
        last = min(sentence.end_line, block.end_line)
        decided: Standing | None = "quoted" if block.quoted else "planned" if block.checked is False else None
        yield Statement(path, sentence.text, min(sentence.line, last), last, block.section, block.kind, spans, decided)


_CORRECTS = re.compile(
    r"(?:that|this|it|which|the (?:above|previous|preceding|earlier|quoted)(?: \w{2,12})?|the (?:sentence|statement|claim|line)(?: above)?)\s+(?:\w{2,8}\s+)?"
    r"(?:was|were|is|has been)\s+(?:\w{2,10}\s+)?(?:wrong|false|incorrect|inaccurate|mistaken|withdrawn|retracted|an error|a mistake|untrue|not true|not correct)(?![A-Za-z])"
    r"|(?:这|该|此|上述|以上|上面)(?:一)?(?:句|点|处|说法|表述|结论|描述|陈述)?(?:话)?(?:是|系|属|为)?(?:错误|错的|不正确|不准确|不实|有误|不成立)|(?:这|该|此|上述|以上)(?:说法|表述|结论|描述)?(?:已|现已)(?:撤回|更正|撤销)",
    re.IGNORECASE,
)


def _corrected(made: list[Statement]) -> tuple[Statement, ...]:
    """A sentence that the next one calls wrong is withdrawn."""
    for index in range(1, len(made)):
        one, before = made[index], made[index - 1]
        if _CORRECTS.match(one.text):
            made[index] = replace(one, decided="asserted")
            made[index - 1] = replace(before, decided="withdrawn")
    return tuple(made)


# ---------------------------------------------------------------- asking


def asserted(made: Iterable[Statement]) -> Iterator[tuple[Statement, Clause]]:
    """Every clause that the author asserts, with its statement."""
    return ((one, clause) for one in made for clause in one.clauses if clause.standing == "asserted")


def mentions(statement: Statement, words: Family) -> Iterator[Mention]:
    """Every place where a word of `words` stands in a clause of `statement`, with its polarity there."""
    for clause in statement.clauses if words.search(statement.text) else ():
        for match in words.finditer(clause.text):
            yield Mention(statement, clause, match, clause.denies(match.start()))
