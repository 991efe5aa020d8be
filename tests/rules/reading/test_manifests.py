"""Manifests in every shape, what their paths name, and what becomes of each pair."""

import hashlib
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.core.config import Config
from rules.core.model import Entry, Snapshot
from rules.reading.documents import read_json
from rules.reading.layout import Bundle, bundles
from rules.reading.manifests import (
    Manifest,
    frozen_by,
    is_sums,
    judge,
    listed_by,
    looks_like_path,
    manifests,
    normal,
    place_of,
    read_pairs,
    read_sums,
    target,
)
from tests import worlds

D = "ab" * 32
E = "0123456789abcdef" * 4


def sha(data: str | bytes) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


# ---------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"a/b": D}, ("a/b",)),
        ({"files": {"a/b": D}}, ("files", "a/b")),
        ({"files": [{"path": "a/b", "sha256": D, "size": 3}]}, ("files", 0, "sha256")),
        ({"artifacts": [{"file": "a/b", "hash": D}]}, ("artifacts", 0, "hash")),
        ([{"filename": "a/b", "digest": f"sha256:{D}"}], (0, "digest")),
        ({"entries": {"a/b": {"sha256": D.upper(), "bytes": 3}}}, ("entries", "a/b", "sha256")),
        ([["a/b", D]], (0, 1)),
        ({"deep": [{"er": {"x": {"a/b": D}}}]}, ("deep", 0, "er", "x", "a/b")),
        ({"model": {"path": "a/b", "sha256": D}}, ("model", "sha256")),
        ([{"filePath": "a/b", "contentSha256": D}], (0, "contentSha256")),
        ([{"relative-path": "a/b", "sha256-hex": D}], (0, "sha256-hex")),
        ([{"name": "a/b", "digest": {"sha256": D}}], (0, "digest")),
        ([{"path": "a/b", "checksum": {"algorithm": "sha256", "value": D}}], (0, "checksum")),
        ({"文件": [{"路径": "a/b", "摘要": D}]}, ("文件", 0, "摘要")),
        ({D: "a/b"}, (D,)),
    ],
)
def test_shapes(value: object, place: tuple[str | int, ...]) -> None:
    (pair,) = read_pairs(value)
    assert (pair.path, pair.digest, pair.place, pair.line) == ("a/b", D, place, None)


@pytest.mark.parametrize(
    "value",
    [
        {"control": D, "candidate": E},
        {"a/b": D[:40]},
        {"a/b": D[:16], "c/d": D[:20]},
        {"https://example.org/a.json": D},
        {"output_sha256": D},
        {"outputs": [D, E]},
        [{"path": "a/b", "size": 3}],
        [{"path": "no path here", "sha256": D}],
        [{"config_file": "plan/a.json", "weights_sha256": D}],
        [{"image": "acme/engine", "digest": f"sha256:{D}"}],
        {"a/b": {"path": "c/d", "note": "x"}},
        "a/b " + D,
        None,
        5,
    ],
)
def test_what_is_no_manifest(value: object) -> None:
    assert read_pairs(value) == ()


def test_a_truncated_digest_counts_beside_a_whole_one() -> None:
    assert [len(pair.digest) for pair in read_pairs({"a.json": D, "b.json": "abcdef1234…", "c.json": "a" * 40, "d.json": D + "00"})] == [64, 10]


def test_sizes_and_the_better_name() -> None:
    (pair,) = read_pairs(read_json(f'{{"name": "x.json", "path": "a/x.json", "sha256": "{D}", "size_bytes": 12}}'.encode()).value)
    assert (pair.path, pair.size) == ("a/x.json", 12)


def test_nesting_and_size_are_no_problem() -> None:
    value: object = {"a/b": D}
    for _ in range(5_000):
        value = [value]
    start = time.process_time()
    assert len(read_pairs(value)) == 1
    assert len(read_pairs({"files": [{"path": f"r/{n}.json", "sha256": D} for n in range(100_000)]})) == 100_000
    assert time.process_time() - start < 20


# ---------------------------------------------------------------- SHA256SUMS


def test_sums_in_every_dress() -> None:
    text = f"{D}  a b.txt\r\n{D} *b.bin\n{D}  12 c.txt\n{D}\td.txt\nSHA256 (e (1).txt) = {D}\n# note\n\n{D}\n{'a' * 40}  git-id\nx  {D}\n{D[:20]}  cut.txt\n"
    assert [(pair.path, len(pair.digest), pair.line) for pair in read_sums(text)] == [
        ("a b.txt", 64, 1),
        ("b.bin", 64, 2),
        ("c.txt", 64, 3),
        ("d.txt", 64, 4),
        ("cut.txt", 20, 11),
    ]


def test_names_of_sums() -> None:
    named = ["SHA256SUMS", "x/sha256sum.txt", "a.sha256", "checksums.txt", "manifest-sha256.txt", "logs.sha256sums"]
    assert all(map(is_sums, named)) and not any(map(is_sums, ["sums.txt", "a.sha256.json", "SHA256SUMS.md", "md5sums"]))


@pytest.mark.parametrize("line", ["a" * 64 + " " * 100_000, ("a" * 64 + "  " + "x " * 50_000), "SHA256 (" + "(" * 100_000, "0" * 100_000])
def test_no_line_of_sums_costs_more_than_linear_time(line: str) -> None:
    start = time.process_time()
    read_sums(f"{line}\n" * 20)
    assert time.process_time() - start < 5


# ---------------------------------------------------------------- what a path names


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("./a/b", "a/b"),
        ("a\\b\\c", "a/b/c"),
        ("*a/b", "a/b"),
        ("a//b/./c", "a/b/c"),
        ("a/../b", "b"),
        ("../../b", "../../b"),
        ("cafe\u0301.md", "caf\u00e9.md"),
        (" a/b ", "a/b"),
    ],
)
def test_paths_as_git_writes_them(written: str, wanted: str) -> None:
    assert normal(written) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a/b", True),
        ("a.json", True),
        ("Makefile", True),
        ("a\\b", True),
        ("control", False),
        ("", False),
        ("1.", False),
        ("http://x/a.b", False),
        ("a\nb.c", False),
        ("x" * 1025 + ".c", False),
    ],
)
def test_a_path_has_a_slash_or_an_extension(text: str, wanted: bool) -> None:
    assert looks_like_path(text) is wanted


FILES: dict[str, object] = {"plan/m.json": {"files": {"x.md": D}}, "plan/x.md": "plan", "x.md": "bundle", "only.md": "bundle", "caf\u00e9.md": "é"}


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("x.md", "evidence/camp/plan/x.md"),
        ("only.md", "evidence/camp/only.md"),
        ("README.md", "README.md"),
        ("plan/x.md", "evidence/camp/plan/x.md"),
        ("evidence/camp/x.md", "evidence/camp/x.md"),
        (".\\plan\\x.md", "evidence/camp/plan/x.md"),
        ("*only.md", "evidence/camp/only.md"),
        ("cafe\u0301.md", "evidence/camp/caf\u00e9.md"),
        ("../x.md", "evidence/camp/x.md"),
        ("gone.md", None),
        ("/etc/passwd", None),
    ],
)
def test_from_the_manifest_s_folder_then_the_bundle_then_the_repository(path: str, wanted: str | None) -> None:
    held = worlds.snapshot({"README.md": "top", **worlds.bundle(FILES)})
    (bundle,) = bundles(held)
    assert target(held, held.head, bundle, "evidence/camp/plan/m.json", path) == wanted


# ---------------------------------------------------------------- what becomes of a pair


def judged(
    files: dict[str, object], listed: dict[str, str], external: list[str] | None = None, where: str = "results/integrity.json"
) -> dict[str, str]:
    """Kind by listed path."""
    inventory = {"bundles": [{"id": "camp", "path": "evidence/camp", "external": external or []}]}
    held = worlds.snapshot({"tools/evidence_inventory.json": inventory, **worlds.bundle({**files, where: {"files": listed}})})
    (bundle,) = bundles(held)
    (manifest,) = manifests(held, bundle)
    return {one.pair.path: one.kind for one in judge(held, bundle, manifest)}


def test_every_outcome() -> None:
    lfs = f"version https://git-lfs.github.com/spec/v1\noid sha256:{E}\nsize 5\n"
    files = {
        "eq.md": "x\n",
        "crlf.md": "a\nb\n",
        "lf.md": "a\r\nb\r\n",
        "plain.md": "x",
        "lfs.bin": lfs,
        "lfs2.bin": lfs,
        "new/moved.md": "moved",
        "cut.md": "y",
    }
    listed = {
        "eq.md": sha("x\n"),
        "crlf.md": sha("a\r\nb\r\n"),
        "lf.md": sha("a\nb\n"),
        "plain.md": D,
        "lfs.bin": E,
        "lfs2.bin": D,
        "old/moved.md": sha("moved"),
        "cut.md": sha("y")[:32][:30],
        "gone.md": E,
        "raw/big.bin": D,
        "integrity.json": D,
    }
    assert judged(files, listed, ["raw/"]) == {
        "eq.md": "equal",
        "crlf.md": "crlf",
        "lf.md": "crlf",
        "plain.md": "plain",
        "lfs.bin": "lfs",
        "lfs2.bin": "plain",
        "old/moved.md": "moved",
        "cut.md": "truncated",
        "gone.md": "absent",
        "raw/big.bin": "external",
        "integrity.json": "self",
    }


def test_equal_bytes_behind_any_writing_of_path_and_digest() -> None:
    held = worlds.snapshot(
        worlds.bundle(
            {
                "caf\u00e9.md": "x",
                "a/b.md": "x",
                "SHA256SUMS": f"{sha('x').upper()}  *cafe\u0301.md\n{sha('x')}  7 .\\a\\b.md\nsha256:{sha('x')}  no\n",
            }
        )
    )
    (bundle,) = bundles(held)
    (manifest,) = manifests(held, bundle)
    assert [one.kind for one in judge(held, bundle, manifest)] == ["equal", "equal"]


def test_links_and_missing_objects_are_unread() -> None:
    held = worlds.snapshot(worlds.bundle({"a.md": "x", "l.md": "a.md", "m.json": {"files": {"a.md": D, "l.md": D}}}))
    files = dict(held.head.files)
    files["evidence/camp/l.md"] = Entry("1" * 40, "120000", 4)
    object.__setattr__(held.head, "files", files)
    object.__setattr__(held.head, "blobs", {path: data for path, data in held.head.blobs.items() if not path.endswith("a.md")})  # type: ignore[attr-defined]
    (bundle,) = bundles(held)
    (manifest,) = manifests(held, bundle)
    assert [one.kind for one in judge(held, bundle, manifest)] == ["unread", "unread"]


def test_binary_files_have_no_other_line_endings() -> None:
    assert judged({"a.bin": b"\0\n"}, {"a.bin": sha(b"\0\r\n")}) == {"a.bin": "plain"}


# ---------------------------------------------------------------- kinds of manifests


def world(
    files: dict[str, object], entry: dict[str, object] | None = None, config: Config | None = None
) -> tuple[Snapshot, Bundle, dict[str, Manifest]]:
    inventory = {"bundles": [{"id": "camp", "path": "evidence/camp", **(entry or {})}]}
    held = worlds.snapshot({"tools/evidence_inventory.json": inventory, **worlds.bundle(files)}, config=config)
    (bundle,) = bundles(held)
    return held, bundle, {bundle.relative(one.path): one for one in manifests(held, bundle)}


def test_freeze_manifests_are_under_the_plan_or_named() -> None:
    one = {"files": {"a.md": D}}
    files = {"plan/x.json": one, "results/y.json": one, "z.json": one, "results/w.json": one, "plan-v2/v.json": one}
    config = Config.model_validate({"roots": [{"freeze_manifests": ["results/w*.json"]}]})
    _, _, found = world(files, {"freeze_manifests": ["./z.json"]}, config)
    assert {path: manifest.freeze for path, manifest in found.items()} == {
        "plan/x.json": True,
        "results/y.json": False,
        "z.json": True,
        "results/w.json": True,
        "plan-v2/v.json": True,
    }


def test_manifests_are_known_by_content_and_the_config_s_globs_add_lists() -> None:
    files = {"a.md": "x", "list.txt": f"{D}  a.md\n", "notes.json": {"x": 1}, "run.yaml": f"pins:\n  a.md: {D}\n", "broken.json": "{"}
    assert set(world(files)[2]) == {"run.yaml"}
    assert set(world(files, config=Config.model_validate({"roots": [{"manifests": ["*.txt"]}]}))[2]) == {"run.yaml", "list.txt"}


def test_a_record_manifest_s_own_revision() -> None:
    pairs = {"a.md": D}
    for extra in ({"source_revision": "a" * 40}, {"commit": "abcdef12"}, {"source": {"revision": "a" * 40}}, {"git": {"sha": "a" * 40}}):
        assert world({"results/m.json": {"files": pairs, **extra}})[2]["results/m.json"].own_revision, extra
    for extra in ({"base_commit_message": "a" * 40}, {"revision": "main"}, {"note": "a" * 40}, {"other": {"revision": "a" * 40}}):
        assert not world({"results/m.json": {"files": pairs, **extra}})[2]["results/m.json"].own_revision, extra


def test_who_lists_and_who_freezes_a_file() -> None:
    held, bundle, found = world({"a.md": "x", "plan/f.json": {"files": {"a.md": D}}, "results/r.json": {"files": {"a.md": D, "r.json": D}}})
    assert listed_by(held, bundle)["evidence/camp/a.md"] == found["plan/f.json"] == frozen_by(held, bundle, "evidence/camp/a.md")
    assert "evidence/camp/results/r.json" not in listed_by(held, bundle) and frozen_by(held, bundle, "evidence/camp/b.md") is None


def test_places_of_pairs() -> None:
    _, _, found = world({"a.md": "x", "m.json": {"files": {"a.md": D}}, "SHA256SUMS": f"\n{D}  a.md\n"})
    places = {path: place_of(one, one.pairs[0]) for path, one in found.items()}
    assert (places["m.json"].pointer, places["SHA256SUMS"].line, places["SHA256SUMS"].text) == ("/files/a.md", 2, "a.md")


@given(
    st.recursive(
        st.none() | st.sampled_from([D, D[:20], "a/b", "c.json", "x"]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["path", "sha256", "a/b", "digest", D]), inner, max_size=4),
        max_leaves=10,
    )
)
def test_no_value_crashes_the_reader_and_every_pair_is_one(value: object) -> None:
    assert all(looks_like_path(pair.path) and 8 <= len(pair.digest) <= 64 and pair.place is not None for pair in read_pairs(value))
