"""The forms in which a report can be printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bot.review.as_json import as_json
from rules.core.model import Report, Snapshot

Form = Callable[[Report, Snapshot], str]


def _json(report: Report, _: Snapshot) -> str:
    return as_json(report)


FORMATS: Mapping[str, Form] = {"json": _json}
