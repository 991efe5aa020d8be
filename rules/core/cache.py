"""What is derived from a blob alone, kept by object id; and what is derived from one snapshot, kept for its life."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sized
from typing import Any, TypeVar

T = TypeVar("T")
Weight = int | Callable[[Any], int]
"""What a value weighs in bytes of memory: a number, or what tells it from the value once that is made."""


def weighed(each: int, lead: int = 256) -> Callable[[Sized], int]:
    """The weight of a collection whose members weigh `each`."""
    return lambda made: lead + each * len(made)


class _Bounded:
    """Least recently used first out, by weight."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[tuple[str, str], tuple[int, Any]] = OrderedDict()

    def get(self, key: tuple[str, str], weight: Weight, make: Callable[[], T]) -> T:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found[1]  # type: ignore[no-any-return]
        value = make()
        size = weight(value) if callable(weight) else weight
        self._kept[key] = (size, value)
        self._size += size
        while self._size > self._limit and len(self._kept) > 1:
            _, (freed, _) = self._kept.popitem(last=False)
            self._size -= freed
        return value


class Cache:
    """What is kept between the rules of a review and between the reviews of a worker, bounded by weight in bytes.

    One per worker: a second review of the same repository re-reads only the blobs that changed. Parsed files are large and would drive out the many
    small things that were found in them, so each kind has a bound of its own: a quarter of the limit is for what was found.
    """

    def __init__(self, limit: int = 128 * 1024 * 1024) -> None:
        self._blobs = _Bounded(limit // 4)
        self._fleeting = _Bounded(limit - limit // 4)
        self._memo: dict[object, Any] = {}

    def by_blob(self, reader: str, oid: str, weight: Weight, make: Callable[[], T]) -> T:
        """The value that `reader` derives from blob `oid`: small, and dear to make again."""
        return self._blobs.get((reader, oid), weight, make)

    def fleeting(self, reader: str, oid: str, weight: Weight, make: Callable[[], T]) -> T:
        """The same for what is large and quickly made again: parsed files, their places."""
        return self._fleeting.get((reader, oid), weight, make)

    def memo(self, key: object, make: Callable[[], T]) -> T:
        """What `make()` gives, for the life of one snapshot."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]  # type: ignore[no-any-return]

    def forget_snapshot(self) -> None:
        """Drop what belonged to the last snapshot; what belongs to blobs stays."""
        self._memo.clear()
