"""Mirrors fetched from the twin over git's own HTTP: exact commits, lag, force-pushes, refusals, and credentials that stay hidden."""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.checkout import fetch
from bot.checkout.fetch import AccessRefused, FetchFailed, HeadGone, Mirrors, NoBase, RepositoryGone, Wanted
from bot.checkout.mirror import open_repository
from bot.checkout.tree import GitTree, tree_of
from tests.bot.github.scene import Scene, scene
from tests.bot.making import git


@dataclass
class Fetching:
    at: Scene
    mirrors: Mirrors
    slept: list[float] = field(default_factory=list)

    @property
    def wanted(self) -> Wanted:
        home = self.at.repo.repository
        return Wanted(home.id, home.full_name, self.at.pull.head_sha, "main", self.at.pull.number)

    async def token(self) -> str:
        return await self.at.github.token(self.at.installation)

    async def __call__(self, **changes: Any) -> fetch.Fetched:
        return await self.mirrors.fetch(replace(self.wanted, **changes), self.token)


@asynccontextmanager
async def fetching(folder: Path, then: Any = lambda _: None) -> AsyncIterator[Fetching]:
    """`then` is called with the seconds of each pause, which take no time."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        then(seconds)

    async with scene(folder / "twin") as at:
        yield Fetching(at, Mirrors(folder / "data", at.twin.git_url, sleep), slept)


async def test_the_exact_head_and_the_bases_tip(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        newer = on.at.repo.commit("main", {"later.md": "x\n"})
        found = await on()
        assert (found.head, found.base, found.pull_head, on.slept) == (on.at.pull.head_sha, newer, on.at.pull.head_sha, [])
        repository = open_repository(found.folder)
        assert repository is not None and not repository.shallow
        with repository:
            assert tree_of(repository, found.head).read("picture.bin") == bytes(range(256))
            assert isinstance(tree_of(repository, found.base), GitTree) and repository.merge_base(found.head, found.base)


async def test_all_branches_and_tags_come_and_old_heads_stay(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        other = on.at.repo.commit("other", {"o": "1"})
        first = (await on()).head
        git(on.at.repo.git_dir, "update-ref", "refs/tags/v1", other)
        git(on.at.repo.git_dir, "update-ref", "-d", "refs/heads/other")
        on.at.repo.commit("other/nested", {"o": "2"})
        second = on.at.pull.commit({"notes.md": "forced\n"}, parent=on.at.repo.tip("main"))
        found = await on()
        assert found.head == second != first
        names = git(Path(found.folder), "for-each-ref", "--format=%(refname)").split()
        assert {"refs/heads/other/nested", "refs/tags/v1", "refs/pull/1/head"} <= set(names) and "refs/heads/other" not in names
        assert git(Path(found.folder), "cat-file", "-t", first) == "commit"


async def test_a_forks_head(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        fork = on.at.twin.fork(on.at.repo, "zoe/evidence")
        sha = fork.commit("patch", {"z": "1"}, parent=on.at.repo.tip("main"), user="zoe")
        pull = on.at.repo.open_pull(head="zoe:patch", title="From a fork", user="zoe")
        found = await on(number=pull.number, head=sha)
        assert found.head == found.pull_head == sha


async def test_t43_a_lagging_ref_is_waited_for(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        await on()
        on.at.repo.lag(5)
        head = on.at.pull.commit({"notes.md": "new\n"})
        found = await on()
        assert found.head == head and on.slept and on.slept == list(fetch.PAUSES[: len(on.slept)])


async def test_t43_a_pulls_ref_that_is_not_there_yet(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        on.at.repo.lag(3)
        on.at.repo.commit("second", {"s": "1"}, parent=on.at.repo.tip("main"))
        pull = on.at.repo.open_pull(head="second", title="Second", user="ann")
        assert (await on(number=pull.number, head=pull.head_sha)).head == pull.head_sha


async def test_a_base_that_lags(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        on.at.repo.lag(2)
        tip = on.at.repo.commit("main", {"later.md": "x\n"})
        assert (await on(base=tip)).base == tip and on.slept


async def test_a_base_that_was_forced_away_is_not_waited_for_without_end(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        assert (await on(base="b" * 40)).base == on.at.repo.tip("main") and on.slept == list(fetch.PAUSES)


async def test_t12_a_head_that_vanished_before_the_fetch(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        with pytest.raises(HeadGone) as caught:
            await on(head="a" * 40)
        assert (caught.value.head, caught.value.now) == ("a" * 40, on.at.pull.head_sha) and on.slept == list(fetch.PAUSES)
        with pytest.raises(HeadGone) as caught:
            await on(head="a" * 40, number=99)
        assert caught.value.now is None


async def test_a_force_pushed_head_that_is_still_stored_is_fetched_by_its_id(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        old = on.at.pull.head_sha
        new = on.at.pull.commit({"notes.md": "forced\n"}, parent=on.at.repo.tip("main"))
        found = await on(head=old)
        assert (found.head, found.pull_head, on.slept) == (old, new, [])


async def test_a_merge_group_has_no_pull(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        head = on.at.pull.enqueue()
        found = await on(head=head, number=None)
        assert (found.head, found.pull_head) == (head, None)


async def test_a_base_that_is_not_there(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        with pytest.raises(NoBase):
            await on(base_ref="gone")


async def test_a_deleted_repository_a_suspended_installation_a_missing_permission(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        installation = on.at.twin.world.installations[on.at.installation]
        secret = await on.token()

        async def held() -> str:
            return secret

        on.at.twin.suspend(installation)
        with pytest.raises(AccessRefused):
            await on.mirrors.fetch(on.wanted, held)
        on.at.twin.suspend(installation, False)
        limited = on.at.twin.installation_token(on.at.repo, permissions={"issues": "read"})
        secret = limited
        with pytest.raises(AccessRefused):
            await on.mirrors.fetch(on.wanted, held)
        secret = "ghs_nonsense"
        with pytest.raises(AccessRefused):
            await on.mirrors.fetch(on.wanted, held)
        on.at.repo.delete()
        with pytest.raises(RepositoryGone):
            await on()
        with pytest.raises(RepositoryGone):
            await on(full_name="acme/../evidence")


async def test_an_outage_is_waited_for_and_then_said(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        on.at.twin.faults.unavailable("*/info/refs", times=2)
        assert (await on()).head == on.at.pull.head_sha and len(on.slept) == 2
        on.at.twin.faults.unavailable("*", times=100)
        with pytest.raises(FetchFailed) as caught:
            await on(head="c" * 40)
        assert "127.0.0.1" not in str(caught.value)


async def test_what_a_killed_git_left_behind_is_swept(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        folder = Path((await on()).folder)
        for name in ("packed-refs.lock", "refs/heads/main.lock", "refs/pull/1/head.lock", "objects/pack/tmp_pack_x"):
            (folder / name).write_text("")
        head = on.at.pull.commit({"notes.md": "new\n"})
        on.at.repo.commit("main", {"later.md": "x\n"})
        assert (await on()).head == head
        assert not list(folder.rglob("*.lock")) and not list(folder.rglob("tmp_*"))


async def test_a_half_made_mirror_is_made_anew(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        await on(repository_id=7)
        mirror = on.mirrors.path(on.wanted.repository_id)
        (mirror.with_suffix(".new") / "x").mkdir(parents=True)
        mirror.mkdir()
        assert (await on()).head == on.at.pull.head_sha
        assert not (mirror / "hooks").exists() and not stat.S_IMODE(mirror.parent.stat().st_mode) & 0o077


async def test_many_at_once_and_other_processes_wait_for_each_other(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        another = Mirrors(tmp_path / "data", on.at.twin.git_url)
        found = await asyncio.gather(*(on() for _ in range(4)), *(another.fetch(on.wanted, on.token) for _ in range(2)))
        assert {one.head for one in found} == {on.at.pull.head_sha}


async def test_a_rename_keeps_the_mirror(tmp_path: Path) -> None:
    async with fetching(tmp_path) as on:
        first = await on()
        home = on.at.repo.repository
        on.at.twin.world.repositories["acme/renamed"] = on.at.twin.world.repositories.pop("acme/evidence")
        home.name = "renamed"
        assert (await on()).folder == first.folder


async def test_many_packs_become_few_and_nothing_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "MOST_PACKS", 2)
    async with fetching(tmp_path) as on:
        heads = []
        for number in range(5):
            on.at.pull.commit({"notes.md": f"{number}\n"}, parent=on.at.repo.tip("main"))
            heads.append((await on()).head)
        folder = Path((await on()).folder)
        assert len(list(folder.glob("objects/pack/*.pack"))) <= 2
        assert {git(folder, "cat-file", "-t", head) for head in heads} == {"commit"}


async def test_a_disk_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, no folder")
    async with fetching(tmp_path) as on:
        with pytest.raises(FetchFailed, match="cannot be written"):
            await on()


# ---------------------------------------------------------------- credentials

SPY = """#!/bin/sh
{{ tr '\\0' ' ' < /proc/$$/cmdline; printf '%s ' "$@"; echo; }} >> {arguments}
exec {git} "$@"
"""


async def test_t34_the_token_is_in_no_command_line_address_file_or_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = which("git")
    assert real
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text(SPY.format(git=real, arguments=tmp_path / "arguments"))
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    monkeypatch.setenv("GIT_TRACE_CURL", str(tmp_path / "curl"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "0")
    caplog.set_level(logging.DEBUG)
    async with fetching(tmp_path) as on:
        secret = await on.token()
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
        found = await on()
        with pytest.raises(HeadGone) as caught:
            await on(head="a" * 40)
        asked = [one for one in on.at.twin.requests if one.route == "git"]
        assert asked and not any(secret in one.path + one.query + repr(one.headers) for one in asked)
    spied = (tmp_path / "arguments").read_text()
    # The twin's own git traces too; ours does not.
    assert " fetch " in spied and " fetch " not in (tmp_path / "trace").read_text() and not (tmp_path / "curl").exists()
    for shape in (secret, base64.b64encode(f"x-access-token:{secret}".encode()).decode()):
        assert shape not in spied + caplog.text + repr(caught.value) + str(caught.value)
        for file in Path(found.folder).rglob("*"):
            assert not file.is_file() or shape.encode() not in file.read_bytes()


async def test_a_redirect_takes_no_token_along(tmp_path: Path) -> None:
    seen: list[str] = []

    async def other(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization", ""))
        return web.Response(status=404)

    async def first(request: web.Request) -> web.Response:
        raise web.HTTPMovedPermanently(elsewhere + request.path_qs)

    async def token() -> str:
        return "s3cret"

    async def sleep(_: float) -> None:
        return None

    async with serve(other) as elsewhere, serve(first) as url:
        with pytest.raises(RepositoryGone):
            await Mirrors(tmp_path, url, sleep).fetch(Wanted(1, "o/r", "a" * 40, "main", 1), token)
    assert seen == []


@asynccontextmanager
async def serve(handler: Any) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", handler)
    async with TestServer(app) as running:
        yield str(running.make_url("")).rstrip("/")
