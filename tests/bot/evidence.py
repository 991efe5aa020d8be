"""A small repository of evidence for the service's tests: one campaign, a pull with one defect, and heads that mend it."""

from __future__ import annotations

import json

from tests.twin import PullHandle, RepositoryHandle, Twin

NAME = "acme/evidence"
SUMMARY = "evidence/alpha-1/results/summary.json"
GUIDE = "docs/alpha-1.md"


def _files(folder: str, note: str = "") -> dict[str, str]:
    return {
        SUMMARY: json.dumps({"campaign": "alpha-1", "verdict": "INCONCLUSIVE", "note": note}, indent=1),
        GUIDE: f"# Alpha 1\n\n- Raw logs: `{folder}/alpha/raw` on the tuning host.\n",
    }


def repository(twin: Twin, name: str = NAME) -> RepositoryHandle:
    """An empty collection of campaigns on `main`."""
    made = twin.add_repository(name, organization=True)
    inventory = {"bundles": [{"id": "alpha-1", "path": "evidence/alpha-1", "freeze_manifests": [], "external": []}]}
    plan = {"evidence/alpha-1/plan/protocol.json": json.dumps({"campaign": "alpha-1"})}
    made.commit("main", {"README.md": "Evidence.\n", "tools/evidence_inventory.json": json.dumps(inventory, indent=1), **plan})
    return made


def pull(home: RepositoryHandle, branch: str = "topic", number_of_defects: int = 1) -> PullHandle:
    """A pull whose guide shows a person's folder."""
    home.commit(branch, _files("/home/ann" if number_of_defects else "<ARTIFACT_ROOT>"), f"Measure {branch}", user="ann", parent=home.tip("main"))
    return home.open_pull(head=branch, title="Alpha 1", body="Measured.", user="ann")


def mend(one: PullHandle, note: str = "mended") -> str:
    """Push what the review asks for; the new head."""
    return one.commit(_files("<ARTIFACT_ROOT>", note), "Mend")  # type: ignore[arg-type]


def spoil(one: PullHandle, note: str) -> str:
    """Push another head with the same defect."""
    return one.commit(_files("/home/ann", note), "Measure again")  # type: ignore[arg-type]
