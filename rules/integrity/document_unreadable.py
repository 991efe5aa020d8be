"""A JSON or YAML document cannot be read as what it is

What it checks: the documents of every bundle, and the inventory: UTF-8, well-formed, no key twice in one object, no NaN or Infinity. `*.jsonl`
is read line by line.

Why: what one parser accepts another refuses or reads differently; with a key twice it depends on the parser which value counted.

Fix: write the document with a strict writer; keep the old bytes in the history.

Example: a run spec that names `threads` twice.

Not flagged: `._*` files (macOS resource forks), Git LFS pointers (external), logs, documents outside bundles, a byte order mark.

Strength: blocking for the inventory and for what the inventory or a manifest lists, else medium.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rules.core.model import Bundle, Facts, Finding, Item, Location, Missing, Rule, Severity, Snapshot
from rules.reading.documents import LINES_SUFFIXES, Defect, read_json, state
from rules.reading.few import few
from rules.reading.inventory import inventories, registered
from rules.reading.manifests import manifests, target

IMPACT = {
    "duplicate": "Which of the two values counts depends on the parser.",
    "constant": "Strict parsers refuse the document; others read a value that no measurement can have.",
}


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    for inventory in inventories(snapshot):
        yield from _of_document(snapshot, inventory.path, Severity.BLOCKING, "the inventory itself", ("inventory",))


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    yield from few(_each(snapshot, bundle), "unreadable documents")


def _each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    for path in bundle.files:
        severity, why = _weight(snapshot, bundle, path)
        yield from _of_document(snapshot, path, severity, why, (f"file:{path}",))
        yield from _of_lines(snapshot, path, severity, why)


def _weight(snapshot: Snapshot, bundle: Bundle, path: str) -> tuple[Severity, str]:
    """Blocking for what the inventory or a manifest of the bundle lists."""
    listed = _listed(snapshot, bundle).get(path)
    return (Severity.BLOCKING, f"listed in `{listed}`") if listed else (Severity.MEDIUM, "listed in no manifest")


def _listed(snapshot: Snapshot, bundle: Bundle) -> dict[str, str]:
    def make() -> dict[str, str]:
        listed = {}
        for manifest in manifests(snapshot, bundle):
            for pair in manifest.pairs:
                file = target(snapshot, snapshot.head, bundle, manifest.path, pair.path)
                if file:
                    listed[file] = manifest.path
        entry = registered(snapshot, bundle)
        for name in (*entry.freeze_manifests, *((entry.status,) if entry.status else ())) if entry else ():
            listed[f"{bundle.path}/{name.removeprefix('./')}"] = bundle.root.inventory or ""
        return listed

    return snapshot.memo(("listed", bundle.path), make)


def _of_document(snapshot: Snapshot, path: str, severity: Severity, why: str, roots: tuple[str, ...]) -> Iterator[Finding]:
    found = state(snapshot, path)
    defects = found.defects if found else ()
    for kind in dict.fromkeys(defect.kind for defect in defects):
        yield _finding(path, severity, why, [defect for defect in defects if defect.kind == kind], roots)


def _of_lines(snapshot: Snapshot, path: str, severity: Severity, why: str) -> Iterator[Finding]:
    entry = snapshot.head.files[path]
    if not path.endswith(LINES_SUFFIXES) or not entry.is_file or not 0 <= entry.size <= snapshot.config.limits.scan:
        return
    try:
        wrong = snapshot.cache.by_blob("broken lines", entry.oid, 256, lambda: _broken(snapshot.head.read(path), snapshot.config.limits.log_line))
    except Missing:
        return
    if wrong:
        yield _finding(path, severity, why, list(wrong), (f"file:{path}",))


def _broken(data: bytes, limit: int) -> tuple[Defect, ...]:
    """The first defect of every line that is no JSON document; empty lines and lines beyond the limit are left out; at most 20."""
    broken: list[Defect] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip() and len(line) <= limit and len(broken) < 20:
            defects = read_json(line.rstrip(b"\r")).defects
            broken += [replace(defects[0], line=number)] if defects else []
    return tuple(broken)


def _finding(path: str, severity: Severity, why: str, defects: list[Defect], roots: tuple[str, ...]) -> Finding:
    name = path.rpartition("/")[2]
    kind = defects[0].kind
    shown = "; ".join(f"{f'line {defect.line}: ' if defect.line else ''}{defect.message}" for defect in defects[:5])
    return Finding(
        rule=RULE.id,
        severity=severity,
        title=f"{name} {_TITLES.get(kind, 'cannot be read')}",
        problem=f"`{path}` ({why}): {shown}.",
        impact=IMPACT.get(kind, "Nothing that the document says can be checked, by this review or by anybody's tools."),
        next="Write the document again with a strict writer (edit text); if it is frozen by a hash, add the corrected file beside it under a new name.",
        locations=tuple(Location(path, line=defect.line or 1, role="file", text=defect.message) for defect in defects[:20]),
        evidence=tuple((defect.kind, defect.message) for defect in defects[:10]),
        roots=roots,
    )


_TITLES = {
    "duplicate": "holds a key twice",
    "constant": "holds a number that is not JSON",
    "encoding": "is not UTF-8",
    "syntax": "does not parse",
    "depth": "is nested too deeply to be read",
    "alias": "expands its aliases without end",
}

RULE = Rule("document-unreadable", "integrity", Severity.MEDIUM, check, each=each)
