"""The repository's config, `.github/assay.yml`: one model for validation, for the published JSON Schema and for the docs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

CONFIG_PATH = ".github/assay.yml"
CONFIG_LIMIT = 256 * 1024


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
    """A repository's own check on its JSON or YAML documents."""

    files: str = Field(description="Glob of the documents.")
    pointer: str = Field(description="JSON pointer (RFC 6901); `*` stands for every element.")
    op: Literal["exists", "absent", "==", "!=", "<", "<=", ">", ">=", "matches", "in", "type"] = Field(description="How to compare.")
    value: Any = Field(None, description="What to compare with.")
    message: str = Field(max_length=500, description="What the finding says.")
    severity: Literal["high", "medium", "low"] = "medium"


class Limits(_Part):
    """Limits of reading, in bytes. Above them a file is digested, not read, and named in the coverage."""

    json_bytes: int = Field(16 * 1024 * 1024, alias="json", ge=0)
    yaml_bytes: int = Field(1024 * 1024, alias="yaml", ge=0)
    markdown: int = Field(256 * 1024, ge=0)
    table_cells: int = Field(20_000, ge=0)
    log_line: int = Field(64 * 1024, ge=0)
    scan: int = Field(64 * 1024 * 1024, ge=0)


class Config(_Part):
    """`.github/assay.yml`, read from the base branch. Everything is optional."""

    roots: tuple[Root, ...] = (Root(),)  # type: ignore[call-arg]
    ignore: tuple[str, ...] = Field((), description="Directory names under the bundles' folder that are no bundles.")
    append_only: tuple[str, ...] = Field((), description="Globs of files that may be added but not changed.")
    upstreams: tuple[Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")], ...] = Field(
        (), description="Repositories (owner/name) that revisions may belong to."
    )
    decisions: Decisions = Decisions()  # type: ignore[call-arg]
    norms: dict[str, str] = Field(default_factory=dict, description="Rule id → `path#heading` or `path:line` that demands it.")
    rules: dict[str, Literal["off", "blocking", "high", "medium", "low"]] = Field(
        default_factory=dict, description="Rule id → off, or another severity."
    )
    assertions: tuple[Assertion, ...] = ()
    labels: tuple[LabelRule, ...] | Literal["apply", "suggest"] = ()
    forms: Forms = Forms()
    language: Literal["en", "zh", "both"] = "en"
    mode: Literal["comment", "check"] = "comment"
    status: Literal["comment", "body", "off"] = "comment"
    request_changes: bool = False
    severity_names: dict[Literal["blocking", "high", "medium", "low"], str] = Field(default_factory=dict)
    limits: Limits = Limits()  # type: ignore[call-arg]
    device: dict[str, Any] = Field(default_factory=dict)


class ConfigError(Exception):
    """The config cannot be used; one sentence with the key and what to do."""


def read_config(data: bytes, path: str = CONFIG_PATH) -> Config:
    """The config in `data` (YAML). Raises `ConfigError`."""
    if len(data) > CONFIG_LIMIT:
        raise ConfigError(f"{path} has {len(data)} bytes, more than {CONFIG_LIMIT}: shorten it.")
    try:
        raw = yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return Config.model_validate(raw if raw is not None else {})
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be used: {_sentence(error)}") from error


def _sentence(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the document"
        return f"{where}: {first['msg'].lower()}. See `assay init` for a valid file."
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
        return f"line {error.problem_mark.line + 1}: {error.problem or 'not YAML'}."
    return "it is not YAML in UTF-8."
