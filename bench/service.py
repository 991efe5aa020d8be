"""Time the service on SQLite before the stand-in for GitHub: acknowledging, posting, and what an unchanged conversation costs. Exit 1 over a limit.

The deliveries under load come from a process of their own, so that neither the stand-in nor what is measured slows the measuring.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp

from fixtures.build import ROOT, build, load
from tests.bot.service import Service, quiet, service
from tests.twin import PullHandle, RepositoryHandle, Twin

ACKNOWLEDGED_MS, POSTED_S, CALLS = 50.0, 1.5, 6
RATE, SECONDS, PULLS = 50, 20, 12
ROUNDS = 7


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


async def acknowledging(twin: Twin, home: RepositoryHandle, at: Service, folder: Path) -> list[float]:
    """Seconds until each of 1,000 deliveries was acknowledged, while reviews run."""
    twin.limits.points_per_minute = twin.limits.per_hour = twin.limits.writes_per_minute = twin.limits.writes_per_hour = 1_000_000
    pulls = [_opened(home, f"load-{number}") for number in range(PULLS)]
    payloads = folder / "payloads.json"
    payloads.write_text(json.dumps([twin.payload("pull_request", action="synchronize", pull=pull) for pull in pulls]))
    command = (sys.executable, "-m", "bench.service", "load", at.hook, twin.app.webhook_secret, str(payloads))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    found: dict[str, list[float]] = json.loads(out)
    assert set(found["statuses"]) == {202}, set(found["statuses"])
    return found["seconds"]


async def _send(hook: str, secret: str, payloads: list[Any]) -> None:
    """The load: what `acknowledging` starts in a process of its own."""
    seconds: list[float] = []
    statuses: list[int] = []

    async def one(session: aiohttp.ClientSession, payload: Any) -> None:
        body = json.dumps(payload).encode()
        signature = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        own = {"X-GitHub-Event": "pull_request", "X-GitHub-Delivery": str(uuid4()), "X-Hub-Signature-256": signature}
        began = time.perf_counter()
        async with session.post(hook, data=body, headers={**own, "Content-Type": "application/json"}) as answer:
            await answer.read()
            statuses.append(answer.status)
        seconds.append(time.perf_counter() - began)

    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:
        start = time.perf_counter()
        for number in range(RATE * SECONDS):
            await asyncio.sleep(max(0.0, start + number / RATE - time.perf_counter()))
            group.create_task(one(session, payloads[number % len(payloads)]))
    print(json.dumps({"seconds": seconds, "statuses": statuses}))


async def posting(twin: Twin, home: RepositoryHandle, at: Service) -> list[float]:
    """Seconds from a delivery to the posted review, one pull after the other."""
    found = []
    for number in range(ROUNDS):
        pull = _opened(home, f"posted-{number}")
        began = time.perf_counter()
        await twin.deliver("pull_request", action="opened", pull=pull, to=at.hook)
        await _until(lambda pull=pull: pull.reviews)  # type: ignore[misc]
        found.append(time.perf_counter() - began)
        await quiet(twin, 2.0)
    return found


async def looking_again(twin: Twin, home: RepositoryHandle, at: Service) -> int:
    """API calls of a review of a conversation in which nothing has changed."""
    pull = _opened(home, "again")
    for action in ("opened", "synchronize"):
        twin.forget()
        await twin.deliver("pull_request", action=action, pull=pull, to=at.hook)
        await _until(lambda: twin.calls("GET", "/repos/*/status"))
        await quiet(twin, 2.0)
    return len(twin.calls())


def _opened(home: RepositoryHandle, branch: str) -> PullHandle:
    """One more pull with the first head of Drama-3."""
    told = load(ROOT / "drama3" / "world.yml")["pull"]
    home.move(branch, home.tip("first") or "")
    return home.open_pull(head=branch, title=told["title"], body=told["body"], user=told["user"]["login"])


async def _until(met: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not met():
            await asyncio.sleep(0.005)


async def bench() -> int:
    world = load(ROOT / "drama3" / "world.yml")
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        heads = build(world, folder / "source")
        async with Twin.serve(folder / "github") as twin:
            home = twin.add_repository(world["repository"], folder / "source")
            home.move("main", heads["eight"])
            home.move("first", heads["first"])
            async with service(twin, folder / "data", level="info") as at:
                posted = await posting(twin, home, at)
                calls = await looking_again(twin, home, at)
                acknowledged = [1000 * one for one in await acknowledging(twin, home, at, folder)]
    rows = [
        (f"acknowledged, p99 at {RATE}/s for {SECONDS} s", percentile(acknowledged, 0.99), ACKNOWLEDGED_MS, "ms"),
        ("webhook to posted review, p50 (Drama-3)", statistics.median(posted), POSTED_S, "s"),
        ("API calls of an unchanged conversation", float(calls), float(CALLS), ""),
    ]
    for label, found, limit, unit in rows:
        print(f"{label:<45} {found:8.2f} {unit:<3} limit {limit:g} {'' if found <= limit else '  MISSED'}")
    print(f"acknowledged: p50 {percentile(acknowledged, 0.5):.1f} ms, p90 {percentile(acknowledged, 0.9):.1f} ms, most {max(acknowledged):.1f} ms")
    print(f"posted: {', '.join(f'{one:.2f}' for one in posted)} s")
    return int(any(found > limit for _, found, limit, _ in rows))


if __name__ == "__main__":
    if sys.argv[1:2] == ["load"]:
        asyncio.run(_send(sys.argv[2], sys.argv[3], json.loads(Path(sys.argv[4]).read_text())))
    else:
        sys.exit(asyncio.run(bench()))
