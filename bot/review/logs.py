"""Reads the end of a CI log: the lines in which pytest, ruff and a repository's validator say how it went."""

from __future__ import annotations

import re

LOG_TAIL = 64 * 1024
MOST_LINES = 4
WIDTH = 160
# GitHub puts a time before each line, and tools colour theirs.
_LEAD = re.compile(r"\A\ufeff?\d{4}-\d\d-\d\dT[\d:.]{8,20}Z ")
_COLOUR = re.compile(r"\x1b\[[\d;]{0,20}[A-Za-z]")
# What the runner does after the job's own steps says nothing about them.
_AFTER = ("Post job cleanup.", "##[group]Post ", "Cleaning up orphan processes")
_CLOSING = re.compile(
    r"=+ .{0,120}\b\d+ (?:passed|failed|errors?|skipped|deselected)\b.{0,120}"
    r"|\d+ (?:passed|failed|errors?)\b.{0,120} in [\d.]+ ?s.{0,20}"
    r"|(?:FAILED|ERROR) \S{1,200}::\S{1,200}.{0,200}"
    r"|All checks passed!|Found \d+ errors?\b.{0,80}|\d+ files? would be reformatted.{0,40}"
    r"|Success: no issues found.{0,80}"
    r"|.{0,60}\b\d[\d,]* (?:bundles?|hashes|hashed files)\b.{0,120}"
    r"|.{0,60}\bvalidat\w{0,6}\b.{0,80}\b(?:ok|passed|failed)\b.{0,80}"
)


def closing_lines(log: str) -> tuple[str, ...]:
    """At most four lines of the log's last 64 KiB that say how it ended, in order; the last line of the job's own where none does."""
    bare = [_bare(line) for line in log[-LOG_TAIL:].splitlines()]
    end = next((number for number, line in enumerate(bare) if line.startswith(_AFTER)), len(bare))
    lines = [line for line in bare[:end] if line and not line.startswith("##[")]
    said = [line for line in dict.fromkeys(lines) if _CLOSING.match(line)]
    return tuple(said[-MOST_LINES:] or lines[-1:])


def _bare(line: str) -> str:
    text = _COLOUR.sub("", _LEAD.sub("", line[: 4 * WIDTH])).strip()
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
