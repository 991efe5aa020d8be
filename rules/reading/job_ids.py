"""Numbers of jobs: which job of a scheduler a sentence speaks of, and which one a place of a record belongs to."""

from __future__ import annotations

import re
from typing import Any

from rules.reading.documents import Number, Path
from rules.reading.keys import family, words

_ID = r"(?<![\w.,:/-])(?P<{}>\d{{4,12}})(?![\d]*[.,:]\d|\w|%)"
_NAMED = re.compile(
    r"(?i:(?<![A-Za-z])(?:jobs?|slurm|runs?|tasks?|array|build|pid|pipeline|作业|任务|运行)(?:[ _-]?(?:id|no\.?|number))?(?: (?:is|was|remains|remained|still|only|latest)){0,2}[ :#=`*“\"]{0,4})"
    + _ID.format("id")
)
_FIRST = re.compile(r"[\s|*`-]{0,8}(?=\d{5})" + _ID.format("id") + "(?!-)")
_IN_KEY = re.compile(r"(?<!\d)\d{4,12}(?!\d)")
_ID_WORDS = family("id ids job jobs slurm run runs task pid number")


def job_ids(text: str) -> frozenset[str]:
    """The numbers that a sentence or table row calls a job, or that it begins with: `job 850885 completed`, `834430 | name | …`."""
    first = _FIRST.match(text)
    return frozenset([match["id"] for match in _NAMED.finditer(text)] + ([first["id"]] if first else []))


def job_ids_at(document: Any, place: Path) -> frozenset[str]:
    """The numbers of the job that holds a place of `document`: in the keys above it, and in the fields of the objects around it that give an id."""
    found = {id for part in place if isinstance(part, str) for id in _IN_KEY.findall(part)}
    held = document
    for part in place:
        try:
            held = held[part]
        except (KeyError, IndexError, TypeError):
            break
        if isinstance(held, dict):
            found |= {text for key, value in held.items() if set(words(key)) & _ID_WORDS and (text := _number(value))}
    return frozenset(found)


def _number(value: Any) -> str:
    text = value.text if isinstance(value, Number) else value.strip() if isinstance(value, str) else ""
    return text if 4 <= len(text) <= 12 and text.isdigit() else ""
