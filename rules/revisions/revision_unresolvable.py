"""A cited revision exists in no repository it may belong to

What it checks: every revision that a document, the pull or the issue cites, through the commit API of each repository it may belong to: named in
the same object, line or bundle, the configured upstreams, and this repository.

Why: a measurement on a revision that nobody can fetch cannot be reproduced or audited.

Fix: push the commit to a public branch, or commit the exact diff and its parent under `patch/`, or cite the revision that was really used.

Example: all four-device screens ran on a commit that answers 422 everywhere.

Not flagged: 404 (missing or not visible), 401, 403, 409, 429, 5xx or no answer from any candidate repository: not checked. An abbreviation stands
for the full id cited beside it. Trees, blobs and tags of this repository are no commits.

Strength: high; medium for a short id.
"""

from __future__ import annotations

from collections.abc import Iterator

from rules.core.model import Confirmed, Facts, Finding, Item, Rule, Severity, Snapshot, Unchecked
from rules.reading.lookups import Revision, is_commit, questions, revisions, state
from rules.reading.revisions import read_bundle


def check(snapshot: Snapshot, facts: Facts) -> Iterator[Item]:
    for revision in revisions(snapshot):
        if not is_commit(snapshot, facts, revision):
            continue
        found, why = state(snapshot, facts, revision)
        first = revision.citations[0].place
        if found == "unresolvable":
            yield _finding(revision, why)
        elif found == "resolves":
            yield Confirmed("revision", f"{revision.id}: {why}", first, first)
        else:
            yield Unchecked(f"revision {revision.id[:12]} ({first.path})", why)


def _finding(revision: Revision, why: str) -> Finding:
    shown = f"`{revision.id[:12]}{'…' if len(revision.id) > 12 else ''}`"
    places = revision.places()
    files = list(dict.fromkeys(place.path for place in places))
    roles = list(dict.fromkeys(one.role for one in revision.citations))
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM if revision.is_short else Severity.HIGH,
        title=f"The cited revision {revision.id[:12]} cannot be found in any repository it may belong to",
        problem=f"{shown}, cited as {', '.join(f'`{role}`' for role in roles[:3])} in {len(files)} file{'s' if len(files) > 1 else ''} "
        f"(`{files[0]}` first): {why}.",
        impact="What was measured on it can be neither fetched nor reproduced.",
        next="Push the commit to a public branch, or commit the exact diff and its parent under `patch/` (commit a file), or cite the revision that was "
        "really used (edit text). Keep the measurements.",
        locations=places[:20],
        evidence=(("revision", revision.id), *((name, "422") for name in revision.repositories)),
        roots=(revision.root,),
        searched=", ".join(revision.repositories),
    )


RULE = Rule(
    "revision-unresolvable",
    "revisions",
    Severity.HIGH,
    check,
    asks=questions,
    reads=read_bundle,
    norms=(("pinned", "revision"), ("revisions", "in full"), ("immutable", "revision")),
)
