"""A bundle and the inventory do not know each other

What it checks: every bundle directory against the inventory's entries, in both directions.

Why: what is not registered is not validated, not counted and not found; an entry without a directory promises evidence that is not there.

Fix: register the bundle at its actual evidence level, and list what is not in the repository under `external`. Do not invent freeze hashes.

Example: a pull adds `evidence/drama3-ascend/` and leaves `tools/evidence_inventory.json` as it was.

Not flagged: directories without any file, names in the config's `ignore`, roots whose `inventory` is null.

Strength: blocking.
"""

from __future__ import annotations

from collections.abc import Iterator

from rules.core.model import Facts, Finding, Item, Location, Rule, Severity, Snapshot, Unchecked
from rules.reading.documents import pointer
from rules.reading.inventory import Inventory, Registered, inventories
from rules.reading.layout import Bundle, bundles, bundles_of


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    for inventory in inventories(snapshot):
        if inventory.problem:
            yield Unchecked(f"registration in {inventory.path}", inventory.problem)
            continue
        listed = {entry.path for entry in inventory.bundles}
        for bundle in bundles(snapshot):
            if bundle.root.inventory == inventory.path and bundle.path not in listed:
                yield _unlisted(inventory, bundle)
        for entry in _without_directory(snapshot, inventory):
            yield _empty_entry(inventory, entry)
    known = {inventory.path for inventory in inventories(snapshot)}
    for missing in dict.fromkeys(b.root.inventory for b in bundles(snapshot) if b.root.inventory and b.root.inventory not in known):
        yield Unchecked("registration of bundles", f"there is no {missing}")


def _without_directory(snapshot: Snapshot, inventory: Inventory) -> list[Registered]:
    """Entries whose directory is absent at head; with a base, only those that were not so before."""
    here = {bundle.path for bundle in bundles_of(snapshot, snapshot.head)}
    gone = [entry for entry in inventory.bundles if entry.path not in here and not _holds_files(snapshot, entry)]
    if snapshot.merge_base is None:
        return gone
    there = {bundle.path for bundle in bundles_of(snapshot, snapshot.merge_base)}
    before = {entry.path for old in inventories(snapshot, snapshot.merge_base) for entry in old.bundles}
    return [entry for entry in gone if entry.path not in before or entry.path in there]


def _holds_files(snapshot: Snapshot, entry: Registered) -> bool:
    return entry.path in snapshot.head.files or any(path.startswith(entry.path + "/") for path in snapshot.head.files)


def _unlisted(inventory: Inventory, bundle: Bundle) -> Finding:
    return Finding(
        rule=RULE.id,
        severity=Severity.BLOCKING,
        title=f"The bundle {bundle.id} is not in the inventory",
        problem=f"`{bundle.path}/` holds {len(bundle.files)} files and `{inventory.path}` has no entry with this path among its {len(inventory.bundles)}.",
        impact="The bundle is neither validated nor counted, and the repository's own inventory check fails on it.",
        next=f"Register `{bundle.id}` at its actual evidence level, list what is not in this repository under `external` with a reason, and update the "
        "expected count (commit a file). An empty list of freeze manifests is honest; do not invent hashes.",
        locations=(Location(bundle.files[0], role="file"), Location(inventory.path, role="inventory")),
        evidence=(("directory", bundle.path), ("entries", str(len(inventory.bundles)))),
        roots=("inventory",),
        searched=f"{len(inventory.bundles)} entries of `{inventory.path}`",
    )


def _empty_entry(inventory: Inventory, entry: Registered) -> Finding:
    return Finding(
        rule=RULE.id,
        severity=Severity.BLOCKING,
        title=f"The inventory lists {entry.id}, and there is no such directory",
        problem=f"`{inventory.path}` has an entry `{entry.id}` with path `{entry.path}`; no file lies there at head.",
        impact="The inventory promises evidence that is not in the repository.",
        next="Add the bundle's files, or correct the entry's path, or remove the entry (edit text).",
        locations=(Location(inventory.path, pointer=pointer(entry.pointer), role="inventory"),),
        evidence=(("path", entry.path),),
        roots=("inventory",),
        searched=f"all files of head under `{entry.path}/`",
    )


RULE = Rule("bundle-unregistered", "integrity", Severity.BLOCKING, check, norms=(("registered", "inventory"), ("register", "evidence_inventory")))
