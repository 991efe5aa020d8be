"""A manifest's digest is not the SHA-256 of the file it names

What it checks: every (path, digest) pair of every manifest in a bundle, against the blob at head. Hashes are of git blobs, never of a
checkout, so a working copy with other line endings changes nothing.

Why: a manifest is the only proof that the bytes a reader sees are the bytes that were frozen or recorded.

What is told apart: a file that differs, one that differs only in its line endings (CRLF), one that was moved, one that is absent, a
digest that was cut short, and a manifest that lists itself.

Fix: restore the file, or write a new record beside the old one that says what changed and why. Never edit a freeze manifest to make the check pass.

Example: `plan/preflight-integrity.json` lists `plan/protocol.md` with a digest, and a later commit edits the protocol.

Not flagged: backslashes, `./`, `*`, a size column, upper case, a `sha256:` prefix, Unicode normal forms; what the inventory declares
external; a Git LFS pointer whose oid is the digest.

Strength: low for files outside the bundle whose listed digest an older version has; else blocking in a freeze manifest, low in a record manifest that names its own source revision, else high.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from rules.core.model import Confirmed, Facts, Finding, Item, Location, Missing, Rule, Severity, Snapshot, Unchecked
from rules.reading.file_versions import VERSIONS, is_digest_of, versions_of
from rules.reading.layout import Bundle, bundles
from rules.reading.manifests import Judged, Kind, Manifest, is_about_elsewhere, judge, manifests, place_of

ALONE = 8
"""More plain differences than this in one manifest are one finding: the manifest as a whole is out of date."""

TITLES: dict[Kind, str] = {
    "plain": "{file} is not the file that {manifest} lists",
    "crlf": "{manifest} was taken with other line endings (CRLF) than git stores",
    "moved": "{file} was moved after {manifest} listed it",
    "absent": "{manifest} lists {file}, which is not in the tree",
    "truncated": "{manifest} lists a truncated digest for {file}",
    "self": "{manifest} lists itself",
}
NEXTS: dict[Kind, str] = {
    "plain": "Restore the listed bytes, or record the new version in a manifest of its own that says what changed and why (commit a file). Do not edit the digest to match.",
    "crlf": "Take the digests from the committed bytes (`git show HEAD:<path> | sha256sum`) in a new manifest (commit a file).",
    "moved": "Move the file back, or list it at its new place in a new manifest (commit a file).",
    "absent": "Commit the file, or declare it external in the inventory with a reason (commit a file).",
    "truncated": "Record the full 64 characters (edit text).",
    "self": "Remove the manifest's entry about itself: no file can hold its own digest (edit text).",
}


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    for bundle in bundles(snapshot):
        for manifest in manifests(snapshot, bundle):
            yield from _of_manifest(snapshot, bundle, manifest)


def _of_manifest(snapshot: Snapshot, bundle: Bundle, manifest: Manifest) -> Iterator[Item]:
    held = judge(snapshot, bundle, manifest)
    if is_about_elsewhere(manifest, held):
        yield Unchecked(f"the {len(held)} digests in {manifest.path}", "none of the files they are listed for is in this repository")
        return
    by_kind: dict[Kind, list[Judged]] = defaultdict(list)
    for judged in held:
        by_kind[judged.kind].append(judged)
    yield from _held(manifest, [*by_kind.pop("equal", []), *by_kind.pop("lfs", [])])
    for judged in by_kind.pop("external", []):
        yield Unchecked(f"digest of {judged.pair.path} in {manifest.path}", "the file is declared external")
    for judged in by_kind.pop("unread", []):
        yield Unchecked(f"digest of {judged.file} in {manifest.path}", "the file is a link, or its object is missing from this clone")
    yield from _outgrown(snapshot, bundle, manifest, by_kind)
    for kind, wrong in by_kind.items():
        alone = kind == "plain" and len(wrong) <= ALONE
        for group in [[one] for one in wrong] if alone else [wrong]:
            yield _finding(bundle, manifest, kind, group)


def _outgrown(snapshot: Snapshot, bundle: Bundle, manifest: Manifest, by_kind: dict[Kind, list[Judged]]) -> Iterator[Finding]:
    """Takes out of `by_kind` the files outside the bundle that a record of its time listed rightly, and that have moved on since."""
    if manifest.freeze:
        return
    older = [one for one in by_kind.get("plain", ()) if not (one.file or "").startswith(bundle.path + "/") and _was_once(snapshot, one)]
    left = [one for one in by_kind.pop("plain", []) if one not in older]
    if left:
        by_kind["plain"] = left
    if older:
        found = _finding(bundle, manifest, "plain", older)
        yield replace(
            found,
            severity=Severity.LOW,
            title=f"{bundle.relative(manifest.path)} lists older versions of files outside the bundle",
            problem=found.problem + " An older committed version has the listed digest: the record was right, and the file has changed since.",
            impact="Whoever checks the list against today's files finds other bytes.",
            next="Nothing has to change; name the commit that the list was taken at (edit text), so that it can be checked there.",
        )


def _was_once(snapshot: Snapshot, judged: Judged) -> bool:
    history = snapshot.history
    versions = versions_of(history, judged.file or "") if history else ()
    try:
        return any(is_digest_of(snapshot, history, oid, judged.pair.digest) for oid in versions[:VERSIONS] if history)
    except Missing:
        return False


def _held(manifest: Manifest, equal: list[Judged]) -> Iterator[Confirmed]:
    if equal:
        where = Location(manifest.path, role="manifest")
        yield Confirmed("digest", f"{len(equal)} of {len(manifest.pairs)} digests match the blobs at head", where, where)


def _finding(bundle: Bundle, manifest: Manifest, kind: Kind, wrong: list[Judged]) -> Finding:
    names = [bundle.relative(one.file or one.pair.path) for one in wrong]
    listed = names[0] if len(names) == 1 else f"{len(names)} files"
    places = [place_of(manifest, one.pair) for one in wrong]
    files = [Location(one.file, role="file") for one in wrong if one.file and one.file != manifest.path]
    return Finding(
        rule=RULE.id,
        severity=_severity(manifest),
        title=TITLES[kind].format(file=listed, manifest=bundle.relative(manifest.path)),
        problem=_problem(manifest, kind, wrong, names),
        impact="The freeze no longer shows what was fixed before the search."
        if manifest.freeze
        else "A reader cannot tell whether the recorded bytes or the committed ones produced the result.",
        next=NEXTS[kind],
        locations=(*places[:50], *files[:50]),
        evidence=_evidence(wrong),
        roots=(f"manifest:{manifest.path}", *(f"file:{one.file}" for one in wrong if one.file and kind != "self")),
    )


def _severity(manifest: Manifest) -> Severity:
    if manifest.freeze:
        return Severity.BLOCKING
    return Severity.LOW if manifest.own_revision else Severity.HIGH


def _problem(manifest: Manifest, kind: Kind, wrong: list[Judged], names: list[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    one = wrong[0]
    match kind:
        case "crlf":
            text = f"The listed digest of {shown} is that of the same text with CRLF line endings swapped; nothing else differs."
        case "moved":
            text = f"{shown} is absent; the listed digest is that of " + ", ".join(f"`{w.moved_to}`" for w in wrong[:5]) + ": moved."
        case "absent":
            text = f"{shown}: no such file at head, neither from the manifest's folder nor from the bundle's nor from the repository's."
        case "truncated":
            start = (
                "it is the start of the actual digest"
                if (one.actual or "").startswith(one.pair.digest)
                else "it is not even the start of the actual digest"
            )
            text = f"The digest of {shown} is truncated to {len(one.pair.digest)} characters (`{one.pair.digest[:16]}…`); {start}."
        case "self":
            text = f"`{names[0]}` lists a digest of itself (self-reference), which can never be right."
        case _:
            text = f"{shown} hashes to `{(one.actual or '')[:12]}…` at head, `{manifest.path}` lists `{one.pair.digest[:12]}…`."
    return text + (
        f" The manifest describes revision `{manifest.own_revision[:12]}`, so an edit after it is expected." if manifest.own_revision else ""
    )


def _evidence(wrong: list[Judged]) -> tuple[tuple[str, str], ...]:
    return tuple(
        pair
        for one in wrong[:10]
        for pair in (("listed", f"{one.pair.path} {one.pair.digest}"), ("actual", one.actual or "no such file"))
        if one.kind != "self"
    )


RULE = Rule("hash-mismatch", "integrity", Severity.HIGH, check, norms=(("hash", "match"), ("sha-256", "manifest"), ("digest", "match")))
