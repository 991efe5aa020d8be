"""What is derived from a blob alone, kept by object id; and what is derived from one snapshot, kept for its life."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class _Bounded:
    """Least recently used first out, by weight."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[tuple[str, str], tuple[int, Any]] = OrderedDict()

    def get(self, key: tuple[str, str], size: int, make: Callable[[], T]) -> T:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found[1]  # type: ignore[no-any-return]
        value = make()
        self._kept[key] = (size, value)
        self._size += size
        while self._size > self._limit and len(self._kept) > 1:
            _, (weight, _) = self._kept.popitem(last=False)
            self._size -= weight
        return value


class Cache:
    """What is kept between the rules of a review and between the reviews of a worker, bounded by weight in bytes.

    One per worker: a second review of the same repository re-reads only the blobs that changed. What is small and what is large have bounds of their
    own, so that documents never push out what was learnt from them.
    """

    def __init__(self, limit: int = 128 * 1024 * 1024) -> None:
        self._blobs = _Bounded(limit // 2)
        self._fleeting = _Bounded(limit // 2)
        self._memo: dict[object, Any] = {}

    def by_blob(self, reader: str, oid: str, size: int, make: Callable[[], T]) -> T:
        """What `reader` learns from blob `oid`, without the document around it; `size` is its weight in bytes."""
        return self._blobs.get((reader, oid), size, make)

    def fleeting(self, reader: str, oid: str, size: int, make: Callable[[], T]) -> T:
        """The same for what is large and quickly made again: documents, tables, texts."""
        return self._fleeting.get((reader, oid), size, make)

    def memo(self, key: object, make: Callable[[], T]) -> T:
        """What `make()` gives, for the life of one snapshot."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]  # type: ignore[no-any-return]

    def forget_snapshot(self) -> None:
        """Drop what belonged to the last snapshot; what belongs to blobs stays."""
        self._memo.clear()
