"""What is derived from a blob alone, kept by object id; and what is derived from one snapshot, kept for its life."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Cache:
    """A least-recently-used store, bounded by the bytes of the blobs that its values come from.

    One per worker: a second review of the same repository re-reads only the blobs that changed.
    """

    def __init__(self, limit: int = 128 * 1024 * 1024) -> None:
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[tuple[str, str], tuple[int, Any]] = OrderedDict()
        self._memo: dict[object, Any] = {}

    def by_blob(self, reader: str, oid: str, size: int, make: Callable[[], T]) -> T:
        """The value that `reader` derives from blob `oid`; `size` is its weight in bytes."""
        key = (reader, oid)
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

    def memo(self, key: object, make: Callable[[], T]) -> T:
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]  # type: ignore[no-any-return]

    def forget_snapshot(self) -> None:
        """Drop what belonged to the last snapshot; what belongs to blobs stays."""
        self._memo.clear()
