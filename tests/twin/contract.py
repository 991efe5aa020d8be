"""Holds requests and answers against GitHub's own description of its API, through githubkit's generated client and models.

githubkit is generated from https://github.com/github/rest-api-description; nobody here wrote it. The client's source tells, per operation,
which model its body and its answers have; the models do the rest. Heavy, so nothing is read before the first question.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Union

PARTS = ("apps", "checks", "git", "issues", "meta", "pulls", "rate_limit", "reactions", "repos", "users", "actions")
OPERATION = re.compile(r"^        (GET|POST|PUT|PATCH|DELETE) (/\S*)$", re.MULTILINE)
BODY = re.compile(r"type_validate_python\(\s*(.+?),\s*json,?\s*\)", re.DOTALL)
REQUEST = re.compile(r"self\._github\.arequest\((.*?)\n        \)", re.DOTALL)
PARAMETERS = re.compile(r"        params = \{(.*?)\n        \}", re.DOTALL)


@dataclass(frozen=True)
class Operation:
    """Expressions that name models: of the request's body, of a good answer, and of each refusal by status."""

    body: str | None
    answer: str | None
    refusals: Mapping[str, str]
    parameters: frozenset[str]


def installed() -> bool:
    return find_spec("githubkit_schemas") is not None


@cache
def operations(version: str) -> dict[tuple[str, str], Operation]:
    """(method, path with `{}` for each variable) → operation. `version` as in `X-GitHub-Api-Version`."""
    spec = find_spec(f"githubkit_schemas.{_package(version)}.rest")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"githubkit-schemas has no {version}; it is an extra of its package")
    folder = Path(next(iter(spec.submodule_search_locations)))
    return {key: made for part in PARTS for key, made in _read((folder / f"{part}.py").read_text(encoding="utf-8"))}


def _package(version: str) -> str:
    return "v" + version.replace("-", "_")


def _read(source: str) -> Iterable[tuple[tuple[str, str], Operation]]:
    for chunk in source.split("\n    async def async_")[1:]:
        named, request = OPERATION.search(chunk), REQUEST.search(chunk)
        if named and request:
            yield (named[1], bare(named[2])), _operation(chunk[: request.start()], request[1])


def _operation(chunk: str, request: str) -> Operation:
    call = ast.parse(f"f({request}\n)", mode="eval").body
    assert isinstance(call, ast.Call)
    given = {one.arg: one.value for one in call.keywords}
    refusals = given.get("error_models")
    named = zip(refusals.keys, refusals.values, strict=True) if isinstance(refusals, ast.Dict) else ()
    body, parameters = BODY.search(chunk), PARAMETERS.search(chunk)
    return Operation(
        body[1].strip() if body else None,
        ast.unparse(given["response_model"]) if "response_model" in given else None,
        {str(ast.literal_eval(key)): ast.unparse(value) for key, value in named if key},
        frozenset(re.findall(r'"(\w+)":', parameters[1])) if parameters else frozenset(),
    )


def bare(path: str) -> str:
    """The path with the variables' names taken off."""
    return re.sub(r"\{[^{}]*\}", "{}", path)


def model(version: str, expression: str) -> Any:
    """The type that an expression such as `list[Union[A, B]]` of generated models stands for."""
    return _resolve(import_module(f"githubkit_schemas.{_package(version)}.models"), ast.parse(expression, mode="eval").body)


def _resolve(models: ModuleType, node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        return None
    if isinstance(node, ast.Name):
        plain = {"str": str, "int": int, "float": float, "bool": bool, "Any": Any, "object": object}
        return plain[node.id] if node.id in plain else getattr(models, node.id)
    if not isinstance(node, ast.Subscript):
        raise TypeError(f"not the name of a model: {ast.unparse(node)}")
    outer, parts = ast.unparse(node.value), node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if outer == "Annotated":
        return _resolve(models, parts[0])
    inner = [_resolve(models, one) for one in parts]
    generic: Any = {"list": list, "dict": dict, "Union": Union}[outer]
    return generic[tuple(inner)]


@cache
def adapter(version: str, expression: str) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(model(version, expression))


@dataclass
class Contract:
    """Says what is wrong with a request or its answer; an empty list where nothing is."""

    def check(
        self, version: str, method: str, path: str, query: Mapping[str, str], body: Any, status: int, answer: Any
    ) -> list[str]:  # fmt: skip
        """`path` is GitHub's template. A refused request is not blamed for its own body: that is why it was refused."""
        known = operations(version).get((method, bare(path)))
        where = f"{method} {path} ({version})"
        if known is None:
            return [f"{where}: GitHub has no such operation"]
        found = [f"unknown query parameter {name}" for name in query if name not in known.parameters]
        if status < 400:
            found += self._wrong_body(version, known, body) + self._wrong_answer(version, known.answer, status, answer)
        elif str(status) in known.refusals:
            found += self._wrong_answer(version, known.refusals[str(status)], status, answer)
        return [f"{where}: {one}" for one in found]

    def _wrong_body(self, version: str, known: Operation, body: Any) -> list[str]:
        if known.body is None:
            return [f"a body where none is expected: {sorted(body)}"] if body else []
        parsed, wrong = _validated(version, known.body, body)
        return wrong or [f"unknown key {name} in the request" for name in _extras(parsed, body)]

    def _wrong_answer(self, version: str, expression: str | None, status: int, answer: Any) -> list[str]:
        if expression is None or status in (204, 304) or 300 <= status < 400:
            return ["an answer where none is expected"] if status == 204 and answer else []
        return [f"answer {status}: {one}" for one in _validated(version, expression, answer)[1]]


def _validated(version: str, expression: str, value: Any) -> tuple[Any, list[str]]:
    from pydantic import ValidationError

    try:
        return adapter(version, expression).validate_python(value), []
    except ValidationError as error:
        return None, [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:8]]


def _extras(parsed: Any, raw: Any) -> Iterable[str]:
    """Keys of `raw` that no model knows, at any depth. A free-form object (`dict`) has none."""
    waiting = [(parsed, raw)]
    while waiting:
        one, given = waiting.pop()
        if isinstance(one, list):
            waiting += zip(one, given, strict=True)
        elif hasattr(one, "model_fields_set"):
            if type(one).model_config.get("extra") == "allow":
                continue
            names = {field.alias or name: name for name, field in type(one).model_fields.items()}
            yield from (key for key in given if key not in names)
            waiting += [(getattr(one, names[key]), value) for key, value in given.items() if key in names]


def wrong_payload(version: str, event: str, payload: Any) -> list[str]:
    """What is wrong with a webhook's payload, by GitHub's models of webhooks."""
    module = import_module(f"githubkit_schemas.{_package(version)}.webhooks.{event}")
    kinds = module.action_types
    kind = kinds.get(payload.get("action")) if isinstance(kinds, dict) else kinds
    if kind is None:
        return [f"{event}: no action {payload.get('action')}"]
    from pydantic import TypeAdapter, ValidationError

    try:
        TypeAdapter(kind).validate_python(payload)
    except ValidationError as error:
        return [f"{event}: {'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:8]]
    return []
