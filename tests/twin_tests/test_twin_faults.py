"""Faults strike once and as ordered; the page of a conversation renders no hostile HTML."""

from __future__ import annotations

import time
from pathlib import Path

import aiohttp
import pytest

from tests.twin.faults import Faults
from tests.twin.page import markdown
from tests.twin_tests.stage import NAME, stage


async def test_stored_and_yet_502(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.twin.faults.stored_502("*/reviews")
        reply = await on.api.post("pulls/1/reviews", {"event": "COMMENT", "body": "T9"})
        assert (reply.status, [one.body for one in on.pull.reviews]) == (502, ["T9"])
        on.twin.faults.unavailable("*/comments", times=2)
        assert [(await on.api.post("issues/1/comments", {"body": "x"})).status for _ in range(3)] == [503, 503, 201]
        assert len(on.pull.comments) == 1


@pytest.mark.parametrize("status", [403, 429])
async def test_limits_are_told_by_headers(tmp_path: Path, status: int) -> None:
    async with stage(tmp_path) as on:
        on.twin.faults.secondary(status=status, retry_after=7)
        reply = await on.api.get("pulls/1")
        assert (reply.status, reply.headers["Retry-After"]) == (status, "7")
        on.twin.faults.rate_limited(123, status=status)
        reply = await on.api.get("pulls/1")
        assert (reply.headers["X-RateLimit-Remaining"], reply.headers["X-RateLimit-Reset"]) == ("0", "123")


async def test_broken_connections(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.twin.faults.reset("*/comments", stored=True)
        with pytest.raises(aiohttp.ClientError):
            await on.api.post("issues/1/comments", {"body": "arrived"})
        assert [one.body for one in on.pull.comments] == ["arrived"]
        on.twin.faults.reset("*/comments", method="POST")
        with pytest.raises(aiohttp.ClientError):
            await on.api.post("issues/1/comments", {"body": "lost"})
        assert len(on.pull.comments) == 1
        on.twin.faults.cut()
        with pytest.raises(aiohttp.ClientError):
            await on.api.get("pulls/1")
        assert on.twin.requests[-1].status == 0
        on.twin.faults.slow(0.05)
        began = time.perf_counter()
        assert (await on.api.get("pulls/1")).status == 200
        assert time.perf_counter() - began >= 0.05


def test_faults_wait_for_their_turn() -> None:
    faults = Faults()
    faults.answer(500, "/a/*", "GET").skip = 1
    assert faults.take("POST", "/a/b") is None
    assert faults.take("GET", "/a/b") is None
    assert faults.take("GET", "/a/b") is not None
    assert faults.take("GET", "/a/b") is None


async def test_the_page_of_a_conversation(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.pull.comment("<script>alert(1)</script>\n\n<!-- hidden -->\n\n**bold**", "zoe")
        inline = {"path": "notes.md", "line": 3, "body": "F1 here"}
        await on.api.post(
            "pulls/1/reviews",
            {
                "event": "COMMENT",
                "body": "<details><summary>What held</summary>\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n</details>",
                "comments": [inline],
            },
        )
        on.repo.check_run(on.pull.head_sha, "assay", "failure", output={"title": "1 finding", "summary": "s"})
        async with on.api.session.get(f"{on.twin.git_url}/{NAME}/pull/1") as answer:
            text = await answer.text()
            assert answer.status == 200 and "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert "<script" not in text and "hidden" not in text
        for part in (
            "<strong>bold</strong>",
            "<details><summary>What held</summary>",
            "<td>1</td>",
            "F1 here",
            "+three",
            "1 finding",
            "assay</b> <span",
        ):
            assert part in text
        async with on.api.session.get(f"{on.twin.git_url}/{NAME}/pull/9") as answer:
            assert answer.status == 404


@pytest.mark.parametrize(
    "hostile", ["<img src=x onerror=alert(1)>", "<details onclick=x>", "[x](javascript:alert(1))", "<!-- <b> --", "<a href='javascript:x'>y</a>"]
)
def test_no_live_html(hostile: str) -> None:
    shown = markdown(hostile)
    assert "<img" not in shown and "<details" not in shown and "<a" not in shown
