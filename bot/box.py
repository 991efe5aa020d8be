"""The killable review process: hostile input costs one review, with one clear answer, and nothing else.

A worker process reads the mirror and runs the rules within limits on time, CPU, memory, files and size. It gets no token and no secret. What it
leaves behind, its whole process group, is killed with it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from multiprocessing import forkserver
from typing import Literal

from pebble import ProcessExpired, ProcessPool

from bot.review.ledger import Ledger
from bot.review.reconcile import Seen
from rules.core.config import Config
from rules.core.model import Facts, Issue, Pull, Question, Report, Unchecked

# Seconds between two looks at whether the review was called off, and for a worker to start.
WATCH = 0.1
STARTING = 30.0
# A worker whose memory is this full after a review is replaced.
LARGE = 0.6
FailureKind = Literal["time", "cpu", "memory", "crash", "unusable", "killed"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one review may use. Seconds, bytes, open files; `file_bytes` is the size of any file that it writes."""

    seconds: float = 120.0
    cpu_seconds: int = 100
    memory: int = 2 * 1024**3
    files: int = 256
    file_bytes: int = 512 * 1024**2


_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Request:
    """One pass of a review of the repository in `folder` (a bare mirror). `facts` None asks for the questions, else for the report.

    ledger   what the conversation remembers: its places are read again, its renames followed
    notes    what could not be gathered (commit look-ups that failed, …), for the coverage
    """

    folder: str
    head: str
    base: str | None
    pull: Pull | None = None
    issue: Issue | None = None
    facts: Facts | None = None
    ledger: Ledger | None = None
    only: tuple[str, ...] = ()
    preview: bool = False
    notes: tuple[Unchecked, ...] = ()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no answer; `sentence` is fit for the check run."""

    kind: FailureKind
    sentence: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What one pass gives: `questions` of the first, all else of the second; or a `failure` and nothing else.

    config         the repository's config, out of the base; `config_blob` its object id ("" for the defaults)
    config_change  what the pull does to the config, in one sentence; "" for nothing
    seen           by fingerprint: what stands at the places of this report's findings, and at those of remembered ones that are silent now
    renames        path at head → path that the remembered fingerprints were made with; give it to `reconcile`
    evidence       whether the change touches evidence at all
    seconds        for this pass; `peak_bytes` the worker's most memory so far, `kept_bytes` what it holds after the pass
    """

    failure: Failure | None = None
    questions: tuple[Question, ...] = ()
    report: Report | None = None
    config: Config | None = None
    config_blob: str = ""
    config_change: str = ""
    seen: Mapping[str, Seen] = field(default_factory=dict)
    renames: Mapping[str, str] = field(default_factory=dict)
    evidence: bool = True
    seconds: float = 0.0
    peak_bytes: int = 0
    kept_bytes: int = 0


class Box:
    """One worker, kept warm from review to review. Threads may share it; requests wait for each other.

    Open it early: the process that workers are forked from is started with a clean environment, and for that moment this process has it too.
    """

    def __init__(self, limits: Limits = _LIMITS, work: Callable[[Request], Answer] | None = None) -> None:
        self._limits, self._work = limits, work or boxed_review
        self._line = ThreadPoolExecutor(1, thread_name_prefix="box")
        self._lock = threading.Lock()
        self._pool: ProcessPool | None = None
        self._folder = ""
        self._running = False
        self._killed = ""
        _start_forkserver()
        # The first review must not wait for the worker's imports.
        self._line.submit(self._warm)

    def _warm(self) -> None:
        with contextlib.suppress(RuntimeError, OSError, BrokenProcessPool):
            wait((self._started().schedule(boxed_ready),), timeout=STARTING)

    def submit(self, request: Request) -> Future[Answer]:
        """Start a pass. The future never raises: whatever happens is an `Answer`. (`asyncio.wrap_future` awaits it.)"""
        return self._line.submit(self._run, request)

    def run(self, request: Request) -> Answer:
        """The answer to `request`, waited for."""
        return self.submit(request).result()

    def kill(self, why: str = "a newer head is wanted") -> None:
        """End what runs now, at once: its future gets a failure of kind `killed`. The next request gets a new worker."""
        with self._lock:
            if self._running:
                self._killed = why
                self._end()

    def close(self) -> None:
        """End the worker, and what it runs."""
        self.kill("the service stops")
        self._line.shutdown(cancel_futures=True)
        with self._lock:
            self._end()

    def _run(self, request: Request) -> Answer:
        start = time.monotonic()
        with self._lock:
            self._running, self._killed = True, ""
        try:
            answer = self._waited(request)
        finally:
            with self._lock:
                self._running = False
        # A worker that failed, or has grown large, has a memory that nobody wants to inherit.
        if (answer.failure and answer.failure.kind != "unusable") or answer.kept_bytes > self._limits.memory * LARGE:
            with self._lock:
                self._end()
        return replace(answer, seconds=answer.seconds or round(time.monotonic() - start, 3))

    def _waited(self, request: Request) -> Answer:
        try:
            future = self._started().schedule(self._work, args=(request,), timeout=self._limits.seconds)
        except (RuntimeError, OSError, BrokenProcessPool) as error:
            return (
                _failed("killed", f"{self._killed}.")
                if self._killed
                else _failed("crash", f"no review process could be started ({type(error).__name__}).")
            )
        deadline = time.monotonic() + self._limits.seconds + STARTING
        while not future.done() and not self._killed and not self._replaced() and time.monotonic() < deadline:
            wait((future,), timeout=WATCH)
        if self._killed:
            return _failed("killed", f"{self._killed}.")
        if not future.done():
            return (
                _failed("crash", "the review process ended without a word; please report it.")
                if self._replaced()
                else _failed("time", self._too_slow())
            )
        return self._result(future)

    def _replaced(self) -> bool:
        """A worker that ends with code 0 is replaced by pebble, and its task forgotten."""
        with contextlib.suppress(OSError):
            return len(os.listdir(self._folder)) > 1
        return False

    def _result(self, future: Future[Answer]) -> Answer:
        try:
            return future.result()
        except TimeoutError:
            return _failed("time", self._too_slow())
        except ProcessExpired as error:
            return _failed(*self._ended(error.exitcode))
        except (CancelledError, BrokenProcessPool, RuntimeError, OSError, MemoryError, EOFError) as error:
            return _failed("crash", f"the review process failed ({type(error).__name__}).")

    def _too_slow(self) -> str:
        return f"the review took longer than {self._limits.seconds:g} s."

    def _ended(self, code: int | None) -> tuple[FailureKind, str]:
        """What an exit code tells."""
        if code == -signal.SIGXCPU:
            return "cpu", f"the review used more than {self._limits.cpu_seconds} s of processor time."
        if code in (-signal.SIGKILL, -signal.SIGABRT):
            return "memory", "the review process was ended by the system, most likely for want of memory."
        name = signal.Signals(-code).name if code is not None and -code in set(signal.Signals) else f"code {code}"
        return "crash", f"the review process ended unexpectedly ({name}); please report it."

    # ------------------------------------------------------------ the process

    def _started(self) -> ProcessPool:
        with self._lock:
            if self._pool is None:
                _start_forkserver()
                self._folder = tempfile.mkdtemp(prefix="assay-box-")
                self._pool = ProcessPool(1, initializer=boxed_enter, initargs=(self._limits, self._folder), context=_CONTEXT)
            return self._pool

    def _end(self) -> None:
        """Kill the worker and its whole group: pebble would leave its children alive. Call it with the lock."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        pool.stop()  # type: ignore[no-untyped-call]
        self._kill_groups()
        pool.join()
        # One that was being started while the first was killed.
        self._kill_groups()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _kill_groups(self) -> None:
        for name in os.listdir(self._folder):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(int(name), signal.SIGKILL)


def boxed_enter(limits: Limits, folder: str) -> None:
    """In the worker: become a box. Imported there, not here: the service itself runs no rules."""
    from bot import boxed

    boxed.enter(limits, folder)


def boxed_ready() -> None:
    """In the worker: nothing, once it is there."""


def boxed_review(request: Request) -> Answer:
    """In the worker: one pass."""
    from bot import boxed

    return boxed.review(request)


def _failed(kind: FailureKind, sentence: str) -> Answer:
    return Answer(failure=Failure(kind, sentence))


# ---------------------------------------------------------------- the process that workers are forked from


_CONTEXT = multiprocessing.get_context("forkserver")
_STARTING = threading.Lock()


def _start_forkserver() -> None:
    """Start it, unless it runs, with nothing of ours in its environment: no key, no token, no search path that a repository could fill."""
    with _STARTING:
        sys.path[:] = [entry for entry in sys.path if _safe(entry)]
        kept = dict(os.environ)
        os.environ.clear()
        os.environ.update(_environment(kept))
        try:
            _CONTEXT.set_forkserver_preload(["bot.boxed"])
            forkserver.ensure_running()
        finally:
            os.environ.clear()
            os.environ.update(kept)


def _safe(entry: str) -> bool:
    """Not the current directory, unless our own code lies there: modules of a reviewed repository must never be imported."""
    return bool(entry) and (os.path.isabs(entry) or os.path.abspath(entry) == _ROOT) and (entry == _ROOT or os.path.abspath(entry) != os.getcwd())


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    """What a worker may know."""
    kept = {name: given[name] for name in _HARMLESS if name in given}
    path = {"PYTHONPATH": _ROOT} if not any(part in ("site-packages", "dist-packages") for part in _ROOT.split(os.sep)) else {}
    return kept | path | {"PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/", "GIT_PYTHON_REFRESH": "quiet"}


_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_HARMLESS = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "VIRTUAL_ENV", "ASSAY_GITHUB_URL", "ASSAY_LOG_LEVEL")
