"""A frozen file is not the file it was at the merge base

What it checks: every file that a freeze manifest of the merge base lists, by object id, at the merge base and at head.

Why: what is frozen before a search may not move afterwards, not even together with its manifest; otherwise the gate can be fitted to the result.

Fix: restore the file, and put the new version beside it under a new name with a manifest of its own.

Example: a pull edits `plan/protocol.md` and updates its digest in `plan/preflight-integrity.json` in the same commit.

Not flagged: files that a new manifest freezes in this pull, and bundles that are new in this pull.

Strength: blocking.
"""

from __future__ import annotations

from collections.abc import Iterator

from rules.core.model import Facts, Finding, Item, Location, Rule, Severity, Snapshot, Tree
from rules.reading.layout import Bundle, bundles_of, changed
from rules.reading.manifests import Manifest, Pinned, manifests, place_of, target


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    old = snapshot.merge_base
    if old is None:
        return
    touched = changed(snapshot)
    said: set[str] = set()
    for bundle in bundles_of(snapshot, old):
        if not any(path in touched for path in bundle.files):
            continue
        for manifest, pair, file in _frozen(snapshot, old, bundle):
            if file in touched and file not in said:
                said.add(file)
                yield _finding(snapshot, old, bundle, manifest, pair, file)


def _frozen(snapshot: Snapshot, old: Tree, bundle: Bundle) -> Iterator[tuple[Manifest, Pinned, str]]:
    for manifest in manifests(snapshot, bundle, old):
        for pair in manifest.pairs if manifest.freeze else ():
            file = target(snapshot, old, bundle, manifest.path, pair.path)
            if file is not None and file != manifest.path:
                yield manifest, pair, file


def _finding(snapshot: Snapshot, old: Tree, bundle: Bundle, manifest: Manifest, pair: Pinned, file: str) -> Finding:
    before, after = changed(snapshot)[file]
    moved = next((path for path, (b, a) in changed(snapshot).items() if b is None and a == before), None) if after is None else None
    name = bundle.relative(file)
    fate = f"was renamed to `{bundle.relative(moved)}`" if moved else "was deleted" if after is None else f"is blob `{after[:12]}` at head"
    return Finding(
        rule=RULE.id,
        severity=Severity.BLOCKING,
        title=f"The frozen {name} was {'renamed' if moved else 'deleted' if after is None else 'changed'} by this pull",
        problem=f"`{name}` is listed in the freeze manifest `{bundle.relative(manifest.path)}`; it is blob `{(before or '')[:12]}` at the merge base "
        f"`{(old.commit or '')[:12]}` and {fate}.",
        impact="What was fixed before the search is no longer what the results are judged by.",
        next=f"Restore `{name}` as it is at the merge base, and add the new version beside it under a new name with a manifest of its own (commit a file). "
        "Editing the manifest does not restore the freeze.",
        locations=(Location(file, role="file", at=None if after else old.commit), place_of(manifest, pair, at=old.commit)),
        evidence=(("at the merge base", before or ""), ("at head", after or "absent")),
        roots=(f"file:{file}",),
    )


RULE = Rule(
    "frozen-bytes-changed",
    "integrity",
    Severity.BLOCKING,
    check,
    needs=frozenset({"base"}),
    norms=(("immutable", "manifest"), ("frozen", "immutable"), ("freeze", "hash", "before")),
)
