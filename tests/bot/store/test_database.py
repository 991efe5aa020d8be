"""The schema's versions, and what happens on a bad disk."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.exc import OperationalError

from bot.store import inbox
from bot.store.database import Database, jobs_address, open_database
from bot.store.inbox import Delivery
from bot.store.models import metadata


def test_the_versions_lead_to_the_tables_that_the_program_reads(database: Database) -> None:
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"include_object": lambda *one: one[2] != "table" or one[1] != "alembic_version"})
        differences = compare_metadata(context, metadata)
    assert [one for one in differences if "comment" not in str(one[0])] == []


def test_several_processes_may_open_a_new_database_at_once(address: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(open_database, [address] * 4))
    for one in opened:
        one.close()


def test_opening_it_again_keeps_what_is_there(address: str) -> None:
    first = open_database(address)
    assert inbox.take(first, [Delivery("d1", "ping", "")]) == [True]
    first.close()
    second = open_database(address)
    assert inbox.take(second, [Delivery("d1", "ping", "")]) == [False]
    second.close()


def test_a_failed_transaction_leaves_nothing(database: Database) -> None:
    def fail() -> None:
        with database.write() as connection:
            inbox._take(connection, Delivery("d1", "ping", ""), 1.0)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert inbox.take(database, [Delivery("d1", "ping", "")]) == [True]


def test_dbos_keeps_its_tables_in_a_file_of_its_own_beside_sqlite(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'assay.sqlite'}")
    assert jobs_address(database) == f"sqlite:///{tmp_path / 'assay-jobs.sqlite'}"
    database.close()


def test_a_full_disk_is_an_error_and_not_a_loss(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'assay.sqlite'}")
    # The same error as on a full disk (sqlite.org/pragma.html, max_page_count).
    with database.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
        rows = [(f"d{number}",) for number in range(10_000)]
        with pytest.raises(OperationalError, match="full"):
            connection.exec_driver_sql("INSERT INTO deliveries VALUES (?, 'ping', '', 1.0)", rows)
    database.close()
