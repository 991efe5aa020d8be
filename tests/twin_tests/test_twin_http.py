"""Pages, entity tags, limits, permissions: what every request meets."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.twin_tests.stage import NAME, stage


async def test_pages_lead_on(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        for number in range(65):
            on.pull.comment(f"comment {number}", "zoe")
        first = await on.api.get("issues/1/comments")
        assert len(first.json) == 30
        assert first.headers["Link"] == (
            f'<{on.twin.url}/repos/{NAME}/issues/1/comments?page=2>; rel="next", <{on.twin.url}/repos/{NAME}/issues/1/comments?page=3>; rel="last"'
        )
        seen, address = [], f"{on.twin.url}/repos/{NAME}/issues/1/comments?per_page=25"
        while address:
            page = await on.api.get(address)
            seen += [one["body"] for one in page.json]
            links = dict(reversed(link.split("; ")) for link in page.headers.get("Link", "").split(", ") if link)
            address = links.get('rel="next"', "").strip("<>")
        assert seen == [f"comment {number}" for number in range(65)]
        assert len((await on.api.get("issues/1/comments?per_page=1000")).json) == 65
        assert (await on.api.get("issues/1/comments?page=9")).json == []


async def test_tags_are_free_and_each_tokens_own(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        first = await on.api.get("pulls/1")
        tag, left = first.headers["ETag"], first.headers["X-RateLimit-Remaining"]
        again = await on.api.get("pulls/1", If_None_Match=tag)
        assert (again.status, again.text, again.headers["X-RateLimit-Remaining"]) == (304, "", left)
        other = on.api.by(on.twin.installation_token(on.repo))
        assert (await other.get("pulls/1", If_None_Match=tag)).status == 200
        assert (await on.api.get("pulls/1", If_None_Match=tag, Accept="application/vnd.github.full+json")).status == 200
        on.pull.comment("news", "zoe")
        assert (await on.api.get("pulls/1", If_None_Match=tag)).status == 200


async def test_the_primary_limit_names_its_reset(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.twin.limits.per_hour = 2
        assert [(await on.api.get("pulls/1")).status for _ in range(3)] == [200, 200, 403]
        last = await on.api.get("pulls/1")
        assert (last.headers["X-RateLimit-Remaining"], "Retry-After" in last.headers) == ("0", False)
        assert abs(int(last.headers["X-RateLimit-Reset"]) - on.twin.world.clock.seconds() - 3_600) < 60
        on.twin.world.clock.advance(3_601)
        other = on.api.by(on.twin.installation_token(on.repo))
        assert (await other.get("pulls/1")).status == 200


async def test_writes_are_limited(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.twin.limits.writes_per_minute = 3
        replies = [await on.api.post("issues/1/comments", {"body": "x"}) for _ in range(4)]
        assert [one.status for one in replies] == [201, 201, 201, 403]
        assert replies[-1].headers["Retry-After"] == "60"
        assert (await on.api.get("issues/1")).status == 200
        on.twin.world.clock.advance(61)
        assert (await on.api.post("issues/1/comments", {"body": "x"})).status == 201
        on.twin.limits.content_gap = 1.0
        assert (await on.api.post("issues/1/comments", {"body": "x"})).status == 403
        on.twin.world.clock.advance(1.1)
        assert (await on.api.post("issues/1/comments", {"body": "x"})).status == 201


async def test_points_and_concurrency(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.twin.limits.points_per_minute = 7
        assert [(await on.api.post("issues/1/comments", {"body": "x"})).status for _ in range(2)] == [201, 403]
        assert [(await on.api.get("issues/1")).status for _ in range(3)] == [200, 200, 403]
        on.twin.limits.points_per_minute, on.twin.limits.concurrent = 10_000, 2
        on.twin.faults.slow(0.1, times=3)
        many = await asyncio.gather(*[on.api.get("issues/1") for _ in range(4)])
        assert 403 in [one.status for one in many]


async def test_permissions(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        narrow = on.api.by(on.twin.installation_token(on.repo, permissions={"issues": "read"}))
        assert (await narrow.get("issues/1")).status == 200
        refused = await narrow.post("issues/1/comments", {"body": "x"})
        assert (refused.status, refused.json["message"]) == (403, "Resource not accessible by integration")
        assert refused.headers["X-Accepted-GitHub-Permissions"] == "issues=write; pull_requests=write"
        assert (await narrow.post("check-runs", {"name": "x", "head_sha": on.pull.head_sha})).status == 403
        assert (await on.api.post(f"statuses/{on.pull.head_sha}", {"state": "success"})).status == 403
        assert (await on.api.by(on.twin.user_token("nobody")).get("issues/1")).status == 404
        assert (await on.api.by("ghs_wrong").get("issues/1")).status == 401
        assert (await on.api.get("/repos/acme/nothing")).status == 404
        on.twin.add_repository("other/public", private=False, installed=False)
        assert (await on.api.get("/repos/other/public")).status == 200
        assert (await on.api.post("/repos/other/public/issues", {"title": "x"})).status == 403


@pytest.mark.parametrize(
    ("login", "permission", "role"),
    [("acme", "admin", "admin"), ("mia", "write", "maintain"), ("tom", "read", "triage"), ("zoe", "none", "none")],
)
async def test_role_names(tmp_path: Path, login: str, permission: str, role: str) -> None:
    async with stage(tmp_path) as on:
        on.repo.grant("tom", "triage")
        on.twin.world.user("zoe")
        reply = await on.api.get(f"collaborators/{login}/permission")
        assert (reply.json["permission"], reply.json["role_name"]) == (permission, role)
        assert (await on.api.get("collaborators/ghost-of-nobody/permission")).status == 404


async def test_malformed_requests(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        address, own = f"{on.twin.url}/repos/{NAME}/issues/1/comments", {"Authorization": f"Bearer {on.api.token}"}
        for body, message in ((b"{", "Problems parsing JSON"), (b"[1]", "Body should be a JSON object")):
            async with on.api.session.post(address, data=body, headers=own) as answer:
                assert (answer.status, (await answer.json())["message"]) == (400, message)
        assert (await on.api.get("issues/1", X_GitHub_Api_Version="1999-01-01")).status == 400
        assert (await on.api.get("issues/one")).status == 404
        async with on.api.session.get(f"{on.twin.url}/rate_limit", headers={"User-Agent": ""}) as answer:
            assert answer.status == 403


async def test_bodies_have_a_limit(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        long = await on.api.post("issues/1/comments", {"body": "x" * 65_537})
        assert (long.status, long.json["errors"][0]["message"]) == (422, "body is too long (maximum is 65536 characters)")
        assert (await on.api.post("issues/1/comments", {"body": "字" * 65_536})).status == 201
        assert (await on.api.post("issues/1/comments", {"body": " "})).status == 422
        on.twin.world.keep_old_issue_body = True
        kept = await on.api.patch("issues/1", {"body": "x" * 65_537})
        assert (kept.status, kept.json["body"]) == (200, "Measured.")


async def test_reactions_are_created_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        comment = on.pull.comment("/assay rerun", "mia")
        assert comment.id > 2**32
        path = f"issues/comments/{comment.id}/reactions"
        assert [(await on.api.post(path, {"content": "eyes"})).status for _ in range(2)] == [201, 200]
        assert (await on.api.post(path, {"content": "tada"})).status == 422
        assert (await on.api.get(f"issues/comments/{comment.id}")).json["reactions"]["eyes"] == 1


async def test_an_enterprise_server_has_a_prefix(tmp_path: Path) -> None:
    async with stage(tmp_path, enterprise=True) as on:
        assert on.twin.url.endswith("/api/v3")
        assert (await on.api.get("pulls/1")).json["url"].startswith(on.twin.url)
        assert (await on.api.get(f"{on.twin.git_url}/repos/{NAME}")).status == 404
        assert [one.route for one in on.twin.unknown] == [None]


async def test_requests_are_counted(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.twin.forget()
        await on.api.get("pulls/1")
        await on.api.post("issues/1/comments", {"body": "x"})
        assert [(one.method, one.route, one.status) for one in on.twin.calls()] == [
            ("GET", "/repos/{owner}/{repo}/pulls/{pull_number}", 200),
            ("POST", "/repos/{owner}/{repo}/issues/{issue_number}/comments", 201),
        ]
        assert on.twin.calls("POST", "*/comments")[0].request == {"body": "x"}
        assert on.api.token not in str(on.twin.requests)


async def test_a_locked_conversation(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.pull.lock()
        assert (await on.api.post("issues/1/comments", {"body": "x"})).status == 403
