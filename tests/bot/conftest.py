"""What tests of the bot share: one PostgreSQL server per session, started when a test asks for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import postgres as servers


@pytest.fixture(scope="session")
def postgres() -> Iterator[servers.Server]:
    with servers.running() as server:
        yield server
