"""Routes of check runs, check suites and commit statuses."""

from __future__ import annotations

from tests.twin import checks, git, payloads_checks
from tests.twin.conversations import STAFF, role_of
from tests.twin.http import Answer, Call, Page, route
from tests.twin.state import CheckRun, CheckSuite, Refused, not_found

REPO = "/repos/{owner}/{repo}"
READ, WRITE = "checks:read", "checks:write"


def commit_of(call: Call, name: str = "ref") -> str:
    """The commit that the path names. Raises `Refused` 422, 409 for an empty repository."""
    if git.is_empty(call.home.git_dir):
        raise Refused(409, "Git Repository is empty.")
    for git_dir in call.home.git_dirs:
        if found := git.resolve(git_dir, call.text(name)):
            return found
    raise Refused(422, f"No commit found for SHA: {call.text(name)}")


def _run(call: Call) -> CheckRun:
    return checks.run_of(call.home, call.number("check_run_id"))


def _suite(call: Call) -> CheckSuite:
    return checks.suite_of(call.home, call.number("check_suite_id"))


def _only_apps(call: Call) -> None:
    if not call.by_app:
        raise Refused(403, "You must authenticate via a GitHub App.")


def _shown(call: Call, run: CheckRun, status: int = 200) -> Answer:
    return Answer(payloads_checks.run(call.world, call.home, run), status)


@route("POST", REPO + "/check-runs", WRITE)
async def create_check_run(call: Call) -> Answer:
    _only_apps(call)
    return _shown(call, checks.create_run(call.world, call.home, call.world.app, call.user, call.body), 201)


@route("GET", REPO + "/check-runs/{check_run_id}", READ)
async def get_check_run(call: Call) -> Answer:
    return _shown(call, _run(call))


@route("PATCH", REPO + "/check-runs/{check_run_id}", WRITE)
async def update_check_run(call: Call) -> Answer:
    _only_apps(call)
    run = _run(call)
    if run.app_id != call.world.app.id:
        raise Refused(403, "Invalid app_id `" + str(run.app_id) + "` - check run can only be modified by the GitHub App that created it.")
    checks.update_run(call.world, call.home, run, call.user, call.body)
    return _shown(call, run)


@route("GET", REPO + "/check-runs/{check_run_id}/annotations", READ)
async def list_annotations(call: Call) -> Page:
    run = _run(call)
    return Page(run.annotations, lambda one: payloads_checks.annotation(call.world, call.home, run, one))


@route("POST", REPO + "/check-runs/{check_run_id}/rerequest", WRITE)
async def rerequest_check_run(call: Call) -> Answer:
    checks.rerequest_run(call.world, call.home, _run(call), call.user)
    return Answer({}, 201)


def _shown_suite(call: Call, suite: CheckSuite, status: int = 200) -> Answer:
    return Answer(payloads_checks.suite(call.world, call.home, suite, _count(call, suite)), status)


def _count(call: Call, suite: CheckSuite) -> int:
    return sum(1 for run in call.home.runs.values() if run.suite is suite)


@route("POST", REPO + "/check-suites", WRITE)
async def create_check_suite(call: Call) -> Answer:
    _only_apps(call)
    sha = call.body.get("head_sha")
    if not isinstance(sha, str) or git.resolve(call.home.git_dir, sha) != sha:
        raise Refused(422, f"No commit found for SHA: {sha}")
    known = any((one.app_id, one.head_sha) == (call.world.app.id, sha) for one in call.home.suites.values())
    return _shown_suite(call, checks.suite_for(call.world, call.home, call.world.app.id, sha), 200 if known else 201)


@route("GET", REPO + "/check-suites/{check_suite_id}", READ)
async def get_check_suite(call: Call) -> Answer:
    return _shown_suite(call, _suite(call))


@route("GET", REPO + "/check-suites/{check_suite_id}/check-runs", READ)
async def list_runs_of_suite(call: Call) -> Page:
    suite = _suite(call)
    found = [run for run in checks.runs_for(call.home, suite.head_sha, call.query) if run.suite is suite]
    return Page(found, lambda one: payloads_checks.run(call.world, call.home, one), "check_runs")


@route("POST", REPO + "/check-suites/{check_suite_id}/rerequest", WRITE)
async def rerequest_check_suite(call: Call) -> Answer:
    checks.rerequest_suite(call.world, call.home, _suite(call), call.user)
    return Answer({}, 201)


@route("GET", REPO + "/commits/{ref:.+}/check-runs", READ)
async def list_runs_of_commit(call: Call) -> Page:
    found = checks.runs_for(call.home, commit_of(call), call.query)
    return Page(found, lambda one: payloads_checks.run(call.world, call.home, one), "check_runs")


@route("GET", REPO + "/commits/{ref:.+}/check-suites", READ)
async def list_suites_of_commit(call: Call) -> Page:
    sha = commit_of(call)
    found = [one for one in call.home.suites.values() if one.head_sha == sha and call.query.get("app_id", str(one.app_id)) == str(one.app_id)]
    return Page(found, lambda one: payloads_checks.suite(call.world, call.home, one, _count(call, one)), "check_suites")


@route("GET", REPO + "/commits/{ref:.+}/status", "statuses:read")
async def combined_status(call: Call) -> Answer:
    sha = commit_of(call)
    return Answer(payloads_checks.combined(call.world, call.home, sha, *checks.combined(call.home, sha)))


@route("GET", REPO + "/commits/{ref:.+}/statuses", "statuses:read")
async def list_statuses(call: Call) -> Page:
    return Page(checks.statuses_for(call.home, commit_of(call)), lambda one: payloads_checks.status(call.world, call.home, one))


@route("POST", REPO + "/statuses/{sha}", "statuses:write")
async def create_status(call: Call) -> Answer:
    if not call.by_app and role_of(call.home, call.user) not in STAFF:
        raise not_found()
    made = checks.create_status(call.world, call.home, call.text("sha"), call.user, call.body)
    return Answer(payloads_checks.status(call.world, call.home, made), 201)
