"""Digests against bytes: hash-mismatch, hash-never-matched, hash-degenerate, frozen-bytes-changed."""

import hashlib

import pytest

from rules.core.model import Confirmed, Finding, Severity, Unchecked
from rules.integrity.frozen_bytes_changed import RULE as FROZEN
from rules.integrity.hash_degenerate import RULE as DEGENERATE
from rules.integrity.hash_mismatch import RULE as MISMATCH
from rules.integrity.hash_never_matched import RULE as NEVER
from tests.worlds import Step, bundle, findings, run, snapshot, story

D = "ab" * 32


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def world(files: dict[str, object], external: list[str] | None = None) -> dict[str, object]:
    inventory = {"bundles": [{"id": "camp", "path": "evidence/camp", "external": external or []}]}
    return {"tools/evidence_inventory.json": inventory, **bundle(files)}


# ---------------------------------------------------------------- hash-mismatch


@pytest.mark.parametrize(
    ("where", "more", "severity"),
    [
        ("plan/freeze.json", {}, Severity.BLOCKING),
        ("plan/freeze.json", {"source_revision": "a" * 40}, Severity.BLOCKING),
        ("results/integrity.json", {}, Severity.HIGH),
        ("results/integrity.json", {"source_revision": "a" * 40}, Severity.LOW),
    ],
)
def test_how_strong_a_difference_is(where: str, more: dict[str, object], severity: Severity) -> None:
    (found,) = findings(MISMATCH, snapshot(world({"a.md": "x", where: {"files": {"a.md": D}, **more}})))
    assert found.severity is severity and found.locations[0].pointer == "/files/a.md" and found.locations[0].path.endswith(where)
    assert {"manifest:" + found.locations[0].path, "file:evidence/camp/a.md"} == set(found.roots)


@pytest.mark.parametrize(
    ("files", "listed", "says"),
    [
        ({"a.md": "x"}, {"a.md": D}, "a.md is not the file that"),
        ({"a.md": "a\nb\n"}, {"a.md": sha("a\r\nb\r\n")}, "other line endings (CRLF)"),
        ({"new/a.md": "x"}, {"a.md": sha("x")}, "a.md was moved after"),
        ({"b.md": "y"}, {"b.md": sha("y"), "a.md": D}, "a.md, which is not in the tree"),
        ({"a.md": "x", "b.md": "y"}, {"b.md": sha("y"), "a.md": sha("x")[:50]}, "a truncated digest for a.md"),
        ({}, {"m.json": D}, "m.json lists itself"),
    ],
)
def test_what_is_told_apart(files: dict[str, object], listed: dict[str, str], says: str) -> None:
    (found,) = findings(MISMATCH, snapshot(world({**files, "results/m.json": {"files": listed}})))
    assert says in found.title and found.impact and D not in found.title + found.problem


def test_a_list_of_nothing_that_is_here_is_about_another_place() -> None:
    (item,) = run(MISMATCH, snapshot(world({"results/m.json": {"files": {"a.md": D, "b.md": D}}})))
    assert isinstance(item, Unchecked) and "none of the files" in item.why


def test_the_same_fault_of_many_entries_is_one_finding_and_plain_differences_are_their_own() -> None:
    files = {f"{n}.md": f"{n}\n" for n in range(6)}
    crlf = {f"{n}.md": sha(f"{n}\r\n") for n in range(6)}
    assert [len(f.locations) for f in findings(MISMATCH, snapshot(world({**files, "m.json": crlf})))] == [12]
    assert len(findings(MISMATCH, snapshot(world({**files, "m.json": dict.fromkeys(files, D)})))) == 6
    many = {f"{n}.md": "x" for n in range(20)}
    assert len(findings(MISMATCH, snapshot(world({**many, "m.json": dict.fromkeys(many, D)})))) == 1


def test_what_is_in_order_is_confirmed_or_not_checked() -> None:
    listed = {"a.md": sha("x"), "raw/big.bin": D}
    items = run(MISMATCH, snapshot(world({"a.md": "x", "m.json": {"files": listed}}, ["raw/"])))
    assert [type(item) for item in items] == [Confirmed, Unchecked]
    assert items[0].value == "1 of 2 digests match the blobs at head"  # type: ignore[union-attr]


def test_a_text_manifest_has_lines() -> None:
    (found,) = findings(MISMATCH, snapshot(world({"a.md": "x", "SHA256SUMS": f"# sums\n{D}  a.md\n"})))
    assert (found.locations[0].line, found.locations[0].text) == (2, "a.md")


# ---------------------------------------------------------------- hash-never-matched

OLD, NEW = "old\n", "new\n"


def history(digest: str, complete: bool = True) -> list[object]:
    first = Step(world({"a.md": OLD, "plan/m.json": {"files": {"a.md": digest}}}))
    return list(run(NEVER, story(first, Step(bundle({"a.md": NEW})), complete=complete)))


def test_a_digest_of_no_version_was_never_taken_from_a_committed_file() -> None:
    (found,) = history(D)
    assert isinstance(found, Finding) and found.severity is Severity.HIGH and "none of its 2 versions" in found.problem
    assert "manifest:evidence/camp/plan/m.json" in found.roots


@pytest.mark.parametrize("digest", [sha(OLD), sha("old\r\n"), sha(NEW), sha(""), "0" * 64])
def test_an_older_version_s_digest_or_a_degenerate_one_is_not_this_rule_s(digest: str) -> None:
    assert history(digest) == []


def test_without_the_whole_history_it_is_not_checked() -> None:
    (item,) = history(D, complete=False)
    assert isinstance(item, Unchecked) and "shallow" in item.why
    assert isinstance(run(NEVER, snapshot(world({"a.md": "x", "plan/m.json": {"a.md": D}})))[0], Unchecked)


def test_a_record_manifest_with_its_own_revision_is_low() -> None:
    first = Step(world({"a.md": OLD, "results/m.json": {"commit": "a" * 40, "files": {"a.md": D}}}))
    (found,) = findings(NEVER, story(first))
    assert found.severity is Severity.LOW and "its only version" in found.problem


# ---------------------------------------------------------------- hash-degenerate


@pytest.mark.parametrize(
    ("files", "listed", "count"),
    [
        ({"a.md": "x"}, {"a.md": sha("")}, 1),
        ({"a.md": ""}, {"a.md": sha("")}, 0),
        ({"a.md": "x"}, {"a.md": "0" * 64}, 1),
        ({"a.md": "x", "b.md": "longer"}, {"a.md": D, "b.md": D}, 1),
        ({"a.md": "x", "b.md": "y"}, {"a.md": D, "b.md": D}, 0),
        ({"a.md": "x", "b.md": "x"}, {"a.md": sha("x"), "b.md": sha("x")}, 0),
        ({"a.md": "x"}, {"a.md": D}, 0),
    ],
)
def test_digests_that_cannot_stand_for_their_file(files: dict[str, object], listed: dict[str, str], count: int) -> None:
    found = findings(DEGENERATE, snapshot(world({**files, "plan/m.json": {"files": listed}})))
    assert [one.severity for one in found] == [Severity.MEDIUM] * count


# ---------------------------------------------------------------- frozen-bytes-changed

BASE = world({"plan/p.md": "old", "a.md": "x", "plan/m.json": {"files": {"p.md": sha("old")}}, "results/r.json": {"files": {"a.md": sha("x")}}})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"evidence/camp/plan/p.md": "new"}, "was changed"),
        ({"evidence/camp/plan/p.md": "new", "evidence/camp/plan/m.json": {"files": {"p.md": sha("new")}}}, "was changed"),
        ({"evidence/camp/plan/p.md": None}, "was deleted"),
        ({"evidence/camp/plan/p.md": None, "evidence/camp/plan/q.md": "old"}, "was renamed"),
        ({"evidence/camp/plan/m.json": None, "evidence/camp/plan/p.md": "new"}, "was changed"),
    ],
)
def test_what_was_frozen_at_the_merge_base_may_not_move(change: dict[str, object], says: str) -> None:
    files = {path: value for path, value in {**BASE, **change}.items() if value is not None}
    (found,) = findings(FROZEN, snapshot(files, base=BASE))
    assert found.severity is Severity.BLOCKING and says in found.title and found.roots == ("file:evidence/camp/plan/p.md",)


@pytest.mark.parametrize(
    "change",
    [
        {"evidence/camp/a.md": "new"},
        {"evidence/camp/plan/m2.json": {"files": {"a.md": sha("x")}}},
        {"evidence/other/plan/m.json": {"files": {"p.md": D}}, "evidence/other/plan/p.md": "z"},
        {"README.md": "x"},
    ],
)
def test_records_new_manifests_and_new_bundles_are_free(change: dict[str, object]) -> None:
    assert findings(FROZEN, snapshot({**BASE, **change}, base=BASE)) == []


def test_without_a_base_nothing_is_said() -> None:
    assert findings(FROZEN, snapshot(BASE)) == [] and FROZEN.needs == {"base"}
