"""The killable review process: hostile input costs one review, with one clear answer, and nothing else.

A worker process reads the mirror and runs the rules within limits on time, CPU, memory, files and size. It gets no token and no secret. What it
leaves behind, its whole process group, is killed with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal

from bot.review.ledger import Ledger
from bot.review.reconcile import Seen
from rules.core.config import Config
from rules.core.model import Facts, Issue, Pull, Question, Report, Unchecked

FailureKind = Literal["time", "cpu", "memory", "crash", "unusable", "killed"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one review may use. Seconds, bytes, open files; `file_bytes` is the size of any file that it writes."""

    seconds: float = 120.0
    cpu_seconds: int = 100
    memory: int = 2 * 1024**3
    files: int = 256
    file_bytes: int = 512 * 1024**2


@dataclass(frozen=True, slots=True)
class Request:
    """One pass of a review of the repository in `folder` (a bare mirror). `facts` None asks for the questions, else for the report.

    ledger   what the conversation remembers: its places are read again, its renames followed
    notes    what could not be gathered (commit look-ups that failed, …), for the coverage
    """

    folder: str
    head: str
    base: str | None
    pull: Pull | None = None
    issue: Issue | None = None
    facts: Facts | None = None
    ledger: Ledger | None = None
    only: tuple[str, ...] = ()
    preview: bool = False
    notes: tuple[Unchecked, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer; `sentence` is fit for the check run."""

    kind: FailureKind
    sentence: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What one pass gives: `questions` of the first, all else of the second; or a `failure` and nothing else.

    config         the repository's config, out of the base; `config_blob` its object id ("" for the defaults)
    config_change  what the pull does to the config, in one sentence; "" for nothing
    seen           by fingerprint: what stands at the places of this report's findings, and at those of remembered ones that are silent now
    renames        path at head → path that the remembered fingerprints were made with; give it to `reconcile`
    evidence       whether the change touches evidence at all
    """

    failure: Failure | None = None
    questions: tuple[Question, ...] = ()
    report: Report | None = None
    config: Config | None = None
    config_blob: str = ""
    config_change: str = ""
    seen: Mapping[str, Seen] = field(default_factory=dict)
    renames: Mapping[str, str] = field(default_factory=dict)
    evidence: bool = True
    seconds: float = 0.0
    peak_bytes: int = 0


class Box:
    """One worker, kept warm from review to review. Threads may share it; requests wait for each other."""

    def __init__(self, limits: Limits = Limits()) -> None:
        raise NotImplementedError

    def submit(self, request: Request) -> Future[Answer]:
        """Start a pass. The future never raises: whatever happens is an `Answer`. (`asyncio.wrap_future` awaits it.)"""
        raise NotImplementedError

    def run(self, request: Request) -> Answer:
        """The answer to `request`, waited for."""
        return self.submit(request).result()

    def kill(self, why: str = "a newer head is wanted") -> None:
        """End what runs now, at once: its future gets a failure of kind `killed`. The next request gets a new worker."""
        raise NotImplementedError

    def close(self) -> None:
        """End the worker."""
        raise NotImplementedError
