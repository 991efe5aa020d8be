"""Does a text mention any of some words? Asked of every document before it is walked, so it must be fast: RE2 reads gigabytes a second."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2


@lru_cache(maxsize=256)
def _compiled(words: tuple[str, ...]) -> Any:
    options = re2.Options()
    options.case_sensitive = False
    options.never_capture = True
    return re2.compile("|".join(re2.escape(word) for word in words), options)


def mentions(text: str, *words: str) -> bool:
    """True when one of `words` stands anywhere in `text`, in any case. A lone surrogate (a name that is not UTF-8) counts as a mention: look yourself."""
    try:
        return _compiled(words).search(text) is not None
    except UnicodeEncodeError:
        return True
