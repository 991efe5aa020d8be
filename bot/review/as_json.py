"""A report as JSON: the contract that others script against (`rules/schemas/report.schema.json`)."""

from __future__ import annotations

import json
from typing import Any

from rules.core.model import Campaign, Confirmed, Location, MergeReport, Report, Reported, Snapshot
from rules.core.redact import redact


def as_json(report: Report, _: Snapshot | None = None) -> str:
    """The report as indented JSON, one document, ending in a newline."""
    return json.dumps(_clean(report_object(report)), ensure_ascii=False, indent=1) + "\n"


def report_object(report: Report) -> dict[str, Any]:
    """The report as plain values."""
    coverage = report.coverage
    return {
        "version": 1,
        "head": report.head,
        "base": report.base,
        "merge_base": report.merge_base,
        "verdict": report.verdict.value,
        "waiting_on": list(report.waiting_on),
        "findings": [_finding(one) for one in report.findings],
        "confirmed": [_confirmed(one) for one in report.confirmed],
        "merge": _merge(report.merge),
        "campaigns": [_campaign(one) for one in report.campaigns],
        "outcomes": [{"rule": o.rule, "state": o.state, "reason": o.reason, "ms": o.ms} for o in report.outcomes],
        "coverage": {
            "files": coverage.files,
            "bytes": coverage.bytes,
            "changed_files": coverage.changed_files,
            "changed_read": coverage.changed_read,
            "skipped": [{"path": s.path, "reason": s.reason} for s in coverage.skipped],
            "bundles": coverage.bundles,
            "hashes_checked": coverage.hashes_checked,
            "external": list(coverage.external),
            "not_checked": [{"what": n.what, "why": n.why} for n in coverage.not_checked],
            "not_judged": list(coverage.not_judged),
        },
    }


def _finding(one: Reported) -> dict[str, Any]:
    finding = one.finding
    return {
        "id": one.id,
        "rule": finding.rule,
        "family": one.family,
        "severity": finding.severity.value,
        "decision": finding.decision,
        "roots": list(finding.roots),
        "title": finding.title,
        "locations": [_location(at) for at in finding.locations],
        "problem": finding.problem,
        "impact": finding.impact,
        "next": finding.next,
        "searched": finding.searched,
        "evidence": [{"label": label, "value": value} for label, value in finding.evidence],
        "fingerprint": one.fingerprint,
    }


def _location(at: Location) -> dict[str, Any]:
    """What is not known is left out: `at` only where it is not head."""
    known = {"path": at.path, "line": at.line, "end_line": at.end_line, "pointer": at.pointer, "role": at.role, "at": at.at}
    return {key: value for key, value in known.items() if value is not None}


def _confirmed(one: Confirmed) -> dict[str, Any]:
    return {"what": one.what, "value": one.value, "claim": _location(one.claim), "receipt": _location(one.receipt)}


def _campaign(one: Campaign) -> dict[str, Any]:
    return {"id": one.id, "status": one.status, "location": _location(one.location)}


def _merge(merge: MergeReport | None) -> dict[str, Any] | None:
    if merge is None:
        return None
    return {
        "clean": merge.clean,
        "changed_files": merge.changed_files,
        "same_change_as_head": merge.same_change_as_head,
        "blobs_equal_head": merge.blobs_equal_head,
        "base_touches": list(merge.base_touches),
    }


def _clean(value: Any) -> Any:
    """Every text redacted once more (it changes nothing the second time), so that nothing private and no lone surrogate can leave."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return {key: _clean(item) for key, item in value.items()} if isinstance(value, dict) else value
