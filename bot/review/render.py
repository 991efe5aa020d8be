"""The forms in which a report can be printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from rules.core.model import Report, Snapshot

_FORMS: Mapping[str, str] = {"json": "as_json", "markdown": "as_markdown", "sarif": "as_sarif", "html": "as_html"}


def form(name: str) -> Callable[[Report, Snapshot], str]:
    """How to print a report as `json`, `markdown`, `sarif` or `html`. Only the one that is used is imported."""
    made: Callable[[Report, Snapshot], str] = getattr(import_module(f"bot.review.{_FORMS[name]}"), _FORMS[name])
    return made
