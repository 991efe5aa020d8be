"""A listed digest equals no version of the file in the whole history

What it checks: where a listed digest plainly differs from the file at head, every version of that file that the history holds.

Why: a digest that matched once is stale; one that never matched was never taken from a committed file, so nothing was frozen by it.

Fix: find the bytes the digest was taken from and commit them, or record that the digest was wrong from the start.

Example: the digest was taken from a draft that was never committed, or two of its characters were swapped in copying.

Not flagged: digests that match an older version (`hash-mismatch` reports those), degenerate digests (`hash-degenerate` does). In a shallow
clone or a plain folder the history cannot show this: not checked.

Strength: high; low for a record manifest with its own source revision. Reported beside `hash-mismatch`, as one story.
"""

from __future__ import annotations

from collections.abc import Iterator

from rules.core.model import Facts, Finding, Item, Location, Missing, Rule, Severity, Snapshot, Unchecked
from rules.reading.file_versions import VERSIONS, is_digest_of, versions_of
from rules.reading.layout import Bundle, bundles
from rules.reading.manifests import EMPTY, ZEROS, Judged, Manifest, judge, manifests, place_of


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    for bundle in bundles(snapshot):
        for manifest in manifests(snapshot, bundle):
            for judged in judge(snapshot, bundle, manifest):
                if judged.kind == "plain" and judged.pair.digest not in (EMPTY, ZEROS):
                    yield from _of_pair(snapshot, bundle, manifest, judged)


def _of_pair(snapshot: Snapshot, bundle: Bundle, manifest: Manifest, judged: Judged) -> Iterator[Item]:
    what = f"older versions of {judged.file} against its listed digest"
    history = snapshot.history
    if history is None or not history.complete:
        yield Unchecked(what, "the history is not complete (shallow clone or plain folder)")
        return
    versions = versions_of(history, judged.file or "")
    if len(versions) > VERSIONS:
        yield Unchecked(what, f"the file has {len(versions)} versions")
        return
    try:
        if not any(is_digest_of(snapshot, history, oid, judged.pair.digest) for oid in versions):
            yield _finding(bundle, manifest, judged, len(versions))
    except Missing:
        yield Unchecked(what, "an older version is missing from this clone")


def _finding(bundle: Bundle, manifest: Manifest, judged: Judged, versions: int) -> Finding:
    file = judged.file or ""
    seen = "its only version" if versions == 1 else f"none of its {versions} versions"
    return Finding(
        rule=RULE.id,
        severity=Severity.LOW if manifest.own_revision else Severity.HIGH,
        title=f"The listed digest of {bundle.relative(file)} never matched a committed version",
        problem=f"`{manifest.path}` lists `{judged.pair.digest[:12]}…` for `{bundle.relative(file)}`; "
        + (f"it is not the digest of {seen}." if versions == 1 else f"it is the digest of {seen} in the history."),
        impact="Nothing that was ever committed is pinned by this entry.",
        next="Commit the bytes that the digest was taken from, or say in a new record that the entry was wrong from the start (commit a file).",
        locations=(place_of(manifest, judged.pair), Location(file, role="file")),
        evidence=(("listed", judged.pair.digest), ("versions searched", str(versions))),
        roots=(f"manifest:{manifest.path}", f"file:{file}"),
        searched=f"{versions} versions of `{file}` in the history of head",
    )


RULE = Rule("hash-never-matched", "integrity", Severity.HIGH, check)
