"""Which lines of a pull's diff can carry an inline comment: line, else file, else only the body.

docs.github.com/rest/pulls/comments: RIGHT holds additions and context. One place outside the diff loses a whole review
(parkerbxyz/suggest-changes#64), so nothing is sent that the patch does not show.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from rules.core.model import Location


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
    """The best spot for a location at head; None where only the body can tell it. `files` maps a path to the pull's file."""
    raise NotImplementedError
