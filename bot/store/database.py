"""Opens the store: SQLite in one file out of the box, PostgreSQL by its address. Transactions, the database's clock, and the schema's versions.

SQLite is written by one connection at a time. Within a process a lock keeps that order, because SQLite's own waiting sleeps for up to 100 ms
between two looks (sqlite3.c, `sqliteDefaultBusyCallback`). A transaction is `durable` when it must outlive a power failure and not only the
process: then it ends with an fsync of the log.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, Connection, Engine, make_url

BUSY_MS = 30_000
MIGRATIONS = Path(__file__).with_name("migrations")
# Any fixed number: all processes that migrate the same PostgreSQL database wait for it.
_MIGRATION_LOCK = 0x61737361


class Database:
    """One open store. It may be used from every thread."""

    def __init__(self, address: str) -> None:
        self.url = storage_url(address)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.engine = _sqlite(self.url) if self.is_sqlite else sa.create_engine(self.url, pool_pre_ping=True, pool_size=10)
        self._writing = threading.Lock()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self, durable: bool = False) -> Iterator[Connection]:
        """A transaction, committed at the end. Raises `sqlalchemy.exc.OperationalError` for a full or read-only disk."""
        if not self.is_sqlite:
            with self.engine.begin() as connection:
                yield connection
            return
        with self._writing, self.engine.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection
            connection.commit()

    def migrate(self) -> None:
        """Bring the schema to the newest version; several processes may do so at once."""
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        with self._alone() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    @contextmanager
    def _alone(self) -> Iterator[Connection]:
        if self.is_sqlite:
            with self.write(durable=True) as connection:
                yield connection
            return
        with self.engine.begin() as connection:
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
            yield connection

    def close(self) -> None:
        self.engine.dispose()


def open_database(address: str) -> Database:
    """The store at `address` (`sqlite:///PATH`, `postgresql://…`), at the newest version of its schema. Raises `sqlalchemy.exc.SQLAlchemyError`."""
    database = Database(address)
    try:
        database.migrate()
    except BaseException:
        database.close()
        raise
    return database


def now(connection: Connection) -> float:
    """Unix time by the clock that all processes share: PostgreSQL's, or for SQLite the machine's."""
    if connection.dialect.name == "sqlite":
        return time.time()
    return float(connection.execute(sa.text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())


def insert(connection: Connection, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """An INSERT that can say what happens on a conflict, in the database's own dialect; both write it the same way."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


def jobs_address(database: Database) -> str:
    """Where DBOS keeps its own tables: a file beside SQLite's, so that its many small commits do not wait for ours; else the same database."""
    if not database.is_sqlite:
        return str(database.url.set(drivername="postgresql+psycopg").render_as_string(hide_password=False))
    path = Path(str(database.url.database))
    return f"sqlite:///{path.with_name(path.stem + '-jobs' + path.suffix)}"


def quick_sqlite(engine: Engine) -> None:
    """Settings for every connection: a write-ahead log, so that readers never wait, and patience with other processes' writes."""

    @event.listens_for(engine, "connect")
    def _settle(connection: Any, _record: Any) -> None:
        connection.execute(f"PRAGMA busy_timeout={BUSY_MS}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA foreign_keys=ON")


def storage_url(address: str) -> URL:
    """The address as SQLAlchemy reads it; PostgreSQL is spoken to by psycopg. Raises `sqlalchemy.exc.ArgumentError`."""
    url = make_url(address)
    return url.set(drivername="postgresql+psycopg") if url.get_backend_name() == "postgresql" else url


def _sqlite(url: URL) -> Engine:
    Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(url, connect_args={"isolation_level": None})
    quick_sqlite(engine)
    return engine
