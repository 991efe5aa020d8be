"""What a review says about its circumstances, beside its findings: who speaks, what ran, who approved, which threads are open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rules.core.config import Config

Outcome = Literal["success", "failure", "running", "cancelled", "skipped", "neutral", "unknown"]


@dataclass(frozen=True, slots=True)
class Job:
    """One CI job, check run or commit status of the head; our own is not among them.

    run         what it is grouped by: the workflow, the app, `statuses`
    lines       the closing lines of its log (`bot.review.logs`); None where the log is not readable
    log_wanted  whether its log was asked for at all (a status has none)
    log         the end of its log, in which the files of stories are looked for
    """

    name: str
    run: str
    outcome: Outcome
    required: bool = False
    lines: tuple[str, ...] | None = None
    log_wanted: bool = False
    log: str = ""


@dataclass(frozen=True, slots=True)
class Approval:
    """A standing approval: by whom, and of which head."""

    login: str
    head: str


@dataclass(frozen=True, slots=True)
class HumanThread:
    """An unresolved review thread that a person opened. `line` is None where it stands on the file or is outdated."""

    path: str
    line: int | None
    url: str
    login: str


@dataclass(frozen=True, slots=True)
class Scene:
    """The circumstances of one review.

    conversation   `<repository id>#<number>`, what markers are bound to
    number         of the pull
    config_blob    object id of the config, "" for the defaults; `config_change` what the pull does to it, in one sentence
    check_only     `mode: check`, ASSAY_MODE or a merge group: the check run alone
    version        shown in the footer; "" for the installed one
    account        the bot's login; `trigger` in words (`push`, `opened`, `/assay rerun by alice`)
    repository_url `https://github.com/owner/name`, "" for no links
    linked         issues whose reviews belong to this one
    evidence       whether the change touches evidence at all
    """

    conversation: str
    number: int
    config: Config
    config_blob: str = ""
    config_change: str = ""
    draft: bool = False
    check_only: bool = False
    account: str = ""
    version: str = ""
    trigger: str = ""
    repository_url: str = ""
    jobs: tuple[Job, ...] = ()
    approvals: tuple[Approval, ...] = ()
    threads: tuple[HumanThread, ...] = ()
    linked: tuple[int, ...] = ()
    evidence: bool = True
