"""What was found in one file, kept by object id without the file: a file that was read once is not read again for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rules.core.cache import Weight
from rules.core.model import Missing, Snapshot, Tree

Source = TypeVar("Source")
T = TypeVar("T")


def kept(
    snapshot: Snapshot,
    reader: str,
    path: str,
    tree: Tree | None,
    weight: Weight,
    read: Callable[[], Source | None],
    find: Callable[[Source], tuple[T, ...]],
) -> tuple[T, ...]:
    """What `find` finds in what `read` gives of the file at `path` (of `tree`, default head); nothing where it gives None, and that is not kept."""
    entry = (tree or snapshot.head).files.get(path)
    if entry is None:
        return ()

    def make() -> tuple[T, ...]:
        source = read()
        if source is None:
            raise Missing(path)
        return find(source)

    try:
        return snapshot.cache.by_blob(f"{reader}:{path}", entry.oid, weight, make)
    except Missing:
        return ()
