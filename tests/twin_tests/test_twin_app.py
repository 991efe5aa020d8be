"""The app: its JWT, its tokens, its deliveries, its checks."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.twin import access
from tests.twin_tests.stage import NAME, Stage, app_jwt, stage


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ({}, 200),
        ({"iss": "1"}, 401),
        ({"exp": -10}, 401),
        ({"exp": 700}, 401),
        ({"iat": 120}, 401),
        ({"iat": 30}, 200),
    ],
)
async def test_the_jwt_is_checked(tmp_path: Path, claims: dict[str, Any], status: int) -> None:
    async with stage(tmp_path) as on:
        now = int(on.twin.world.clock.seconds())
        moved: dict[str, Any] = {key: now + value if isinstance(value, int) else value for key, value in claims.items()}
        assert (await on.api.by(app_jwt(on.twin, **moved)).get("/app")).status == status


async def test_only_the_apps_own_key_and_rs256(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        foreign = access.new_key("foreign")[0]
        assert (await on.api.by(app_jwt(on.twin, key=foreign)).get("/app")).status == 401
        assert (await on.api.by(app_jwt(on.twin, algorithm="HS256", key="x" * 40)).get("/app")).status == 401
        assert (await on.api.get("/app")).status == 401


async def _token(on: Stage, **body: Any) -> Any:
    installation = on.twin.world.installation_of(on.repo.repository)
    assert installation
    return await on.api.by(app_jwt(on.twin)).post(f"/app/installations/{installation.id}/access_tokens", body)


async def test_tokens_expire_and_narrow(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.twin.add_repository("acme/other")
        made = (await _token(on, repositories=["evidence"], permissions={"contents": "read"})).json
        assert len(made["token"]) == 520 and made["permissions"] == {"contents": "read", "metadata": "read"}
        narrow = on.api.by(made["token"])
        listed = (await narrow.get("/installation/repositories")).json
        assert ([one["full_name"] for one in listed["repositories"]], listed["total_count"]) == ([NAME], 1)
        assert (await narrow.get("/repos/acme/other")).status == 404
        assert (await narrow.get("pulls/1/files")).status == 403
        on.twin.world.clock.advance(3_601)
        assert (await narrow.get("/installation/repositories")).status == 401
        assert (await _token(on, permissions={"contents": "write"})).status == 422
        assert (await _token(on, repositories=["nothing"])).status == 422


async def test_suspended_and_removed_installations(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        installation = on.twin.world.installation_of(on.repo.repository)
        assert installation
        on.twin.suspend(installation)
        assert (await on.api.get("pulls/1")).status == 403
        assert (await _token(on)).status == 403
        on.twin.suspend(installation, False)
        assert (await on.api.get("pulls/1")).status == 200
        on.twin.uninstall(installation)
        assert (await on.api.get("pulls/1")).status == 401
        assert (await on.api.by(app_jwt(on.twin)).get(f"/repos/{NAME}/installation")).status == 404


async def test_a_manifests_code_is_good_once_for_an_hour(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        code, late = on.twin.manifest_code(), on.twin.manifest_code()
        made = await on.api.by("").post(f"/app-manifests/{code}/conversions", Authorization="")
        assert (made.status, made.json["pem"], made.json["webhook_secret"]) == (201, on.twin.app.private_key, on.twin.app.webhook_secret)
        assert (await on.api.by("").post(f"/app-manifests/{code}/conversions", Authorization="")).status == 404
        on.twin.world.clock.advance(3_601)
        assert (await on.api.by("").post(f"/app-manifests/{late}/conversions", Authorization="")).status == 404


# ---------------------------------------------------------------- deliveries


class Hook:
    """A webhook that remembers what came, and answers `status`."""

    def __init__(self) -> None:
        self.status, self.delay, self.got = 202, 0.0, list[tuple[dict[str, str], bytes]]()

    async def handle(self, request: web.Request) -> web.Response:
        self.got.append((dict(request.headers), await request.read()))
        await asyncio.sleep(self.delay)
        return web.Response(status=self.status, text="noted")

    async def start(self) -> tuple[str, web.AppRunner]:
        app = web.Application()
        app.router.add_post("/webhook", self.handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{runner.addresses[0][1]}/webhook", runner


async def test_deliveries_are_signed_and_sent_again_as_they_were(tmp_path: Path) -> None:
    hook = Hook()
    url, runner = await hook.start()
    async with stage(tmp_path) as on:
        hook.status = 500
        sent = await on.twin.deliver("pull_request", action="opened", pull=on.pull, to=url)
        assert (sent.status, sent.status_code, sent.answer) == ("Invalid HTTP Response: 500", 500, "noted")
        headers, body = hook.got[0]
        expected = hmac.new(on.twin.app.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
        assert headers["X-Hub-Signature-256"] == f"sha256={expected}"
        assert (headers["X-GitHub-Event"], headers["X-GitHub-Delivery"]) == ("pull_request", sent.guid)
        hook.status, on.twin.courier.to = 202, url
        own = on.api.by(app_jwt(on.twin))
        failed = (await own.get("/app/hook/deliveries?status=failure")).json
        assert [one["guid"] for one in failed] == [sent.guid]
        assert (await own.post(f"/app/hook/deliveries/{failed[0]['id']}/attempts")).status == 202
        await asyncio.gather(*on.twin.tasks)
        assert hook.got[1] == hook.got[0] or (hook.got[1][1] == body and hook.got[1][0]["X-GitHub-Delivery"] == sent.guid)
        listed = (await own.get("/app/hook/deliveries")).json
        assert [(one["guid"], one["redelivery"], one["status"]) for one in listed] == [(sent.guid, True, "OK"), (sent.guid, False, sent.status)]
        assert (await own.get(f"/app/hook/deliveries/{listed[0]['id']}")).json["request"]["payload"]["action"] == "opened"
        on.twin.world.clock.advance(4 * 86_400)
        assert (await on.api.by(app_jwt(on.twin)).get("/app/hook/deliveries")).json == []
    await runner.cleanup()


async def test_a_slow_answer_is_a_time_out_that_the_filter_does_not_find(tmp_path: Path) -> None:
    hook = Hook()
    url, runner = await hook.start()
    async with stage(tmp_path) as on:
        hook.delay, on.twin.courier.timeout = 0.3, 0.05
        sent = await on.twin.deliver("ping", to=url)
        assert (sent.status, sent.status_code) == ("timed out", 0)
        assert (await on.twin.deliver("ping", to="http://127.0.0.1:9/webhook")).status == "failed to connect to host"
        own = on.api.by(app_jwt(on.twin))
        assert (await own.get("/app/hook/deliveries?status=failure")).json == []
    await runner.cleanup()


async def test_what_happens_is_announced_in_order(tmp_path: Path) -> None:
    hook = Hook()
    url, runner = await hook.start()
    async with stage(tmp_path) as on:
        await on.twin.deliver_events(url)
        hook.got.clear()
        on.pull.commit({"more.md": "x\n"})
        await on.api.post("issues/1/comments", {"body": "by the app itself"})
        on.pull.edit(title="Other")
        sent = await on.twin.deliver_events(url)
        assert [(one.event, one.action) for one in sent] == [
            ("push", None), ("check_suite", "requested"), ("pull_request", "synchronize"), ("issue_comment", "created"), ("pull_request", "edited"),
        ]  # fmt: skip
        assert sent[2].payload["after"] == on.pull.head_sha and sent[4].payload["changes"] == {"title": {"from": "Evidence"}}
        assert sent[3].payload["sender"]["login"] == "assay[bot]"
        assert await on.twin.deliver_events(url) == []
    await runner.cleanup()


async def test_events_can_go_out_by_themselves(tmp_path: Path) -> None:
    hook = Hook()
    url, runner = await hook.start()
    hook.delay = 0.01
    async with stage(tmp_path, webhooks_to=url) as on:
        for number in range(5):
            on.pull.comment(f"{number}", "zoe")
            await asyncio.sleep(0.004)
        await asyncio.gather(*on.twin.tasks)
        got = [json.loads(body) for headers, body in hook.got if headers["X-GitHub-Event"] == "issue_comment"]
        assert [one["comment"]["body"] for one in got] == ["0", "1", "2", "3", "4"]
        assert len({headers["X-GitHub-Delivery"] for headers, _ in hook.got}) == len(hook.got)
    await runner.cleanup()


async def test_hostile_deliveries(tmp_path: Path) -> None:
    hook = Hook()
    url, runner = await hook.start()
    async with stage(tmp_path) as on:
        await on.twin.deliver("ping", to=url, headers={"X-Hub-Signature-256": None, "X-GitHub-Event": None})
        await on.twin.deliver("ping", to=url, form=True, guid="same")
        assert {"X-Hub-Signature-256", "X-GitHub-Event"} & set(hook.got[0][0]) == set()
        assert hook.got[1][1].startswith(b"payload=%7B") and hook.got[1][0]["X-GitHub-Delivery"] == "same"
    await runner.cleanup()


# ---------------------------------------------------------------- checks


def notes(count: int) -> dict[str, Any]:
    one = {"path": "notes.md", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}
    return {"title": "t", "summary": "s", "annotations": [one] * count}


async def test_annotations_are_appended_by_fifty(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        head = on.pull.head_sha
        assert (await on.api.post("check-runs", {"name": "assay", "head_sha": head, "output": notes(51)})).status == 422
        run = (await on.api.post("check-runs", {"name": "assay", "head_sha": head, "output": notes(50)})).json
        await on.api.patch(f"check-runs/{run['id']}", {"conclusion": "neutral", "output": notes(20)})
        got = (await on.api.get(f"check-runs/{run['id']}")).json
        assert (got["status"], got["conclusion"], got["output"]["annotations_count"]) == ("completed", "neutral", 70)
        assert len((await on.api.get(f"check-runs/{run['id']}/annotations?per_page=100")).json) == 70
        assert [one["number"] for one in got["pull_requests"]] == [1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": "completed"},
        {"conclusion": "good"},
        {"output": {"title": "t"}},
        {"output": {"title": "t" * 256, "summary": "s"}},
        {"output": {"title": "t", "summary": "s" * 65_536}},
        {"actions": [{"label": "l", "description": "d", "identifier": "i"}] * 4},
        {"actions": [{"label": "l" * 21, "description": "d", "identifier": "i"}]},
        {"actions": [{"label": "l", "description": "d" * 41, "identifier": "i"}]},
        {
            "output": {
                "title": "t",
                "summary": "s",
                "annotations": [{"path": "a", "start_line": 2, "end_line": 1, "annotation_level": "notice", "message": "m"}],
            }
        },
        {"head_sha": "0" * 40},
    ],
)
async def test_what_a_check_run_may_not_be(tmp_path: Path, wrong: dict[str, Any]) -> None:
    async with stage(tmp_path) as on:
        assert (await on.api.post("check-runs", {"name": "assay", "head_sha": on.pull.head_sha, **wrong})).status == 422
        assert on.repo.check_runs == []


async def test_asking_again_resets_the_suite_and_not_the_run(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        made = (await on.api.post("check-runs", {"name": "assay", "head_sha": on.pull.head_sha, "conclusion": "success"})).json
        on.repo.rerequest(on.repo.check_runs[0], "mia")
        assert on.twin.events[-1].payload["action"] == "rerequested"
        assert (await on.api.get(f"check-runs/{made['id']}")).json["conclusion"] == "success"
        assert (await on.api.get(f"check-suites/{made['check_suite']['id']}")).json["conclusion"] is None
        await on.api.post("check-runs", {"name": "assay", "head_sha": on.pull.head_sha, "conclusion": "failure"})
        assert [one["conclusion"] for one in (await on.api.get("commits/topic/check-runs")).json["check_runs"]] == ["failure"]
        assert (await on.api.get("commits/topic/check-runs?filter=all")).json["total_count"] == 2


async def test_only_the_owner_of_a_run_changes_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        run = on.repo.check_run(on.pull.head_sha, "ci", "failure")
        assert (await on.api.patch(f"check-runs/{run.id}", {"conclusion": "success"})).status == 403
        assert (await on.api.by(on.twin.user_token("mia")).post("check-runs", {"name": "x", "head_sha": on.pull.head_sha})).status == 403
        on.repo.status(on.pull.head_sha, "pending", "slow")
        on.repo.status(on.pull.head_sha, "failure", "slow")
        state = (await on.api.get("commits/topic/status")).json
        assert (state["state"], state["total_count"]) == ("failure", 1)


# ---------------------------------------------------------------- actions


async def test_dispatching(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.repo.workflow(".github/workflows/device.yml")
        path = "actions/workflows/device.yml/dispatches"
        assert (await on.api.post(path, {"ref": on.pull.head_sha})).status == 422
        assert (await on.api.post(path, {"ref": "main", "inputs": {f"i{number}": "" for number in range(26)}})).status == 422
        assert (await on.api.post("actions/workflows/none.yml/dispatches", {"ref": "main"})).status == 404
        assert (await on.api.post(path, {"ref": "main", "inputs": {"head": on.pull.head_sha}})).status == 204
        made = await on.api.post(path, {"ref": "main", "return_run_details": True})
        assert (made.status, made.json["workflow_run_id"]) == (200, on.repo.workflow_runs[-1].id)
        assert on.repo.workflow_runs[0].inputs == {"head": on.pull.head_sha}
        on.twin.world.clock.advance(25 * 3_600)
        waiting = on.api.by(on.twin.installation_token(on.repo))
        assert (await waiting.get(f"actions/runs/{made.json['workflow_run_id']}")).json["conclusion"] == "cancelled"


async def test_a_token_is_not_to_be_sent_where_logs_lie(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        run = on.repo.workflow_run(on.pull.head_sha, {"test": ("failure", "FAILED a\n1 failed"), "slow": (None, None)})
        assert (run.status, (await on.api.get(f"actions/jobs/{run.jobs[1].id}/logs")).status) == ("queued", 404)
        own = {"Authorization": f"Bearer {on.api.token}"}
        address = f"{on.twin.url}/repos/{NAME}/actions/jobs/{run.jobs[0].id}/logs"
        async with on.api.session.get(address, headers=own, allow_redirects=False) as answer:
            where = answer.headers["Location"]
        assert (await on.api.get(where)).status == 400
        assert on.twin.violations == ["a token was sent to the store of logs and archives"]
        assert (await on.api.by("").get(where, Authorization="")).text.endswith("1 failed")
        on.twin.world.clock.advance(61)
        assert (await on.api.by("").get(where, Authorization="")).status == 404
