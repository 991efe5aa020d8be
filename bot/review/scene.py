"""What a review says about its circumstances, beside its findings: who speaks, what ran, who approved, which threads are open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rules.core.config import Config

Outcome = Literal["success", "failure", "running", "cancelled", "skipped", "neutral", "unknown"]


@dataclass(frozen=True, slots=True)
class Job:
    """One CI job, check run or commit status of the head. `lines` are the closing lines of its log; None where the log is not readable or not read."""

    name: str
    run: str
    outcome: Outcome
    required: bool = False
    lines: tuple[str, ...] | None = None
    log_wanted: bool = False


@dataclass(frozen=True, slots=True)
class Approval:
    """A standing approval: by whom, and of which head."""

    login: str
    head: str


@dataclass(frozen=True, slots=True)
class HumanThread:
    """An unresolved review thread that a person opened."""

    path: str
    line: int | None
    url: str
    login: str


@dataclass(frozen=True, slots=True)
class Scene:
    """The circumstances of one review. `trigger` in words (`push`, `opened`, `/assay rerun by alice`); `account` is the bot's login."""

    conversation: str
    number: int
    config: Config
    account: str = ""
    version: str = ""
    trigger: str = ""
    config_blob: str = ""
    config_change: str = ""
    draft: bool = False
    check_only: bool = False
    jobs: tuple[Job, ...] = ()
    approvals: tuple[Approval, ...] = ()
    threads: tuple[HumanThread, ...] = ()
    linked: tuple[int, ...] = field(default=())
    evidence: bool = True
