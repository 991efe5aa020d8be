"""Markdown as blocks of visible text with their source lines: what the author says, apart from what is code, quoted or commented out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

from rules.core.config import Limits
from rules.core.model import Missing, Snapshot, Tree
from rules.reading.conversation import Text
from rules.reading.inline import CodeSpan, Link, Visible, visible

__all__ = ["Block", "CodeSpan", "Kind", "Link", "Markdown", "Row", "Table", "markdown", "markdown_of", "read_markdown", "spoken"]

Kind = Literal["paragraph", "item", "heading", "row", "code", "quote", "html"]
CELL = " | "
NESTING = 24
# What the block parser reads in half a second: lines, and lines times the deepest run of quote or list marks (it re-reads per level).
LINES = 40_000
WORK = 240_000
_CONTAINERS = re.compile(r"[ \t]*+(?:(?:>|[-+*]|\d{1,9}[.)])[ \t]*+){1,1000}+")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?:(?!---|\.\.\.).{0,2000}\n){0,200}?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_BOX = re.compile(r"\[([ xX])\][ \t]+")
_UNSPOKEN = re.compile(r"\s*<(?:!--|\?|![A-Z]|!\[CDATA|pre\b|script\b|style\b|blockquote\b|code\b|textarea\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, list item's paragraph, heading, table row, code block or HTML block.

    text      what is visible; it holds the source's line breaks, so the line of an offset is `line_at(offset)`; cells are joined with ` | `
    line      first and `end_line` last source line, 1-based
    section   the headings above it, outermost first
    quoted    not the author's own words: in a blockquote, a code block or an HTML comment
    checked   the state of a task list's box, None without one
    """

    kind: Kind
    text: str
    line: int
    end_line: int
    section: tuple[str, ...] = ()
    quoted: bool = False
    code_spans: tuple[CodeSpan, ...] = ()
    links: tuple[Link, ...] = ()
    checked: bool | None = None

    def line_at(self, offset: int) -> int:
        """The source line of a place in `text`."""
        return min(self.line + self.text.count("\n", 0, offset), self.end_line)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table."""

    cells: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Table:
    """One table outside of quotes and code."""

    header: tuple[str, ...]
    rows: tuple[Row, ...]
    section: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Markdown:
    """One document."""

    path: str
    blocks: tuple[Block, ...]
    tables: tuple[Table, ...] = ()


def read_markdown(text: str, path: str = "", limits: Limits | None = None) -> Markdown | None:
    """The document in `text`; None above the limits of reading (bytes, lines, table cells, nesting times lines)."""
    limits = limits or Limits()  # type: ignore[call-arg]
    text = text.replace("\r\n", "\n").replace("\r", " ").removeprefix("\ufeff")
    if len(text.encode("utf-8", "replace")) > limits.markdown or _too_much_work(text):
        return None
    text = _FRONT_MATTER.sub(lambda match: "\n" * match[0].count("\n"), text, count=1) if text.startswith("---") else text
    environment: dict[str, Any] = {}
    tokens = _parser().parse(text, environment)
    if sum(token.type in ("th_open", "td_open") for token in tokens) > limits.table_cells:
        return None
    return _Reader(path, frozenset(environment.get("references", ()))).read(tokens)


def _too_much_work(text: str) -> bool:
    lines = text.split("\n")
    deepest = max((sum(c in ">-+*.)" for c in match[0]) for line in lines if (match := _CONTAINERS.match(line))), default=0)
    return len(lines) > LINES or len(lines) * min(deepest, NESTING) > WORK


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    """CommonMark's blocks and GitHub's tables. Inline markup is read by `inline.visible`, which knows lines and is linear."""
    return MarkdownIt("commonmark", {"maxNesting": NESTING}).enable("table").disable("inline")


@dataclass
class _Reader:
    path: str
    references: frozenset[str]
    blocks: list[Block] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    quotes: int = 0
    items: list[bool] = field(default_factory=list)
    opened: str = ""
    level: int = 0
    row: list[str] = field(default_factory=list)
    row_parts: list[Visible] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    line: int = 1
    table_line: int = 1

    def read(self, tokens: list[Token]) -> Markdown:
        for token in tokens:
            self._token(token)
        return Markdown(self.path, tuple(self.blocks), tuple(self.tables))

    @property
    def section(self) -> tuple[str, ...]:
        return tuple(text for _, text in self.headings)

    def _token(self, token: Token) -> None:
        self.line = token.map[0] + 1 if token.map else self.line
        match token.type:
            case "blockquote_open":
                self.quotes += 1
            case "blockquote_close":
                self.quotes -= 1
            case "list_item_open":
                self.items.append(True)
            case "list_item_close":
                self.items.pop()
            case "paragraph_open":
                self.opened = "item" if self.items else "paragraph"
            case "heading_open":
                self.opened, self.level = "heading", int(token.tag[1:])
            case "fence" | "code_block":
                self._code(token)
            case "html_block":
                self._html(token)
            case "inline":
                self._inline(token)
            case _:
                self._table(token)

    def _table(self, token: Token) -> None:
        match token.type:
            case "table_open":
                self.rows, self.table_line = [], self.line
            case "tr_open":
                self.row, self.row_parts = [], []
            case "th_open" | "td_open":
                self.opened = "row"
            case "tr_close":
                self._row()
            case "table_close" if self.rows and not self.quotes:
                self.tables.append(Table(self.rows[0].cells, tuple(self.rows[1:]), self.section, self.table_line))

    def _row(self) -> None:
        self.rows.append(Row(tuple(" ".join(cell.split()) for cell in self.row), self.line))
        spans: list[CodeSpan] = []
        links: list[Link] = []
        start = 0
        for part in self.row_parts:
            spans += [CodeSpan(span.text, span.line, span.start + start) for span in part.code_spans]
            links += part.links
            start += len(part.text) + len(CELL)
        self._add("row", Visible(CELL.join(self.row), tuple(spans), tuple(links)), self.line, self.line)

    def _inline(self, token: Token) -> None:
        first, last = (token.map[0] + 1, token.map[1]) if token.map else (self.line, self.line)
        part = visible(token.content, first, self.references)
        if self.opened == "row":
            self.row.append(part.text)
            self.row_parts.append(part)
            return
        if self.opened == "heading":
            self._heading(part, first, last)
            return
        box = _BOX.match(token.content) if self.opened == "item" else None
        if box:
            part = visible(token.content[box.end() :], first, self.references)
        self._add("item" if self.opened == "item" else "paragraph", part, first, last, checked=box[1] != " " if box else None)

    def _heading(self, part: Visible, first: int, last: int) -> None:
        if not self.quotes:
            while self.headings and self.headings[-1][0] >= self.level:
                self.headings.pop()
        self._add("heading", part, first, last)
        if not self.quotes:
            self.headings.append((self.level, " ".join(part.text.split())))

    def _code(self, token: Token) -> None:
        first, last = (token.map[0] + 1, token.map[1]) if token.map else (self.line, self.line)
        first = min(first + (token.type == "fence"), last)
        self.blocks.append(Block("code", token.content, first, last, self.section, quoted=True))

    def _html(self, token: Token) -> None:
        first, last = (token.map[0] + 1, token.map[1]) if token.map else (self.line, self.line)
        unspoken = bool(_UNSPOKEN.match(token.content))
        part = Visible(token.content) if unspoken else visible(token.content, first, self.references)
        if part.text.strip():
            self._add("html", part, first, last, quoted=unspoken)

    def _add(self, kind: Kind, part: Visible, first: int, last: int, checked: bool | None = None, quoted: bool = False) -> None:
        kind = "quote" if self.quotes and kind in ("paragraph", "item") else kind
        self.blocks.append(Block(kind, part.text, first, last, self.section, quoted or self.quotes > 0, part.code_spans, part.links, checked))


# ---------------------------------------------------------------- reading from a snapshot


def markdown(snapshot: Snapshot, path: str, tree: Tree | None = None) -> Markdown | None:
    """The Markdown file at `path` (of `tree`, default head), kept by object id; None where it is absent, missing, no plain file or above the limits."""
    tree = tree or snapshot.head
    entry = tree.files.get(path)
    if entry is None or not entry.is_file or not 0 <= entry.size <= snapshot.config.limits.markdown:
        return None

    def make() -> Markdown | None:
        return read_markdown(tree.read(path).decode("utf-8", "replace"), path, snapshot.config.limits)

    try:
        return snapshot.cache.fleeting("markdown:" + path, entry.oid, entry.size * 8, make)
    except Missing:
        return None


def markdown_of(snapshot: Snapshot, text: Text) -> Markdown | None:
    """One text of the conversation as Markdown. A title is one line without blocks."""

    def make() -> Markdown | None:
        if text.path.endswith(":title"):
            part = visible(" ".join(text.text.split()))
            return Markdown(text.path, (Block("paragraph", part.text, 1, 1, (), False, part.code_spans, part.links),))
        return read_markdown(text.text, text.path, snapshot.config.limits)

    return snapshot.memo(("markdown of", text), make)


def spoken(document: Markdown | None) -> Iterator[Block]:
    """The blocks that are the author's own words."""
    return (block for block in (document.blocks if document else ()) if not block.quoted)
