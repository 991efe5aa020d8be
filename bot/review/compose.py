"""Puts a review into words: the body, the inline comments, the check run. Nothing here knows how they are posted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bot.review.positions import ChangedFile, Spot
from bot.review.reconcile import Reconciled
from bot.review.scene import Scene
from rules.core.model import Report

# GitHub's bodies hold 65,536 characters by its error text; an oversize edit can answer 200 and keep the old text.
BODY_LIMIT = 60_000
Conclusion = Literal["success", "failure", "action_required"]


@dataclass(frozen=True, slots=True)
class Inline:
    """An inline comment: where, with which words, about which story. `mark` occurs in this body alone."""

    spot: Spot
    body: str
    number: int
    mark: str


@dataclass(frozen=True, slots=True)
class Annotation:
    """A mark of a check run in a file, lines 1-based and inclusive."""

    path: str
    start_line: int
    end_line: int
    level: Literal["notice", "warning", "failure"]
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class Check:
    """The check run as it should be. `digest` is that of the annotations, which GitHub only ever appends."""

    head: str
    conclusion: Conclusion
    title: str
    summary: str
    text: str
    annotations: tuple[Annotation, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Words:
    """All that one review wants to have on GitHub.

    inlines   one per must-fix story that has a spot, open or ended: posted where new, edited where it is there
    blocking  a blocking finding counts (REQUEST_CHANGES, where the config asks for it)
    news      False: the last summary is edited instead
    """

    head: str
    body: str
    mark: str
    inlines: tuple[Inline, ...]
    check: Check
    blocking: bool
    news: bool


def compose(reconciled: Reconciled, report: Report, scene: Scene, files: Mapping[str, ChangedFile], key: bytes) -> Words:
    """The words of a review. `files` are the pull's changed files by path, `key` signs the markers."""
    raise NotImplementedError


def failed(before: object, head: str, kind: str, sentence: str, scene: Scene, key: bytes) -> Words:
    """The words where there is no report: the box gave up, the head is gone, the config cannot be used."""
    raise NotImplementedError
