"""document-unreadable, receipt-duplicated, verified-without-artifact, artifact-missing, history-rewritten."""

import pytest

from rules.core.config import Config
from rules.core.model import Confirmed, Finding, Pull, Severity, User
from rules.integrity.artifact_missing import RULE as ARTIFACT
from rules.integrity.document_unreadable import RULE as UNREADABLE
from rules.integrity.history_rewritten import RULE as REWRITTEN
from rules.integrity.receipt_duplicated import RULE as DUPLICATED
from rules.integrity.verified_without_artifact import RULE as VERIFIED
from tests.worlds import bundle, findings, run, snapshot

D = "ab" * 32
PATH = "tools/evidence_inventory.json"


def world(files: dict[str, object], **entry: object) -> dict[str, object]:
    return {PATH: {"bundles": [{"id": "camp", "path": "evidence/camp", **entry}]}, **bundle(files)}


def titles(rule: object, files: dict[str, object], **more: object) -> list[str]:
    return [one.title for one in findings(rule, snapshot(files, **more))]  # type: ignore[arg-type]


# ---------------------------------------------------------------- document-unreadable


@pytest.mark.parametrize(
    ("path", "data", "says"),
    [
        ("a.json", "{", "does not parse"),
        ("a.json", '{"x": 1, "x": 2}', "holds a key twice"),
        ("a.json", '{"x": NaN}', "a number that is not JSON"),
        ("a.json", "[" * 10_000, "nested too deeply"),
        ("a.json", "{}".encode("utf-16"), "is not UTF-8"),
        ("a.yaml", "a: [", "does not parse"),
        ("a.yml", "a: 1\na: 2\n", "holds a key twice"),
        ("a.yml", "a: .nan\n", "a number that is not JSON"),
        ("a.yml", "a: &a [*a]\n", "expands its aliases without end"),
        ("a.jsonl", '{"x": 1}\n{"x": 1\n', "does not parse"),
    ],
)
def test_documents_that_cannot_be_read_as_what_they_are(path: str, data: object, says: str) -> None:
    (found,) = findings(UNREADABLE, snapshot(world({f"results/{path}": data})))
    assert says in found.title and found.severity is Severity.MEDIUM and found.locations[0].line


@pytest.mark.parametrize("path", ["._a.json", "a.json.log", "notes.txt"])
def test_what_is_no_document(path: str) -> None:
    assert titles(UNREADABLE, world({f"results/{path}": "{"})) == []


def test_a_pointer_a_mark_and_good_lines_are_in_order() -> None:
    lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 5\n"
    assert titles(UNREADABLE, world({"a.json": lfs, "b.json": b"\xef\xbb\xbf{}", "c.jsonl": '{"a": 1}\n\n[2]\r\n'})) == []


def test_blocking_for_the_inventory_and_for_what_is_listed() -> None:
    listed = snapshot(world({"a.json": "{", "b.json": "{", "s.json": "{", "m.json": {"files": {"a.json": D}}}, status="s.json"))
    found = {one.locations[0].path.rpartition("/")[2]: one.severity for one in findings(UNREADABLE, listed)}
    assert found == {"a.json": Severity.BLOCKING, "b.json": Severity.MEDIUM, "s.json": Severity.BLOCKING}
    (own,) = findings(UNREADABLE, snapshot({PATH: '{"bundles": [], "bundles": []}'}))
    assert own.severity is Severity.BLOCKING and own.roots == ("inventory",)


def test_documents_outside_bundles_are_not_judged() -> None:
    assert titles(UNREADABLE, {"package.json": "{", "evidence/x.json": "{"}) == []


# ---------------------------------------------------------------- receipt-duplicated

TIMES = [412.318, 409.882, 415.027]


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ({"arm": "control", "samples_ms": TIMES}, {"arm": "candidate", "samples_ms": TIMES}, 1),
        ({"run": 1, "trials": [{"ms": t} for t in TIMES]}, {"run": 2, "trials": [{"ms": t} for t in TIMES]}, 1),
        ({"arm": "control", "samples_ms": TIMES}, {"arm": "candidate", "samples_ms": TIMES[::-1]}, 0),
        ({"arm": "control", "samples_ms": TIMES[:2]}, {"arm": "candidate", "samples_ms": TIMES[:2]}, 0),
        ({"arm": "control", "samples_ms": [412, 409, 415]}, {"arm": "candidate", "samples_ms": [412, 409, 415]}, 0),
        ({"arm": "control", "seeds": [4123, 4098, 4150]}, {"arm": "candidate", "seeds": [4123, 4098, 4150]}, 0),
        ({"arm": "control", "samples_ms": TIMES}, {"arm": "candidate", "copied_from": "a.json", "samples_ms": TIMES}, 0),
        ({"arm": "a", "output_hashes": [D, D, D]}, {"arm": "b", "output_hashes": [D, D, D]}, 0),
    ],
)
def test_two_runs_never_agree_to_the_last_digit(one: object, other: object, count: int) -> None:
    found = findings(DUPLICATED, snapshot(world({"results/a.json": one, "results/b.json": other})))
    assert [one.severity for one in found] == [Severity.HIGH] * count


def test_a_table_and_a_document_are_compared_too() -> None:
    table = "trial,ms\n" + "".join(f"{n},{t}\n" for n, t in enumerate(TIMES))
    assert len(titles(DUPLICATED, world({"results/control.csv": table, "results/candidate.csv": table}))) == 1


# ---------------------------------------------------------------- verified-without-artifact


@pytest.mark.parametrize(
    ("document", "count"),
    [
        ({"locally_verified": True, "artifacts": {"in_repository": False}}, 1),
        ({"independentlyReproduced": True, "raw_log": "results/raw/server.log"}, 1),
        ({"reproduction": "confirmed", "in_repo": False}, 1),
        ({"locally_verified": False, "artifacts": {"in_repository": False}}, 0),
        ({"hash_verified": True, "artifacts": {"in_repository": False}}, 0),
        ({"unverified": True, "in_repository": False}, 0),
        ({"verified": True, "log": "results/kept.log"}, 0),
    ],
)
def test_a_flag_needs_its_artifacts(document: object, count: int) -> None:
    files = {"results/s.json": document, "results/kept.log": "x", "results/raw.csv": "x\n"}
    found = findings(VERIFIED, snapshot(world(files)))
    assert len(found) == count and all(one.severity is Severity.HIGH and "author-reported" in one.next for one in found)


def test_what_the_inventory_declares_external_is_no_artifact() -> None:
    assert len(titles(VERIFIED, world({"results/s.json": {"verified": True}, "results/x.json": {}}, external=["raw logs"]))) == 1
    assert titles(VERIFIED, world({"results/s.json": {"verified": True}, "results/x.json": {}, "results/raw/a.log": "x"})) == []


# ---------------------------------------------------------------- artifact-missing


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        ("results/raw/server.log", True),
        ("results/kept.log", False),
        ("evidence/camp/results/gone.json", True),
        ("results/*.log", False),
        ("results/*.bin", True),
        ("https://example.org/results/x.log", False),
        ("results/<arm>/x.log", False),
        ("src/engine/x.py", False),
        ("external/x.log", False),
        ("a sentence about results", False),
    ],
)
def test_paths_that_a_value_names(value: str, missing: bool) -> None:
    files = world({"results/r.json": {"log": value}, "results/kept.log": "x"}, external=["external/"])
    found = findings(ARTIFACT, snapshot(files))
    assert [one.severity for one in found] == [Severity.HIGH] * missing


@pytest.mark.parametrize(
    ("sentence", "missing"),
    [
        ("The raw log is `results/raw/server.log`.", True),
        ("The log `results/raw/server.log` is missing.", False),
        ("For example `results/raw/server.log`.", False),
        ("The log is `results/kept.log`.", False),
        ("All raw traces are retained.", True),
        ("No traces were retained.", False),
        ("原始轨迹均已保留。", True),
    ],
)
def test_what_prose_claims(sentence: str, missing: bool) -> None:
    found = findings(ARTIFACT, snapshot(world({"README.md": f"# camp\n\n{sentence}\n", "results/kept.log": "x"})))
    assert [one.severity for one in found] == [Severity.MEDIUM] * missing, [one.title for one in found]


def test_free_text_externals_cover_a_claim_with_the_same_noun() -> None:
    files = {"README.md": "# camp\n\nAll raw traces are retained.\n"}
    assert titles(ARTIFACT, world(files, external=["raw traces"])) == []


def test_entries_of_manifests_belong_to_another_rule() -> None:
    assert titles(ARTIFACT, world({"results/m.json": {"files": [{"path": "results/gone.log", "sha256": D}]}})) == []


# ---------------------------------------------------------------- history-rewritten

GUARDED = Config.model_validate({"append_only": ["evidence/*/results/**"]})
BASE = {**bundle({"results/a.json": "1", "README.md": "x"}, "old"), **bundle({"results/b.json": "1"}, "mine")}


def pull(body: str) -> Pull:
    return Pull(7, "A title", body, User("a", False), False, "open", "a" * 40, "b" * 40, None, None, ())


@pytest.mark.parametrize(
    ("change", "body", "says"),
    [
        ({"evidence/old/results/a.json": "2"}, "Corrects mine.", "changes files of old"),
        ({"evidence/old/results/a.json": None}, "Corrects mine.", "deletes files of old"),
        ({"evidence/old/results/a.json": "2"}, "Corrects old.", None),
        ({"evidence/old/results/a.json": "2"}, "Tidies up.", None),
        ({"evidence/old/README.md": "2"}, "Corrects mine.", None),
        ({"evidence/old/results/new.json": "2"}, "Corrects mine.", None),
        ({"evidence/mine/results/b.json": "2"}, "Corrects mine.", None),
        ({"evidence/old/results/a.json": "2", "evidence/new/x": "x"}, "", "changes files of old"),
    ],
)
def test_what_may_only_be_added(change: dict[str, object], body: str, says: str | None) -> None:
    files = {path: value for path, value in {**BASE, **change}.items() if value is not None}
    items = run(REWRITTEN, snapshot(files, base=BASE, pull=pull(body), config=GUARDED))
    found = [item for item in items if isinstance(item, Finding)]
    assert [says in one.title and one.severity is Severity.HIGH for one in found] == ([True] if says else []) if says else found == []
    assert [item.value.endswith("append-only files equal the base's") for item in items if isinstance(item, Confirmed)] == [True]


def test_without_the_config_the_rule_is_off() -> None:
    assert run(REWRITTEN, snapshot({**BASE, "evidence/old/results/a.json": "2"}, base=BASE, pull=pull("mine"))) == []
