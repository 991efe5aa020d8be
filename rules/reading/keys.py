"""The words of keys and file names, and families of words to hold them against."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-zµμ]+|\d+|[一-鿿]+")


@lru_cache(maxsize=16384)
def words(key: str) -> tuple[str, ...]:
    """The words of a key or name in lower case, split at `_`, `-`, blanks, digits and camelCase; a run of Chinese characters is one word."""
    return _words(key[:200])


@lru_cache(maxsize=32768)
def _words(key: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(key))


@lru_cache(maxsize=1024)
def family(text: str) -> frozenset[str]:
    """The words of `text`, blank-separated."""
    return frozenset(text.split())
