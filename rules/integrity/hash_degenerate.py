"""A listed digest cannot stand for the file it is listed for

What it checks: the digest of the empty string for a file that is not empty, a digest of zeros, and one digest for two files of different size.

Why: such a digest was filled in, not computed; the entry pins nothing.

Fix: compute the digest from the committed bytes in a new manifest, or drop the entry and say why.

Example: `e3b0c442…` beside a protocol of four kilobytes.

Not flagged: files that really are empty, and copies with the same bytes.

Strength: medium.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rules.core.model import Facts, Finding, Item, Rule, Severity, Snapshot
from rules.reading.layout import Bundle, bundles
from rules.reading.manifests import EMPTY, ZEROS, Judged, Manifest, judge, manifests, place_of


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    for bundle in bundles(snapshot):
        for manifest in manifests(snapshot, bundle):
            yield from _of_manifest(snapshot, bundle, manifest)


def _of_manifest(snapshot: Snapshot, bundle: Bundle, manifest: Manifest) -> Iterator[Finding]:
    judged = judge(snapshot, bundle, manifest)
    zeros = [one for one in judged if set(one.pair.digest) == {"0"}]
    empty = [one for one in judged if one.pair.digest == EMPTY and _size(snapshot, one)]
    if zeros:
        yield _finding(bundle, manifest, zeros, "is all zeros", f"`{ZEROS[:8]}…`, all zeros")
    if empty:
        yield _finding(bundle, manifest, empty, "is that of the empty string", f"`{EMPTY[:12]}…`, the digest of the empty string")
    for digest, group in _shared(snapshot, judged).items():
        yield _finding(bundle, manifest, group, "stands for files of different size", f"`{digest[:12]}…` for each of them")


def _shared(snapshot: Snapshot, judged: tuple[Judged, ...]) -> dict[str, list[Judged]]:
    """Digests that stand for files of more than one size."""
    groups: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        if one.kind in ("equal", "plain", "crlf", "external") and one.pair.digest not in (EMPTY, ZEROS):
            groups[one.pair.digest].append(one)
    return {digest: group for digest, group in groups.items() if len({_size(snapshot, one) for one in group} - {0}) > 1}


def _size(snapshot: Snapshot, judged: Judged) -> int:
    """The file's size in bytes, else the one that the manifest states, else 0."""
    return max(0, snapshot.head.files[judged.file].size) if judged.file else judged.pair.size or 0


def _finding(bundle: Bundle, manifest: Manifest, group: list[Judged], defect: str, seen: str) -> Finding:
    names = [bundle.relative(one.file or one.pair.path) for one in group]
    shown = ", ".join(f"`{name}`" for name in names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        title=f"The digest listed for {names[0] if len(names) == 1 else f'{len(names)} files'} {defect}",
        problem=f"`{manifest.path}` lists {seen}, for {shown}.",
        impact="The entry pins nothing, while the manifest looks complete.",
        next="Compute the digests from the committed bytes in a new manifest, or drop the entries and say why (commit a file).",
        locations=tuple(place_of(manifest, one.pair) for one in group[:50]),
        evidence=tuple(("listed", f"{one.pair.path} {one.pair.digest}") for one in group[:10]),
        roots=(f"manifest:{manifest.path}", *(f"file:{one.file}" for one in group if one.file)),
    )


RULE = Rule("hash-degenerate", "integrity", Severity.MEDIUM, check)
