"""A full or read-only disk: what cannot be kept is not acknowledged, so that GitHub can deliver it again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.store.database import open_database
from tests.bot.service import service, status_of, until
from tests.bot.test_jobs import checks, ours, stage


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("file systems may not be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


async def test_a_full_disk_refuses_deliveries_until_there_is_room_again(tmp_path: Path, small_disk: Path) -> None:
    # The log lies beside the data folder, on the large disk.
    async with stage(tmp_path) as on, service(on.twin, on.data, ASSAY_DATABASE_URL=f"sqlite:///{small_disk}/assay.sqlite") as at:
        filling = small_disk / "filling"
        _fill(filling)
        pull = on.pull()
        answers = [await on.twin.deliver("pull_request", action="opened", pull=pull, to=at.hook) for _ in range(40)]
        assert answers[-1].status_code == 503, "the disk is full"
        assert await status_of(f"{at.url}/healthz") == 200
        filling.unlink()
        await on.twin.redeliver(answers[-1], at.hook)
        await until(lambda: checks(on, pull.head_sha) == ["failure"], at)
        assert len(ours(pull)) == 1


async def test_a_read_only_disk_is_one_sentence_and_exit_2(tmp_path: Path, small_disk: Path) -> None:
    address = f"sqlite:///{small_disk}/assay.sqlite"
    open_database(address).close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    async with stage(tmp_path) as on, service(on.twin, on.data, wait=False, ASSAY_DATABASE_URL=address) as at:
        assert await at.process.wait() == 2
        assert at.log.startswith("assay: ASSAY_DATABASE_URL: ") and at.log.count("\n") == 1


async def test_a_data_folder_that_cannot_be_written_is_one_sentence_and_exit_2(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with stage(tmp_path) as on:
        async with service(on.twin, on.data, wait=False, ASSAY_DATABASE_URL=f"sqlite:///{tmp_path}/file/assay.sqlite") as at:
            assert await at.process.wait() == 2
        assert at.log.startswith("assay: ") and at.log.count("\n") == 1 and "ASSAY_DATABASE_URL" in at.log


def _fill(path: Path) -> None:
    """Take all the room that is left."""
    with path.open("wb", buffering=0) as file:
        for size in (65_536, 4_096, 1):
            try:
                while True:
                    os.write(file.fileno(), b"x" * size)
            except OSError:
                continue
