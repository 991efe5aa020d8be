"""Reads code and checks of one repository into small values, on the terms of `bot.github.reads`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from bot.github import pick
from bot.github.client import Client
from bot.github.errors import Forbidden, NotFound, Unavailable


@dataclass(frozen=True, slots=True)
class CheckRun:
    """A check run. `conclusion` is None while it runs; `annotations` is how many it has."""

    id: int
    name: str
    status: str
    conclusion: str | None
    head_sha: str
    external_id: str
    app_id: int | None
    app_slug: str
    suite_id: int | None
    details_url: str
    url: str
    annotations: int
    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class CommitStatus:
    """The newest status of one context on a commit."""

    context: str
    state: str
    description: str
    url: str


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file of a pull or comparison. `patch` is None for binary, very large, renamed-only and mode-only changes: that says nothing about it."""

    path: str
    previous: str | None
    status: str
    sha: str | None
    additions: int
    deletions: int
    patch: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`status` is `ahead`, `behind`, `identical` or `diverged`, of head seen from base."""

    status: str
    ahead_by: int
    behind_by: int
    merge_base: str


@dataclass(frozen=True, slots=True)
class Job:
    """A job of an Actions run; `workflow` is the run's name, `check_run_id` the check run that shows it."""

    id: int
    name: str
    run_id: int
    workflow: str
    status: str
    conclusion: str | None
    check_run_id: int | None
    url: str


async def files(client: Client, repo: str, number: int) -> tuple[ChangedFile, ...]:
    """The pull's files, at most 3,000 as GitHub lists them."""
    return tuple([_file(raw) async for raw in client.getiter(f"/repos/{repo}/pulls/{number}/files")])


async def compare(client: Client, repo: str, base: str, head: str) -> Comparison:
    raw = await client.get(f"/repos/{repo}/compare/{quote(base, safe='')}...{quote(head, safe='')}?per_page=1")
    return Comparison(
        pick.text(raw, "status"), pick.number(raw, "ahead_by"), pick.number(raw, "behind_by"), pick.text(raw, "merge_base_commit", "sha")
    )


async def check_runs(client: Client, repo: str, sha: str, name: str = "", *, fresh: bool = False) -> tuple[CheckRun, ...]:
    """The newest run of each name on a commit; `name` narrows."""
    wanted = f"?check_name={quote(name, safe='')}" if name else ""
    path = f"/repos/{repo}/commits/{sha}/check-runs{wanted}"
    return tuple([_check_run(raw) async for raw in client.getiter(path, "check_runs", fresh=fresh)])


async def check_run(client: Client, repo: str, id: int) -> CheckRun:
    return _check_run(await client.get(f"/repos/{repo}/check-runs/{id}", fresh=True))


async def statuses(client: Client, repo: str, sha: str) -> tuple[CommitStatus, ...]:
    """The newest status of each context."""
    found = [raw async for raw in client.getiter(f"/repos/{repo}/commits/{sha}/status", "statuses")]
    return tuple(
        CommitStatus(pick.text(raw, "context"), pick.text(raw, "state"), pick.text(raw, "description"), pick.text(raw, "target_url")) for raw in found
    )


async def required_checks(client: Client, repo: str, branch: str) -> tuple[str, ...]:
    """Names of the checks without which nothing is merged into `branch`, by rule sets and by branch protection; () where neither is visible."""
    at = quote(branch, safe="")
    names: list[str] = []
    try:
        async for rule in client.getiter(f"/repos/{repo}/rules/branches/{at}"):
            names += [pick.text(check, "context") for check in pick.items(rule, "parameters", "required_status_checks")]
        held = await client.get(f"/repos/{repo}/branches/{at}")
    except (NotFound, Forbidden):
        return tuple(dict.fromkeys(names))
    contexts = pick.items(held, "protection", "required_status_checks", "contexts")
    return tuple(dict.fromkeys([*names, *(name for name in contexts if isinstance(name, str))]))


async def jobs(client: Client, repo: str, sha: str) -> tuple[Job, ...]:
    """The jobs of all Actions runs of a commit, run by run; one call, and one more per run."""
    found: list[Job] = []
    async for run in client.getiter(f"/repos/{repo}/actions/runs?head_sha={sha}", "workflow_runs"):
        path = f"/repos/{repo}/actions/runs/{pick.number(run, 'id')}/jobs"
        found += [_job(raw, pick.text(run, "name")) async for raw in client.getiter(path, "jobs")]
    return tuple(found)


async def job_log(client: Client, repo: str, job_id: int, most: int = 64 * 1024) -> str | None:
    """The last `most` bytes of an Actions job's log; None where it is gone, not ready or not ours to read."""
    try:
        data = await client.download(f"/repos/{repo}/actions/jobs/{job_id}/logs")
    except (NotFound, Forbidden, Unavailable):
        return None
    return data[-most:].decode("utf-8", "replace")


def _check_run(raw: Any) -> CheckRun:
    return CheckRun(
        id=pick.number(raw, "id"),
        name=pick.text(raw, "name"),
        status=pick.text(raw, "status"),
        conclusion=pick.text(raw, "conclusion") or None,
        head_sha=pick.text(raw, "head_sha"),
        external_id=pick.text(raw, "external_id"),
        app_id=pick.maybe(raw, "app", "id"),
        app_slug=pick.text(raw, "app", "slug"),
        suite_id=pick.maybe(raw, "check_suite", "id"),
        details_url=pick.text(raw, "details_url"),
        url=pick.text(raw, "html_url"),
        annotations=pick.number(raw, "output", "annotations_count"),
        title=pick.text(raw, "output", "title"),
        summary=pick.text(raw, "output", "summary"),
    )


def _job(raw: Any, workflow: str) -> Job:
    shown = pick.text(raw, "check_run_url").rpartition("/")[2]
    return Job(
        id=pick.number(raw, "id"),
        name=pick.text(raw, "name"),
        run_id=pick.number(raw, "run_id"),
        workflow=workflow or pick.text(raw, "workflow_name"),
        status=pick.text(raw, "status"),
        conclusion=pick.text(raw, "conclusion") or None,
        check_run_id=int(shown) if shown.isascii() and shown.isdigit() else None,
        url=pick.text(raw, "html_url"),
    )


def _file(raw: Any) -> ChangedFile:
    names = pick.text(raw, "filename"), pick.text(raw, "previous_filename") or None, pick.text(raw, "status"), pick.text(raw, "sha") or None
    patch = pick.anything(raw, "patch")
    return ChangedFile(*names, pick.number(raw, "additions"), pick.number(raw, "deletions"), patch if isinstance(patch, str) else None)
