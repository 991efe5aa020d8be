"""A bounded number of findings of one rule in one bundle: a reader who has fifty needs no five thousand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rules.core.model import Finding, Item, Unchecked

MOST = 50


def few(items: Iterable[Item], what: str) -> Iterator[Item]:
    """All items, but at most 50 findings; how many more there are is said as not shown. `what` names the rule's matter."""
    shown = more = 0
    for item in items:
        if isinstance(item, Finding):
            if shown == MOST:
                more += 1
                continue
            shown += 1
        yield item
    if more:
        yield Unchecked(f"{more} more {what}", f"the first {MOST} are shown; correct those first")
