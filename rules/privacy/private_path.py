"""A file shows a person's folder

What it checks: `/home/<name>/`, `/Users/<name>/` and `C:\\Users\\<name>\\` with a concrete name, in every file of a bundle and in the documents of
the change, also in code fences and `file:` addresses.

Why: the path tells a login name and how a machine is laid out, to everybody and for ever.

Fix: write `<ARTIFACT_ROOT>/…` and say that the artifact is outside the repository. The measurement can stay as it is.

Example: `"weights": "/home/<name>/models"` in a receipt.

Not flagged: accounts that belong to nobody (user, runner, ubuntu, root), variables and placeholders, web addresses, relative folders. Shared
mounts (`/mnt`, `/data`, `/root`) are low.

Strength: blocking in prose, JSON, YAML and CSV; medium in raw logs and JSONL; low for shared mounts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from rules.core.model import Bundle, Facts, Finding, Item, Location, Missing, Rule, Severity, Snapshot, Unchecked
from rules.core.redact import plain_root, private_homes
from rules.reading.documents import is_document, nodes
from rules.reading.layout import bundle_at, in_scope
from rules.reading.manifests import frozen_by

PROSE = (".md", ".markdown", ".rst", ".adoc", ".txt", ".html", ".json", ".yaml", ".yml", ".toml", ".csv", ".tsv", ".ipynb", ".cfg", ".ini")
DOCUMENTS = (".md", ".markdown", ".rst", ".adoc", ".json", ".yaml", ".yml", ".csv", ".tsv", ".txt")
RAW = re.compile(
    r"(?:^|/)(?:raw|logs?|traces?)/|\.(?:log|out|err|stdout|stderr|jsonl|ndjson|trace)(?:\.txt)?\Z|(?:^|/)[^/]*\blog[^/]*\.txt\Z", re.IGNORECASE
)
_MARKS = (b"/home/", b"/home\\/", b"%2Fhome%2F", b"/Users/", b"Users\\", b"Users/", b"%2FUsers%2F", b"Users%5C", b"/mnt/", b"/data/", b"/root/")
_SHARED = re.compile(r"(?<![\w.~}>/$)\-\]])/(?:mnt|data|root)/[\w.-]{1,64}")
_PLACES = 20


@dataclass(frozen=True, slots=True)
class Leak:
    """One prefix in one file: how it is shown, whether it names a person, and the lines (1-based) where it stands."""

    prefix: str
    private: bool
    lines: tuple[int, ...]


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    for path in bundle.files:
        yield from _of_file(snapshot, path)


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    for path in in_scope(snapshot):
        if path.lower().endswith(DOCUMENTS) and bundle_at(snapshot, path) is None:
            yield from _of_file(snapshot, path)


def _of_file(snapshot: Snapshot, path: str) -> Iterator[Item]:
    entry = snapshot.head.files[path]
    if not entry.is_file or entry.size <= 0:
        return
    if entry.size > snapshot.config.limits.scan:
        yield Unchecked(f"private paths in {path}", f"the file has {entry.size} bytes, more than the limit")
        return
    try:
        leaks = snapshot.cache.by_blob("leaks", entry.oid, 256, lambda: _leaks(snapshot.head.read(path)))
    except Missing:
        return
    for leak in leaks:
        yield _finding(snapshot, path, leak)


def _leaks(data: bytes) -> tuple[Leak, ...]:
    if b"\0" in data[:8192] or not any(mark in data for mark in _MARKS):
        return ()
    people: dict[tuple[str, str], list[int]] = defaultdict(list)
    shared: dict[str, list[int]] = defaultdict(list)
    for number, raw in enumerate(data.split(b"\n"), 1):
        if not any(mark in raw for mark in _MARKS):
            continue
        line = raw[: 1 << 20].decode("utf-8", "replace")
        for _, _, root, name in private_homes(line):
            people[(plain_root(root), name)].append(number)
        for match in _SHARED.finditer(line):
            shared["/" + match[0].split("/")[1] + "/"].append(number)
    named = [Leak(_prefix(root), True, tuple(dict.fromkeys(lines))) for (root, _), lines in people.items()]
    return (*named, *(Leak(f"{root}…", False, tuple(dict.fromkeys(lines))) for root, lines in shared.items()))


def _prefix(root: str) -> str:
    return f"{root}<name>{root[-1]}"


def _finding(snapshot: Snapshot, path: str, leak: Leak) -> Finding:
    bundle = bundle_at(snapshot, path)
    frozen = frozen_by(snapshot, bundle, path) if bundle else None
    count = len(leak.lines)
    times = "once" if count == 1 else f"on {count} lines"
    return Finding(
        rule=RULE.id,
        severity=_severity(path, leak),
        title=f"{path.rpartition('/')[2]} shows {'a person’s folder' if leak.private else 'where a machine keeps its files'}",
        problem=f"`{leak.prefix}` stands {times} in `{path}`, first on line {leak.lines[0]}.",
        impact="The repository publishes a login name and a machine's layout." if leak.private else "The path means nothing on another machine.",
        next=f"The file is frozen by `{frozen.path}`: editing it would break the freeze. Add a redacted copy beside it with `<ARTIFACT_ROOT>` in "
        "place of the folder, and cite the copy (commit a file)."
        if frozen
        else "Write `<ARTIFACT_ROOT>/…` instead and say that the artifact is outside the repository (edit text). The value need not be repeated anywhere.",
        locations=_places(snapshot, path, leak),
        evidence=(("prefix", leak.prefix), ("lines", str(count))),
        # Twenty logs of one bundle that show the same machine are one matter.
        roots=(f"private:{path}", *((f"{'private' if leak.private else 'mounts'}:{bundle.path}/",) if bundle else ())),
    )


def _severity(path: str, leak: Leak) -> Severity:
    if not leak.private:
        return Severity.LOW
    return Severity.BLOCKING if path.lower().endswith(PROSE) and not RAW.search(path) else Severity.MEDIUM


def _places(snapshot: Snapshot, path: str, leak: Leak) -> tuple[Location, ...]:
    """JSON pointers of the strings that hold the prefix where the file is a document, else lines."""
    pointers = []
    for node in nodes(snapshot, path) if is_document(path) else ():
        if isinstance(node.value, str) and _holds(node.value, leak):
            pointers.append(Location(path, pointer=node.pointer, role="claim"))
    return tuple(pointers[:_PLACES]) or tuple(Location(path, line=line, role="claim", text=leak.prefix) for line in leak.lines[:_PLACES])


def _holds(text: str, leak: Leak) -> bool:
    if leak.private:
        return any(_prefix(plain_root(root)) == leak.prefix for _, _, root, _ in private_homes(text))
    return any(match[0].startswith(leak.prefix[:-1]) for match in _SHARED.finditer(text))


RULE = Rule(
    "private-path",
    "privacy",
    Severity.BLOCKING,
    check,
    each=each,
    norms=(("/home/",), ("absolute", "location"), ("user-specific",), ("private", "location"), ("absolute", "path")),
)
