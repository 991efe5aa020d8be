"""Check runs, check suites and commit statuses, with GitHub's limits on each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tests.twin import git
from tests.twin.limits import (
    ACTION_DESCRIPTION,
    ACTION_IDENTIFIER,
    ACTION_LABEL,
    ACTIONS_AT_MOST,
    ANNOTATION_TEXT_BYTES,
    ANNOTATIONS_AT_ONCE,
    CHECK_TEXT_CHARACTERS,
    CHECK_TITLE_CHARACTERS,
    STATUS_DESCRIPTION,
    STATUSES_PER_CONTEXT,
)
from tests.twin.state import App, CheckRun, CheckSuite, Json, Refused, Repository, Status, User, World, invalid, not_found

STATUSES = ("queued", "in_progress", "completed")
CONCLUSIONS = ("success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required")
LEVELS = ("notice", "warning", "failure")
SHA = re.compile(r"[0-9a-f]{40}\Z")


def create_run(world: World, repository: Repository, app: App, sender: User, request: Mapping[str, Any], app_id: int | None = None) -> CheckRun:
    """A run in the suite of its commit. `app_id` stands in for another app (GitHub's own CI)."""
    name, sha = request.get("name"), request.get("head_sha")
    if not isinstance(name, str) or not name:
        raise Refused(422, 'Invalid request.\n\n"name" wasn\'t supplied.')
    if not isinstance(sha, str):
        raise Refused(422, 'Invalid request.\n\n"head_sha" wasn\'t supplied.')
    if not SHA.match(sha) or git.resolve(repository.git_dir, sha) is None:
        raise Refused(422, f"No commit found for SHA: {sha}")
    _check(request)
    suite = suite_for(world, repository, app_id or app.id, sha)
    run = CheckRun(world.next_id(), suite, name, sha, suite.app_id, app.slug if app_id is None else "github-actions", started_at=world.clock.now())
    repository.runs[run.id] = run
    _apply(world, run, request)
    _announce(world, repository, run, "completed" if run.status == "completed" else "created", sender)
    return run


def update_run(world: World, repository: Repository, run: CheckRun, sender: User, request: Mapping[str, Any]) -> None:
    """Annotations are appended; everything else is replaced."""
    _check(request)
    was = run.status
    _apply(world, run, request)
    if run.status == "completed" and was != "completed":
        _announce(world, repository, run, "completed", sender)


def _announce(world: World, repository: Repository, run: CheckRun, action: str, sender: User, **parts: Any) -> None:
    world.announce("check_run", action, repository, sender, {"run": run, **parts})


def suite_for(world: World, repository: Repository, app_id: int, sha: str) -> CheckSuite:
    found = next((one for one in repository.suites.values() if (one.app_id, one.head_sha) == (app_id, sha)), None)
    if found is None:
        now = world.clock.now()
        branch = next((name for name, tip in git.refs(repository.git_dir, "refs/heads/").items() if tip == sha), None)
        found = CheckSuite(world.next_id(), app_id, sha, branch, now, now)
        repository.suites[found.id] = found
    return found


def _apply(world: World, run: CheckRun, request: Mapping[str, Any]) -> None:
    now = world.clock.now()
    run.name = request.get("name") or run.name
    run.details_url = request.get("details_url", run.details_url)
    run.external_id = request.get("external_id", run.external_id)
    run.actions = request.get("actions", run.actions)
    run.started_at = _time(request.get("started_at")) or run.started_at
    run.status = "completed" if request.get("conclusion") else request.get("status", run.status)
    run.conclusion = request.get("conclusion", run.conclusion) if run.status == "completed" else None
    run.completed_at = (_time(request.get("completed_at")) or run.completed_at or now) if run.status == "completed" else None
    output = request.get("output") or {}
    run.annotations += output.get("annotations") or []
    run.output |= {key: value for key, value in output.items() if key in ("title", "summary", "text")}
    run.suite.updated_at, run.suite.status, run.suite.conclusion = now, run.status, run.conclusion


def _time(value: Any) -> datetime | None:
    if value is None:
        return None
    try:
        return datetime.fromisoformat(str(value).replace("Z", "+00:00"))
    except ValueError:
        raise Refused(422, f"Invalid request.\n\n{value} is not a valid date-time.") from None


def _check(request: Mapping[str, Any]) -> None:
    """Raises `Refused` 422 for what GitHub would not take."""
    status, conclusion = request.get("status"), request.get("conclusion")
    if status is not None and status not in STATUSES:
        raise Refused(422, f"Invalid request.\n\n{status} is not a member of {list(STATUSES)}.")
    if conclusion is not None and conclusion not in CONCLUSIONS:
        raise Refused(422, f"Invalid request.\n\n{conclusion} is not a member of {list(CONCLUSIONS)}.")
    if status == "completed" and conclusion is None:
        raise Refused(422, 'Invalid request.\n\n"conclusion" wasn\'t supplied.')
    if request.get("output") is not None:
        _check_output(request["output"])
    _check_actions(request.get("actions") or [])


def _check_output(output: Mapping[str, Any]) -> None:
    for key in ("title", "summary"):
        if not isinstance(output.get(key), str):
            raise Refused(422, f'Invalid request.\n\n"{key}" wasn\'t supplied.')
    _short(output["title"], CHECK_TITLE_CHARACTERS, "title")
    for key in ("summary", "text"):
        _short(output.get(key) or "", CHECK_TEXT_CHARACTERS, key)
    annotations = output.get("annotations") or []
    if len(annotations) > ANNOTATIONS_AT_ONCE:
        raise Refused(422, f"Invalid request.\n\nNo more than {ANNOTATIONS_AT_ONCE} items are allowed; {len(annotations)} were supplied.")
    for annotation in annotations:
        _check_annotation(annotation)


def _check_annotation(annotation: Mapping[str, Any]) -> None:
    for key, kind in (("path", str), ("start_line", int), ("end_line", int), ("annotation_level", str), ("message", str)):
        if not isinstance(annotation.get(key), kind):
            raise Refused(422, f'Invalid request.\n\n"{key}" wasn\'t supplied.')
    if annotation["annotation_level"] not in LEVELS:
        raise Refused(422, f"Invalid request.\n\n{annotation['annotation_level']} is not a member of {list(LEVELS)}.")
    if not 1 <= annotation["start_line"] <= annotation["end_line"]:
        raise Refused(422, "Invalid request.\n\nstart_line must be positive and must not come after end_line.")
    columns = annotation.get("start_column") is not None or annotation.get("end_column") is not None
    if columns and annotation["start_line"] != annotation["end_line"]:
        raise Refused(422, "Invalid request.\n\nstart_column and end_column are only allowed where start_line and end_line are equal.")
    _short(annotation.get("title") or "", CHECK_TITLE_CHARACTERS, "annotation title")
    for key in ("message", "raw_details"):
        if len((annotation.get(key) or "").encode()) > ANNOTATION_TEXT_BYTES:
            raise Refused(422, f"Invalid request.\n\nOnly {ANNOTATION_TEXT_BYTES} bytes are allowed in {key}.")


def _check_actions(actions: list[Mapping[str, Any]]) -> None:
    if len(actions) > ACTIONS_AT_MOST:
        raise Refused(422, f"Invalid request.\n\nNo more than {ACTIONS_AT_MOST} items are allowed; {len(actions)} were supplied.")
    for action in actions:
        for key, most in (("label", ACTION_LABEL), ("description", ACTION_DESCRIPTION), ("identifier", ACTION_IDENTIFIER)):
            if not isinstance(action.get(key), str):
                raise Refused(422, f'Invalid request.\n\n"{key}" wasn\'t supplied.')
            _short(action[key], most, key)


def _short(text: str, most: int, name: str) -> None:
    if len(text) > most:
        raise Refused(422, f"Invalid request.\n\nOnly {most} characters are allowed in {name}; {len(text)} were supplied.")


# ---------------------------------------------------------------- finding and asking again


def run_of(repository: Repository, run_id: int) -> CheckRun:
    found = repository.runs.get(run_id)
    if found is None:
        raise not_found()
    return found


def suite_of(repository: Repository, suite_id: int) -> CheckSuite:
    found = repository.suites.get(suite_id)
    if found is None:
        raise not_found()
    return found


def runs_for(repository: Repository, sha: str, query: Mapping[str, str]) -> list[CheckRun]:
    """Newest first; only the newest of each name in a suite unless `filter=all`."""
    found = [run for run in reversed(repository.runs.values()) if run.head_sha == sha and _asked(run, query)]
    if query.get("filter") == "all":
        return found
    newest: dict[tuple[int, str], CheckRun] = {}
    for run in found:
        newest.setdefault((run.suite.id, run.name), run)
    return list(newest.values())


def _asked(run: CheckRun, query: Mapping[str, str]) -> bool:
    wanted = {"check_name": run.name, "status": run.status, "app_id": str(run.app_id)}
    return all(query.get(key, value) == value for key, value in wanted.items())


def rerequest_suite(world: World, repository: Repository, suite: CheckSuite, sender: User) -> None:
    suite.status, suite.conclusion, suite.updated_at = "queued", None, world.clock.now()
    world.announce("check_suite", "rerequested", repository, sender, {"suite": suite})


def rerequest_run(world: World, repository: Repository, run: CheckRun, sender: User) -> None:
    """Resets the suite, not the run: the app makes a new run or updates this one."""
    run.suite.status, run.suite.conclusion = "queued", None
    _announce(world, repository, run, "rerequested", sender)


def request_action(world: World, repository: Repository, run: CheckRun, sender: User, identifier: str) -> None:
    """Somebody pressed one of the run's buttons."""
    _announce(world, repository, run, "requested_action", sender, requested_action={"identifier": identifier})


# ---------------------------------------------------------------- statuses


def create_status(world: World, repository: Repository, sha: str, user: User, request: Mapping[str, Any]) -> Status:
    state, context = request.get("state"), request.get("context") or "default"
    if state not in ("error", "failure", "pending", "success"):
        raise invalid("Status", "state", "custom", "state is not included in the list")
    if git.resolve(repository.git_dir, sha) != sha:
        raise Refused(422, f"No commit found for SHA: {sha}")
    if len(request.get("description") or "") > STATUS_DESCRIPTION:
        raise invalid("Status", "description", "custom", f"description is too long (maximum is {STATUS_DESCRIPTION} characters)")
    if sum(1 for one in repository.statuses if (one.sha, one.context) == (sha, context)) >= STATUSES_PER_CONTEXT:
        raise invalid("Status", None, "custom", "This SHA and context has reached the maximum number of statuses.")
    made = Status(world.next_id(), sha, state, context, request.get("description"), request.get("target_url"), user, world.clock.now())
    repository.statuses.append(made)
    parts: Json = {"status": made}
    world.announce("status", None, repository, user, parts)
    return made


def statuses_for(repository: Repository, sha: str) -> list[Status]:
    """Newest first."""
    return [one for one in reversed(repository.statuses) if one.sha == sha]


def combined(repository: Repository, sha: str) -> tuple[str, list[Status]]:
    """The newest status of each context, and what they come to."""
    newest: dict[str, Status] = {}
    for one in statuses_for(repository, sha):
        newest.setdefault(one.context, one)
    states = {one.state for one in newest.values()}
    word = "failure" if states & {"error", "failure"} else "pending" if "pending" in states or not states else "success"
    return word, list(newest.values())
