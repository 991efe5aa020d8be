"""What `assay init` proposes and what `assay doctor` finds."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from bot.checkout.mirror import MERGE_TREE_SINCE, NotARepository, UnknownRevision, open_repository
from bot.checkout.process import GitUnavailable, git_version
from bot.checkout.tree import FolderTree, TooManyFiles, tree_of
from bot.detecting import DEFAULT, bundle_globs
from rules.core.config import CONFIG_PATH, ConfigError, read_config
from rules.core.model import Missing, Tree

_INVENTORY = re.compile(r"(?:inventory|registry|catalogue?|index)[^/]*\.json\Z", re.IGNORECASE)

EXAMPLE = """\
# Assay's config. It is read from the base branch, never from the pull under review. Everything is optional.

# Where the evidence lives. Several roots for a monorepo.
roots:
  - bundles: "{bundles}"
    # plan: plan
    # results: results
    # patch: patch
    # validator: validator
    # The one file that lists all bundles; null switches registration off.
    inventory: {inventory}
    # manifests: ["results/*-hashes.json"]      # more lists of (path, sha256), inside a bundle
    # freeze_manifests: ["plan/pins.json"]
{more}
# Directory names beside the bundles that are no bundles.
# ignore: [templates]

# Files that may be added, but not changed by another campaign's pull.
# append_only: ["{bundles}/results/**"]

# Repositories (owner/name) that cited revisions may belong to.
# upstreams: [owner/engine]

# Who may decide scope and targets, and who accepts results.
# decisions:
#   requesters: [login]
#   acceptance_owners: [login]

# Where your own documents demand what a rule checks.
# norms: {{hash-mismatch: "docs/contributing.md#evidence"}}

# A rule off, or at another severity. `assay rules` lists them.
# rules: {{bound-unsupported: "off", private-path: medium}}

# Your own checks on JSON and YAML documents.
# assertions:
#   - {{files: "{bundles}/results/status*.json", pointer: /verdict, op: in, value: [PASS, FAIL, INCONCLUSIVE], message: The verdict is none of the three words.}}

# language: en            # en, zh or both
# mode: comment           # comment, or check for the check run only
"""


def example(tree: Tree | None = None) -> str:
    """A commented config; with `tree` its layout is the one found there."""
    if tree is None:
        return EXAMPLE.format(bundles=DEFAULT, inventory="tools/evidence_inventory.json", more="")
    bundles, inventory = detect(tree)
    more = "".join(f'  - bundles: "{other}"\n    inventory: null\n' for other in bundle_globs(tree.files)[1:])
    return EXAMPLE.format(bundles=bundles, inventory=inventory or "null", more=more)


def detect(tree: Tree) -> tuple[str, str | None]:
    """(glob of the bundles, path of the inventory or None) as the tree's names suggest them."""
    bundles = bundle_globs(tree.files)[0]
    return bundles, _inventory(tree, bundles)


def _inventory(tree: Tree, bundles: str) -> str | None:
    """A JSON file outside the bundles that is named like a list and names most of them."""
    inside = bundles.removesuffix("*")
    names = {path.removeprefix(inside).split("/")[0] for path in tree.files if path.startswith(inside) and "/" in path.removeprefix(inside)}
    found = [(_named(tree, path, names), path) for path in tree.files if _INVENTORY.search(path) and not _in_bundle(path, inside, names)]
    best = max(found, default=(0, ""))
    return best[1] if best[0] * 2 > len(names) else None


def _in_bundle(path: str, inside: str, names: set[str]) -> bool:
    return path.startswith(inside) and path.removeprefix(inside).split("/")[0] in names


def _named(tree: Tree, path: str, names: set[str]) -> int:
    if not 0 <= tree.files[path].size <= 16 * 1024 * 1024:
        return 0
    try:
        text = tree.read(path).decode("utf-8", "replace")
    except Missing:
        return 0
    return sum(name in text for name in names)


def tree_at(folder: str) -> Tree:
    """The head of the repository at `folder`, or the plain folder. Raises what opening raises."""
    repository = open_repository(folder)
    return tree_of(repository, repository.resolve("HEAD")) if repository else FolderTree(folder)


# ---------------------------------------------------------------- doctor


@dataclass(frozen=True, slots=True)
class Check:
    """One line of `assay doctor`."""

    state: Literal["ok", "note", "bad"]
    text: str


def doctor(folder: str) -> Iterator[Check]:
    """Everything that decides what a review of `folder` can check, here."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("ok" if sys.version_info >= (3, 11) else "bad", f"Python {version}")
    try:
        yield _git()
    except GitUnavailable as error:
        yield Check("bad", str(error))
        return
    yield from _settings()
    yield from _repository(folder)


def _git() -> Check:
    version = git_version()
    shown = ".".join(map(str, version))
    if version >= MERGE_TREE_SINCE:
        return Check("ok", f"git {shown}")
    return Check("note", f"git {shown}: the merge with the base is not checked (that needs git {'.'.join(map(str, MERGE_TREE_SINCE))})")


def _settings() -> Iterator[Check]:
    if os.environ.get("GITHUB_TOKEN"):
        yield Check("ok", "GITHUB_TOKEN is set")
    else:
        yield Check("note", "GITHUB_TOKEN is not set: GitHub answers 60 questions an hour, and none about private repositories")
    if os.environ.get("ASSAY_GITHUB_API_URL"):
        yield Check("ok", "ASSAY_GITHUB_API_URL is set")
    from bot.service_checks import service_lines

    yield from (Check(state, text) for state, text in service_lines())


def _repository(folder: str) -> Iterator[Check]:
    try:
        repository = open_repository(folder)
        if repository is None:
            yield Check("note", f"{folder} is a plain folder: history, base and merge are not checked")
            yield _config(FolderTree(folder))
            return
        with repository:
            head = tree_of(repository, repository.resolve("HEAD"))
            yield Check("ok", f"{folder} is a git repository at {(head.commit or '')[:12]}, {len(head.files):,} files")
            if repository.shallow:
                yield Check("note", "the clone is shallow: what needs history is not checked (git fetch --unshallow)")
            absent = sum(entry.size < 0 for entry in head.files.values())
            if absent:
                yield Check("note", f"{absent:,} files are not in this clone (partial or damaged): they are not checked")
            yield _config(head)
    except (NotARepository, UnknownRevision, TooManyFiles, Missing) as error:
        yield Check("bad", str(error))


def _config(tree: Tree) -> Check:
    if CONFIG_PATH not in tree.files:
        return Check("note", f"there is no {CONFIG_PATH}: the default layout is used (`assay init` writes one)")
    try:
        read_config(tree.read(CONFIG_PATH))
    except (ConfigError, Missing) as error:
        return Check("bad", str(error))
    return Check("ok", f"{CONFIG_PATH} is valid")
