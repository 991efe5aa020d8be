"""Runs git for reading: nothing of the user's or the repository's settings, no network, no hooks, bounded output, never a hang."""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

# GitPython looks for git while it is imported; a missing git is reported by us, in our words.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")

from git import Git, GitCommandNotFound

TIMEOUT = 60.0
# A tree of a hundred bytes can name a billion files: git may not take the machine with it.
MEMORY = 2 * 1024 * 1024 * 1024
OUTPUT_LIMIT = 1024 * 1024 * 1024
CHUNK = 256 * 1024

# What git obeys instead of its configuration files and of the caller's environment (git-scm.com/docs/git, "Environment Variables").
CLEAN = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "GIT_PAGER": "cat",
    "GIT_FLUSH": "1",
}
SETTINGS = (
    "safe.directory=*",
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={os.devnull}",
    "core.commitGraph=false",
    "core.quotePath=false",
    "protocol.allow=never",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
)


class GitError(Exception):
    """Git could not do what it was asked; the message is git's first line."""


class GitUnavailable(GitError):
    """There is no git to run."""


class TooMuch(GitError):
    """Git's answer is longer than what is read."""


class TooSlow(GitError):
    """Git did not answer in time."""


class Running:
    """One git process whose standard error is drained, and which is killed when it outlives its time."""

    def __init__(self, command: Sequence[str], stdin: Any, timeout: float | None, env: Mapping[str, str] = CLEAN) -> None:
        try:
            self.handle: Any = Git("/").execute(list(command), istream=stdin, as_process=True, env=dict(env))
        except (GitCommandNotFound, FileNotFoundError) as error:
            raise GitUnavailable("git is not installed, or not in PATH.") from error
        process: Any = self.handle.proc
        self.stdin, self.stdout = process.stdin, process.stdout
        self._said = b""
        self._drain = threading.Thread(target=self._listen, args=(process.stderr,), daemon=True)
        self._drain.start()
        self.late = False
        _limit_memory(process.pid)
        self._watch = threading.Timer(timeout, self._give_up) if timeout else None
        if self._watch:
            self._watch.daemon = True
            self._watch.start()

    def _listen(self, stream: Any) -> None:
        """Keep the start of what git says; a full pipe would stop it."""
        try:
            while data := stream.read1(CHUNK):
                self._said = (self._said + data)[:4096]
        except (OSError, ValueError):
            return

    def _give_up(self) -> None:
        self.late = True
        self.kill()

    def kill(self) -> None:
        if self.handle.proc is not None:
            self.handle.proc.kill()

    def finish(self) -> int:
        """Wait for the end, release everything and return the exit code."""
        process = self.handle.proc
        if self._watch:
            self._watch.cancel()
        if process is None:
            return -1
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                _close(stream)
        code: int = process.wait()
        self._drain.join(1)
        process.stderr.close()
        self.handle.proc = None
        return code

    @property
    def said(self) -> str:
        """Git's first line on standard error, without its `fatal: `."""
        lines = self._said.decode("utf-8", "replace").strip().splitlines()
        chosen = next((line for line in lines if line.startswith(("fatal: ", "error: "))), lines[0] if lines else "")
        return chosen.removeprefix("fatal: ").removeprefix("error: ")


def _limit_memory(pid: int) -> None:
    """Bound the memory that a git may allocate, where the system can (packs that it maps do not count)."""
    try:
        import resource

        resource.prlimit(pid, resource.RLIMIT_DATA, (MEMORY, MEMORY))
    except (ImportError, AttributeError, OSError, ValueError):
        return


def _close(stream: Any) -> None:
    try:
        stream.close()
    except OSError:
        return


@functools.lru_cache(maxsize=2)
def _inherited(names: frozenset[str]) -> tuple[str, ...]:
    """GitPython passes our whole environment on; what a hook or a shell has set for git (GIT_DIR, GIT_TRACE, …) is taken away again."""
    foreign = sorted(name for name in names if name.startswith("GIT_") and not name.startswith("GIT_PYTHON_"))
    return ("env", *(part for name in foreign for part in ("-u", name))) if foreign else ()


class Runner:
    """Runs git with fixed leading arguments: `-C folder`, or `--git-dir=…`; `env` is added to what git obeys, and is seen by git alone."""

    def __init__(self, *lead: str, env: Mapping[str, str] | None = None) -> None:
        self._lead = lead
        self._env = {**CLEAN, **(env or {})}

    def start(self, *args: str, stdin: Any = None, timeout: float | None = TIMEOUT) -> Running:
        """A running git. Raises `GitUnavailable`."""
        settings = [part for setting in SETTINGS for part in ("-c", setting)]
        foreign = _inherited(frozenset(os.environ.keys() - self._env.keys()))
        return Running([*foreign, "git", "--no-pager", *settings, *self._lead, *args], stdin, timeout, self._env)

    def open(self, *args: str) -> Running:
        """A git that answers requests on its standard input until it is closed."""
        return self.start(*args, stdin=subprocess.PIPE, timeout=None)

    def run(self, *args: str, given: bytes = b"", good: Sequence[int] = (0,), timeout: float = TIMEOUT) -> bytes:
        """All that git prints. Raises `GitError` unless the exit code is in `good`. After `timeout` seconds git is killed."""
        with tempfile.TemporaryFile() as file:
            file.write(given)
            file.seek(0)
            running = self.start(*args, stdin=file, timeout=timeout)
            data = running.stdout.read(OUTPUT_LIMIT)
            code = running.finish()
        if code not in good:
            raise _failure(running, args[0], code)
        return bytes(data)

    def fields(self, *args: str, given: bytes = b"") -> Iterator[bytes]:
        """The NUL-separated fields that git prints, while it prints them. Raises `GitError` (at the end) and `TooMuch`."""
        with tempfile.TemporaryFile() as file:
            file.write(given)
            file.seek(0)
            running = self.start(*args, stdin=file)
            try:
                yield from _fields(running)
            except BaseException:
                running.kill()
                running.finish()
                raise
            code = running.finish()
        if code:
            raise _failure(running, args[0], code)


def _failure(running: Running, command: str, code: int) -> GitError:
    if running.late:
        return TooSlow(f"git {command} took longer than {TIMEOUT:.0f} s.")
    return GitError(running.said or f"git {command} ended with code {code}.")


def _fields(running: Running) -> Iterator[bytes]:
    rest, seen = b"", 0
    while data := running.stdout.read1(CHUNK):
        seen += len(data)
        if seen > OUTPUT_LIMIT:
            raise TooMuch("there is more than can be read.")
        *whole, rest = (rest + data).split(b"\0")
        yield from whole
    if rest:
        yield rest


@functools.lru_cache(maxsize=1)
def git_version() -> tuple[int, ...]:
    """Git's version, (2, 39, 5). Raises `GitUnavailable`."""
    words = Runner().run("version").decode("ascii", "replace").split()
    return tuple(int(part) for part in (words[2].split(".") if len(words) > 2 else ()) if part.isdigit())


class Batch:
    """One long-lived `git cat-file --batch` (or `--batch-check`), started when first asked and again when it died on a damaged object."""

    PATIENCE = 60.0

    def __init__(self, runner: Runner, mode: str) -> None:
        self._runner, self._mode = runner, mode
        self._running: Running | None = None
        self._lock = threading.Lock()
        self._asked: float | None = None
        self._stop = threading.Event()

    def ask(self, name: str, limit: int) -> tuple[str, str, int, bytes] | None:
        """(object id, kind, size, content) of `name`; None where there is no such object, it is damaged, ambiguous, or larger than `limit` bytes."""
        request = name.encode("utf-8", "surrogateescape")
        if b"\n" in request or b"\0" in request:
            return None
        with self._lock:
            self._asked = time.monotonic()
            try:
                return self._answer(request, limit)
            except (OSError, ValueError):
                self._drop()
                return None
            finally:
                self._asked = None

    def _answer(self, request: bytes, limit: int) -> tuple[str, str, int, bytes] | None:
        process = self._process()
        process.stdin.write(request + b"\n")
        process.stdin.flush()
        line = process.stdout.readline(8192 + len(request))
        if not line.endswith(b"\n"):
            raise ValueError("git ended")
        words = line.split()
        if len(words) != 3 or not words[2].isdigit() or words[1] not in _KINDS:
            return None
        oid, kind, size = words[0].decode("ascii"), words[1].decode("ascii"), int(words[2])
        if self._mode != "--batch":
            return oid, kind, size, b""
        if size > limit:
            raise ValueError("too large: the rest of the answer is dropped with the process")
        data = process.stdout.read(size + 1)
        if len(data) != size + 1:
            raise ValueError("git ended")
        return oid, kind, size, data[:-1]

    def _process(self) -> Running:
        if self._running is None:
            self._running = self._runner.open("cat-file", self._mode)
            self._stop = threading.Event()
            threading.Thread(target=self._guard, args=(self._running, self._stop), daemon=True).start()
        return self._running

    def _guard(self, running: Running, stop: threading.Event) -> None:
        """Kill a git that does not answer (an object store on a dead disk, a pipe in place of an object)."""
        while not stop.wait(self.PATIENCE / 6):
            asked = self._asked
            if asked is not None and time.monotonic() - asked > self.PATIENCE:
                running.kill()

    def _drop(self) -> None:
        self._stop.set()
        if self._running is not None:
            self._running.kill()
            self._running.finish()
            self._running = None

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._drop()


_KINDS = (b"commit", b"tree", b"blob", b"tag")
