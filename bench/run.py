"""Time reviews against the floor: `git cat-file --batch` and SHA-256 over the same blobs. Prints a table; exit 1 where a limit is missed."""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.generate import repository
from bot.gather import Wanted, gather, review
from rules.core.cache import Cache
from rules.engine.run import discover

WHOLE, PULL, WARM, MEMORY_MB, START_CPU_S = 15.0, 3.0, 0.10, 400.0, 0.25
ROUNDS = 3


def floor(folder: Path) -> None:
    """Read every blob of `topic` through one `cat-file --batch` and hash it."""
    names = subprocess.run(["git", "-C", str(folder), "ls-tree", "-r", "--format=%(objectname)", "topic"], check=True, capture_output=True).stdout
    with tempfile.TemporaryFile() as wanted:
        wanted.write(names)
        wanted.seek(0)
        with subprocess.Popen(["git", "-C", str(folder), "cat-file", "--batch"], stdin=wanted, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            while header := process.stdout.readline():
                hashlib.sha256(process.stdout.read(int(header.split()[2]) + 1)[:-1]).hexdigest()


def fastest(work: Callable[[], object]) -> float:
    """Seconds of the fastest of a few rounds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def check(folder: Path, *arguments: str) -> Callable[[], object]:
    """One whole `assay check`, in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "bot.cli",
        "check",
        str(folder),
        "--head",
        "topic",
        "--offline",
        "--format",
        "json",
        "--output",
        os.devnull,
        *arguments,
    ]
    return lambda: subprocess.run(command, check=False)


def warm(folder: Path) -> tuple[float, float]:
    """Seconds of the first review in a worker, and of the review of the next head, which changes one file."""
    cache, rules = Cache(), discover()

    def once(head: str) -> float:
        start = time.perf_counter()
        wanted = Wanted(str(folder), head=head)
        with gather(wanted, cache) as gathered:
            review(gathered, rules, None, wanted)
        cache.forget_snapshot()
        return time.perf_counter() - start

    return once("topic"), once("again")


def cpu(*arguments: str) -> float:
    """CPU seconds of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "bot.cli", *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def peak_mb(work: Callable[[], object]) -> float:
    """Peak memory of the largest child so far, in MB."""
    work()
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> int:
    """Measure everything once and hold it against the limits."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as temporary:
        folder = Path(temporary) / "evidence.git"
        repository(folder)
        base = fastest(lambda: floor(folder))
        memory = peak_mb(check(folder))
        whole, pull = fastest(check(folder)), fastest(check(folder, "--base", "main"))
        cold, again = warm(folder)
        rows = [
            ("floor", base, "s", None),
            ("whole tree", whole / base, "x floor", WHOLE),
            ("pull that touches one bundle", pull / base, "x floor", PULL),
            ("next head in the same worker", again / cold, "x whole tree", WARM),
            ("peak memory, whole tree", memory, "MB", MEMORY_MB),
            ("assay --help", min(cpu("--help") for _ in range(ROUNDS)), "s CPU", START_CPU_S),
            ("assay rules", min(cpu("rules") for _ in range(ROUNDS)), "s CPU", START_CPU_S),
        ]
    for name, value, unit, limit in rows:
        print(f"{name:32} {value:9.3f} {unit:14}" + (f"limit {limit:g}" + ("" if value <= limit else "  MISSED") if limit else ""))
    return int(any(limit is not None and value > limit for _, value, _, limit in rows))


if __name__ == "__main__":
    sys.exit(main())
