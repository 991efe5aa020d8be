"""Routes of GitHub Actions. Logs and archives are redirects to a signed address that must be asked without a token."""

from __future__ import annotations

from tests.twin import actions, git, payloads
from tests.twin.http import Answer, Call, Page, route
from tests.twin.payloads_checks import pulls_at
from tests.twin.payloads_talk import minimal_pull
from tests.twin.state import Json, Refused, node_id, not_found, stamp

ACTIONS = "/repos/{owner}/{repo}/actions"
READ, WRITE = "actions:read", "actions:write"


def _run_url(call: Call, run: actions.WorkflowRun) -> str:
    return f"{payloads.repository_url(call.world, call.home)}/actions/runs/{run.id}"


def show_run(call: Call, run: actions.WorkflowRun) -> Json:
    url, home = _run_url(call, run), payloads.repository(call.world, call.home)
    page = f"{payloads.repository_page(call.world, call.home)}/actions/runs/{run.id}"
    links = {f"{word}_url": f"{url}/{word}" for word in ("jobs", "logs", "artifacts", "cancel", "rerun")}
    actor, moment = payloads.user(call.world, run.actor), stamp(run.created_at)
    return {
        "id": run.id, "name": run.name, "node_id": node_id("WorkflowRun", run.id), "head_branch": run.head_branch, "head_sha": run.head_sha,
        "path": run.path, "display_title": run.name, "run_number": run.number, "run_attempt": 1, "event": run.event, "status": run.status,
        "conclusion": run.conclusion, "workflow_id": run.workflow_id, "check_suite_id": run.jobs[0].check.suite.id if run.jobs else run.id,
        "url": url, "html_url": page, "pull_requests": [minimal_pull(call.world, one) for one in pulls_at(call.home, run.head_sha)],
        "created_at": moment, "updated_at": moment, "run_started_at": moment, "actor": actor, "triggering_actor": actor, **links,
        "check_suite_url": f"{payloads.repository_url(call.world, call.home)}/check-suites/0", "previous_attempt_url": None,
        "workflow_url": f"{payloads.repository_url(call.world, call.home)}/actions/workflows/{run.workflow_id}",
        "head_commit": payloads.simple_commit(git.commit(call.home.git_dir, run.head_sha)), "repository": home, "head_repository": home,
    }  # fmt: skip


def show_job(call: Call, run: actions.WorkflowRun, job: actions.Job) -> Json:
    base, check = payloads.repository_url(call.world, call.home), job.check
    runner = {"runner_id": 1, "runner_name": "runner", "runner_group_id": 1, "runner_group_name": "Default"}
    started = stamp(check.started_at or run.created_at)
    return {
        "id": job.id, "run_id": run.id, "run_url": _run_url(call, run), "node_id": node_id("Job", job.id), "head_sha": run.head_sha,
        "url": f"{base}/actions/jobs/{job.id}", "html_url": f"{payloads.repository_page(call.world, call.home)}/actions/runs/{run.id}/job/{job.id}",
        "status": check.status, "conclusion": check.conclusion, "created_at": started, "started_at": started,
        "completed_at": stamp(check.completed_at), "name": job.name, "steps": [], "check_run_url": f"{base}/check-runs/{check.id}",
        "labels": list(job.labels), **runner, "workflow_name": run.name, "head_branch": run.head_branch, "run_attempt": 1,
    }  # fmt: skip


def show_artifact(call: Call, one: actions.Artifact) -> Json:
    url, moment = f"{payloads.repository_url(call.world, call.home)}/actions/artifacts/{one.id}", stamp(one.created_at)
    own = {"id": one.id, "node_id": node_id("Artifact", one.id), "name": one.name, "size_in_bytes": len(one.archive), "expired": one.expired}
    return {**own, "url": url, "archive_download_url": f"{url}/zip", "created_at": moment, "updated_at": moment, "expires_at": moment}


def _run(call: Call) -> actions.WorkflowRun:
    return actions.run_of(call.world, call.home, call.number("run_id"))


@route("POST", ACTIONS + "/workflows/{workflow_id}/dispatches", WRITE)
async def dispatch(call: Call) -> Answer:
    run = actions.dispatch(call.world, call.home, call.text("workflow_id"), call.user, call.body)
    always = call.request.headers.get("X-GitHub-Api-Version") == "2026-03-10"  # [D] there the details are no longer asked for
    if not (always or call.body.get("return_run_details")):
        return Answer(status=204)
    return Answer({"workflow_run_id": run.id, "run_url": _run_url(call, run), "html_url": show_run(call, run)["html_url"]})


@route("GET", ACTIONS + "/runs", READ)
async def list_runs(call: Call) -> Page:
    """Newest first, narrowed by `head_sha`, `branch`, `event`, `status` (a status or a conclusion)."""
    asked = call.query
    found = [
        one
        for one in reversed(call.home.workflow_runs.values())
        if asked.get("head_sha", one.head_sha) == one.head_sha
        and asked.get("branch", one.head_branch) == one.head_branch
        and asked.get("event", one.event) == one.event
        and asked.get("status", one.status) in (one.status, one.conclusion)
    ]
    return Page(found, lambda one: show_run(call, one), "workflow_runs")


@route("GET", ACTIONS + "/runs/{run_id}", READ)
async def get_run(call: Call) -> Answer:
    return Answer(show_run(call, _run(call)))


@route("POST", ACTIONS + "/runs/{run_id}/cancel", WRITE)
async def cancel_run(call: Call) -> Answer:
    actions.cancel(_run(call))
    return Answer({}, 202)


@route("GET", ACTIONS + "/runs/{run_id}/jobs", READ)
async def list_jobs(call: Call) -> Page:
    run = _run(call)
    return Page(run.jobs, lambda one: show_job(call, run, one), "jobs")


@route("GET", ACTIONS + "/runs/{run_id}/artifacts", READ)
async def list_artifacts(call: Call) -> Page:
    found = [one for one in _run(call).artifacts if call.query.get("name", one.name) == one.name]
    return Page(found, lambda one: show_artifact(call, one), "artifacts")


@route("GET", ACTIONS + "/jobs/{job_id}", READ)
async def get_job(call: Call) -> Answer:
    return Answer(show_job(call, *actions.job_of(call.home, call.number("job_id"))))


@route("GET", ACTIONS + "/jobs/{job_id}/logs", READ)
async def job_logs(call: Call) -> Answer:
    _, job = actions.job_of(call.home, call.number("job_id"))
    if job.log is None:
        raise not_found()
    return Answer(status=302, headers={"Location": call.twin.blob(job.log)})


@route("GET", ACTIONS + "/artifacts/{artifact_id}", READ)
async def get_artifact(call: Call) -> Answer:
    return Answer(show_artifact(call, actions.artifact_of(call.home, call.number("artifact_id"))))


@route("GET", ACTIONS + "/artifacts/{artifact_id}/{archive_format}", READ)
async def download_artifact(call: Call) -> Answer:
    found = actions.artifact_of(call.home, call.number("artifact_id"))
    if found.expired or call.text("archive_format") != "zip":
        raise Refused(410, "Artifact has expired")
    return Answer(status=302, headers={"Location": call.twin.blob(found.archive)})
