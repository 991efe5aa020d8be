"""A report as SARIF 2.1.0 (docs.oasis-open.org/sarif/sarif/v2.1.0), for code scanning and editors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from bot.review.stories import place
from rules.core.model import Location, Report, Reported, Rule, Snapshot
from rules.core.redact import redact

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: Mapping[str, str] = {"blocking": "error", "high": "error", "medium": "warning", "low": "note"}


def as_sarif(report: Report, _: Snapshot) -> str:
    """One run with its rules and one result per finding."""
    from rules.engine.run import discover

    known = {rule.id: rule for rule in discover()}
    ids = list(dict.fromkeys(one.finding.rule for one in report.findings))
    run = {
        "tool": {"driver": {"name": "assay", "rules": [_rule(id, known.get(id)) for id in ids]}},
        "results": [_result(one, ids) for one in report.findings],
        "columnKind": "unicodeCodePoints",
        "properties": {"verdict": report.verdict.value, "head": report.head, "base": report.base},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=1) + "\n"


def _rule(id: str, rule: Rule | None) -> dict[str, Any]:
    summary = rule.doc.split("\n\n")[0].replace("\n", " ") if rule and rule.doc else id
    level = _LEVELS[rule.severity.value] if rule else "warning"
    return {
        "id": id,
        "shortDescription": {"text": summary},
        "help": {"text": rule.doc if rule and rule.doc else id},
        "defaultConfiguration": {"level": level},
    }


def _result(one: Reported, ids: list[str]) -> dict[str, Any]:
    finding = one.finding
    first, *rest = finding.locations
    told = f"{finding.title}. {finding.problem} {finding.impact} Next: {finding.next}"
    return {
        "ruleId": finding.rule,
        "ruleIndex": ids.index(finding.rule),
        "level": _LEVELS[finding.severity.value],
        "message": {"text": redact(" ".join(told.split()))},
        "locations": [_location(first)],
        "relatedLocations": [{**_location(at), "id": n, "message": {"text": at.role}} for n, at in enumerate(rest)],
        "partialFingerprints": {"assay/v1": one.fingerprint},
        "properties": {"story": one.id, "severity": finding.severity.value, "decision": finding.decision},
    }


def _location(at: Location) -> dict[str, Any]:
    """A file of the tree is a physical location; the text of a pull or issue is only a logical one."""
    logical = [{"fullyQualifiedName": at.pointer or place(at)}]
    if at.path.startswith(("pull:", "issue:")):
        return {"logicalLocations": logical}
    physical: dict[str, Any] = {"artifactLocation": {"uri": quote(at.path, errors="replace"), "uriBaseId": "%SRCROOT%"}}
    if at.line is not None:
        physical["region"] = {"startLine": at.line, "endLine": at.end_line or at.line}
    return {"physicalLocation": physical} | ({"logicalLocations": logical} if at.pointer else {})
