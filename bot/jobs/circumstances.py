"""What stands around a pull: the head's own CI with its closing lines, approvals, people's open threads. All of it told as values of `scene`."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bot.github import reads, reads_checks
from bot.github.client import Client
from bot.github.errors import GitHubError, RateLimited
from bot.github.reads import LineComment, Review
from bot.github.reads_checks import CheckRun, CommitStatus
from bot.jobs.desk import Desk
from bot.review.scene import Approval, HumanThread, Job, Outcome

ACTIONS = "github-actions"
MOST_LOGS = 6
REQUIRED_KEPT = 600.0
_OUTCOMES: dict[str | None, Outcome] = {
    None: "running",
    "success": "success",
    "failure": "failure",
    "timed_out": "failure",
    "action_required": "failure",
    "startup_failure": "failure",
    "cancelled": "cancelled",
    "skipped": "skipped",
    "neutral": "neutral",
    "error": "failure",
    "pending": "running",
}
_STAMP = re.compile(r"\A\ufeff?\d{4}-\d\d-\d\dT[\d:.]{8,20}Z ")
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
# The last line of pytest, of ruff, and of validators that count.
_CLOSING = re.compile(r"\b\d{1,7} (?:passed|failed|errors?)\b|\AAll checks passed|\AFound \d{1,7} error|\bvalidat\w{0,6}\b.{0,80}\b(?:ok|passed|failed)\b", re.I)
_AFTER = ("Post job cleanup.", "##[group]Post ", "Cleaning up orphan processes")


@dataclass(frozen=True, slots=True)
class Around:
    """Check runs (ours among them), statuses, and the names of those that the base branch requires."""

    runs: tuple[CheckRun, ...] = ()
    statuses: tuple[CommitStatus, ...] = ()
    required: tuple[str, ...] = ()


async def around(desk: Desk, client: Client, name: str, head: str, base_ref: str) -> Around:
    """What ran on the head. Raises what `bot.github.errors` lists."""
    runs, statuses, required = await asyncio.gather(
        reads_checks.check_runs(client, name, head), reads_checks.statuses(client, name, head), _required(desk, client, name, base_ref)
    )
    return Around(runs, statuses, required)


async def _required(desk: Desk, client: Client, name: str, branch: str) -> tuple[str, ...]:
    """Seldom changed, so it is asked for every ten minutes only."""
    key = ("required", name, branch, int(time.monotonic() / REQUIRED_KEPT))
    found: tuple[str, ...] | None = desk.recent.get(key)
    return found if found is not None else desk.recent.put(key, await reads_checks.required_checks(client, name, branch))


# ---------------------------------------------------------------- CI


async def jobs(desk: Desk, client: Client, name: str, around: Around) -> tuple[Job, ...]:
    """The head's own jobs and statuses, without our check run."""
    others = [run for run in around.runs if run.app_id != desk.me.app_id]
    logged = sorted((run for run in others if _has_log(run)), key=lambda run: run.conclusion == "success")[:MOST_LOGS]
    lines = dict(zip([run.id for run in logged], await asyncio.gather(*(_lines(desk, client, name, run) for run in logged)), strict=True))
    told = [_job(run, around.required) for run in others]
    with_lines = [replace(job, lines=lines.get(run.id), log_wanted=run.id in lines) for job, run in zip(told, others, strict=True)]
    return (*with_lines, *(Job(one.context, "statuses", _OUTCOMES.get(one.state, "unknown"), one.context in around.required) for one in around.statuses))


def _has_log(run: CheckRun) -> bool:
    """A job of GitHub's own Actions that came to its end: its check run's id is the job's."""
    return run.app_slug == ACTIONS and run.conclusion in ("success", "failure")


def _job(run: CheckRun, required: Sequence[str]) -> Job:
    return Job(run.name, f"{run.app_slug} {run.suite_id or ''}".strip(), _OUTCOMES.get(run.conclusion, "unknown"), run.name in required)


async def _lines(desk: Desk, client: Client, name: str, run: CheckRun) -> tuple[str, ...] | None:
    """The closing lines of a job's log, which never changes once the job has ended. None where it cannot be read: a review does not hang on it."""
    key = ("log", name, run.id)
    if (kept := desk.recent.get(key)) is not None:
        return kept or None
    try:
        log = await reads_checks.job_log(client, name, run.id)
    except RateLimited:
        raise
    except GitHubError:
        log = None
    return desk.recent.put(key, closing_lines(log) if log else ()) or None


def closing_lines(log: str, most: int = 3) -> tuple[str, ...]:
    """The lines in which a job's tools say how it ended, else its last ones; without time stamps and colours, at most 200 characters each."""
    plain = [_COLOUR.sub("", _STAMP.sub("", line)).strip() for line in log.splitlines()[-2_000:]]
    end = next((index for index, line in enumerate(plain) if line.startswith(_AFTER)), len(plain))
    said = [line[:200] for line in plain[:end] if line and not line.startswith("##[")]
    return tuple([line for line in said if _CLOSING.search(line)][-most:] or said[-1:])


# ---------------------------------------------------------------- people


def approvals(reviews: Iterable[Review]) -> tuple[Approval, ...]:
    """The approvals that stand: a later review of the same person that approves, requests changes or is dismissed takes their place."""
    newest: dict[str, Review] = {}
    for review in reviews:
        if not review.is_bot and review.state in ("APPROVED", "CHANGES_REQUESTED", "DISMISSED"):
            newest[review.login] = review
    return tuple(Approval(one.login, one.commit_id) for one in newest.values() if one.state == "APPROVED")


async def threads(client: Client, name: str, number: int, comments: Sequence[LineComment]) -> tuple[HumanThread, ...]:
    """Unresolved threads that a person opened. Only GraphQL tells what is resolved, so it is asked only where a person has written."""
    firsts = {one.id: one for one in comments if one.in_reply_to is None and not one.is_bot}
    if not firsts:
        return ()
    try:
        found = await reads.threads(client, name, number)
    except RateLimited:
        raise
    except GitHubError:
        return ()
    unresolved = [firsts[thread.first_comment] for thread in found if not thread.resolved and thread.first_comment in firsts]
    return tuple(HumanThread(one.path, one.line, one.url, one.login) for one in unresolved)
