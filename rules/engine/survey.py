"""What the review looked at: bundles, files not read and why, hashes, externals, and the campaigns' own status."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rules.core.model import Campaign, Location, Skipped, Snapshot
from rules.reading.documents import YAML_SUFFIXES, is_document, places, state
from rules.reading.inventory import externals, registered
from rules.reading.layout import Bundle, bundles, changed, in_scope
from rules.reading.manifests import manifests, target

_STATUS_KEYS = ("verdict", "campaign_status", "adjudication", "decision", "status", "result", "outcome")
_STATUS_WORD = re.compile(r"(?:PASS(?:ED)?|FAIL(?:ED)?|INCONCLUSIVE|REJECTED|ACCEPTED|WITHDRAWN|PENDING)\b", re.IGNORECASE)
_README_STATUS = re.compile(r"\b(?:verdict|status)\b[^A-Za-z\n]{1,8}(?:is |stays |remains )?(PASS|FAIL|INCONCLUSIVE)\b", re.IGNORECASE)


class Survey:
    """The extent of one review."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.bundles = bundles(snapshot)
        self.changed = changed(snapshot)

    def skipped(self) -> Iterator[Skipped]:
        """Every file in scope that was not read as what it is, with the reason."""
        yield from self._snapshot.memo("skipped", lambda: tuple(self._skipped()))

    def _skipped(self) -> Iterator[Skipped]:
        limits = self._snapshot.config.limits
        for path in in_scope(self._snapshot):
            entry = self._snapshot.head.files[path]
            if entry.is_symlink:
                yield Skipped(path, "symbolic link, not followed")
            elif entry.is_submodule:
                yield Skipped(path, "submodule, not entered")
            elif entry.size < 0:
                yield Skipped(path, "object missing from this clone")
            elif is_document(path):
                limit = limits.yaml_bytes if path.endswith(YAML_SUFFIXES) else limits.json_bytes
                found = state(self._snapshot, path)
                if found is None:
                    yield Skipped(path, f"{entry.size} bytes, more than the limit of {limit}: digest only")
                elif found.lfs:
                    yield Skipped(path, "Git LFS pointer: the content is external")
                elif not found.readable:
                    yield Skipped(path, f"not readable: {found.defects[0].message}")
            elif path.lower().endswith(".md") and entry.size > limits.markdown:
                yield Skipped(path, f"{entry.size} bytes, more than the limit of {limits.markdown}: digest only")
            elif entry.size > limits.scan:
                yield Skipped(path, f"{entry.size} bytes, more than the limit of {limits.scan}: digest only")

    def unread_bundles(self) -> tuple[Bundle, ...]:
        """Bundles of which not one file could be read."""
        files = self._snapshot.head.files
        return tuple(b for b in self.bundles if all(files[path].size < 0 for path in b.files))

    def changed_read(self) -> int:
        """Changed files that exist at head and were read (a deletion has nothing to read and counts as read)."""
        unread = {s.path for s in self.skipped()}
        return sum(path not in unread for path in self.changed)

    def hashes_checked(self) -> int:
        """(path, digest) pairs of the bundles in scope whose file is in the tree."""
        snapshot = self._snapshot
        return sum(
            target(snapshot, snapshot.head, bundle, manifest.path, pair.path) is not None
            for bundle in self.bundles
            for manifest in manifests(snapshot, bundle)
            for pair in manifest.pairs
        )

    def external(self) -> tuple[str, ...]:
        """Names of what the inventory declares to be outside, each once."""
        return tuple(dict.fromkeys(e.name for bundle in self.bundles for e in externals(self._snapshot, bundle)))

    def campaigns(self) -> Iterator[Campaign]:
        """Each bundle's own status as recorded, with the place; none where nothing is recorded."""
        for bundle in self.bundles:
            found = recorded(self._snapshot, bundle) or self._readme(bundle)
            if found:
                yield Campaign(bundle.id, *found)

    def _readme(self, bundle: Bundle) -> tuple[str, Location] | None:
        path = f"{bundle.path}/README.md"
        entry = self._snapshot.head.files.get(path)
        if entry is None or not 0 <= entry.size <= self._snapshot.config.limits.markdown:
            return None
        text = self._snapshot.head.read(path).decode("utf-8", "replace")
        match = _README_STATUS.search(text)
        return (match[1].upper(), Location(path, line=text.count("\n", 0, match.start()) + 1, role="record")) if match else None


def recorded(snapshot: Snapshot, bundle: Bundle) -> tuple[str, Location] | None:
    """The status that a bundle's own records state first, and its place; asked first while the bundle's documents are parsed."""
    return snapshot.memo(("recorded status", bundle.path), lambda: _recorded(snapshot, bundle))


def _recorded(snapshot: Snapshot, bundle: Bundle) -> tuple[str, Location] | None:
    entry = registered(snapshot, bundle)
    named = [f"{bundle.path}/{entry.status}"] if entry and entry.status else []
    results = [p for p in bundle.part("results") if is_document(p)]
    results.sort(key=lambda p: (not re.search("status|summary|verdict|result|decision", p.rpartition("/")[2]), p))
    found = ((path, _status(snapshot, path)) for path in named + results)
    return next(((said[1], Location(path, pointer=f"/{said[0]}", role="record")) for path, said in found if said), None)


def _status(snapshot: Snapshot, path: str) -> tuple[str, str] | None:
    """(key, status) at the top of the document at `path`, kept by object id; None where there is none."""

    def make() -> tuple[str, str] | None:
        held = places(snapshot, path).top
        told = ((key, held.get(key)) for key in _STATUS_KEYS) if isinstance(held, dict) else ()
        return next(((key, text[:40]) for key, text in told if isinstance(text, str) and _STATUS_WORD.match(text)), None)

    entry = snapshot.head.files.get(path)
    return snapshot.cache.by_blob("campaign status", entry.oid, 128, make) if entry is not None and entry.is_file else None
