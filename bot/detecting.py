"""Where a repository keeps its evidence, as the names of its folders and files suggest: globs of bundle directories."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import log2

PARTS = frozenset(["plan", "results", "patch", "validator"])
_DATA = re.compile(
    r"\.(?:jsonl?|ndjson|csv|tsv|ya?ml|log|out|err|txt|md|sha256|npz?|parquet|rpt|trace|diff|patch|pdf|png)\Z|(?:^|/)SHA256SUMS\Z", re.IGNORECASE
)
_NAMED = re.compile(
    r"(?:^|[-_.])(?:evidence|results?|campaigns?|experiments?|bench(?:mark)?s?|runs?|studies|study|submissions?|reports?|measurements?|trials?|evaluations?|closed|open|diagnostics?)(?:[-_.]|\Z)",
    re.IGNORECASE,
)
_NEVER = frozenset(
    [
        "src",
        "lib",
        "node_modules",
        "packages",
        "test",
        "tests",
        "dist",
        "build",
        "docs",
        "doc",
        "scripts",
        "vendor",
        "fixtures",
        "test-fixtures",
        "spec",
        "include",
        "assets",
        "code",
        "configs",
        "templates",
    ]
)
_RUN = re.compile(r"\d{4}")
"""A folder with a date or a number of a run in its name is a bundle rather than a folder of bundles."""
_DEEPEST = 6
_CHILDREN, _BUNDLES = 2, 4
_NEAR = 0.75
_MOST = 4
DEFAULT = "evidence/*"


@dataclass
class _Folder:
    """What lies below one folder: its own child folders, files of data, files in all, and how many children have a part of a bundle."""

    children: set[str] = field(default_factory=set)
    parted: set[str] = field(default_factory=set)
    data: int = 0
    files: int = 0


def bundle_globs(paths: Iterable[str]) -> tuple[str, ...]:
    """Globs of bundle directories, best first, at most four; `("evidence/*",)` where nothing looks like evidence."""
    folders = _folders(paths)
    scored = {place: score for place, folder in folders.items() if (score := _score(place, folder, folders)) > 0}
    if not scored:
        return (DEFAULT,)
    best = max(scored.values())
    chosen: list[str] = []
    for place in sorted((p for p in scored if scored[p] >= _NEAR * best), key=lambda p: (-scored[p], p)):
        if len(chosen) < _MOST and not any(_nested(place, other) for other in chosen):
            chosen.append(place)
    return tuple(f"{place}/*" if place else "*" for place in chosen)


def _nested(one: str, other: str) -> bool:
    return not one or not other or f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


def _folders(paths: Iterable[str]) -> dict[str, _Folder]:
    found: dict[str, _Folder] = defaultdict(_Folder)
    for path in paths:
        parts = path.split("/")
        data = _DATA.search(path) is not None
        for depth in range(min(len(parts), _DEEPEST)):
            folder = found["/".join(parts[:depth])]  # its last folder included
            folder.files += 1
            folder.data += data
            if depth + 1 < len(parts):
                folder.children.add(parts[depth])
            if depth + 2 < len(parts) and parts[depth + 1] in PARTS:
                folder.parted.add(parts[depth])
    return dict(found)


def _score(place: str, folder: _Folder, folders: dict[str, _Folder]) -> float:
    """How much a folder looks like one whose children are bundles; 0 where it does not."""
    names = place.split("/") if place else []
    children = {name for name in folder.children if not name.startswith(".")}
    if any(name in _NEVER or name.startswith(".") for name in names) or not children:
        return 0.0
    runs = {name for name in children if _RUN.search(name)}
    if len(children) < _CHILDREN and not folder.parted and not runs:
        return 0.0
    held = [known for name in children if (known := folders.get(f"{place}/{name}" if place else name))]
    share = sum(one.data >= 1 and 2 * one.data >= one.files for one in held) / max(len(held), 1)
    parted = len(folder.parted) / len(children)
    named = bool(names) and _NAMED.search(names[-1]) is not None
    own = sum(_NAMED.search(name) is not None or bool(re.search(r"\d", name)) for name in children) / len(children)
    itself = bool(names) and _RUN.search(names[-1]) is not None
    strays = bool(children & _NEVER)
    if not parted and not (share >= 0.7 and (named or runs == children or (own >= 0.6 and len(children) >= _BUNDLES)) and not strays):
        return 0.0
    return 4 * parted + 2 * named + 2 * share + own + log2(1 + len(children)) / 4 + log2(1 + folder.data) / 4 - 0.6 * len(names) - 3 * itself
