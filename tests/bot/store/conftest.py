"""Every test of the store runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.store.database import Database, open_database


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new, empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'assay.sqlite'}"
    made: str = request.getfixturevalue("postgres").database()
    return made


@pytest.fixture
def database(address: str) -> Iterator[Database]:
    made = open_database(address)
    yield made
    made.close()
