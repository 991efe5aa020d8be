"""The source lines that a finding points at, redacted and cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rules.core.model import Location, Missing, Snapshot, Tree
from rules.core.redact import redact

SOURCE_LIMIT = 16 * 1024 * 1024
MOST_LINES = 6
WIDTH = 140
LONGEST_LINE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """One line as shown. `number` is None for lines left out between; `marked` where the finding points at it."""

    number: int | None
    text: str
    marked: bool


class Sources:
    """The texts of one review, each split into lines at most once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._lines: dict[tuple[str, str | None], list[str]] = {}

    def excerpt(self, at: Location, width: int = WIDTH, context: int = 1) -> tuple[Line, ...]:
        """The lines of `at` with `context` lines around; none where the text cannot be read or no line is known."""
        if at.line is None:
            return ()
        lines = self._of(at)
        last = min(at.end_line or at.line, len(lines))
        if not 1 <= at.line <= last:
            return ()
        key = (at.pointer or "").rpartition("/")[2]
        shown = _numbers(max(1, at.line - context), at.line, last, min(len(lines), last + context))
        return tuple(Line(n, _cut(lines[n - 1], key, width), at.line <= n <= last) if n else Line(None, "…", False) for n in shown)

    def _of(self, at: Location) -> list[str]:
        key = (at.path, at.at)
        if key not in self._lines:
            self._lines[key] = self._text(at).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return self._lines[key]

    def _text(self, at: Location) -> str:
        kind, mark, part = at.path.partition(":")
        if mark and kind in ("pull", "issue"):
            return self._conversation(kind, part)
        tree = self._tree(at.at)
        entry = tree.files.get(at.path) if tree else None
        if tree is None or entry is None or not entry.is_file or not 0 <= entry.size <= SOURCE_LIMIT:
            return ""
        try:
            return tree.read(at.path).decode("utf-8", "replace")
        except Missing:
            return ""

    def _tree(self, commit: str | None) -> Tree | None:
        if commit is None:
            return self._snapshot.head
        s = self._snapshot
        return next((tree for tree in (s.base, s.merge_base, *s.linked.values()) if tree is not None and tree.commit == commit), None)

    def _conversation(self, kind: str, part: str) -> str:
        held = self._snapshot.pull if kind == "pull" else self._snapshot.issue
        if held is None:
            return ""
        if part in ("title", "body"):
            return held.title if part == "title" else held.body
        comments = self._snapshot.issue.comments if self._snapshot.issue else ()
        return next((c.body for c in comments if part == f"comment:{c.id}"), "")


def _numbers(first: int, start: int, end: int, last: int) -> Iterator[int | None]:
    """Line numbers to show; None where lines are left out of a long range."""
    if end - start < MOST_LINES:
        yield from range(first, last + 1)
        return
    yield from range(first, start + MOST_LINES // 2)
    yield None
    yield from range(end - MOST_LINES // 2 + 1, last + 1)


def _cut(text: str, key: str, width: int) -> str:
    """One line, redacted and cut; of a long one the part around `key`, where that stands there once."""
    line = redact(text[:LONGEST_LINE]).expandtabs(4)
    if len(line) <= width:
        return line
    quoted = f'"{key}"'
    begin = max(0, line.find(quoted) - width // 4) if key and line.count(quoted) == 1 else 0
    if begin == 0:
        return line[: width - 1] + "…"
    return "…" + line[begin : begin + width - 2] + ("…" if begin + width - 2 < len(line) else "")
