"""Commits, comparisons, files, and git over HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.twin.git import ENVIRONMENT
from tests.twin_tests.stage import NAME, Stage, stage


async def run_git(folder: Path, *arguments: str, token: str | None = None) -> tuple[int, str]:
    """Git as a user would run it; the token goes by the environment."""
    import base64
    import os

    basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    own = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "http.extraHeader", "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}"} if token else {}
    environment = {**os.environ, **ENVIRONMENT, "GIT_CONFIG_COUNT": "0", **own}
    pipe, joined = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT
    process = await asyncio.create_subprocess_exec("git", *arguments, cwd=folder, env=environment, stdout=pipe, stderr=joined)
    out, _ = await process.communicate()
    return process.returncode or 0, out.decode()


def address(on: Stage) -> str:
    return f"{on.twin.git_url}/{NAME}.git"


async def test_fetching_needs_a_token(tmp_path: Path) -> None:
    async with stage(tmp_path / "twin") as on:
        code, said = await run_git(tmp_path, "clone", "-q", "--mirror", address(on), "anonymous.git")
        assert code != 0 and ("Authentication" in said or "could not read Username" in said)
        code, said = await run_git(tmp_path, "clone", "-q", "--mirror", address(on), "mirror.git", token=on.api.token)
        assert code == 0, said
        assert (await run_git(tmp_path / "mirror.git", "rev-parse", "refs/pull/1/head"))[1].strip() == on.pull.head_sha
        wrong = on.twin.installation_token(on.repo, permissions={"issues": "read"})
        assert (await run_git(tmp_path, "clone", "-q", address(on), "wrong.git", token=wrong))[0] != 0
        assert [one.route for one in on.twin.requests].count("git") >= 3
        assert on.twin.calls() == []


async def test_pushing_is_refused(tmp_path: Path) -> None:
    async with stage(tmp_path / "twin") as on:
        await run_git(tmp_path, "clone", "-q", "--bare", address(on), "mirror.git", token=on.api.token)
        code, said = await run_git(tmp_path / "mirror.git", "push", "-q", "origin", "main:elsewhere", token=on.api.token)
        assert code != 0 and "403" in said


async def test_pull_refs_can_lag(tmp_path: Path) -> None:
    """T43: the webhook names a commit that a fetch does not get yet."""
    async with stage(tmp_path / "twin") as on:
        old = on.pull.head_sha
        await run_git(tmp_path, "init", "-q", "--bare", "m.git")
        on.repo.lag(fetches=2)
        new = on.pull.commit({"more.md": "x\n"})
        fetch = ("fetch", "-q", address(on), "+refs/pull/1/head:refs/heads/h")
        for expected in (old, old, new):
            code, said = await run_git(tmp_path / "m.git", *fetch, token=on.api.token)
            assert code == 0, said
            assert (await run_git(tmp_path / "m.git", "rev-parse", "h"))[1].strip() == expected
        on.repo.lag(None)
        newer = on.pull.commit({"more.md": "y\n"})
        assert (await run_git(tmp_path / "m.git", "fetch", "-q", address(on), newer, token=on.api.token))[0] != 0
        on.repo.catch_up()
        assert (await run_git(tmp_path / "m.git", "fetch", "-q", address(on), newer, token=on.api.token))[0] == 0


async def test_a_vanished_head_can_still_be_fetched_by_its_id_until_it_is_gone(tmp_path: Path) -> None:
    async with stage(tmp_path / "twin") as on:
        old = on.pull.head_sha
        on.pull.commit({"x.md": "x\n"}, parent=on.repo.tip("main"))
        await run_git(tmp_path, "init", "-q", "--bare", "m.git")
        assert (await run_git(tmp_path / "m.git", "fetch", "-q", address(on), old, token=on.api.token))[0] == 0
        on.twin.faults.answer(500, "*git-upload-pack")
        assert (await run_git(tmp_path / "m.git", "fetch", "-q", address(on), "main", token=on.api.token))[0] != 0


async def test_commit_lookups(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        head = on.pull.head_sha
        assert [(await on.api.get(f"commits/{name}")).json["sha"] for name in (head, head[:8], "topic")] == [head] * 3
        missing = await on.api.get(f"commits/{'1' * 40}")
        assert (missing.status, missing.json["message"]) == (422, f"No commit found for SHA: {'1' * 40}")
        on.twin.add_repository("acme/empty")
        empty = await on.api.get("/repos/acme/empty/commits/main")
        assert (empty.status, empty.json["message"]) == (409, "Git Repository is empty.")
        assert (await on.api.get("/repos/acme/gone/commits/main")).status == 404
        assert [one["number"] for one in (await on.api.get(f"commits/{head}/pulls")).json] == [1]
        assert (await on.api.get(f"git/commits/{'1' * 40}")).status == 404


async def test_a_forks_commit_passes_as_the_parents(tmp_path: Path) -> None:
    """T2: the commit API answers, only the comparison tells."""
    async with stage(tmp_path) as on:
        fork = on.twin.fork(on.repo, "mallory/evidence")
        sha = fork.commit("evil", {"evil.md": "x\n"}, user="mallory", parent=on.repo.tip("main"))
        assert (await on.api.get(f"commits/{sha}")).status == 200
        compared = (await on.api.get(f"compare/main...{sha}")).json
        assert (compared["status"], compared["ahead_by"], compared["behind_by"]) == ("ahead", 1, 0)
        pull = on.repo.open_pull(head="mallory:evil", title="From a fork", user="mallory")
        run = on.repo.check_run(sha, "ci")
        listed = (await on.api.get(f"commits/{sha}/check-runs")).json["check_runs"]
        assert (listed[0]["id"], listed[0]["pull_requests"]) == (run.id, [])  # T30
        assert (await on.api.get(f"pulls/{pull.number}")).json["head"]["repo"]["full_name"] == "mallory/evidence"
        fork.commit("evil", {"more.md": "x\n"}, user="mallory")
        assert on.twin.events[-1].payload["action"] == "synchronize"
        fork.delete()
        assert (await on.api.get(f"pulls/{pull.number}")).json["head"]["repo"] is None


async def test_comparisons(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.repo.commit("main", {"base.md": "x\n"})
        compared = (await on.api.get("compare/main...topic")).json
        assert (compared["status"], compared["ahead_by"], compared["behind_by"], len(compared["commits"])) == ("diverged", 1, 1, 1)
        assert [one["filename"] for one in compared["files"]] == ["gone.txt", "new.txt", "notes.md", "picture.bin"]
        assert (await on.api.get("compare/main...main")).json["status"] == "identical"
        assert (await on.api.get("compare/main...nothing")).status == 404


async def test_files_of_a_pull(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.pull.commit({"é 汉.json": "{}\n", "big.json": "[" + "1," * 200_000 + "1]", "link": ("120000", b"notes.md")})
        on.repo.move("main", on.repo.commit("main", {"big.json": "[]"}))
        found = {one["filename"]: one for one in (await on.api.get("pulls/1/files?per_page=100")).json}
        assert found["new.txt"]["status"] == "renamed" and found["new.txt"]["previous_filename"] == "old.txt"
        assert [name for name, one in found.items() if "patch" not in one] == ["new.txt", "picture.bin"]
        assert found["é 汉.json"]["patch"].startswith("@@ -0,0 +1 @@\n+{}")
        on.pull.commit({"big.json": "[" + "1," * 300_000 + "1]"})
        found = {one["filename"]: one for one in (await on.api.get("pulls/1/files")).json}
        assert "patch" not in found["big.json"] and found["big.json"]["additions"] == 1  # T42
        diff = await on.api.get("pulls/1", Accept="application/vnd.github.v3.diff")
        assert diff.status == 200 and diff.text.startswith("diff --git ")
        on.pull.commit({f"many/{number}": "x\n" for number in range(301)})
        assert (await on.api.get("pulls/1", Accept="application/vnd.github.diff")).status == 406


async def test_contents(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.repo.commit("main", {"link.md": ("120000", b"notes.md"), "host": ("120000", b"/etc/passwd"), "d/big": "x" * 1_100_000})
        import base64

        link, host = (await on.api.get("contents/link.md")).json, (await on.api.get("contents/host")).json
        assert base64.b64decode(link["content"]).startswith(b"line 1\n") and link["type"] == "file"
        assert (host["type"], host["target"]) == ("symlink", "/etc/passwd")
        big = (await on.api.get("contents/d/big")).json
        assert (big["encoding"], big["content"], big["size"]) == ("none", "", 1_100_000)
        assert [one["name"] for one in (await on.api.get("contents/d")).json] == ["big"]
        raw = await on.api.get("contents/notes.md?ref=topic", Accept="application/vnd.github.raw+json")
        assert raw.text.startswith("line 1\nline 2\nthree\n")
        assert (await on.api.get("contents/nothing")).status == 404


async def test_merging_and_queueing(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        group = on.pull.enqueue("mia")
        payload = on.twin.events[-1].payload["merge_group"]
        assert payload["head_sha"] == group and payload["head_ref"].startswith("refs/heads/gh-readonly-queue/main/pr-1-")
        assert (await on.api.get(f"commits/{group}")).status == 200
        on.pull.merge("mia")
        got = (await on.api.get("pulls/1")).json
        assert (got["merged"], got["state"], got["changed_files"], got["commits"]) == (True, "closed", 4, 1)


async def test_conflicts_are_told(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        on.repo.commit("main", {"notes.md": "all new\n"})
        on.pull.commit({"x.md": "x\n"})
        got = (await on.api.get("pulls/1")).json
        assert (got["mergeable"], got["mergeable_state"], got["merge_commit_sha"]) == (False, "dirty", None)
