"""Real git repositories and small snapshots for the tests of the shell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rules.core.cache import Cache
from rules.core.config import Config
from rules.core.model import Entry, Missing, Snapshot

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "rules/schemas/report.schema.json").read_text("utf-8"))
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "ASSAY_", "GITHUB_", "FORCE_", "NO_COLOR"))}
DATE = "2026-11-01T09:00:00+00:00"
NAMES = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "a"), ("EMAIL", "a@example.org"), ("DATE", DATE))}


def git(folder: Path, *args: str, given: bytes | None = None, **env: str) -> str:
    """Run git as the author; its output without the last newline."""
    env = {**CLEAN, "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", **NAMES, **env}
    done = subprocess.run(["git", "-C", str(folder), *args], input=given, capture_output=True, env=env, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def new(folder: Path, *args: str) -> Path:
    """An empty repository on branch main."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main", *args)
    return folder


def commit(repository: Path, files: Mapping[str | bytes, str | bytes | None], message: str = "change") -> str:
    """Write (None: delete) and commit; the commit's id."""
    for name, data in files.items():
        at = os.path.join(os.fsencode(repository), os.fsencode(name))
        if data is None:
            os.unlink(at)
            continue
        os.makedirs(os.path.dirname(at), exist_ok=True)
        with open(at, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "--allow-empty", "-m", message)
    return git(repository, "rev-parse", "HEAD")


def assay(*args: str | Path, cwd: Path | None = None, timeout: float = 60, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user would."""
    # -P: the console script does not look for modules in the current folder either.
    command = [sys.executable, "-P", "-m", "bot.cli", *map(str, args)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd or "/",
        env={**CLEAN, "PYTHONPATH": str(ROOT), **env},
        timeout=timeout,
        check=False,
    )


class DictTree:
    """A tree out of a mapping; None stands for a missing object."""

    def __init__(self, files: Mapping[str, str | None], commit: str | None = "a" * 40) -> None:
        self._held, self.commit = dict(files), commit
        self.files = {
            path: Entry(f"{hash(text) & (2**160 - 1):040x}", "100644", len(text.encode()) if text is not None else -1) for path, text in files.items()
        }

    def read(self, path: str) -> bytes:
        text = self._held.get(path)
        if text is None:
            raise Missing(path)
        return text.encode()


def snapshot(files: Mapping[str, str | None], **parts: Any) -> Snapshot:
    """A snapshot of a head that holds `files`."""
    return Snapshot(head=DictTree(files), config=parts.pop("config", Config()), cache=Cache(), **parts)
