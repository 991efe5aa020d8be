"""The name a finding keeps while its lines, its commit and our wording change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping

from rules.core.model import Finding, Location


def anchor(location: Location, stable_pointer: Callable[[Location], str | None]) -> str:
    """A pointer with array indices replaced by the elements' names, else the whitespace-normalised sentence, else nothing."""
    if location.pointer is not None:
        return stable_pointer(location) or location.pointer
    return " ".join((location.text or "").split()).casefold()


def fingerprints(
    findings: Iterable[Finding], stable_pointer: Callable[[Location], str | None], renames: Mapping[str, str] | None = None
) -> list[str]:
    """One fingerprint per finding, in order. `renames` maps a new path to the one it had before, so that a moved file keeps its stories."""
    seen: dict[tuple[str, str, str], int] = {}
    names = []
    for finding in findings:
        first = finding.locations[0]
        path = (renames or {}).get(first.path, first.path)
        key = (finding.rule, path, anchor(first, stable_pointer))
        ordinal = seen.get(key, 0)
        seen[key] = ordinal + 1
        digest = hashlib.sha256(json.dumps([*key, ordinal]).encode()).hexdigest()
        names.append(f"v1:{digest[:32]}")
    return names
