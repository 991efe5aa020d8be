"""Every scenario gives the right answer, in this process; those of a shared specification beside the project too, where it is there."""

from pathlib import Path

import pytest

from fixtures.scenarios import ROOT, judged

SHARED = ROOT.parents[2] / "shared" / "scenarios"
OWN = sorted(ROOT.rglob("*.yml"))
GIVEN = sorted(SHARED.rglob("*.yml")) if SHARED.is_dir() else []


def name(path: Path) -> str:
    return f"{'' if path.is_relative_to(ROOT) else 'given/'}{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", [*OWN, *GIVEN], ids=name)
def test_scenario(path: Path) -> None:
    assert judged(path)[2] == []


def test_there_are_scenarios_and_every_rule_with_one_has_both_kinds() -> None:
    from rules.engine.run import own

    folders = {path.parent.name for path in OWN}
    assert len(OWN) > 300 and folders <= {rule.id for rule in own()}
    assert not SHARED.is_dir() or len(GIVEN) > 0
