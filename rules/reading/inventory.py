"""The inventory: the one file that lists all bundles, in its default shape and the near ones that people write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rules.core.config import Root
from rules.core.model import Snapshot, Tree
from rules.reading.documents import Number, Path, document
from rules.reading.layout import Bundle, matches


@dataclass(frozen=True, slots=True)
class External:
    """An artifact declared to be outside the repository."""

    name: str
    reason: str

    def covers(self, relative: str) -> bool:
        """True when the name matches as a path, a folder or a glob. Free text matches nothing by path."""
        name, relative = self.name.strip().removeprefix("./"), relative.rstrip("/")
        folder = name.rstrip("/")
        if not folder or (" " in name and "/" not in name):
            return False
        return relative == folder or relative.startswith(folder + "/") or matches(relative, name) or matches(relative.rpartition("/")[2], name)


@dataclass(frozen=True, slots=True)
class Registered:
    """One entry of the inventory. `pointer` is its place as a tuple."""

    id: str
    path: str
    kind: str
    freeze_manifests: tuple[str, ...]
    external: tuple[External, ...]
    status: str | None
    issue: str | None
    pointer: Path
    raw: Mapping[str, Any]


@dataclass(frozen=True)
class Inventory:
    """One inventory as read. `problem` says why it cannot be used, if so."""

    path: str
    root: Root
    bundles: tuple[Registered, ...] = ()
    counts: Mapping[str, tuple[Number, Path]] | None = None
    problem: str | None = None


def inventories(snapshot: Snapshot, tree: Tree | None = None) -> tuple[Inventory, ...]:
    """The inventories of all roots that have one at `tree` (default head)."""
    tree = tree or snapshot.head
    return snapshot.memo(("inventories", id(tree)), lambda: _inventories(snapshot, tree))


def _inventories(snapshot: Snapshot, tree: Tree) -> tuple[Inventory, ...]:
    made: list[Inventory] = []
    for root in snapshot.config.roots:
        if root.inventory and root.inventory in tree.files and all(root.inventory != i.path for i in made):
            made.append(_read(snapshot, tree, root, root.inventory))
    return tuple(made)


def _read(snapshot: Snapshot, tree: Tree, root: Root, path: str) -> Inventory:
    doc = document(snapshot, path, tree)
    if doc is None:
        return Inventory(path, root, problem="it is too large, missing, or no plain JSON file")
    if not doc.readable:
        return Inventory(path, root, problem=doc.defects[0].message)
    value = doc.value
    listed, place = _listing(value)
    if listed is None:
        return Inventory(path, root, problem='it holds no list of bundles (expected `{"bundles": [{"id": …, "path": …}]}`)')
    entries = tuple(entry for entry in (_entry(root, raw, (*place, key), key) for key, raw in listed) if entry is not None)
    if listed and not entries:
        return Inventory(path, root, problem="none of its entries is an object with an `id` or a `path`")
    return Inventory(path, root, entries, _counts(value))


def _counts(value: Any) -> dict[str, tuple[Number, Path]]:
    """The counts that the inventory declares at its top, by key."""
    held = value if isinstance(value, dict) else {}
    return {key: (child, (key,)) for key, child in held.items() if isinstance(child, Number) and key.endswith("_count")}


def _listing(value: Any) -> tuple[list[tuple[str | int, Any]] | None, Path]:
    """The (key, entry) pairs of the list or map of bundles, and where it stands."""
    if isinstance(value, list):
        return list(enumerate(value)), ()
    if not isinstance(value, dict):
        return None, ()
    for key in ("bundles", "campaigns", "evidence", "entries"):
        held = value.get(key)
        if isinstance(held, list):
            return list(enumerate(held)), (key,)
        if isinstance(held, dict):
            return list(held.items()), (key,)
    return None, ()


def _entry(root: Root, raw: Any, place: Path, key: str | int) -> Registered | None:
    parent = root.bundles.rpartition("/")[0]
    if isinstance(raw, str):
        raw = {"path": raw if "/" in raw else f"{parent}/{raw}"}
    if not isinstance(raw, dict):
        return None
    name = _text(raw, "id", "name", "campaign", "campaign_id") or (key if isinstance(key, str) else None)
    path = _text(raw, "path", "directory", "dir") or (f"{parent}/{name}" if name else None)
    if path is None:
        return None
    path = path.strip().removeprefix("./").rstrip("/")
    return Registered(
        id=name or path.rpartition("/")[2],
        path=path,
        kind=_text(raw, "kind", "type") or "",
        freeze_manifests=tuple(str(m) for m in _list(raw.get("freeze_manifests"))),
        external=tuple(_externals(raw.get("external"))),
        status=_text(raw, "status"),
        issue=_text(raw, "issue", "tracking_issue"),
        pointer=place,
        raw=raw,
    )


def _externals(value: Any) -> list[External]:
    made: list[External] = []
    for item in value.items() if isinstance(value, dict) else ((None, v) for v in _list(value)):
        name, held = item
        if isinstance(held, dict):
            made.append(External(str(held.get("name") or held.get("path") or name or ""), str(held.get("reason") or "")))
        elif isinstance(held, str):
            made.append(External(name, held) if name else External(held, ""))
    return [external for external in made if external.name]


def _text(raw: Mapping[str, Any], *keys: str) -> str | None:
    for key in keys:
        if isinstance(raw.get(key), str) and raw[key].strip():
            return str(raw[key])
        if type(raw.get(key)) is Number:
            return str(raw[key].text)
    return None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else ([value] if isinstance(value, str) else [])


def registered(snapshot: Snapshot, bundle: Bundle, tree: Tree | None = None) -> Registered | None:
    """The inventory's entry of `bundle` at `tree` (default head)."""
    return next((entry for inventory in inventories(snapshot, tree) for entry in inventory.bundles if entry.path == bundle.path), None)


def externals(snapshot: Snapshot, bundle: Bundle) -> tuple[External, ...]:
    """What the inventory declares to be outside the repository for `bundle`."""
    entry = registered(snapshot, bundle)
    return entry.external if entry else ()


def is_external(snapshot: Snapshot, bundle: Bundle, path: str) -> bool:
    """True when `path` (full, or inside the bundle) is declared external."""
    relative = bundle.relative(path)
    return any(external.covers(relative) or external.covers(path) for external in externals(snapshot, bundle))
