"""Cited revisions in texts and documents."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.core.cache import Cache
from rules.core.config import Config
from rules.core.model import Answer, Entry, Facts, Missing, Pull, Question, Snapshot, User
from rules.reading.documents import read_json, read_yaml
from rules.reading.revisions import Cited, cited, cited_in_document, cited_in_text, full_ids, in_document, is_other_object

A = "c85c339fc49794f100fe162e6cd21efbe5c5ab9e"
B = "28ce227d1ede433b2a58c509f9b6434b4e49e711"


@dataclass
class Folder:
    """A tree in memory."""

    held: dict[str, bytes]
    commit: str | None = None
    files: Mapping[str, Entry] = field(init=False)

    def __post_init__(self) -> None:
        self.files = {path: Entry(f"{hash(data):x}", "100644", len(data)) for path, data in self.held.items()}

    def read(self, path: str) -> bytes:
        if path not in self.held:
            raise Missing(path)
        return self.held[path]


def snapshot(files: dict[str, object], body: str = "") -> Snapshot:
    held = {path: (value if isinstance(value, str) else json.dumps(value, indent=2)).encode() for path, value in files.items()}
    pull = Pull(1, "Title", body, User("a", False), False, "open", "", "", None, None, ()) if body else None
    return Snapshot(Folder(held), Config(), Cache(), pull=pull)


def ids(text: str) -> list[str]:
    return [one.id for one in cited_in_text(text, "README.md")]


def of(value: object) -> list[tuple[str, str | None, bool]]:
    doc = read_json(json.dumps(value).encode())
    return [(one.id, one.place.pointer, one.explicit) for one in in_document(doc)]


# ---------------------------------------------------------------- texts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("draft #7 (head `14de17a3`) publishes it", ["14de17a3"]),
        ("Current head: 14de17a", ["14de17a"]),
        ("Reviewed at `a0e7b09c`.", ["a0e7b09c"]),
        (f"Baseline commit of acme/engine: `{A}`.", [A]),
        ("review of 663f3b32..89caf208", ["663f3b32", "89caf208"]),
        (f"Reviewed {A} against {B}.", [A, B]),
        ("Branched from c85c339f.", ["c85c339f"]),
        ("1a2b3c4 is the head", ["1a2b3c4"]),
        ("built on 1a2b3c4 (baseline)", ["1a2b3c4"]),
        ("acme/engine@1234abc", ["1234abc"]),
        ("commits 1a2b3c4 and 5d6e7f8", ["1a2b3c4", "5d6e7f8"]),
        ("基线提交 `1234abcd`", ["1234abcd"]),
        ("commit 1234567 fixed it", ["1234567"]),
        ("[this](https://github.com/acme/y/commit/1a2b3c4d)", ["1a2b3c4d"]),
        (f"https://github.com/acme/y/blob/{A}/README.md", [A]),
        ("https://github.com/acme/y/compare/1a2b3c4...5d6e7f8", ["1a2b3c4", "5d6e7f8"]),
        (f"The revision\n`{A}` is used", [A]),
        ("commit A1B2C3D", ["a1b2c3d"]),
        ("revision ce216014… is gone", ["ce216014"]),
        ("Draft #321 (14de17a3) publishes it", ["14de17a3"]),
        (f"### Candidate revision\n\n{A}\n", [A]),
        # no role
        (f"### Image id\n\n{A}\n", []),
        ("#321 took 12345678 ns", []),
        ("Ready 40000820124 has failed", []),
        ("deadbeef and a defaced facade", []),
        ("the base defaced", []),
        ("1a2b3c4 happened", []),
        (f"image sha256:{'ab' * 32}", []),
        (f"commit digest {'ab' * 32}", []),
        ("digest 7fc6c73bd19a6e of the head", []),
        ("tree c85c339fc", []),
        ("blob c85c339fc of the head", []),
        ("seed 12345678 at the base", []),
        ("base 20261101", []),
        ("at 1234567", []),
        ("uuid 123e4567-e89b-12d3-a456-426614174000 of the commit", []),
        ("head at results/abc1234.json", []),
        ("commit evidence/1234abcd/x", []),
        ("head #1234567", []),
        ("index 1a2b3c4..5d6e7f8 100644", []),
        ("version 2.1234567", []),
        ("摘要 abcd1234", []),
        ("```\ncommit 9999999a\n```\n> head abcdabcd1\n", []),
        ("<!-- commit 9999999a -->", []),
    ],
)
def test_a_role_makes_a_revision(text: str, found: list[str]) -> None:
    assert sorted(ids(text)) == sorted(found)


def test_explicit_lines_and_subjects() -> None:
    found = cited_in_text("# T\n\nwords\nhead `1a2b3c4`, reviewed at `5d6e7f8`.\n\nThe model revision is 9a8b7c6d.\n", "pull:body")
    assert [(one.id, one.place.line, one.explicit, one.subject, one.is_short) for one in found] == [
        ("1a2b3c4", 4, True, "", True),
        ("5d6e7f8", 4, False, "", True),
        ("9a8b7c6d", 6, True, "model", True),
    ]


def test_repositories_nearest_first() -> None:
    text = f"Fork: https://github.com/me/engine\n\nBaseline commit of acme/engine: `{A}`, see o/r#3.\n"
    assert cited_in_text(text, "x")[0].repositories == ("acme/engine", "o/r", "me/engine")


def test_tables_take_roles_from_headers_and_labels() -> None:
    text = "| arm | commit | sha256 |\n|---|---|---|\n| base | `1a2b3c4` | 5d6e7f8a |\n| x | 12345678 | 1 |\n\n| what | value |\n|---|---|\n| head | 9a8b7c6 |\n| digest | 9a8b7c7 |\n"
    assert [(one.id, one.place.line) for one in cited_in_text(text, "x")] == [("1a2b3c4", 3), ("12345678", 4), ("9a8b7c6", 8)]


def test_full_ids_need_no_role() -> None:
    assert full_ids(f"x {A.upper()} y {A} {'a' * 41} {B[:39]}") == (A,)


# ---------------------------------------------------------------- documents


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"source_revision": A}, [(A, "/source_revision", True)]),
        ({"baseline": {"commit": "1a2b3c4"}}, [("1a2b3c4", "/baseline/commit", True)]),
        ({"pins": [{"repository": "a/b", "revision": A}, B]}, [(A, "/pins/0/revision", True), (B, "/pins/1", True)]),
        ({"revisions": {"5s": A, "15s": "1a2b3c4"}}, [(A, "/revisions/5s", False), ("1a2b3c4", "/revisions/15s", False)]),
        ({"headSha": A, "git-commit": B}, [(A, "/headSha", True), (B, "/git-commit", True)]),
        ({"source": A}, [(A, "/source", False)]),
        ({"commits": {A: {"note": 1}}}, [(A, "/commits", True)]),
        ({"note": "measured at commit 1a2b3c4"}, [("1a2b3c4", "/note", True)]),
        ({"patch": f"https://github.com/acme/x/commit/{A}"}, [(A, "/patch", True)]),
        ({"基线提交": A}, [(A, "/基线提交", True)]),
        ({"commit": 1234567}, [("1234567", "/commit", True)]),
        # no revision
        ({"candidate_sha256": "ab" * 32, "sha": "cd" * 32}, []),
        ({"image": A, "tree": A, "blob_sha": A, "etag": A, "content_sha": A}, []),
        ({"digest": "1a2b3c4", "checksum": "1a2b3c4", "uuid": A, "seed": 12345678}, []),
        ({"run_id": A, "name": A}, []),
        ({"candidate": {"name": "decade1"}}, []),
        ({"revision": A, "object_type": "blob"}, []),
        ({"commit": {"sha": A, "type": "tree"}}, []),
        ({"base": 20261101}, []),
        ({"baseline": "decades"}, []),
        ({"samples": [1234567, 2345678]}, []),
    ],
)
def test_keys_make_revisions(value: object, found: list[tuple[str, str, bool]]) -> None:
    assert of(value) == found


def test_subject_of_keys() -> None:
    doc = read_json(json.dumps({"model": {"revision": A}, "dataset_commit": B, "model_runs": {"commit": A}}).encode())
    assert [one.subject for one in in_document(doc)] == ["model", "dataset", ""]


def test_yaml_is_read_alike() -> None:
    doc = read_yaml(f"base:\n  revision: {A}\n".encode())
    assert [one.id for one in in_document(doc)] == [A]


def test_repositories_of_the_object_then_the_document() -> None:
    value = {
        "upstream": {"repository": "acme/engine"},
        "runs": [{"repo": "me/one", "revision": A}, {"repo": "me/two", "source": {"commit": B}}],
    }
    doc = read_json(json.dumps(value).encode())
    found = in_document(doc)
    assert [one.repositories[0] for one in found] == ["me/one", "me/two"]
    assert set(found[0].repositories) == {"me/one", "me/two", "acme/engine"}


# ---------------------------------------------------------------- all of a review


def test_everything_in_scope_is_read_and_the_bundle_adds_repositories() -> None:
    world = snapshot(
        {
            "evidence/a/plan/runspec.json": {"pins": [{"repository": "acme/engine", "revision": A}]},
            "evidence/a/results/r.json": {"revision": B},
            "evidence/a/README.md": f"Measured at commit `{A}`.",
            ".github/workflows/x.yml": f"uses: a/b@{A}\n",
        },
        body="Current head: 1a2b3c4",
    )
    found = {(one.place.path, one.id): one for one in cited(world)}
    assert sorted(found) == [
        ("evidence/a/README.md", A),
        ("evidence/a/plan/runspec.json", A),
        ("evidence/a/results/r.json", B),
        ("pull:body", "1a2b3c4"),
    ]
    assert found["evidence/a/results/r.json", B].repositories == ("acme/engine",)
    assert cited_in_document(world, "evidence/a/results/r.json")[0].repositories == ()


def test_known_trees_and_blobs_are_no_commits() -> None:
    world = snapshot({"evidence/a/results/r.json": {"repository": "acme/engine", "revision": B}})
    (one,) = cited(world)
    assert not is_other_object(world, Facts(), one)
    assert is_other_object(world, Facts({Question("acme/engine", B): Answer(200, None, "tree")}), one)


# ---------------------------------------------------------------- hostile input


@given(st.text(alphabet="abc123 commithead:@/.-#`|\n。提交", max_size=300))
def test_any_text(text: str) -> None:
    lines = text.count("\n") + 1
    for one in cited_in_text(text, "x"):
        assert isinstance(one, Cited)
        assert 7 <= len(one.id) <= 40
        assert one.place.line is not None and 1 <= one.place.line <= lines


UNITS = [
    "commit abc1234 ",
    "abc1234 ",
    "abc1234..def5678 ",
    "a/b ",
    "a/b#1 ",
    "a/b@abc1234 ",
    "https://github.com/a/b/commit/abc1234 ",
    "abc1234,",
    "head ",
]
UNITS += ["commit of acme/e: abc1234. ", "abc1234-", "abc1234...", "github.com/a/b/tree/", "| abc1234 ", "a" * 40 + " "]


@pytest.mark.parametrize("unit", UNITS)
def test_is_linear(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    start = time.process_time()
    cited_in_text(text, "x")
    of({"note": text, "commit": [text[i : i + 40] for i in range(0, 4000, 40)]})
    assert time.process_time() - start < 2
