"""Actions as plain JSON values and back: what a job hands to its writes outlives the process, and the version of the source that made it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, get_args

from pydantic import TypeAdapter

from bot.review.plan import Action


@lru_cache(maxsize=1)
def _kinds() -> dict[str, TypeAdapter[Any]]:
    return {kind.__name__: TypeAdapter(kind) for kind in get_args(Action)}


def plain(action: Action) -> dict[str, Any]:
    """The action as JSON can hold it; surrogates of odd paths survive."""
    kind = type(action).__name__
    held: dict[str, Any] = _kinds()[kind].dump_python(action)
    return {"kind": kind, **held}


def made(held: dict[str, Any]) -> Action:
    """The action that `plain` wrote. Raises `KeyError` or `pydantic.ValidationError` for what no version of this program wrote."""
    fields = {name: value for name, value in held.items() if name != "kind"}
    action: Action = _kinds()[held["kind"]].validate_python(fields)
    return action
