"""Takes values out of GitHub's JSON without trusting its shape: what is absent or of another type is "", 0, None or ()."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def anything(raw: Any, *keys: str) -> Any:
    """What lies under these keys, None where there is nothing."""
    for key in keys:
        raw = raw.get(key) if isinstance(raw, Mapping) else None
    return raw


def text(raw: Any, *keys: str) -> str:
    found = anything(raw, *keys)
    return found if isinstance(found, str) else ""


def maybe(raw: Any, *keys: str) -> int | None:
    """A whole number (ids are beyond 32 bits), None where there is none."""
    found = anything(raw, *keys)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def number(raw: Any, *keys: str) -> int:
    return maybe(raw, *keys) or 0


def true(raw: Any, *keys: str) -> bool:
    return anything(raw, *keys) is True


def items(raw: Any, *keys: str) -> list[Any]:
    found = anything(raw, *keys)
    return found if isinstance(found, list) else []
