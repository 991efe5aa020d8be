"""revision-unpinned: placeholders, branches and images where something immutable is required."""

import pytest

from rules.core.model import Severity
from rules.revisions.revision_unpinned import RULE
from tests.worlds import bundle, findings, snapshot

SHA = "c85c339fc49794f100fe162e6cd21efbe5c5ab9e"


def kinds(path: str, value: object) -> list[str]:
    """How the titles name what is loose."""
    return [one.title.partition(" names ")[2].partition(" where ")[0] for one in findings(RULE, snapshot(bundle({path: value})))]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"revision": "<baseline-sha>"}, "a placeholder"),
        ({"baseline_commit": "TBD"}, "a placeholder"),
        ({"sourceRevision": "to be filled in"}, "a placeholder"),
        ({"revisions": {"candidate": "待定"}}, "a placeholder"),
        ({"revision": "main"}, "a mutable branch"),
        ({"commit": "HEAD"}, "a mutable branch"),
        ({"source_url": "https://github.com/acme/engine/tree/main"}, "a mutable branch"),
        ({"repository": "acme/engine", "branch": "fast-decode"}, "a mutable branch"),
        ({"image": "acme/engine"}, "an image without a fixed tag or digest"),
        ({"container_image": "acme/engine:latest"}, "an image without a fixed tag or digest"),
    ],
)
def test_what_pins_nothing(value: object, kind: str) -> None:
    assert kinds("plan/runspec.json", value) == [kind]


@pytest.mark.parametrize(
    "value",
    [
        {"revision": SHA},
        {"revision": SHA[:10]},
        {"branch": "main", "commit": SHA},
        {"image": "acme/engine:v1.2.3"},
        {"image": f"acme/engine@sha256:{'ab' * 32}"},
        {"image": "plot.png"},
        {"title": "main"},
        {"commit_message": "TBD"},
        {"baseline": 17.31},
        {"candidate": "fast decode"},
    ],
)
def test_what_is_pinned_or_is_no_revision(value: object) -> None:
    assert kinds("plan/runspec.json", value) == []


def test_low_where_the_document_says_author_reported_and_inconclusive() -> None:
    value = {"revision": "main", "provenance": "author-reported", "verdict": "INCONCLUSIVE"}
    assert [one.severity for one in findings(RULE, snapshot(bundle({"results/r.json": value})))] == [Severity.LOW]
    del value["provenance"]
    assert [one.severity for one in findings(RULE, snapshot(bundle({"results/r.json": value})))] == [Severity.HIGH]


def test_one_finding_for_a_document_and_a_kind() -> None:
    value = {"revisions": {"baseline": "<baseline-sha>", "candidate": "TBD"}, "commit": "main"}
    found = findings(RULE, snapshot(bundle({"plan/p.json": value})))
    assert [[at.pointer for at in one.locations] for one in found] == [["/revisions/baseline", "/revisions/candidate"], ["/commit"]]
    assert {one.roots for one in found} == {("revisions:evidence/camp",)}


@pytest.mark.parametrize(
    ("path", "text", "count"),
    [
        ("patch/README.md", "The change is on branch `fast-decode`.", 1),
        ("patch/README.md", f"The change is on branch `fast-decode` at {SHA}.", 0),
        ("plan/protocol.md", "Baseline revision: `<baseline-sha>`.", 1),
        ("plan/protocol.md", "```\nrevision: <baseline-sha>\n```", 0),
        ("README.md", "The change is on branch `fast-decode`.", 0),
        ("plan/protocol-template.md", "Baseline revision: `<baseline-sha>`.", 0),
    ],
)
def test_texts_of_the_patch_and_the_plan(path: str, text: str, count: int) -> None:
    assert len(kinds(path, f"# x\n\n{text}\n")) == count
