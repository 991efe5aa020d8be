"""From loose findings to a report: lines, redaction, stories, fingerprints, verdict, coverage, campaigns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rules.core.fingerprint import fingerprints
from rules.core.model import (
    Confirmed,
    Coverage,
    Finding,
    Item,
    MergeReport,
    Outcome,
    Report,
    Reported,
    Rule,
    Severity,
    Skipped,
    Snapshot,
    Tree,
    Unchecked,
    Verdict,
)
from rules.core.redact import redact
from rules.engine.norms import Norms
from rules.engine.places import Places
from rules.engine.survey import Survey

NOT_JUDGED = (
    "whether a validator is adequate for what it is to judge",
    "whether the search space is sensible",
    "whether the measurements are true",
    "the correctness of the code under review",
)


def report(snapshot: Snapshot, rules: Mapping[str, Rule], items: Sequence[Item], outcomes: Sequence[Outcome]) -> Report:
    """The report of one review."""
    places = Places(snapshot)
    norms = Norms(snapshot)
    survey = Survey(snapshot)
    found = [_with_norm(f, rules, norms) for f in _ordered([item for item in items if isinstance(item, Finding)])]
    confirmed = [item for item in items if isinstance(item, Confirmed)]
    places.prepare(at for f in found for at in f.locations)
    places.prepare(at for c in confirmed for at in (c.claim, c.receipt))
    names = fingerprints(found, places.stable, snapshot.renames)
    ids = _stories(found)
    reported = tuple(
        Reported(id, rules[f.rule].family if f.rule in rules else "", name, _shown(f, places)) for f, name, id in zip(found, names, ids, strict=True)
    )
    unread = survey.unread_bundles()
    return Report(
        head=snapshot.head.commit,
        base=snapshot.base.commit if snapshot.base else None,
        merge_base=snapshot.merge_base.commit if snapshot.merge_base else None,
        verdict=verdict(found, outcomes, bool(unread)),
        waiting_on=waiting_on(found),
        findings=reported,
        confirmed=tuple(_confirmed(c, places) for c in confirmed),
        merge=_merge(snapshot, survey.changed),
        campaigns=tuple(replace(c, id=redact(c.id), location=places.resolve(c.location), status=redact(c.status)) for c in survey.campaigns()),
        outcomes=tuple(outcomes),
        coverage=Coverage(
            files=len(snapshot.head.files),
            bytes=sum(max(0, e.size) for e in snapshot.head.files.values()),
            changed_files=len(survey.changed),
            changed_read=survey.changed_read(),
            skipped=tuple(Skipped(redact(s.path), redact(s.reason)) for s in survey.skipped()),
            bundles=len(survey.bundles),
            hashes_checked=survey.hashes_checked(),
            external=tuple(redact(name) for name in survey.external()),
            not_checked=_not_checked(items, outcomes),
            not_judged=NOT_JUDGED,
        ),
    )


def _with_norm(finding: Finding, rules: Mapping[str, Rule], norms: Norms) -> Finding:
    """The finding with the line that demands it, where the base has one and the rule has not named one itself."""
    norm = norms.of(rules[finding.rule]) if finding.rule in rules and all(at.role != "norm" for at in finding.locations) else None
    return replace(finding, locations=(*finding.locations, norm)) if norm else finding


def _ordered(findings: list[Finding]) -> list[Finding]:
    """Strongest first, then by place; the same finding said twice is said once."""
    unique = dict.fromkeys(findings)
    return sorted(
        unique, key=lambda f: (f.severity.rank, f.locations[0].path, f.rule, f.locations[0].line or 0, f.locations[0].pointer or "", f.title)
    )


def _stories(findings: Sequence[Finding]) -> list[str | None]:
    """The F-number of each finding: findings that share a root, directly or through others, are one story."""
    group: dict[int, int] = {i: i for i in range(len(findings))}

    def top(i: int) -> int:
        while group[i] != i:
            group[i] = group[group[i]]
            i = group[i]
        return i

    first: dict[str, int] = {}
    for i, finding in enumerate(findings):
        for root in finding.roots if finding.numbered else ():
            other = top(first.setdefault(root, i))
            one = top(i)
            group[max(one, other)] = min(one, other)
    numbers: dict[int, int] = {}
    return [f"F{numbers.setdefault(top(i), len(numbers) + 1)}" if finding.numbered else None for i, finding in enumerate(findings)]


def verdict(findings: Sequence[Finding], outcomes: Sequence[Outcome], unreadable: bool) -> Verdict:
    """RULES.md's table: incomplete, changes-needed, needs-human, pass."""
    if unreadable or any(outcome.state == "crashed" for outcome in outcomes):
        return Verdict.INCOMPLETE
    if any(f.severity is Severity.BLOCKING or (f.severity is Severity.HIGH and f.decision == "author") for f in findings):
        return Verdict.CHANGES_NEEDED
    if any(f.severity is Severity.HIGH for f in findings):
        return Verdict.NEEDS_HUMAN
    return Verdict.PASS


def waiting_on(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Who must act on what is blocking or high: `author`, `requester`."""
    strong = [f for f in findings if f.severity in (Severity.BLOCKING, Severity.HIGH)]
    names = {"author": "author", "human": "requester"}
    return tuple(names[d] for d in ("author", "human") if any(f.decision == d for f in strong))


def _shown(finding: Finding, places: Places) -> Finding:
    """The finding with its lines found and every text redacted."""
    return replace(
        finding,
        title=redact(finding.title),
        problem=redact(finding.problem),
        impact=redact(finding.impact),
        next=redact(finding.next),
        searched=redact(finding.searched) if finding.searched else None,
        evidence=tuple((redact(label), redact(value)) for label, value in finding.evidence),
        locations=tuple(dict.fromkeys(places.resolve(location) for location in finding.locations)),
        # Roots are compared, and some hold a sentence in lower case.
        roots=tuple(redact(root, any_case=True) for root in finding.roots),
    )


def _confirmed(item: Confirmed, places: Places) -> Confirmed:
    return replace(item, value=redact(item.value), claim=places.resolve(item.claim), receipt=places.resolve(item.receipt))


def _not_checked(items: Sequence[Item], outcomes: Sequence[Outcome]) -> tuple[Unchecked, ...]:
    said = [Unchecked(redact(item.what), redact(item.why)) for item in items if isinstance(item, Unchecked)]
    skipped = [Unchecked(outcome.rule, outcome.reason or "") for outcome in outcomes if outcome.state == "skipped"]
    crashed = [
        Unchecked(outcome.rule, f"the rule crashed ({outcome.reason}); please report it") for outcome in outcomes if outcome.state == "crashed"
    ]
    return tuple(dict.fromkeys(crashed + skipped + said))


def _merge(snapshot: Snapshot, changed: Mapping[str, tuple[str | None, str | None]]) -> MergeReport | None:
    if snapshot.merge is None or snapshot.base is None or snapshot.merge_base is None:
        return None
    base_touches = tuple(sorted(redact(path) for path in changed if _oid(snapshot.base, path) != _oid(snapshot.merge_base, path)))
    merged = snapshot.merge.tree
    if merged is None:
        return MergeReport(False, len(changed), None, None, base_touches)
    equal = sum(_oid(merged, path) == after for path, (_, after) in changed.items())
    return MergeReport(True, len(changed), equal == len(changed), equal, base_touches)


def _oid(tree: Tree, path: str) -> str | None:
    entry = tree.files.get(path)
    return entry.oid if entry else None


__all__ = ["report", "verdict", "waiting_on"]
