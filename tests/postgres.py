"""A PostgreSQL server of our own for tests: Debian's, in a temporary directory, on the loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest


def _programs() -> Path | None:
    """Where initdb and postgres are; Debian keeps them out of the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


def _as_postgres(*command: str) -> list[str]:
    """initdb refuses root (postgresql.org/docs/current/app-initdb.html)."""
    return ["runuser", "-u", "postgres", "--", *command] if os.geteuid() == 0 else list(command)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Server:
    """A running server; `database()` makes a new, empty database and gives its address."""

    def __init__(self, port: int) -> None:
        self.port = port

    def database(self) -> str:
        name = f"t{uuid4().hex}"
        with psycopg.connect(f"postgresql://postgres@127.0.0.1:{self.port}/postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}"


@contextmanager
def running() -> Iterator[Server]:
    """A server for the life of the context. Without PostgreSQL a test is skipped at home, and fails in CI."""
    programs = _programs()
    if programs is None:
        reason = "PostgreSQL is not installed (Debian: apt-get install postgresql)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="assay-pg-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    data, port = folder / "data", _free_port()
    try:
        subprocess.run(
            _as_postgres(str(programs / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "-N"), check=True, capture_output=True
        )
        control = [str(programs / "pg_ctl"), "-D", str(data), "-w", "-t", "60"]
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c max_connections=200"
        subprocess.run(_as_postgres(*control, "-l", str(folder / "log"), "-o", options, "start"), check=True, capture_output=True)
        try:
            yield Server(port)
        finally:
            subprocess.run(_as_postgres(*control, "-m", "immediate", "stop"), check=False, capture_output=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
