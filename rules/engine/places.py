"""From the symbolic place a rule names to the lines a reader opens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from rules.core.model import Location, Snapshot, Tree
from rules.core.redact import redact
from rules.reading.documents import Document, document, locate, locate_all, parse_pointer, stable_pointer


class Places:
    """Resolves locations; each document is located in at most once per pointer."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._lines: dict[tuple[str, str | None, str], tuple[int, int] | None] = {}

    def prepare(self, locations: Iterable[Location]) -> None:
        """Find the lines of all pointers at once: a large document is then gone through once."""
        wanted: dict[tuple[str, str | None], dict[str, Location]] = defaultdict(dict)
        for at in locations:
            if at.pointer is not None and at.line is None:
                wanted[at.path, at.at][at.pointer] = at
        for (path, commit), held in wanted.items():
            doc = self._document(next(iter(held.values())))
            found = locate_all(doc, [parse_pointer(pointer) for pointer in held]) if doc else {}
            self._lines |= {(path, commit, pointer): found.get(parse_pointer(pointer)) for pointer in held}

    def resolve(self, location: Location) -> Location:
        """`location` with its lines, redacted, and without the anchor's text."""
        line, end = location.line, location.end_line
        if line is None and location.pointer is not None:
            line, end = self._find(location) or (None, None)
        return replace(
            location,
            path=redact(location.path),
            pointer=redact(location.pointer) if location.pointer is not None else None,
            line=line,
            end_line=end if end is not None else line,
            text=None,
        )

    def stable(self, location: Location) -> str | None:
        """The location's pointer with indices replaced by names, for fingerprints."""
        doc = self._document(location)
        if doc is None or location.pointer is None:
            return None
        return stable_pointer(doc.value, parse_pointer(location.pointer))

    def _find(self, location: Location) -> tuple[int, int] | None:
        assert location.pointer is not None
        key = (location.path, location.at, location.pointer)
        if key not in self._lines:
            doc = self._document(location)
            self._lines[key] = locate(doc, parse_pointer(location.pointer)) if doc else None
        return self._lines[key]

    def _document(self, location: Location) -> Document | None:
        tree = self._tree(location.at)
        return document(self._snapshot, location.path, tree) if tree else None

    def _tree(self, at: str | None) -> Tree | None:
        if at is None:
            return self._snapshot.head
        trees = (self._snapshot.base, self._snapshot.merge_base, *self._snapshot.linked.values())
        return next((tree for tree in trees if tree is not None and tree.commit == at), None)
