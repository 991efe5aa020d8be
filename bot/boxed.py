"""What runs inside the box: one pass over a mirror, and a second look at the places that the conversation remembers.

It is imported in the review process alone. It gets a folder and values, no token, and gives values back.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from bot import gather, remembered
from bot.box import Answer, Failure, Limits, Request
from bot.gather import Gathered, UnusableInput
from bot.review.reconcile import origins
from rules.core.cache import Cache
from rules.core.config import CONFIG_PATH, ConfigError, read_config
from rules.core.model import Facts, Missing, Report, Rule, Tree
from rules.engine import run


def enter(limits: Limits, folder: str) -> None:
    """Make this process a box: its own group, away from every repository, within limits. Its id is left in `folder` for whoever must kill it."""
    os.setsid()
    os.chdir("/")
    _die_with_parent()
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for kind, most in ((resource.RLIMIT_DATA, limits.memory), (resource.RLIMIT_NOFILE, limits.files), (resource.RLIMIT_FSIZE, limits.file_bytes)):
        _lower(kind, most)
    open(os.path.join(folder, str(os.getpid())), "x").close()
    _WORKER.limits = limits


def _lower(kind: int, most: int) -> None:
    """Never above what the service itself may use."""
    hard = resource.getrlimit(kind)[1]
    bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (bound, bound))


def _die_with_parent() -> None:
    """A service that is killed takes its boxes along (prctl(2), PR_SET_PDEATHSIG; Linux only)."""
    import ctypes
    import signal

    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    except (OSError, AttributeError):
        return


def review(request: Request, work: Callable[[Request], Answer] | None = None) -> Answer:
    """One pass. Whatever goes wrong in it is an `Answer` with a `Failure`."""
    start = time.monotonic()
    _allow_cpu(_WORKER.limits.cpu_seconds)
    try:
        answer = (work or _WORKER.answer)(request)
    except UnusableInput as error:
        answer = _failed("unusable", str(error).replace(request.folder, "the repository"))
    except MemoryError:
        answer = _failed("memory", f"the review needed more than {_WORKER.limits.memory // 1024**2:,} MiB of memory.")
    except Exception as error:  # noqa: BLE001 - ours: it costs this review, and the worker is replaced
        answer = _failed("crash", f"the review crashed ({type(error).__name__} at {run.place(error)}); please report it.")
    return replace(answer, seconds=round(time.monotonic() - start, 3), peak_bytes=_peak(), kept_bytes=_held())


def _failed(kind: Any, sentence: str) -> Answer:
    _WORKER.drop()
    return Answer(failure=Failure(kind, sentence))


def _allow_cpu(seconds: int) -> None:
    """The limit is on all that the process has used since it began, so it is raised for each task.

    The kernel holds its count of clock ticks against the limit, which on a busy machine runs ahead of the exact time that it reports: hence a tenth more.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int((used.ru_utime + used.ru_stime) * 1.1) + 2 + seconds, hard))


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _held() -> int:
    """Bytes in memory now (proc(5), statm); 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except (OSError, IndexError, ValueError):
        return 0


# ---------------------------------------------------------------- the worker's memory


@dataclass
class _Worker:
    """What is kept between reviews: what derives from blobs alone; and, from the first pass to the second, the opened snapshot."""

    limits: Limits = field(default_factory=Limits)
    cache: Cache = field(default_factory=Cache)
    key: object = None
    opened: Gathered | None = None

    def answer(self, request: Request) -> Answer:
        gathered = self._opened(request)
        rules = run.chosen(run.discover(), gathered.snapshot, request.only, request.preview)
        if request.facts is None:
            return Answer(questions=run.questions(gathered.snapshot, rules))
        answer = _report(gathered, request, request.facts, rules)
        self.drop()
        return answer

    def _opened(self, request: Request) -> Gathered:
        """The snapshot; the one of the first pass where this is the second of the same review."""
        key = (request.folder, request.head, request.base, request.pull, request.issue)
        if self.opened is None or self.key != key:
            self.drop()
            wanted = gather.Wanted(request.folder, request.head, request.base, request.pull, request.issue)
            self.opened, self.key = gather.gather(wanted, self.cache), key
        return self.opened

    def drop(self) -> None:
        """Close what is open. What belonged to the snapshot goes, or the next one of the same address would find it."""
        if self.opened is not None:
            self.opened.close()
        self.opened, self.key = None, None
        self.cache.forget_snapshot()


_WORKER = _Worker()
# Imported once, in the process that workers are forked from.
run.discover()

# ---------------------------------------------------------------- the second pass


def _report(gathered: Gathered, request: Request, facts: Facts, rules: tuple[Rule, ...]) -> Answer:
    ledger, repository = request.ledger, gathered.repository
    renames = origins(ledger, remembered.renamed(repository, ledger.head, request.head)) if ledger and repository else {}
    if renames:
        gathered.snapshot = replace(gathered.snapshot, renames=renames)
    wanted = gather.Wanted(only=request.only, preview=request.preview)
    report = gather.review(gathered, rules, lambda _: (facts.commits, request.notes), wanted)
    snapshot = gathered.snapshot
    seen = remembered.seen_now(report, snapshot)
    if ledger and ledger.standings:
        seen |= remembered.seen_again(ledger, report, gathered, facts, rules)
    law = snapshot.law.files.get(CONFIG_PATH)
    return Answer(
        report=report,
        config=snapshot.config,
        config_blob=law.oid if law else "",
        config_change=_config_change(snapshot.law, snapshot.head),
        seen=seen,
        renames=renames,
        evidence=_evidence(report),
    )


def _evidence(report: Report) -> bool:
    """A change that touches no bundle and says nothing wrong has no evidence to review."""
    return report.coverage.bundles > 0 or any(one.id is not None for one in report.findings)


def _config_change(law: Tree, head: Tree) -> str:
    """What the change does to the config. It never changes its own review."""
    before, after = law.files.get(CONFIG_PATH), head.files.get(CONFIG_PATH)
    if before == after or law is head:
        return ""
    if after is None:
        return f"the change removes {CONFIG_PATH}; this review still follows the base's."
    problem = next(_problems(head), "")
    return f"the change edits {CONFIG_PATH}, and {problem or 'it is valid'}; this review follows the base's."


def _problems(head: Tree) -> Iterator[str]:
    entry = head.files[CONFIG_PATH]
    try:
        if not entry.is_file:
            yield "it is no plain file"
        else:
            read_config(head.read(CONFIG_PATH))
    except (ConfigError, Missing) as error:
        yield str(error).rstrip(".") if isinstance(error, ConfigError) else "it cannot be read"


__all__ = ["enter", "review"]
