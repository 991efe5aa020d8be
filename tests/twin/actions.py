"""GitHub Actions as far as a review needs it: runs with jobs and logs, dispatching a workflow, artifacts."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.twin import checks, git
from tests.twin.state import CheckRun, Json, Refused, Repository, User, World, not_found

ACTIONS_APP_ID = 15_368  # GitHub Actions
INPUTS_AT_MOST = 25  # [D] rest/actions/workflows#create-a-workflow-dispatch-event
QUEUED_HOURS = 24  # [D] a job that no runner takes is cancelled after a day


@dataclass
class Job:
    """A job; `log` None is one that cannot be read (404), as of a run that goes on."""

    id: int
    name: str
    check: CheckRun
    labels: tuple[str, ...] = ("ubuntu-latest",)
    log: bytes | None = None


@dataclass(frozen=True)
class Artifact:
    id: int
    name: str
    archive: bytes
    created_at: datetime
    expired: bool = False


@dataclass
class WorkflowRun:
    """One run of one workflow on one commit."""

    id: int
    number: int
    workflow_id: int
    path: str
    name: str
    event: str
    head_sha: str
    head_branch: str | None
    actor: User
    created_at: datetime
    status: str = "queued"
    conclusion: str | None = None
    inputs: Json = field(default_factory=dict)
    jobs: list[Job] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)


def start(world: World, home: Repository, path: str, sha: str, event: str, actor: User, branch: str | None = None, name: str = "CI") -> WorkflowRun:
    """A queued run, without jobs yet."""
    workflow_id = home.workflows.setdefault(path, world.next_id())
    number = 1 + sum(1 for one in home.workflow_runs.values() if one.workflow_id == workflow_id)
    run = WorkflowRun(world.next_id(), number, workflow_id, path, name, event, sha, branch, actor, world.clock.now())
    home.workflow_runs[run.id] = run
    return run


def add_job(
    world: World, home: Repository, run: WorkflowRun, name: str, conclusion: str | None, log: str | bytes | None, labels: tuple[str, ...]
) -> Job:
    """A job and the check run that shows it; `conclusion` None goes on."""
    request = {"name": name, "head_sha": run.head_sha, "status": "completed" if conclusion else "queued", "conclusion": conclusion}
    check = checks.create_run(world, home, world.app, run.actor, request, ACTIONS_APP_ID)
    # A job and its check run have the same id on GitHub (the job object's `check_run_url` ends with it).
    job = Job(check.id, name, check, labels, log.encode() if isinstance(log, str) else log)
    run.jobs.append(job)
    run.status = "completed" if all(one.check.status == "completed" for one in run.jobs) else "queued"
    run.conclusion = _together(run) if run.status == "completed" else None
    return job


def _together(run: WorkflowRun) -> str:
    words = {one.check.conclusion for one in run.jobs}
    return "success" if words <= {"success", "skipped"} else "cancelled" if words == {"cancelled"} else "failure"


def dispatch(world: World, home: Repository, workflow: str, actor: User, request: Mapping[str, Any]) -> WorkflowRun:
    """Start a workflow by hand. `ref` is a branch or a tag, never a commit id. Raises `Refused` 404, 422."""
    path = next((one for one, number in home.workflows.items() if workflow in (str(number), one, one.rpartition("/")[2])), None)
    if path is None:
        raise not_found()
    name, inputs = request.get("ref"), request.get("inputs") or {}
    short = str(name).removeprefix("refs/heads/").removeprefix("refs/tags/")
    sha = next((found for kind in ("heads", "tags") if (found := git.ref(home.git_dir, f"refs/{kind}/{short}"))), None)
    if not isinstance(name, str) or sha is None:
        raise Refused(422, f"No ref found for: {name}")
    if len(inputs) > INPUTS_AT_MOST:
        raise Refused(422, f"Invalid request.\n\nNo more than {INPUTS_AT_MOST} properties are allowed; {len(inputs)} were supplied.")
    run = start(world, home, path, sha, "workflow_dispatch", actor, short, "Device check")
    run.inputs = dict(inputs)
    return run


def add_artifact(world: World, run: WorkflowRun, name: str, files: Mapping[str, bytes]) -> Artifact:
    """A zip archive of these files."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        for path, data in files.items():
            packed.writestr(path, data)
    made = Artifact(world.next_id(), name, archive.getvalue(), world.clock.now())
    run.artifacts.append(made)
    return made


def run_of(world: World, home: Repository, run_id: int) -> WorkflowRun:
    found = home.workflow_runs.get(run_id)
    if found is None:
        raise not_found()
    _give_up(world, found)
    return found


def _give_up(world: World, run: WorkflowRun) -> None:
    if run.status == "queued" and world.clock.now() - run.created_at > timedelta(hours=QUEUED_HOURS):
        run.status, run.conclusion = "completed", "cancelled"


def cancel(run: WorkflowRun) -> None:
    if run.status == "completed":
        raise Refused(409, "Cannot cancel a workflow run that is completed.")
    run.status, run.conclusion = "completed", "cancelled"


def job_of(home: Repository, job_id: int) -> tuple[WorkflowRun, Job]:
    for run in home.workflow_runs.values():
        for job in run.jobs:
            if job.id == job_id:
                return run, job
    raise not_found()


def artifact_of(home: Repository, artifact_id: int) -> Artifact:
    for run in home.workflow_runs.values():
        for artifact in run.artifacts:
            if artifact.id == artifact_id:
                return artifact
    raise not_found()
