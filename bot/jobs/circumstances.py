"""What stands around a pull: the head's own CI with its logs, approvals, people's open threads. All of it told as values of `scene`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bot.github import reads, reads_checks
from bot.github.client import Client
from bot.github.errors import GitHubError, RateLimited
from bot.github.reads import LineComment, Review
from bot.github.reads_checks import CheckRun, CommitStatus
from bot.jobs.desk import Desk
from bot.review.logs import closing_lines
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
    """Seldom changed, so it is asked for every ten minutes at most."""
    key = ("required", name, branch)
    kept: tuple[float, tuple[str, ...]] | None = desk.recent.get(key)
    if kept is None or kept[0] < time.monotonic() - REQUIRED_KEPT:
        kept = desk.recent.put(key, (time.monotonic(), await reads_checks.required_checks(client, name, branch)))
    return kept[1]


# ---------------------------------------------------------------- CI


async def jobs(desk: Desk, client: Client, name: str, around: Around) -> tuple[Job, ...]:
    """The head's own jobs and statuses, without our check run."""
    others = [run for run in around.runs if run.app_id != desk.me.app_id]
    logged = sorted((run for run in others if _has_log(run)), key=lambda run: run.conclusion == "success")[:MOST_LOGS]
    logs = dict(zip([run.id for run in logged], await asyncio.gather(*(_log(desk, client, name, run) for run in logged)), strict=True))
    told = [_with_log(_job(run, around.required), logs.get(run.id)) if _has_log(run) else _job(run, around.required) for run in others]
    return (*told, *(Job(one.context, "statuses", _OUTCOMES.get(one.state, "unknown"), one.context in around.required) for one in around.statuses))


def _with_log(job: Job, log: str | None) -> Job:
    return replace(job, log_wanted=True, lines=closing_lines(log) if log else None, log=log or "")


def _has_log(run: CheckRun) -> bool:
    """A job of GitHub's own Actions that came to its end: its check run's id is the job's."""
    return run.app_slug == ACTIONS and run.conclusion in ("success", "failure")


def _job(run: CheckRun, required: Sequence[str]) -> Job:
    return Job(run.name, f"{run.app_slug} {run.suite_id or ''}".strip(), _OUTCOMES.get(run.conclusion, "unknown"), run.name in required)


async def _log(desk: Desk, client: Client, name: str, run: CheckRun) -> str | None:
    """The end of a job's log, which never changes once the job has ended. None where it cannot be read: a review does not hang on it."""
    key = ("log", name, run.id)
    kept: str | None = desk.recent.get(key)
    if kept is not None:
        return kept or None
    try:
        return desk.recent.put(key, await reads_checks.job_log(client, name, run.id) or "") or None
    except RateLimited:
        raise
    except GitHubError:
        return None


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
