"""A bounded number of findings."""

from __future__ import annotations

from rules.core.model import Finding, Location, Severity, Unchecked
from rules.reading.few import MOST, few


def test_what_is_not_shown_is_said() -> None:
    made = [Finding("r", Severity.LOW, str(i), "", "", "", (Location("a"),)) for i in range(MOST + 7)]
    shown = list(few(made, "means"))
    assert len(shown) == MOST + 1
    assert isinstance(shown[-1], Unchecked) and shown[-1].what == "7 more means"
    assert list(few(made[:MOST], "means")) == made[:MOST]
