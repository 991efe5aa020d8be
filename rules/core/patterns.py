"""Regular expressions that a repository's config gives: RE2, linear in time and bounded in memory whatever is written."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

MEMORY = 8 * 1024 * 1024


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Any:
    """The pattern as RE2; None where it does not compile."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError):
        return None


def found(pattern: str, text: str) -> bool:
    """True where `pattern` matches anywhere in `text`; a lone surrogate in `text` is read as a question mark, which RE2 cannot hold otherwise."""
    held = compiled(pattern)
    return held is not None and held.search(text.encode("utf-8", "replace").decode()) is not None
