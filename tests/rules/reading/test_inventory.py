"""The inventory in its default shape and the near ones, and everything that is no inventory."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.core.config import Config
from rules.reading.inventory import External, Inventory, externals, inventories, is_external, registered
from rules.reading.layout import bundles
from tests import worlds

PATH = "tools/evidence_inventory.json"


def read(value: object, **more: object) -> Inventory:
    (found,) = inventories(worlds.snapshot({PATH: value, **worlds.bundle({"a.md": "x"})}, **more))  # type: ignore[arg-type]
    return found


def entries(value: object) -> list[tuple[str, str]]:
    found = read(value)
    assert found.problem is None, found.problem
    return [(entry.id, entry.path) for entry in found.bundles]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"bundles": [{"id": "a", "path": "evidence/a"}]}, [("a", "evidence/a")]),
        ({"bundles": [{"path": "./evidence/a/"}]}, [("a", "evidence/a")]),
        ({"bundles": [{"id": "a"}]}, [("a", "evidence/a")]),
        ({"bundles": {"a": {"kind": "campaign"}}}, [("a", "evidence/a")]),
        ({"bundles": {"a": {"path": "evidence/x"}}}, [("a", "evidence/x")]),
        ({"campaigns": ["a", "evidence/b"]}, [("a", "evidence/a"), ("b", "evidence/b")]),
        ([{"name": "a", "directory": "evidence/a"}], [("a", "evidence/a")]),
        ({"bundles": [{"id": "a"}, 5, None, [], {"note": "no id"}]}, [("a", "evidence/a")]),
        ({"bundles": []}, []),
    ],
)
def test_shapes(value: object, wanted: list[tuple[str, str]]) -> None:
    assert entries(value) == wanted


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("", "it is empty"),
        ("{", "expecting property name enclosed in double quotes"),
        ([["a"], ["b"]], "none of its entries is an object with an `id` or a `path`"),
        ([[["evidence/a"]]], "none of its entries"),
        ({"bundles": [5, None]}, "none of its entries"),
        ({"bundles": 5}, "it holds no list of bundles"),
        ({}, "it holds no list of bundles"),
        ("5", "it holds no list of bundles"),
        ("null", "it holds no list of bundles"),
        ("[" * 10_000 + "]" * 10_000, "its nesting is too deep to be read"),
        ('{"bundles":' * 10_000 + "[]" + "}" * 10_000, "its nesting is too deep to be read"),
        (b"\xff\xfe{\x00}\x00", "it is UTF-16, not UTF-8"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 5\n", "it is too large, missing, or no plain JSON file"),
    ],
)
def test_what_is_no_inventory_has_one_reason(value: object, problem: str) -> None:
    found = read(value)
    assert found.bundles == () and found.problem is not None and found.problem.startswith(problem)


def test_fifty_megabytes_are_not_read() -> None:
    start = time.process_time()
    found = read("[" + "0," * (25 * 1024 * 1024) + "0]")
    assert found.problem == "it is too large, missing, or no plain JSON file" and time.process_time() - start < 10


def test_a_hundred_thousand_entries_are() -> None:
    start = time.process_time()
    assert len(entries({"bundles": [{"id": f"b{n}", "path": f"evidence/b{n}"} for n in range(100_000)]})) == 100_000
    assert time.process_time() - start < 20


def test_what_an_entry_holds() -> None:
    raw = {
        "id": "camp",
        "path": "evidence/camp",
        "kind": "campaign",
        "freeze_manifests": "plan/one.json",
        "external": [{"name": "raw logs", "reason": "size"}, "media/", {"path": "x.bin"}, {}, 5],
        "status": "results/status-2.json",
        "issue": 320,
    }
    (entry,) = read({"bundles": [raw], "bundle_count": 1, "hash_count": 2.0, "other": 3}).bundles
    assert (entry.kind, entry.status, entry.issue, entry.freeze_manifests, entry.pointer) == (
        "campaign",
        "results/status-2.json",
        "320",
        ("plan/one.json",),
        ("bundles", 0),
    )
    assert entry.external == (External("raw logs", "size"), External("media/", ""), External("x.bin", ""))
    assert read({"bundles": [{"id": "a", "external": {"raw logs": "size", "x/": {"reason": "r"}}}]}).bundles[0].external == (
        External("raw logs", "size"),
        External("x/", "r"),
    )


def test_counts_are_those_at_the_top() -> None:
    found = read({"bundles": [], "bundle_count": 2, "hash_count": "3", "count": 4, "nested": {"hash_count": 5}})
    assert {key: (number.text, place) for key, (number, place) in (found.counts or {}).items()} == {"bundle_count": ("2", ("bundle_count",))}


@pytest.mark.parametrize(
    ("name", "path", "wanted"),
    [
        ("raw/", "raw/a.log", True),
        ("raw", "raw/a.log", True),
        ("raw", "rawer/a.log", False),
        ("./results/a.bin", "results/a.bin", True),
        ("*.bin", "results/a.bin", True),
        ("results/*.bin", "results/x/a.bin", False),
        ("raw logs", "raw/a.log", False),
        ("raw logs", "raw logs", False),
        ("my data/x y.bin", "my data/x y.bin", True),
        ("", "a", False),
        ("/", "a", False),
    ],
)
def test_externals_match_as_path_folder_or_glob_and_free_text_matches_nothing(name: str, path: str, wanted: bool) -> None:
    assert External(name, "").covers(path) is wanted


def test_a_bundle_finds_its_entry_and_what_is_external_to_it() -> None:
    inventory = {
        "bundles": [{"id": "other", "path": "evidence/other", "external": ["z/"]}, {"id": "camp", "path": "evidence/camp", "external": ["raw/"]}]
    }
    held = worlds.snapshot({PATH: inventory, **worlds.bundle({"a.md": "x"})})
    (bundle,) = bundles(held)
    entry = registered(held, bundle)
    assert entry is not None and entry.id == "camp" and externals(held, bundle) == (External("raw/", ""),)
    assert is_external(held, bundle, "raw/a") and is_external(held, bundle, "evidence/camp/raw/a") and not is_external(held, bundle, "z/a")


def test_roots_share_an_inventory_or_have_none() -> None:
    roots = [{"bundles": "a/*"}, {"bundles": "b/*"}, {"bundles": "c/*", "inventory": None}, {"bundles": "d/*", "inventory": "gone.json"}]
    held = worlds.snapshot({PATH: {"bundles": []}}, config=Config.model_validate({"roots": roots}))
    assert [found.path for found in inventories(held)] == [PATH]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["bundles", "id", "path", "external", "freeze_manifests", "status", "x"]), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(VALUES)
def test_no_value_crashes_the_reader(value: object) -> None:
    found = read(json.dumps({"bundles": value}))
    assert found.problem is None or (found.bundles == () and found.problem)
