"""Which lines of a pull's diff can carry an inline comment: line, else file, else only the body.

docs.github.com/rest/pulls/comments: RIGHT holds additions and context. One place outside the diff loses a whole review
(parkerbxyz/suggest-changes#64), so nothing is sent that the patch does not show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from rules.core.model import Location

_HUNK = re.compile(r"@@ -\d{1,9}(?:,\d{1,9})? \+(?P<start>\d{1,9})(?:,(?P<count>\d{1,9}))? @@")


class ChangedFile(Protocol):
    """A file of the pull as GitHub lists it. `patch` is None for binary, renamed-only and very large changes: that says nothing about the file."""

    @property
    def path(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def patch(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an inline comment can stand: on `line` of the new file, on `start_line`..`line`, or with `line` None on the file as a whole."""

    path: str
    line: int | None = None
    start_line: int | None = None


def spot(at: Location, files: Mapping[str, ChangedFile]) -> Spot | None:
    """The best spot for a location at head; None where only the body can tell it. `files` maps a path to the pull's file.

    A range that a hunk holds is marked whole; of one that it does not hold, its first line; a line outside every hunk leaves the file.
    """
    file = files.get(at.path)
    if file is None or at.at is not None:
        return None
    first, last = at.line, at.end_line or at.line
    hunk = _hunk_of(file.patch, first) if first is not None and file.patch and file.status != "removed" else None
    if hunk is None or first is None or last is None:
        return Spot(file.path)
    end = last if last in hunk else first
    # GitHub refuses a range of one line (ubuntu/WSL#244): that is a line.
    return Spot(file.path, end, first if first < end else None)


def _hunk_of(patch: str, line: int) -> range | None:
    return next((lines for lines in hunks(patch) if line in lines), None)


@lru_cache(maxsize=512)
def hunks(patch: str) -> tuple[range, ...]:
    """The new file's lines that each hunk of `patch` shows."""
    return tuple(_hunks(patch))


def _hunks(patch: str) -> Iterator[range]:
    """Counted rather than believed: GitHub may cut a patch below what its header says."""
    start = seen = 0
    for text in patch.split("\n"):
        if header := _HUNK.match(text):
            yield range(start, start + seen)
            start, seen = int(header["start"]), 0
        elif text[:1] in ("+", " "):
            seen += 1
    yield range(start, start + seen)
