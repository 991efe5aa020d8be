"""A report with one of everything, for the tests of its forms."""

from __future__ import annotations

from dataclasses import replace

from rules.core.model import (
    Campaign,
    Confirmed,
    Coverage,
    Finding,
    Location,
    MergeReport,
    Outcome,
    Report,
    Reported,
    Severity,
    Skipped,
    Snapshot,
    Unchecked,
    Verdict,
)
from tests.bot.making import DictTree, snapshot

HEAD, BASE = "a" * 40, "b" * 40
RECORD = '{\n  "workers": [-15, -15],\n  "summary": "all workers exited zero"\n}\n'


def finding(rule: str = "fake-rule", severity: Severity = Severity.HIGH, **parts: object) -> Finding:
    held = {
        "title": "The record contradicts itself",
        "problem": "`workers` is -15, the summary says zero.",
        "impact": "A forced end looks clean.",
        "next": "Correct the summary (edit text).",
        "locations": (Location("e/r.json", pointer="/summary", line=3, end_line=3), Location("e/r.json", line=2, end_line=2, role="record")),
        "evidence": (("workers", "-15"),),
        "roots": ("record:e/r.json",),
    }
    return Finding(rule=rule, severity=severity, **(held | parts))  # type: ignore[arg-type]


def reported(id: str | None, one: Finding) -> Reported:
    return Reported(id, "consistency", "v1:" + "0" * 32, one)


def world() -> Snapshot:
    return snapshot({"e/r.json": RECORD}, base=DictTree({"docs/rules.md": "# Rules\nRecords agree.\n"}, BASE), merge_base=DictTree({}, BASE))


def report(*findings: Reported, **parts: object) -> Report:
    """Two findings of one story, one for a person, a low one and a suggestion, where none are given."""
    norm = Location("docs/rules.md", line=2, end_line=2, role="norm", at=BASE)
    found = findings or (
        reported("F1", finding()),
        reported("F1", finding("other-rule", Severity.MEDIUM, title="The README repeats it", locations=(Location("e/README.md", line=9), norm))),
        reported("F2", finding("decision-rule", decision="human", title="Nobody decided", searched="3 comments", next="The requester records it.")),
        reported("F3", finding("low-rule", Severity.LOW, title="A small thing")),
        reported(None, finding("label-suggested", Severity.LOW, title="kind/evidence", problem="the title names a campaign", numbered=False)),
    )
    place = Location("e/r.json", pointer="/summary", line=3, end_line=3)
    whole = Report(
        head=HEAD,
        base=BASE,
        merge_base=BASE,
        verdict=Verdict.CHANGES_NEEDED,
        waiting_on=("author", "requester"),
        findings=found,
        confirmed=(Confirmed("figure", "173.937 s", place, place), Confirmed("digest", "12 of 12", place, place)),
        merge=MergeReport(True, 8, True, 8, ()),
        campaigns=(Campaign("one", "INCONCLUSIVE", place),),
        outcomes=(Outcome("fake-rule", "ran", None, 1.2), Outcome("x", "skipped", "no issue was given", 0.0)),
        coverage=Coverage(
            20, 1000, 8, 7, (Skipped("e/big.json", "too large"),), 1, 5, ("raw logs",), (Unchecked("history", "shallow"),), ("judgement",)
        ),
    )
    return replace(whole, **parts)  # type: ignore[arg-type]
