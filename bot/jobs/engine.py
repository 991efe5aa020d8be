"""Starts DBOS for this process, and hands it the work of processes that have died."""

from __future__ import annotations

import logging
from typing import Any

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig
from sqlalchemy import event

from bot.jobs.workflows import VERSION, WAKES, WRITES
from bot.store import executors
from bot.store.database import BUSY_MS, Database, jobs_address
from bot.store.executors import Executor

log = logging.getLogger("assay.jobs")
# How soon a wake-up or a write is seen, in seconds. Each look costs a millisecond or two.
POLL = 0.1
# Most of these wait for GitHub; what they cost is limited where it arises (`Desk.looks`, the boxes).
AT_ONCE = 64
PENDING = "PENDING"
ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"]
MOST_DELETED = 1_000


async def launch(database: Database, me: Executor) -> None:
    """Start DBOS in the running event loop: jobs run there. `VERSION` and a new executor id make it wait for `take_over` with what is in flight."""
    # What it logs about waiting and retrying is of no use to an operator; its errors are.
    logging.getLogger("dbos").setLevel(logging.ERROR)
    address = jobs_address(database)
    config: DBOSConfig = {
        "name": "assay",
        "application_version": VERSION,
        "executor_id": me.id,
        "system_database_url": address,
        "log_level": "ERROR",
        "run_migrations": True,
    }
    if database.is_sqlite:
        config["system_database_engine"] = _sqlite(address)
    DBOS(config=config)
    DBOS.launch()
    await DBOS.register_queue_async(
        WAKES, partition_concurrency=1, worker_concurrency=AT_ONCE, polling_interval_sec=POLL, on_conflict="always_update"
    )
    pace: Any = {"limit": 1, "period": 1.0}
    await DBOS.register_queue_async(WRITES, partition_concurrency=1, partition_limiter=pace, polling_interval_sec=POLL, on_conflict="always_update")


def _sqlite(address: str) -> sa.Engine:
    """DBOS's own settings, and a write-ahead log, which it does not ask for."""
    engine = sa.create_engine(address)

    @event.listens_for(engine, "connect")
    def _settle(connection: Any, _record: Any) -> None:
        connection.isolation_level = "IMMEDIATE"
        connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        connection.execute("PRAGMA journal_mode=WAL")
        # A power failure may take the last jobs with it; what is wanted is in the store, which is synced, and is woken from there again.
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")

    return engine


async def take_over(database: Database, me: Executor) -> int:
    """Resume what dead processes left behind; how many jobs. DBOS resumes by itself only what the same executor id had."""
    taken = 0
    for dead in executors.claim_dead(database, me):
        jobs = await DBOS.list_workflows_async(status=PENDING, executor_id=dead, load_input=False, load_output=False)
        for queue in {job.queue_name for job in jobs}:
            # The partition stays with the job; the queue has to be named, or it would run beside its partition.
            await DBOS.resume_workflows_async([job.workflow_id for job in jobs if job.queue_name == queue], queue_name=queue)
        if jobs:
            log.info("took %d jobs of %s over", len(jobs), dead)
        taken += len(jobs)
    executors.bury(database)
    return taken


async def is_in_queue(key: str, version: int) -> bool:
    """Whether a wake-up of this version waits or runs."""
    prefix = f"wake:{key}:{version}:"
    alive = ["ENQUEUED", "DELAYED", PENDING]
    return bool(await DBOS.list_workflows_async(workflow_id_prefix=prefix, status=alive, limit=1, load_input=False, load_output=False))


async def tidy(before: str) -> int:
    """Delete jobs that were created before that time (ISO 8601) and have ended; how many."""
    jobs = await DBOS.list_workflows_async(status=ENDED, end_time=before, limit=MOST_DELETED, load_input=False, load_output=False)
    if jobs:
        await DBOS.delete_workflows_async([job.workflow_id for job in jobs])
    return len(jobs)
