"""Every endpoint of the twin is driven once, and held against GitHub's own description; so is every webhook payload."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.twin import contract, corpus
from tests.twin.front import VERSIONS
from tests.twin.http import ROUTES, template
from tests.twin_tests.stage import NAME, Stage, app_jwt, stage

pytestmark = pytest.mark.skipif(not contract.installed(), reason="githubkit is not installed")
OUTPUT = {"title": "One finding", "summary": "F1", "text": "…", "annotations": [
    {"path": "notes.md", "start_line": 3, "end_line": 3, "annotation_level": "warning", "message": "F1", "title": "F1", "start_column": 1, "end_column": 2},
]}  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
async def test_every_endpoint_answers_as_described(tmp_path: Path, version: str) -> None:
    async with stage(tmp_path, contract=True) as on:
        send = _with_version(on, version)
        await _read_everything(on, send)
        await _talk(on, send)
        await _review(on, send)
        await _check(on, send)
        await _act(on, send, version)
        await _administer(on, send)
        assert on.twin.violations == []
        assert [one for one in on.twin.requests if one.status >= 400] == []
        driven = {(one.method, one.route) for one in on.twin.requests}
        assert {(one.method, template(one.path)) for one in ROUTES} - driven == set()


def _with_version(on: Stage, version: str) -> Any:
    async def send(method: str, path: str, body: Any = None, token: str | None = None) -> Any:
        client = on.api.by(token) if token else on.api
        reply = await client(method, path, body, **{"X_GitHub_Api_Version": version})
        assert reply.status < 400, (method, path, reply.text)
        return reply.json

    return send


async def _read_everything(on: Stage, send: Any) -> None:
    head = on.pull.head_sha
    on.repo.require_checks("main", "ci")
    for path in (
        "", "collaborators/mia/permission", "collaborators/mia", "commits", f"commits/{head}", f"commits/{head}/pulls", f"git/commits/{head}",
        f"commits/{head}/branches-where-head", "compare/main...topic", "branches", "branches/main", "rules/branches/main", "tags", "git/ref/heads/main",
        "contents/", "contents/notes.md", "pulls", "pulls/1", "pulls/1/files", "pulls/1/commits",
    ):  # fmt: skip
        await send("GET", path)
    for path in ("/installation/repositories", "/users/ann", "/rate_limit", "/meta", "/zen"):
        await send("GET", path)


async def _talk(on: Stage, send: Any) -> None:
    issue = await send("POST", "issues", {"title": "Proposal", "body": "See #1", "labels": ["campaign"]})
    at = f"issues/{issue['number']}"
    comment = await send("POST", f"{at}/comments", {"body": "Hello #1"})
    await send("PATCH", at, {"title": "Proposal 2", "body": "New", "labels": ["campaign", "b"], "state": "closed", "state_reason": "completed"})
    await send("PATCH", at, {"state": "open"})
    for path in (
        "issues",
        "issues/comments",
        f"issues/comments/{comment['id']}",
        at,
        f"{at}/comments",
        f"{at}/timeline",
        "issues/1/timeline",
        "labels",
        f"{at}/labels",
    ):
        await send("GET", path)
    await send("PATCH", f"issues/comments/{comment['id']}", {"body": "Edited"})
    await send("POST", "labels", {"name": "fresh", "color": "ff0000", "description": "new"})
    await send("POST", f"{at}/labels", {"labels": ["x"]})
    await send("PUT", f"{at}/labels", {"labels": ["x", "y"]})
    await send("DELETE", f"{at}/labels/x")
    await _react(send, at)
    await _react(send, f"issues/comments/{comment['id']}")
    await send("DELETE", f"issues/comments/{comment['id']}")


async def _react(send: Any, path: str) -> None:
    made = await send("POST", f"{path}/reactions", {"content": "eyes"})
    await send("GET", f"{path}/reactions")
    await send("DELETE", f"{path}/reactions/{made['id']}")


async def _review(on: Stage, send: Any) -> None:
    inline = {"path": "notes.md", "line": 3, "side": "RIGHT", "body": "F1"}
    review = await send("POST", "pulls/1/reviews", {"commit_id": on.pull.head_sha, "event": "REQUEST_CHANGES", "body": "No", "comments": [inline]})
    at = f"pulls/1/reviews/{review['id']}"
    for path in ("pulls/1/reviews", at, f"{at}/comments", "pulls/1/comments", "pulls/comments"):
        await send("GET", path)
    await send("PUT", at, {"body": "Still no"})
    await send("PUT", f"{at}/dismissals", {"message": "resolved"})
    comment = await send("POST", "pulls/1/comments", {"commit_id": on.pull.head_sha, "path": "picture.bin", "subject_type": "file", "body": "F2"})
    reply = await send("POST", f"pulls/1/comments/{comment['id']}/replies", {"body": "Why?"})
    await send("GET", f"pulls/comments/{comment['id']}")
    await send("PATCH", f"pulls/comments/{comment['id']}", {"body": "F2 again"})
    await _react(send, f"pulls/comments/{comment['id']}")
    await send("DELETE", f"pulls/comments/{reply['id']}")
    pending = await send("POST", "pulls/1/reviews", {"body": "later", "comments": [inline]})
    await send("POST", f"pulls/1/reviews/{pending['id']}/events", {"event": "COMMENT", "body": "now"})
    pending = await send("POST", "pulls/1/reviews", {"body": "never"})
    await send("DELETE", f"pulls/1/reviews/{pending['id']}")
    on.pull.to_draft()
    on.pull.ready()
    await send("GET", "issues/1/timeline")


async def _check(on: Stage, send: Any) -> None:
    head, owner = on.pull.head_sha, on.twin.user_token("acme")
    run = await send("POST", "check-runs", {"name": "assay", "head_sha": head, "status": "in_progress", "output": OUTPUT})
    actions = [{"label": "Re-run", "description": "Review again", "identifier": "rerun"}]
    await send("PATCH", f"check-runs/{run['id']}", {"conclusion": "success", "output": OUTPUT, "actions": actions})
    suite = run["check_suite"]["id"]
    on.repo.check_run(head, "ci")
    await send("POST", f"statuses/{head}", {"state": "success", "context": "ci", "description": "fine"}, owner)
    for path in (
        f"check-runs/{run['id']}", f"check-runs/{run['id']}/annotations", f"check-suites/{suite}", f"check-suites/{suite}/check-runs",
        f"commits/{head}/check-runs", f"commits/{head}/check-suites", f"commits/{head}/status", f"commits/{head}/statuses",
    ):  # fmt: skip
        await send("GET", path)
    await send("POST", f"check-runs/{run['id']}/rerequest")
    await send("POST", f"check-suites/{suite}/rerequest")
    await send("POST", "check-suites", {"head_sha": on.repo.tip("main")})


async def _act(on: Stage, send: Any, version: str) -> None:
    asked = {"return_run_details": True} if version == "2022-11-28" else {}
    on.repo.workflow()
    run = on.repo.workflow_run(on.pull.head_sha, {"test": ("failure", "1 failed")})
    await send("POST", "actions/workflows/device.yml/dispatches", {"ref": "main", "inputs": {"campaign": "c"}, **asked})
    dispatched = on.repo.workflow_runs[-1]
    await send("POST", f"actions/runs/{dispatched.id}/cancel")
    on.repo.finish(dispatched, artifacts={"receipt": {"receipt.json": b"{}"}})
    job, artifact = run.jobs[0].id, dispatched.artifacts[0].id
    for path in (
        f"runs?head_sha={on.pull.head_sha}",
        f"runs/{run.id}",
        f"runs/{run.id}/jobs",
        f"runs/{dispatched.id}/artifacts",
        f"jobs/{job}",
        f"artifacts/{artifact}",
    ):
        await send("GET", f"actions/{path}")
    assert (await on.api.get(f"actions/jobs/{job}/logs")).text == "1 failed"
    assert (await on.api.get(f"actions/artifacts/{artifact}/zip")).status == 200


async def _administer(on: Stage, send: Any) -> None:
    own, installation = app_jwt(on.twin), on.twin.world.installation_of(on.repo.repository)
    assert installation
    await send("POST", f"/app/installations/{installation.id}/access_tokens", {"repositories": ["evidence"], "permissions": {"issues": "read"}}, own)
    for path in (
        "/app",
        "/app/installations",
        f"/app/installations/{installation.id}",
        "/app/hook/config",
        "/app/hook/deliveries",
        f"/repos/{NAME}/installation",
    ):
        await send("GET", path, token=own)
    delivery = await on.twin.deliver("ping", to="http://127.0.0.1:9")
    await send("GET", "/app/hook/deliveries?status=failure&per_page=5", token=own)
    await send("GET", f"/app/hook/deliveries/{delivery.id}", token=own)
    on.twin.courier.to = "http://127.0.0.1:9"
    await send("POST", f"/app/hook/deliveries/{delivery.id}/attempts", token=own)
    on.twin.courier.to = None
    await send("POST", f"/app-manifests/{on.twin.manifest_code()}/conversions")
    on.repo.commit("second", {"n.md": "n\n"}, parent=on.repo.tip("main"))
    made = await send("POST", "pulls", {"title": "P", "body": "b", "head": "second", "base": "main", "draft": True})
    await send("PATCH", f"pulls/{made['number']}", {"title": "Q", "body": "c", "state": "closed"})
    on.pull.merge(user="mia")
    await send("GET", "pulls/1/merge")
    await send("DELETE", "/installation/token")


async def test_a_wrong_request_is_seen(tmp_path: Path) -> None:
    async with stage(tmp_path, contract=True) as on:
        await on.api.post("issues/1/comments", {"body": "x", "colour": "red"})
        await on.api.get("pulls?per_pages=3")
        assert [one.split(": ", 1)[1] for one in on.twin.violations] == ["unknown key colour in the request", "unknown query parameter per_pages"]


async def test_webhook_payloads_are_as_described(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        await _make_every_event(on)
        wrong = [one for event in on.twin.events for one in contract.wrong_payload(VERSIONS[0], event.name, event.payload)]
        assert wrong == []
        seen = {event.name for event in on.twin.events}
        assert seen >= {"pull_request", "issues", "issue_comment", "check_run", "check_suite", "merge_group", "installation", "push", "status"}


async def _make_every_event(on: Stage) -> None:
    pull, repo, twin = on.pull, on.repo, on.twin
    issue = repo.open_issue(title="I", body="b", labels=["l"])
    comment = issue.comment("hi", "zoe")
    issue.edit_comment(comment, "ho", "zoe")
    issue.edit(title="J", body="c")
    issue.label("m")
    issue.close()
    issue.reopen()
    issue.delete_comment(comment, "zoe")
    pull.comment("/assay help", "zoe")
    pull.edit(title="New", body="New body")
    inline = pull.inline("zoe", "why", "notes.md", 3)
    pull.review("zoe", "APPROVE", "ok")
    pull.resolve(inline)
    pull.to_draft()
    pull.ready()
    pull.commit({"more.md": "x\n"})
    pull.enqueue("mia")
    pull.close()
    pull.reopen()
    run = repo.check_run(pull.head_sha, "ci")
    repo.rerequest(run)
    repo.rerequest_suite(run)
    repo.status(pull.head_sha, "success")
    pull.set_base("main")
    pull.merge("mia")
    repo.delete_branch("topic")
    installation = twin.world.installation_of(repo.repository)
    assert installation
    twin.suspend(installation)
    twin.suspend(installation, False)
    twin.uninstall(installation)
    own = await twin.deliver("ping", to="http://127.0.0.1:9")
    assert contract.wrong_payload(VERSIONS[0], "ping", own.payload) == []


def test_the_corpus_holds_many_payloads() -> None:
    if corpus.folder() is None:
        pytest.skip("@octokit/webhooks-examples is not installed")
    found = list(corpus.examples())
    assert len(found) >= 300
    assert {"pull_request", "issues", "check_run", "merge_group"} <= {event for event, _ in found}
