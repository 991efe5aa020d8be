"""GitHub's JSON for check runs, check suites and statuses."""

from __future__ import annotations

from collections.abc import Sequence

from tests.twin import git
from tests.twin.payloads import app, repository, repository_page, repository_url, simple_commit, user
from tests.twin.payloads_talk import minimal_pull
from tests.twin.state import CheckRun, CheckSuite, Json, Pull, Repository, Status, World, node_id, stamp

ACTIONS_APP = {"slug": "github-actions", "name": "GitHub Actions"}


def pulls_at(home: Repository, sha: str) -> list[Pull]:
    """Open pulls of the repository's own branches at that head; those of forks are left out, as GitHub does."""
    found = [issue.pull for issue in home.issues.values() if issue.pull and issue.state == "open"]
    return [pull for pull in found if pull.head_sha == sha and pull.head_repository is home]


def _app(world: World, app_id: int) -> Json:
    own = app(world, world.app)
    return own if app_id == world.app.id else {**own, **ACTIONS_APP, "id": app_id, "html_url": f"{world.html}/apps/github-actions"}


def run(world: World, home: Repository, one: CheckRun) -> Json:
    url, page = f"{repository_url(world, home)}/check-runs/{one.id}", f"{repository_page(world, home)}/runs/{one.id}"
    text = {key: one.output.get(key) for key in ("title", "summary", "text")}
    output = {**text, "annotations_count": len(one.annotations), "annotations_url": f"{url}/annotations"}
    return {
        "id": one.id, "name": one.name, "node_id": node_id("CheckRun", one.id), "head_sha": one.head_sha, "external_id": one.external_id,
        "url": url, "html_url": page, "details_url": one.details_url or "https://example.com", "status": one.status,
        "conclusion": one.conclusion, "started_at": stamp(one.started_at), "completed_at": stamp(one.completed_at), "output": output,
        "check_suite": {"id": one.suite.id}, "app": _app(world, one.app_id),
        "pull_requests": [minimal_pull(world, pull) for pull in pulls_at(home, one.head_sha)],
    }  # fmt: skip


def run_in_event(world: World, home: Repository, one: CheckRun) -> Json:
    """The run as webhooks carry it, with its suite in it."""
    base = {
        key: value for key, value in suite(world, home, one.suite, 1).items() if key not in ("repository", "head_commit", "latest_check_runs_count")
    }
    return {**run(world, home, one), "check_suite": base, "actions": one.actions}


def annotation(world: World, home: Repository, one: CheckRun, given: Json) -> Json:
    optional = ("start_column", "end_column", "title", "raw_details")
    kept = {key: given[key] for key in ("path", "start_line", "end_line", "annotation_level", "message")}
    return {**kept, **{key: given.get(key) for key in optional}, "blob_href": f"{repository_page(world, home)}/blob/{one.head_sha}/{given['path']}"}


def suite(world: World, home: Repository, one: CheckSuite, runs: int) -> Json:
    url = f"{repository_url(world, home)}/check-suites/{one.id}"
    return {
        "id": one.id, "node_id": node_id("CheckSuite", one.id), "head_branch": one.head_branch, "head_sha": one.head_sha, "status": one.status,
        "conclusion": one.conclusion, "url": url, "before": one.before, "after": one.head_sha, "app": _app(world, one.app_id),
        "pull_requests": [minimal_pull(world, pull) for pull in pulls_at(home, one.head_sha)], "created_at": stamp(one.created_at),
        "updated_at": stamp(one.updated_at), "rerequestable": True, "runs_rerequestable": True, "latest_check_runs_count": runs,
        "check_runs_url": f"{url}/check-runs", "head_commit": simple_commit(git.commit(home.git_dir, one.head_sha)),
        "repository": repository(world, home),
    }  # fmt: skip


def suite_in_event(world: World, home: Repository, one: CheckSuite, runs: int) -> Json:
    return {key: value for key, value in suite(world, home, one, runs).items() if key != "repository"}


def status(world: World, home: Repository, one: Status) -> Json:
    creator = user(world, one.creator)
    url, moment = f"{repository_url(world, home)}/statuses/{one.sha}", stamp(one.created_at)
    own = {"url": url, "avatar_url": creator["avatar_url"], "id": one.id, "node_id": node_id("StatusContext", one.id), "state": one.state}
    about = {"description": one.description, "target_url": one.target_url, "context": one.context}
    return {**own, **about, "created_at": moment, "updated_at": moment, "creator": creator}


def combined(world: World, home: Repository, sha: str, word: str, statuses: Sequence[Status]) -> Json:
    url = f"{repository_url(world, home)}/commits/{sha}"
    given = [{**{key: value for key, value in status(world, home, one).items() if key != "creator"}, "required": False} for one in statuses]
    own = {"state": word, "statuses": given, "sha": sha, "total_count": len(given)}
    return {**own, "repository": repository(world, home), "commit_url": url, "url": f"{url}/status"}
