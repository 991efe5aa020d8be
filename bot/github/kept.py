"""Keeps GitHub's answers with their entity tags, so that asking again for what has not changed is free.

docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api: a 304 does not count against the rate limit. A tag belongs to who
asked and to the media type asked for; gidgethub's own cache knows neither and hands one token's data to another.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

Key = tuple[str, str, str]  # who asks, address, media type


@dataclass(frozen=True, slots=True)
class Answer:
    """A 200 as it came: its tag, the headers that its reading needs, its bytes."""

    tag: str
    headers: Mapping[str, str]
    body: bytes


class Kept:
    """The answers of one process, the least recently used dropped first. Sizes in bytes."""

    def __init__(self, most: int = 32 * 1024 * 1024, most_each: int = 1024 * 1024) -> None:
        self._most, self._most_each = most, most_each
        self._held: OrderedDict[Key, Answer] = OrderedDict()
        self._size = 0

    def get(self, key: Key) -> Answer | None:
        """What was kept for exactly this asker, address and media type."""
        found = self._held.get(key)
        if found is not None:
            self._held.move_to_end(key)
        return found

    def put(self, key: Key, answer: Answer) -> None:
        """Keep an answer in place of an older one; one that is too large is only forgotten."""
        old = self._held.pop(key, None)
        self._size -= len(old.body) if old else 0
        if len(answer.body) > self._most_each:
            return
        self._held[key] = answer
        self._size += len(answer.body)
        while self._size > self._most:
            self._size -= len(self._held.popitem(last=False)[1].body)

    def forget(self, who: str) -> None:
        """Drop everything of one asker (an installation that has ended)."""
        for key in [key for key in self._held if key[0] == who]:
            self._size -= len(self._held.pop(key).body)
