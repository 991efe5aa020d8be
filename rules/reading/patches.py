"""Patches and pins: which revisions a run spec pins, which diffs lie under `patch/`, and which commit each of them makes from which parent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rules.core.model import Bundle, Location, Missing, Snapshot
from rules.reading.documents import Node, is_document, places, pointer
from rules.reading.keys import family, words
from rules.reading.manifests import manifests, target
from rules.reading.receipts import receipts, source_revisions

DIFF_LIMIT = 16 * 1024 * 1024
_FULL = re.compile(r"(?<![0-9a-zA-Z])([0-9a-fA-F]{40}|[0-9a-fA-F]{64})(?![0-9a-zA-Z])")
_TOUCHES = re.compile(r"^(?:diff --git a/(\S{1,400}) b/\S|\+\+\+ (?:b/)?([^\s\t]{1,400})|--- (?:a/)?([^\s\t]{1,400}))", re.MULTILINE)
_FROM = re.compile(r"^From ([0-9a-f]{40}) ", re.MULTILINE)
_BASE = re.compile(r"^base-commit: {0,4}([0-9a-f]{40})\b", re.MULTILINE)
_NUMBERED = re.compile(r"(\d{4})-")
# What measures, tests or describes the engine, but is not the engine.
_HARNESS = family(
    "bench benches benchmark benchmarks benchmarking harness harnesses test tests testing unittest doc docs example examples ci github profiling profile "
    "eval evaluation validator validators evidence plan results perf loadgen loadtest driver runner fixtures workload workloads tooling scripts"
)
_TEXTS = (".md", ".rst", ".txt", ".adoc")
_PARENT = family("parent base onto against basis 基于 父提交 基线")
_CHILD = family("commit revision sha head result produces yields makes candidate patched 提交 结果 版本")


@dataclass(frozen=True, slots=True)
class Diff:
    """One diff under `patch/`. `touched`: the paths it changes; `made`: (parent or None, commit) of each commit it holds, in order."""

    path: str
    touched: tuple[str, ...]
    made: tuple[tuple[str | None, str], ...]

    @property
    def is_engine(self) -> bool:
        """True where it changes something else than harness, tests and texts."""
        own = set(words(self.path.rpartition("/")[2].rpartition(".")[0]))
        return not own & {"harness", "bench", "benchmark"} and any(not _is_harness(path) for path in self.touched)


@dataclass(frozen=True, slots=True)
class Derivation:
    """That `commit` is `parent` plus a committed diff, and where that is said."""

    parent: str
    commit: str
    location: Location


def _is_harness(path: str) -> bool:
    return path.lower().endswith(_TEXTS) or any(set(words(part)) & _HARNESS for part in path.split("/"))


def diffs(snapshot: Snapshot, bundle: Bundle) -> tuple[Diff, ...]:
    """The diffs under the bundle's `patch/` at head that change at least one path, in order of path."""
    return snapshot.memo(
        ("diffs", bundle.path), lambda: tuple(diff for path in bundle.part("patch") if (diff := _diff(snapshot, path)) and diff.touched)
    )


def _diff(snapshot: Snapshot, path: str) -> Diff | None:
    entry = snapshot.head.files[path]
    if not entry.is_file or not 0 <= entry.size <= DIFF_LIMIT or is_document(path) or path.lower().endswith((".md", ".markdown")):
        return None
    try:
        return snapshot.cache.by_blob("diff:" + path, entry.oid, 4096, lambda: read_diff(path, snapshot.head.read(path).decode("utf-8", "replace")))
    except Missing:
        return None


def read_diff(path: str, text: str) -> Diff:
    """What a unified diff, or a series as `git format-patch` writes it, touches and makes."""
    names = (next(part for part in match.groups() if part) for match in _TOUCHES.finditer(text.replace("\r\n", "\n")))
    commits, base = _FROM.findall(text), _BASE.search(text)
    parents = [base[1] if base else None, *commits]
    return Diff(path, tuple(dict.fromkeys(n for n in names if n != "/dev/null")), tuple(zip(parents, commits, strict=False)))


def derivations(snapshot: Snapshot, bundle: Bundle) -> tuple[Derivation, ...]:
    """What the committed diffs make from which parent: by `From` and `base-commit:`, by their order in a numbered series, and by records."""
    return snapshot.memo(("derivations", bundle.path), lambda: (*_of_diffs(diffs(snapshot, bundle)), *_of_records(snapshot, bundle)))


def _of_diffs(held: tuple[Diff, ...]) -> Iterator[Derivation]:
    last: tuple[str, int, str] | None = None
    for diff in held:
        folder, _, name = diff.path.rpartition("/")
        number = _NUMBERED.match(name)
        follows = last is not None and number is not None and last[:2] == (folder, int(number[1]) - 1)
        for parent, commit in diff.made:
            known = parent or (last[2] if follows and last else None)
            if known:
                yield Derivation(known, commit, Location(diff.path, role="related"))
        last = (folder, int(number[1]), diff.made[-1][1]) if number and diff.made else None


def _of_records(snapshot: Snapshot, bundle: Bundle) -> Iterator[Derivation]:
    """`{"parent": …, "commit": …}` in the documents of patch and plan, where a diff is committed; a diff that the record names must be there."""
    if not diffs(snapshot, bundle):
        return
    for path in (*bundle.part("patch"), *bundle.part("plan")):
        for node in places(snapshot, path).nodes(lambda _: True, dict):
            yield from _of_record(snapshot, bundle, path, node)


def _of_record(snapshot: Snapshot, bundle: Bundle, path: str, node: Node) -> Iterator[Derivation]:
    shas = {
        key: value.strip().lower() for key, value in node.value.items() if isinstance(value, str) and re.fullmatch(r"\s*[0-9a-fA-F]{7,40}\s*", value)
    }
    parent = next((key for key in shas if set(words(key)) & _PARENT), None)
    child = next((key for key in shas if key != parent and set(words(key)) & _CHILD), None)
    named = [
        v
        for k, v in node.value.items()
        if isinstance(v, str) and {"diff", "patch", "file", "path"} & set(words(k)) and v.lower().endswith((".diff", ".patch"))
    ]
    if parent and child and all(target(snapshot, snapshot.head, bundle, path, name) for name in named):
        yield Derivation(shas[parent], shas[child], Location(path, pointer=pointer((*node.path, child)), role="related"))


# ---------------------------------------------------------------- pins


def run_specs(bundle: Bundle) -> tuple[str, ...]:
    """The plan's documents that are named as a run spec (`runspec.json`, `run-spec.yaml`, `runspec-15s.json`)."""
    return tuple(path for path in bundle.part("plan") if is_document(path) and is_run_spec(path))


def is_run_spec(path: str) -> bool:
    held = words(path.rpartition("/")[2].rpartition(".")[0])
    return bool({"runspec", "runspecs", "运行规格"} & set(held)) or "run spec" in " ".join(held) or held == ("spec",)


def pins(snapshot: Snapshot, bundle: Bundle) -> dict[str, Location]:
    """Every full hex id in a run spec, whatever its key, and the shorter ones under a revision's key → where it stands."""
    return snapshot.memo(("pins", bundle.path), lambda: _pins(snapshot, bundle))


def _pins(snapshot: Snapshot, bundle: Bundle) -> dict[str, Location]:
    found: dict[str, Location] = {}
    for path in run_specs(bundle):
        held = places(snapshot, path)
        for node in held.all():
            for sha in _FULL.findall(node.value) if isinstance(node.value, str) else ():
                found.setdefault(sha.lower(), Location(path, pointer=node.pointer, role="record"))
            for sha in _FULL.findall(str(node.path[-1])) if node.path else ():
                found.setdefault(sha.lower(), Location(path, pointer=node.pointer, role="record"))
        for node, sha in source_revisions(held):
            found.setdefault(sha, Location(path, pointer=node.pointer, role="record"))
    return found


def same_revision(one: str, other: str) -> bool:
    """True where one id is the other, or abbreviates it."""
    return min(len(one), len(other)) >= 7 and (one.startswith(other) or other.startswith(one))


def covering(snapshot: Snapshot, bundle: Bundle, sha: str) -> Location | None:
    """Where the run spec pins `sha`, or where a committed diff makes it from a pin (also over several diffs); None where nothing does."""
    waiting, seen = [(sha, None)], set[str]()
    while waiting:
        wanted, through = waiting.pop()
        place = next((at for pin, at in pins(snapshot, bundle).items() if same_revision(pin, wanted)), None)
        if place:
            return through or place
        for one in derivations(snapshot, bundle) if wanted not in seen else ():
            if same_revision(one.commit, wanted):
                waiting.append((one.parent, through or one.location))  # type: ignore[arg-type]
        seen.add(wanted)
    return None


# ---------------------------------------------------------------- results


@dataclass(frozen=True, slots=True)
class Used:
    """One place where a result says with which revision it was made, and whether a pin covers it."""

    sha: str
    path: str
    node: Node
    arms: frozenset[str]
    cover: Location | None


def used_revisions(snapshot: Snapshot, bundle: Bundle) -> tuple[Used, ...]:
    """The source revisions of the bundle's results; none without a run spec. Plans, statuses and a list of digests' own revision are left out."""
    return snapshot.memo(("used revisions", bundle.path), lambda: tuple(_used(snapshot, bundle)) if run_specs(bundle) else ())


def _used(snapshot: Snapshot, bundle: Bundle) -> Iterator[Used]:
    own = {manifest.path: manifest.own_revision for manifest in manifests(snapshot, bundle)}
    covers: dict[str, Location | None] = {}
    known = {receipt.path: receipt for receipt in receipts(snapshot, bundle)}
    for path in bundle.part("results"):
        made = list(source_revisions(places(snapshot, path)))
        receipt = known.get(path)
        if receipt is None or receipt.kind not in ("receipt", "preflight", "diagnostic"):
            continue
        for node, sha in made:
            if (own.get(path) or "").lower() != sha or len(node.path) > 2:
                covers[sha] = covers[sha] if sha in covers else covering(snapshot, bundle, sha)
                yield Used(sha, path, node, receipt.arms, covers[sha])
