"""A stated mean, median, extreme, deviation or percentile does not follow from the samples that are listed beside it

What it checks: every aggregate of a JSON or YAML document, of a CSV table or of JSONL records against the one array it speaks of: the array in the same object, or the
one with the same name (`ttft_ms: […]` and `mean_ttft_ms`; `samples: {ttft: […]}` and `summary: {ttft: {mean}}`). Where several arrays could be meant, nothing is said.

Why: an aggregate that its own samples contradict was computed from other data, or typed by hand.

What is accepted: every usual definition (standard deviation with n and n − 1; the nine percentile definitions of Hyndman and Fan, nearest rank,
lower, higher and midpoint), rounding to the printed digits with ties either way, digits cut off, units that the keys declare.

Fix: compute the figure again from the listed samples (edit text), or commit the samples it was computed from (commit a file).

Example: `samples_ms: [412.31, 409.88, 415.02, 411.47, 410.92]` beside `mean_ms: 413.92`; the mean is 411.92.

Not flagged: figures that hold without the declared warm-ups, discarded or failed runs; trimmed and weighted means; sums called a total, which
may include what is not listed; limits of gates.

Strength: blocking, it is arithmetic on committed numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from rules.core.model import Bundle, Confirmed, Finding, Item, Location, Rule, Severity, Snapshot
from rules.reading.few import few
from rules.reading.recount import Comparison, comparisons

CONFIRMED = 8
"""Agreements named per file: enough to show that they were looked at."""
NAMES = {
    "mean": "mean",
    "median": "median",
    "min": "minimum",
    "max": "maximum",
    "best": "best value",
    "worst": "worst value",
    "stdev": "standard deviation",
    "variance": "variance",
    "percentile": "percentile",
    "sum": "sum",
    "geomean": "geometric mean",
    "hmean": "harmonic mean",
    "range": "range",
    "cv": "coefficient of variation",
}


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    yield from few((item for path in bundle.files for item in _of_file(snapshot, bundle, path)), "aggregates")


def _of_file(snapshot: Snapshot, bundle: Bundle, path: str) -> Iterator[Item]:
    made = comparisons(snapshot, bundle, path)
    held = [one for one in made if one.agrees]
    wrong = [one for one in made if not one.agrees]
    for one in held[:CONFIRMED]:
        yield Confirmed("figure", f"{one.label} {one.stated}", one.claim, one.receipt)
    for one in wrong:
        yield _finding(bundle, one)


def _finding(bundle: Bundle, one: Comparison) -> Finding:
    name = NAMES[one.kind] if one.kind != "percentile" else one.label
    counted = f"{one.count} listed samples" + (f" ({one.unlisted} more left out as declared)" if one.unlisted else "")
    return Finding(
        rule=RULE.id,
        severity=Severity.BLOCKING,
        title=f"The stated {name} {one.stated} is not that of the listed samples",
        problem=f"`{_place(bundle, one.claim)}` states {one.stated}; the {name} of the {counted} at `{_place(bundle, one.receipt)}` is {one.expected}.",
        impact="A reader who takes the summary reads a figure that the committed samples do not give.",
        next="Compute the figure again from the listed samples (edit text), or commit the samples that it was computed from (commit a file); say which of the two was wrong.",
        locations=(one.claim, one.receipt),
        evidence=(("stated", one.stated), ("computed", one.expected), ("samples", str(one.count))),
        roots=(f"record:{one.claim.path}#{one.claim.pointer or one.claim.line}",),
    )


def _place(bundle: Bundle, at: Location) -> str:
    where = bundle.relative(at.path)
    return f"{where}#{at.pointer}" if at.pointer is not None else f"{where}:{at.line}" if at.line else where


RULE = Rule(
    "aggregate-miscomputed",
    "consistency",
    Severity.BLOCKING,
    each=each,
    norms=(("raw", "samples", "summar"), ("derived", "raw"), ("from raw", "not")),
)
