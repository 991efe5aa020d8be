"""The repository's config, `.github/assay.yml`: one model for validation, for the published JSON Schema and for the docs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

CONFIG_PATH = ".github/assay.yml"
CONFIG_LIMIT = 256 * 1024
CONFIG_NODES = 50_000
ORDERS = ("<", "<=", ">", ">=")
TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_LITERAL = re.compile(r"-?\d{1,100}(?:\.\d{1,100})?(?:[eE][-+]?\d{1,3})?\Z")


def _switched(value: Any) -> Any:
    """YAML 1.1 reads a bare `off` as false (yaml.org/type/bool.html); here it is the word."""
    if isinstance(value, Mapping):
        return {key: _switched(held) for key, held in value.items()}
    return "off" if value is False else value


Level = Literal["off", "blocking", "high", "medium", "low"]
Severities = Annotated[dict[str, Level], BeforeValidator(_switched)]
StatusPlace = Annotated[Literal["comment", "body", "off"], BeforeValidator(_switched)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Root(_Part):
    """One place where bundles live. Several for a monorepo."""

    bundles: str = Field("evidence/*", description="Glob of the bundle directories.")
    plan: str = Field("plan", description="Folder of the plan, inside a bundle.")
    results: str = Field("results", description="Folder of the results, inside a bundle.")
    patch: str = Field("patch", description="Folder of the patches, inside a bundle.")
    validator: str = Field("validator", description="Folder of the validator, inside a bundle.")
    inventory: str | None = Field("tools/evidence_inventory.json", description="The file that lists all bundles; null switches registration off.")
    inventory_tests: tuple[str, ...] = Field(("tests/*inventory*.py",), description="Globs of the tests that state the inventory's counts.")
    manifests: tuple[str, ...] = Field((), description="More globs of manifests, inside a bundle.")
    freeze_manifests: tuple[str, ...] = Field((), description="Globs of freeze manifests, inside a bundle, beside those under the plan.")


class Decisions(_Part):
    """Who may decide."""

    requesters: tuple[str, ...] = Field((), description="Logins that decide scope, targets and stop conditions.")
    acceptance_owners: tuple[str, ...] = Field((), description="Logins that accept results.")


class Forms(_Part):
    """Issue forms."""

    aliases: dict[str, tuple[str, ...]] = Field(default_factory=dict, description="Form field label or id → other headings that answer it.")


class LabelWhen(_Part):
    """Every key that is given must hold."""

    title: str | None = Field(None, max_length=500, description="Regular expression (RE2) on the title.")
    body: str | None = Field(None, max_length=500, description="Regular expression (RE2) on the body.")
    paths: tuple[str, ...] = Field((), description="Globs; one changed file of the pull must match one of them.")


class LabelRule(_Part):
    """Labels that are suggested where `when` holds."""

    when: LabelWhen
    add: tuple[str, ...] = Field(description="Labels to suggest.")
    requires: tuple[str, ...] = Field((), description="One of these labels must be set already.")


class Assertion(_Part):
    """A repository's own check on its JSON or YAML documents. Rule `assertion` runs it."""

    files: str = Field(min_length=1, max_length=500, description="Glob of the documents; `**` crosses folders, `*` does not.")
    pointer: str = Field(pattern=r"^(/|$)", max_length=500, description="JSON pointer (RFC 6901); `*` stands for every element or member.")
    op: Literal["exists", "absent", "==", "!=", "<", "<=", ">", ">=", "matches", "in", "type"] = Field(
        description="How to compare: numbers exactly; `matches` searches with a regular expression (RE2); `in` and `type` take a list of what is allowed."
    )
    value: Any = Field(None, description="What to compare with; nothing for `exists` and `absent`.")
    message: str = Field(min_length=1, max_length=500, description="What the finding says.")
    severity: Literal["high", "medium", "low"] = Field("medium", description="How strong the finding is.")

    @model_validator(mode="after")
    def _value_fits(self) -> Assertion:
        wrong = _misfit(self.op, self.value)
        if wrong:
            raise ValueError(f"`{self.op}` needs {wrong}")
        return self


def _misfit(op: str, value: Any) -> str | None:
    """What `op` needs for a value, where `value` is not that."""
    if not _is_json(value):
        return "a value of JSON's types: put dates and times in quotes"
    if op in ORDERS:
        return None if exact(value) is not None else "a number for its value"
    if op == "matches":
        from rules.core.patterns import compiled

        return None if isinstance(value, str) and compiled(value) is not None else "a regular expression (RE2) for its value"
    if op == "in":
        return None if isinstance(value, list) else "a list for its value"
    if op == "type":
        return None if allowed(value) and set(allowed(value)) <= set(TYPES) else f"one or a list of {', '.join(TYPES)} for its value"
    return None


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(held) for key, held in value.items())
    return all(map(_is_json, value)) if isinstance(value, list) else value is None or isinstance(value, (str, bool, int, float))


def allowed(value: Any) -> tuple[str, ...]:
    """The types that an assertion's value names: one, or a list."""
    held = value if isinstance(value, list) else [value]
    return tuple(held) if all(isinstance(one, str) for one in held) else ()


def exact(value: Any) -> Fraction | None:
    """A number of the config (also one in quotes, which keeps all its digits) as an exact value; None for anything else."""
    if isinstance(value, str) and _LITERAL.match(value):
        return Fraction(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


class Limits(_Part):
    """Limits of reading, in bytes. Above them a file is digested, not read, and named in the coverage."""

    json_bytes: int = Field(16 * 1024 * 1024, alias="json", ge=0, description="A JSON document.")
    yaml_bytes: int = Field(1024 * 1024, alias="yaml", ge=0, description="A YAML document.")
    markdown: int = Field(256 * 1024, ge=0, description="A Markdown document, and a test or document that states counts.")
    table_cells: int = Field(20_000, ge=0, description="Cells of the tables of one Markdown document, a number.")
    log_line: int = Field(64 * 1024, ge=0, description="One line of JSONL or of a log.")
    scan: int = Field(64 * 1024 * 1024, ge=0, description="Any file that is searched for text.")


class Config(_Part):
    """`.github/assay.yml`, read from the base branch. Everything is optional."""

    roots: tuple[Root, ...] = Field((Root(),), description="Where bundles live.")  # type: ignore[call-arg]
    ignore: tuple[str, ...] = Field((), description="Directory names under the bundles' folder that are no bundles.")
    append_only: tuple[str, ...] = Field((), description="Globs of files that may be added but not changed.")
    upstreams: tuple[Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")], ...] = Field(
        (), description="Repositories (owner/name) that revisions may belong to."
    )
    decisions: Decisions = Field(Decisions(), description="Who may decide.")  # type: ignore[call-arg]
    norms: dict[str, str] = Field(default_factory=dict, description="Rule id → `path#heading` or `path:line` that demands it.")
    rules: Severities = Field(default_factory=dict, description="Rule id → off, or another severity.")
    assertions: tuple[Assertion, ...] = Field((), max_length=200, description="The repository's own checks on its documents.")
    labels: tuple[LabelRule, ...] | Literal["apply", "suggest"] = Field((), description="The labels that the repository's policy infers.")
    forms: Forms = Field(Forms(), description="How issue forms are read.")
    language: Literal["en", "zh", "both"] = Field("en", description="Language of the headings on GitHub.")
    mode: Literal["comment", "check"] = Field("comment", description="Post reviews, or the check run only.")
    status: StatusPlace = Field("comment", description="Where an issue's status block is kept.")
    request_changes: bool = Field(False, description="Blocking findings request changes; dismissed when they are resolved.")
    severity_names: dict[Literal["blocking", "high", "medium", "low"], str] = Field(
        default_factory=dict, description="Other words for the severities, such as `{high: P2}`."
    )
    limits: Limits = Field(Limits(), description="Limits of reading.")  # type: ignore[call-arg]
    device: dict[str, Any] = Field(default_factory=dict, description="Checks on devices that the repository's own workflow runs.")


class ConfigError(Exception):
    """The config cannot be used; one sentence with the key and what to do."""


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN = {
    "extra inputs are not permitted": "there is no such key",
    "input should be a valid tuple": "it should be a list",
    "input should be a valid dictionary": "it should be a mapping",
    "field required": "it is required",
}


def read_config(data: bytes, path: str = CONFIG_PATH) -> Config:
    """The config in `data` (YAML). Raises `ConfigError`."""
    if len(data) > CONFIG_LIMIT:
        raise ConfigError(f"{path} has {len(data)} bytes, more than {CONFIG_LIMIT}: shorten it.")
    try:
        raw = _loaded(data)
        return Config.model_validate(raw if raw is not None else {})
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be used: {_sentence(error)}") from error


def _loaded(data: bytes) -> Any:
    loader = _LOADER(data)
    try:
        node = loader.get_single_node()
        if node is not None:
            _must_be_plain(node)
        return None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


def _must_be_plain(root: yaml.Node) -> None:
    """No key twice in one mapping, and no aliases that expand without end: what follows walks and prints the values."""
    stack, budget = [root], CONFIG_NODES
    while stack:
        node, budget = stack.pop(), budget - 1
        if budget < 0:
            raise yaml.MarkedYAMLError(problem="it has too many values, or its aliases expand without end", problem_mark=root.start_mark)
        if isinstance(node, yaml.MappingNode):
            seen: set[str] = set()
            for key, held in node.value:
                stack += [key, held]
                name = key.value if isinstance(key, yaml.ScalarNode) else None
                if name in seen:
                    raise yaml.MarkedYAMLError(problem=f"the key {str(name)[:80]} stands twice", problem_mark=key.start_mark)
                seen |= {name} if name is not None else set()
        elif isinstance(node, yaml.SequenceNode):
            stack += node.value


def _sentence(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        # A union names its branch (`tuple[LabelRule, ...]`) on the way; the file has no such key.
        where = ".".join(str(part) for part in first["loc"] if "[" not in str(part)) or "the document"
        return f"{where}: {_said(first)}. See `assay init` for a valid file."
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return f"line {error.problem_mark.line + 1}: {error.problem or 'not YAML'}."
    return "it is not YAML in UTF-8."


def _said(error: Any) -> str:
    """Pydantic's message in this file's words, without Python's."""
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    text = f"{error['msg'][:1].lower()}{error['msg'][1:]}"
    return next((plain for lead, plain in _PLAIN.items() if text.startswith(lead)), text)
