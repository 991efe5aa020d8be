"""Reads the end of a CI log: the lines in which pytest, ruff and a repository's validator say how it went."""

from __future__ import annotations

import re

LOG_TAIL = 64 * 1024
MOST_LINES = 4
WIDTH = 160
# GitHub puts a time before each line, and tools colour theirs.
_LEAD = re.compile(r"\A\d{4}-\d\d-\d\dT[\d:.]{8,20}Z ")
_COLOUR = re.compile(r"\x1b\[[\d;]{0,20}[A-Za-z]")
_CLOSING = re.compile(
    r"=+ .{0,120}\b\d+ (?:passed|failed|errors?|skipped|deselected)\b.{0,120}"
    r"|\d+ (?:passed|failed|errors?)\b.{0,120} in [\d.]+ ?s.{0,20}"
    r"|(?:FAILED|ERROR) \S{1,200}::\S{1,200}.{0,200}"
    r"|All checks passed!|Found \d+ errors?\b.{0,80}|\d+ files? would be reformatted.{0,40}"
    r"|Success: no issues found.{0,80}"
    r"|.{0,60}\b\d[\d,]* (?:bundles?|hashes|hashed files)\b.{0,120}"
    r"|(?:##\[error\])?Process completed with exit code \d+\."
)


def closing_lines(log: str) -> tuple[str, ...]:
    """At most four lines of the log's last 64 KiB that say how it ended, in order; the last line where none does."""
    lines = [text for line in log[-LOG_TAIL:].splitlines() if (text := _bare(line))]
    said = [line for line in dict.fromkeys(lines) if _CLOSING.match(line)]
    return tuple(said[-MOST_LINES:] or lines[-1:])


def _bare(line: str) -> str:
    text = _COLOUR.sub("", _LEAD.sub("", line[: 4 * WIDTH])).strip()
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
