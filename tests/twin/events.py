"""Webhook payloads, shaped as GitHub documents them, from what happened in the twin."""

from __future__ import annotations

from collections.abc import Callable

from tests.twin import git, payloads, payloads_checks, payloads_talk
from tests.twin.state import Installation, Json, Repository, User, World, node_id, stamp

ZERO = "0" * 40


def payload(world: World, name: str, action: str | None, home: Repository | None, sender: User, parts: Json) -> Json:
    """The JSON of event `name`; `parts` holds entities under the names that `SHAPES` reads."""
    head = {"action": action} if action else {}
    return {**head, **SHAPES[name](world, home, parts), **_envelope(world, home, sender, parts)}


def _envelope(world: World, home: Repository | None, sender: User, parts: Json) -> Json:
    own: Json = {"sender": payloads.user(world, sender)}
    if home is None:
        return own
    own["repository"] = payloads.repository(world, home)
    if home.owner.kind == "Organization":
        own["organization"] = _organization(world, home.owner)
    installation = parts.get("installation") or world.installation_of(home)
    if installation:
        own["installation"] = {"id": installation.id, "node_id": node_id("IntegrationInstallation", installation.id)}
    return own


def _organization(world: World, owner: User) -> Json:
    url = f"{world.api}/orgs/{owner.login}"
    links = {f"{word}_url": f"{url}/{word}" for word in ("repos", "events", "hooks", "issues")}
    members = {"members_url": f"{url}/members{{/member}}", "public_members_url": f"{url}/public_members{{/member}}"}
    own = {"login": owner.login, "id": owner.id, "node_id": node_id("Organization", owner.id), "url": url, **links, **members}
    return {**own, "avatar_url": f"{world.html}/avatars/{owner.id}", "description": ""}


def _given(parts: Json, *names: str) -> Json:
    return {name: parts[name] for name in names if name in parts}


def _pull_request(world: World, home: Repository | None, parts: Json) -> Json:
    pull = parts["pull"]
    label = {"label": payloads.label(world, pull.issue.repository, parts["label"])} if "label" in parts else {}
    return {"number": pull.issue.number, "pull_request": payloads_talk.full_pull(world, pull), **label, **_given(parts, "changes", "before", "after")}


def _issues(world: World, home: Repository | None, parts: Json) -> Json:
    issue = parts["issue"]
    label = {"label": payloads.label(world, issue.repository, parts["label"])} if "label" in parts else {}
    return {"issue": payloads_talk.issue(world, issue), **label, **_given(parts, "changes")}


def _issue_comment(world: World, home: Repository | None, parts: Json) -> Json:
    issue = parts["issue"]
    comment = payloads_talk.comment(world, issue, parts["comment"])
    return {"issue": payloads_talk.issue(world, issue), "comment": comment, **_given(parts, "changes")}


def _review(world: World, home: Repository | None, parts: Json) -> Json:
    pull, review = parts["pull"], payloads_talk.review(world, parts["pull"], parts["review"])
    given = {**review, "state": review["state"].lower(), "submitted_at": review.get("submitted_at"), "body": review["body"] or None}
    return {"review": given, "pull_request": payloads_talk.pull(world, pull), **_given(parts, "changes")}


def _review_comment(world: World, home: Repository | None, parts: Json) -> Json:
    pull = parts["pull"]
    comment = payloads_talk.review_comment(world, pull, parts["review_comment"])
    return {"comment": comment, "pull_request": payloads_talk.pull(world, pull), **_given(parts, "changes")}


def _review_thread(world: World, home: Repository | None, parts: Json) -> Json:
    pull, first = parts["pull"], parts["thread"]
    said = [one for one in pull.comments if first in (one.id, one.in_reply_to)]
    thread = {"node_id": node_id("PullRequestReviewThread", first), "comments": [payloads_talk.review_comment(world, pull, one) for one in said]}
    return {"thread": thread, "pull_request": payloads_talk.pull(world, pull)}


def _check_run(world: World, home: Repository | None, parts: Json) -> Json:
    assert home
    return {"check_run": payloads_checks.run_in_event(world, home, parts["run"]), **_given(parts, "requested_action")}


def _check_suite(world: World, home: Repository | None, parts: Json) -> Json:
    assert home
    suite = parts["suite"]
    return {"check_suite": payloads_checks.suite_in_event(world, home, suite, sum(1 for run in home.runs.values() if run.suite is suite))}


def _merge_group(world: World, home: Repository | None, parts: Json) -> Json:
    assert home
    head = git.commit(home.git_dir, parts["head_sha"])
    group = {"head_sha": head.sha, "head_ref": parts["head_ref"], "base_sha": head.parents[0], "base_ref": parts["base_ref"]}
    return {"merge_group": {**group, "head_commit": payloads.simple_commit(head)}, **_given(parts, "reason")}


def _push(world: World, home: Repository | None, parts: Json) -> Json:
    assert home
    before, after = parts["before"], parts["after"]
    page = payloads.repository_page(world, home)
    new = [] if after == ZERO else git.log(home.git_dir, *([after] if before == ZERO else [after, f"^{before}"]), most=20)[::-1]
    commits = [_pushed_commit(world, home, sha) for sha in new]
    flags = {
        "created": before == ZERO,
        "deleted": after == ZERO,
        "forced": ZERO not in (before, after) and not git.is_ancestor(home.git_dir, before, after),
    }
    head = _pushed_commit(world, home, after) if after != ZERO else None
    who = {"pusher": {"name": home.owner.login, "email": f"{home.owner.login}@example.com"}}
    return {
        **_given(parts, "ref", "before", "after"),
        **who,
        **flags,
        "base_ref": None,
        "compare": f"{page}/compare/x",
        "commits": commits,
        "head_commit": head,
    }


def _pushed_commit(world: World, home: Repository, sha: str) -> Json:
    commit = git.commit(home.git_dir, sha)
    url = f"{payloads.repository_page(world, home)}/commit/{sha}"
    return {**payloads.simple_commit(commit), "distinct": True, "url": url, "added": [], "removed": [], "modified": []}


def _status(world: World, home: Repository | None, parts: Json) -> Json:
    assert home
    one = parts["status"]
    given = payloads_checks.status(world, home, one)
    kept = {key: given[key] for key in ("id", "avatar_url", "context", "description", "state", "target_url", "created_at", "updated_at")}
    commit = payloads.commit(world, home, git.commit(home.git_dir, one.sha))
    return {**kept, "sha": one.sha, "name": home.full_name, "commit": commit, "branches": []}


def _installation(world: World, home: Repository | None, parts: Json) -> Json:
    return {
        "installation": payloads.installation(world, parts["installation"]),
        "repositories": _brief(world, parts["installation"]),
        "requester": None,
    }


def _installation_repositories(world: World, home: Repository | None, parts: Json) -> Json:
    changed = {key: [_short(one) for one in parts.get(key, ())] for key in ("repositories_added", "repositories_removed")}
    given = payloads.installation(world, parts["installation"])
    return {"installation": given, "repository_selection": given["repository_selection"], **changed, "requester": None}


def _brief(world: World, installation: Installation) -> list[Json]:
    return [_short(one) for one in world.repositories.values() if not one.deleted and installation.sees(one)]


def _short(one: Repository) -> Json:
    return {"id": one.id, "node_id": node_id("Repository", one.id), "name": one.name, "full_name": one.full_name, "private": one.private}


def _repository(world: World, home: Repository | None, parts: Json) -> Json:
    return _given(parts, "changes")


def _ping(world: World, home: Repository | None, parts: Json) -> Json:
    config = {"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": parts.get("url", "https://example.com/webhook")}
    hook = {"type": "App", "id": 1, "name": "web", "active": True, "events": list(world.app.events), "config": config, "app_id": world.app.id}
    moment = stamp(world.app.created_at)
    links = {"deliveries_url": f"{world.api}/app/hook/deliveries", "updated_at": moment, "created_at": moment}
    return {"zen": "Anything added dilutes everything else.", "hook_id": 1, "hook": {**hook, **links}}


SHAPES: dict[str, Callable[[World, Repository | None, Json], Json]] = {
    "pull_request": _pull_request,
    "issues": _issues,
    "issue_comment": _issue_comment,
    "pull_request_review": _review,
    "pull_request_review_comment": _review_comment,
    "pull_request_review_thread": _review_thread,
    "check_run": _check_run,
    "check_suite": _check_suite,
    "merge_group": _merge_group,
    "push": _push,
    "status": _status,
    "installation": _installation,
    "installation_repositories": _installation_repositories,
    "repository": _repository,
    "ping": _ping,
}
