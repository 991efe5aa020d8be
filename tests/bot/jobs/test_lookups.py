"""Revisions: what was there stays known, what is absent is believed after a second look only."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bot.github.auth import open_github
from bot.jobs import lookups
from bot.jobs.desk import Recent
from bot.store.database import open_database
from rules.core.model import Answer, Question
from tests.bot import evidence
from tests.twin import Twin


async def test_answers_are_kept_and_the_minute_is_waited_once(tmp_path: Path) -> None:
    rests: list[float] = []

    async def rest(seconds: float, key: str, version: int) -> None:
        rests.append(seconds)

    database = open_database(f"sqlite:///{tmp_path / 'assay.sqlite'}")
    async with Twin.serve(tmp_path / "twin") as twin, open_github(twin.url, twin.app.id, twin.app.private_key) as github:
        home = evidence.repository(twin)
        there, absent = Question(evidence.NAME, home.tip("main") or ""), Question(evidence.NAME, "d" * 40)
        installation = twin.world.installation_of(home.repository)
        assert installation
        client = github.installation(installation.id)
        wanted: Any = SimpleNamespace(key="1#1", version=1)
        desk: Any = SimpleNamespace(database=database, recent=Recent(), rest=rest)
        for look in range(2):
            facts, notes = await lookups.answers(desk, client, wanted, [there, absent])
            assert facts.commits == {there: Answer(200, True, "commit"), absent: Answer(422)} and notes == ()
            assert rests == [60.0]
            asked = [one.path for one in twin.calls() if there.sha in one.path]
            assert len(asked) > 0 if look == 0 else asked == []
            twin.forget()
    database.close()


def test_the_least_recently_asked_is_forgotten() -> None:
    recent = Recent(2)
    for key in ("a", "b"):
        recent.put(key, key.upper())
    assert recent.get("a") == "A"
    recent.put("c", "C")
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == ("A", None, "C")
