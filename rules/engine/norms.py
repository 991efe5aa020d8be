"""Where the repository itself demands what a finding misses: named by the config, or found by the rule's key words. Never invented."""

from __future__ import annotations

import re
from functools import cached_property

from rules.core.model import Location, Rule, Snapshot

_DOCUMENTS = re.compile(r"(?:docs/(?:[^/]+/)?[^/]+|evidence/README|CONTRIBUTING|AGENTS|README|GOVERNANCE|\.github/CONTRIBUTING)\.md\Z", re.IGNORECASE)
_RULE_BOOKS = re.compile(
    r"(?:\A|/)(?:contributing|agents|governance|[^/]*(?:polic|rules?\b|guideline|convention|contribut|贡献|规范)[^/]*)\.md\Z|\Aevidence/README\.md\Z",
    re.IGNORECASE,
)
_DEMANDS = re.compile(
    r"\b(?:must|shall|should|required|requires?|never|mandatory|forbidden|prohibited|not allowed)\b|必须|不得|禁止|应当|须", re.IGNORECASE
)
_LIMIT = 64


class Norms:
    """The base's own documents, read at most once per review."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._found: dict[str, Location | None] = {}

    def of(self, rule: Rule) -> Location | None:
        """The line that demands what `rule` checks, or None."""
        if rule.id not in self._found:
            self._found[rule.id] = self._configured(rule) or self._matched(rule)
        return self._found[rule.id]

    def _configured(self, rule: Rule) -> Location | None:
        path, mark, place = self._snapshot.config.norms.get(rule.id, "").rpartition("#")
        if mark:
            lines = self._read(path)
            wanted = _slug(place)
            number = next((n for n, text in enumerate(lines, 1) if text.startswith("#") and _slug(text) == wanted), None)
            return self._at(path, number) if number else None
        path, mark, place = self._snapshot.config.norms.get(rule.id, "").rpartition(":")
        return self._at(path, int(place)) if mark and place.isdigit() and 0 < int(place) <= len(self._read(path)) else None

    def _matched(self, rule: Rule) -> Location | None:
        for path, number, text in self._sentences:
            if any(all(word in text and _begins_words(word, text) for word in words) for words in rule.norms):
                return self._at(path, number)
        return None

    def _at(self, path: str, number: int) -> Location:
        return Location(path, line=number, role="norm", at=self._snapshot.base.commit if self._snapshot.base else None)

    @cached_property
    def _sentences(self) -> tuple[tuple[str, int, str], ...]:
        paths = [path for path in self._snapshot.law.files if _DOCUMENTS.match(path)][:_LIMIT]
        return tuple(
            (path, n, text.lower()) for path in paths for n, text in enumerate(self._read(path), 1) if text.strip() and _is_demand(path, text)
        )

    def _read(self, path: str) -> list[str]:
        entry = self._snapshot.law.files.get(path)
        if entry is None or not entry.is_file or not 0 <= entry.size <= self._snapshot.config.limits.markdown:
            return []
        return self._snapshot.law.read(path).decode("utf-8", "replace").splitlines()


def _is_demand(path: str, text: str) -> bool:
    """A line of a rule book; of any other document only one that says must, required, never; no heading and no row of a table."""
    return not text.startswith(("#", "|")) and (_RULE_BOOKS.search(path) is not None or _DEMANDS.search(text) is not None)


def _begins_words(word: str, text: str) -> bool:
    """`hash` in `hashes`, and not in `rehash`."""
    return re.search(rf"(?<![a-z0-9]){re.escape(word)}", text) is not None


def _slug(heading: str) -> str:
    return re.sub(r"[^\w]+", "-", heading.lstrip("# ").lower()).strip("-")
