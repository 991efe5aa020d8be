"""Reviews: GitHub takes a review as a whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.twin import Refused
from tests.twin_tests.stage import BASE, Reply, Stage, stage


async def post(on: Stage, *comments: dict[str, Any], **more: Any) -> Reply:
    return await on.api.post("pulls/1/reviews", {"event": "COMMENT", "body": "Review", "comments": list(comments), **more})


def at(line: int, path: str = "notes.md", **more: Any) -> dict[str, Any]:
    return {"path": path, "line": line, "body": "F1", **more}


@pytest.mark.parametrize(
    ("comment", "status", "sentence"),
    [
        (at(3), 200, None),
        (at(3, side="LEFT"), 200, None),
        (at(6), 200, None),
        (at(7), 422, "Line could not be resolved"),  # one below the hunk's context
        (at(15), 422, "Line could not be resolved"),
        (at(35, side="LEFT"), 200, None),
        (at(3, path="elsewhere.md"), 422, "Path could not be resolved"),
        (at(1, path="picture.bin"), 422, "Line could not be resolved"),
        (at(1, path="new.txt"), 422, "Line could not be resolved"),  # a pure rename has no hunks
        (at(4, start_line=3), 200, None),
        (at(3, start_line=3), 422, "Line could not be resolved"),
        (at(3, start_line=4), 422, "Line could not be resolved"),
        (at(31, start_line=3), 422, "Line could not be resolved"),  # two hunks
        (at(3, side="MIDDLE"), 422, "Line could not be resolved"),
        (at(3, body=""), 422, None),
        (at(3, subject_type="file"), 422, None),
        ({"path": "notes.md", "position": 4, "body": "by position"}, 200, None),
        ({"path": "notes.md", "body": "nowhere"}, 422, "Line could not be resolved"),
    ],
)
async def test_lines_of_the_diff(tmp_path: Path, comment: dict[str, Any], status: int, sentence: str | None) -> None:
    async with stage(tmp_path) as on:
        reply = await post(on, at(3, body="fine"), comment)
        assert reply.status == status, reply.text
        assert len(on.pull.review_comments) == (2 if status == 200 else 0)
        assert sentence is None or reply.json["errors"] == [sentence]


async def test_a_single_comment_names_the_field(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        own = {"commit_id": on.pull.head_sha, "body": "F1", "path": "notes.md"}
        reply = await on.api.post("pulls/1/comments", {**own, "line": 15})
        assert reply.status == 422
        assert reply.json["errors"][0]["message"] == "pull_request_review_thread.line must be part of the diff"
        reply = await on.api.post("pulls/1/comments", {**own, "line": 4, "start_line": 4})
        assert reply.json["errors"][0]["message"] == "pull_request_review_thread.start_line must precede the end line."
        assert (await on.api.post("pulls/1/comments", {**own, "subject_type": "file"})).json["line"] is None
        assert (await on.api.post("pulls/1/comments", {"body": "F1", "path": "notes.md", "line": 3})).status == 422


@pytest.mark.parametrize("event", ["COMMENT", "REQUEST_CHANGES"])
async def test_a_body_is_required(tmp_path: Path, event: str) -> None:
    async with stage(tmp_path) as on:
        assert (await post(on, at(3), event=event, body="")).status == 422
        assert (await post(on, event="APPROVE", body="")).json["state"] == "APPROVED"


async def test_more_than_thirty_comments_come_too_quickly(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        reply = await post(on, *[at(3)] * 31)
        assert (reply.status, reply.json["errors"][0]["message"]) == (422, "was submitted too quickly")
        assert (await post(on, *[at(3)] * 30)).status == 200


async def test_a_pending_review_blocks_the_next(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        pending = await on.api.post("pulls/1/reviews", {"body": "left over"})
        assert pending.json["state"] == "PENDING" and "submitted_at" not in pending.json
        reply = await post(on, at(3))
        assert reply.json["errors"] == ["User can only have one pending review per pull request"]
        stranger = on.api.by(on.twin.user_token("zoe"))
        on.repo.grant("zoe", "read")
        assert (await stranger.get("pulls/1/reviews")).json == []
        assert (await on.api("DELETE", f"pulls/1/reviews/{pending.json['id']}")).status == 200
        assert (await post(on, at(3))).status == 200


async def test_nobody_approves_an_own_pull(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        with pytest.raises(Refused, match="Can not approve your own pull request"):
            on.pull.review("ann", "APPROVE", "me")
        with pytest.raises(Refused, match="Can not request changes on your own"):
            on.pull.review("ann", "REQUEST_CHANGES", "me")
        assert on.pull.review("ann", "COMMENT", "me").state == "COMMENTED"


async def test_a_force_push_moves_old_reviews(tmp_path: Path) -> None:
    """The trap of T1, and T12: the reviewed commit is no longer in the pull."""
    async with stage(tmp_path) as on:
        old = on.pull.head_sha
        await post(on, at(3), commit_id=old)
        on.pull.commit({"notes.md": BASE.replace("line 20\n", "twenty\n")}, parent=on.repo.tip("main"))
        review = (await on.api.get("pulls/1/reviews")).json[0]
        assert review["commit_id"] == on.pull.head_sha != old
        comment = (await on.api.get("pulls/1/comments")).json[0]
        assert (comment["line"], comment["position"], comment["original_line"], comment["original_commit_id"]) == (None, None, 3, old)
        assert (await post(on, at(20), commit_id=old)).json["errors"] == ["Commit is not part of the pull request"]
        assert "head_ref_force_pushed" in [one["event"] for one in (await on.api.get("issues/1/timeline")).json]


async def test_a_comment_moves_with_its_line(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        first = on.pull.head_sha
        await post(on, at(31), at(3))
        head = on.twin.world.repository("acme/evidence")
        on.pull.commit({"notes.md": "new first\n" + BASE.replace("line 3\n", "drei\n").replace("line 30\n", "line 30\nadded\n")})
        far, near = (await on.api.get("pulls/1/comments")).json
        assert (far["line"], far["commit_id"], far["original_commit_id"]) == (32, on.pull.head_sha, first)
        assert near["line"] is None
        assert (await on.api.get("pulls/1/reviews")).json[0]["commit_id"] == first
        assert head.issues[1].pull


async def test_a_verdict_can_be_dismissed_and_a_comment_cannot(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        said = (await post(on)).json["id"]
        assert (await on.api("PUT", f"pulls/1/reviews/{said}/dismissals", {"message": "x"})).status == 422
        no = (await post(on, event="REQUEST_CHANGES")).json["id"]
        await post(on)
        assert [one["state"] for one in (await on.api.get("pulls/1/reviews")).json] == ["COMMENTED", "CHANGES_REQUESTED", "COMMENTED"]
        assert (await on.api("PUT", f"pulls/1/reviews/{no}/dismissals", {"message": "resolved"})).json["state"] == "DISMISSED"


async def test_threads_over_graphql(tmp_path: Path) -> None:
    query = """query($n: Int!) { repository(owner: "acme", name: "evidence") { pullRequest(number: $n) { threads: reviewThreads(first: 1, after: null) {
      totalCount pageInfo { hasNextPage endCursor } nodes { isResolved path line comments(first: 5) { nodes { databaseId author { login } } } } } } } }"""
    async with stage(tmp_path) as on:
        first = on.pull.inline("zoe", "why", "notes.md", 3)
        on.pull.inline("zoe", "and this", "notes.md", 4)
        on.pull.resolve(first)
        reply = await on.api.post("/graphql", {"query": query, "variables": {"n": 1}})
        found = reply.json["data"]["repository"]["pullRequest"]["threads"]
        assert (found["totalCount"], found["pageInfo"]) == (2, {"hasNextPage": True, "endCursor": "1"})
        assert found["nodes"][0] == {
            "isResolved": True, "path": "notes.md", "line": 3, "comments": {"nodes": [{"databaseId": first.id, "author": {"login": "zoe"}}]}
        }  # fmt: skip
        wrong = await on.api.post("/graphql", {"query": query.replace("isResolved", "isDone"), "variables": {"n": 1}})
        assert "isDone" in wrong.json["errors"][0]["message"]
