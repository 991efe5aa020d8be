"""The visible text of one Markdown paragraph: markup, links' targets, comments and struck text removed, line breaks kept.

A scanner of its own, because the parser's inline tokens do not tell lines and take quadratic time on `[[[[…`: this one is one pass.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate

# A forced line break (two blanks, a backslash, `<br>`, the end of an HTML block element). White space to `str.split` and to `\s`.
BREAK = "\u2028"

_SPECIAL = re.compile(
    r"""(?P<escape>\\[!-/:-@\[-`{-~\n])|(?P<ticks>`++)|(?P<url>https?://[^\s<>()\[\]"'`]++)|(?P<stars>\*++|_++)|(?P<tildes>~++)
    |(?P<open>!?\[)|(?P<close>\])|(?P<comment><!--)|(?P<auto><https?://[^\s<>]++>)|(?P<tag></?[A-Za-z][A-Za-z0-9]{0,15}(?=[\s/>])[^<>]*+>)
    |(?P<entity>&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});)|(?P<hard>(?<![ ])[ ]{2,}+\n)""",
    re.VERBOSE,
)
_TARGET = re.compile(
    r"""\([ \t\n]*+(?P<target><[^<>\n]*+>|[^\s()<>]*+(?:\([^\s()<>]*+\)[^\s()<>]*+){0,4})
    (?:[ \t\n]++(?:"[^"]*+"|'[^']*+'))?+[ \t\n]*+\)""",
    re.VERBOSE,
)
_LABEL = re.compile(r"\[([^\[\]]{0,300})\]")
_TRAILING = ".,;:!?*_~'\""
_HTML = re.compile(
    r"(?:abbr|a|big|blockquote|br|b|cite|code|dd|del|details|div|dl|dt|em|font|h[1-6]|hr|img|ins|i|kbd|li|mark|ol|picture|pre|p|q|samp|script|small"
    r"|source|span|strike|strong|style|sub|summary|sup|s|table|tbody|td|tfoot|th|thead|tr|tt|ul|u|var|video)\Z"
)
_BREAKING = re.compile(r"(?:blockquote|br|dd|details|div|dl|dt|h[1-6]|hr|li|ol|pre|p|summary|table|td|th|tr|ul)\Z")
_STRUCK = frozenset(["del", "s", "strike"])


@dataclass(frozen=True, slots=True)
class CodeSpan:
    """The content of one code span; `start` is its offset in the text that holds it."""

    text: str
    line: int
    start: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    """The address that a link, an image or a bare URL points to, and its line."""

    target: str
    line: int


@dataclass(frozen=True, slots=True)
class Visible:
    """What a reader sees. `text` holds every line break of the source, so that an offset tells its line."""

    text: str
    code_spans: tuple[CodeSpan, ...] = ()
    links: tuple[Link, ...] = ()


@dataclass
class _Run:
    """A run of emphasis marks; those that found a partner are not shown."""

    mark: str
    count: int
    piece: int
    before: str
    after: str

    @property
    def opens(self) -> bool:
        if self.after.isspace() or not self.after:
            return False
        return self.mark != "_" or not self.before.isalnum()

    @property
    def closes(self) -> bool:
        if self.before.isspace() or not self.before:
            return False
        return self.mark != "_" or not self.after.isalnum()


@dataclass
class _Scan:
    source: str
    line: int
    references: frozenset[str]
    pieces: list[str] = field(default_factory=list)
    code: list[tuple[int, str]] = field(default_factory=list)
    links: list[tuple[int, str]] = field(default_factory=list)
    runs: dict[str, list[_Run]] = field(default_factory=dict)
    open_brackets: list[tuple[int, bool]] = field(default_factory=list)
    struck: list[int] = field(default_factory=list)
    erased: list[tuple[int, int]] = field(default_factory=list)
    no_comment_end: bool = False


def visible(source: str, line: int = 1, references: Iterable[str] = ()) -> Visible:
    """The visible text of the paragraph `source`, whose first line is `line`. `references` are the labels that are defined, upper-case."""
    scan = _Scan(source, line, frozenset(references))
    ticks = _tick_runs(source)
    position = 0
    while match := _SPECIAL.search(source, position):
        scan.pieces.append(source[position : match.start()])
        position = _step(scan, match, ticks)
    scan.pieces.append(source[position:])
    return _assembled(scan)


def _step(scan: _Scan, match: re.Match[str], ticks: dict[int, list[int]]) -> int:
    """Handle one special place; the position to go on from."""
    kind, text, end = match.lastgroup, match[0], match.end()
    match kind:
        case "escape":
            scan.pieces.append(text[1:] if text[1] != "\n" else BREAK + "\n")
        case "hard":
            scan.pieces.append(BREAK + "\n")
        case "entity":
            scan.pieces.append(html.unescape(text))
        case "ticks":
            return _code(scan, match, ticks)
        case "url":
            _link(scan, text.rstrip(_TRAILING), match.start())
            scan.pieces.append(text)
        case "auto":
            _link(scan, text[1:-1], match.start())
            scan.pieces.append(text[1:-1])
        case "comment":
            return _comment(scan, match)
        case "tag":
            _tag(scan, text, match.start())
        case "stars" | "tildes":
            _run(scan, match)
        case "open":
            scan.open_brackets.append((len(scan.pieces), text[0] == "!"))
            scan.pieces.append(text)
        case "close":
            return _close(scan, end)
    return end


def _tick_runs(source: str) -> dict[int, list[int]]:
    """Where runs of backticks start, by their length."""
    runs: dict[int, list[int]] = {}
    for match in re.finditer(r"`++", source):
        runs.setdefault(len(match[0]), []).append(match.start())
    return runs


def _code(scan: _Scan, match: re.Match[str], ticks: dict[int, list[int]]) -> int:
    starts = ticks.get(len(match[0]), [])
    index = bisect_right(starts, match.start())
    if index >= len(starts):
        scan.pieces.append(match[0])
        return match.end()
    content = scan.source[match.end() : starts[index]]
    if len(content) > 2 and content[0] == content[-1] == " " and content.strip():
        content = content[1:-1]
    scan.code.append((len(scan.pieces), content))
    scan.pieces.append(content)
    return starts[index] + len(match[0])


def _link(scan: _Scan, target: str, position: int) -> None:
    scan.links.append((position, target))


def _comment(scan: _Scan, match: re.Match[str]) -> int:
    end = -1 if scan.no_comment_end else scan.source.find("-->", match.end())
    if end < 0:
        scan.no_comment_end = True
        scan.pieces.append(match[0])
        return match.end()
    scan.pieces.append(_blank(scan.source[match.start() : end]))
    return end + 3


def _tag(scan: _Scan, text: str, position: int) -> None:
    name = re.match(r"</?([A-Za-z0-9]+)", text)
    tag = name[1].lower() if name else ""
    if not _HTML.match(tag):
        scan.pieces.append(text)
        return
    if tag in _STRUCK:
        if text[1] != "/":
            scan.struck.append(len(scan.pieces))
        elif scan.struck:
            _erase(scan, scan.struck.pop(), len(scan.pieces))
    target = re.search(r"""\b(?:href|src)=["']?([^"'\s>]{1,2000})""", text)
    if target:
        _link(scan, target[1], position)
    scan.pieces.append((BREAK if _BREAKING.match(tag) else "") + _blank(text))


def _run(scan: _Scan, match: re.Match[str]) -> None:
    source, mark = scan.source, match[0][0]
    before = source[match.start() - 1] if match.start() else ""
    after = source[match.end()] if match.end() < len(source) else ""
    run = _Run(mark, len(match[0]), len(scan.pieces), before, after)
    scan.pieces.append(match[0])
    if mark == "~":
        _tilde(scan, run)
        return
    opened = scan.runs.setdefault(mark, [])
    while run.closes and run.count and opened:
        other = opened[-1]
        paired = min(run.count, other.count)
        run.count -= paired
        other.count -= paired
        scan.pieces[other.piece] = mark * other.count
        scan.pieces[run.piece] = mark * run.count
        if not other.count:
            opened.pop()
    if run.opens and run.count:
        opened.append(run)


def _tilde(scan: _Scan, run: _Run) -> None:
    """`~~struck~~` and `~struck~`. A single one between letters or digits, or before a number alone, is a range or "about"."""
    if run.count > 2:
        return
    opened = scan.runs.setdefault("~" * run.count, [])
    if run.closes and opened and not (run.count == 1 and run.after.isalnum()):
        first = opened.pop()
        _erase(scan, first.piece, run.piece + 1)
        opened.clear()
    elif run.opens and not (run.count == 1 and (run.before.isalnum() or run.after.isdigit())):
        opened.append(run)


def _close(scan: _Scan, end: int) -> int:
    """`]`: the end of a link's text, or a plain bracket."""
    if not scan.open_brackets:
        scan.pieces.append("]")
        return end
    piece, image = scan.open_brackets.pop()
    target = _TARGET.match(scan.source, end)
    if target:
        _link(scan, target["target"].strip("<>"), end)
        return _linked(scan, piece, image, _blank(target[0]), target.end())
    label = _LABEL.match(scan.source, end)
    if label and _reference(label[1] or "".join(scan.pieces[piece + 1 : piece + 40])) in scan.references:
        return _linked(scan, piece, image, _blank(label[0]), label.end())
    if len(scan.pieces) - piece < 40 and _reference("".join(scan.pieces[piece + 1 :])) in scan.references:
        return _linked(scan, piece, image, "", end)
    scan.pieces.append("]")
    return end


def _linked(scan: _Scan, piece: int, image: bool, rest: str, end: int) -> int:
    if image:
        _erase(scan, piece, len(scan.pieces))
    scan.pieces[piece] = ""
    scan.pieces.append(rest)
    return end


def _reference(label: str) -> str:
    return " ".join(label.split()).lower().upper()


def _erase(scan: _Scan, first: int, last: int) -> None:
    """Nothing of these pieces will be visible; their line breaks stay. Nested ranges are put together once, at the end."""
    scan.erased.append((first, last))


def _hidden(scan: _Scan) -> list[bool]:
    """For each piece, whether it was erased."""
    steps = [0] * (len(scan.pieces) + 1)
    for first, last in scan.erased:
        steps[first] += 1
        steps[last] -= 1
    return [depth > 0 for depth in accumulate(steps)]


def _blank(text: str) -> str:
    return "\n" * text.count("\n")


def _assembled(scan: _Scan) -> Visible:
    hidden = _hidden(scan)
    pieces = [_blank(piece) if hidden[index] else piece for index, piece in enumerate(scan.pieces)]
    offsets = list(accumulate((len(piece) for piece in pieces), initial=0))
    text = "".join(pieces)
    breaks = [match.start() for match in re.finditer("\n", text)]
    source_breaks = [match.start() for match in re.finditer("\n", scan.source)] if scan.links else []
    code = [(offsets[piece], content) for piece, content in scan.code if not hidden[piece]]
    return Visible(
        text,
        tuple(CodeSpan(content, scan.line + bisect_left(breaks, start), start) for start, content in code),
        tuple(Link(target, scan.line + bisect_right(source_breaks, position)) for position, target in scan.links),
    )
