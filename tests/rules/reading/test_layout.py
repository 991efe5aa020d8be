"""Where things are: globs, bundles and their parts, and what a review answers for."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.core.config import Config
from rules.reading.layout import bundle_at, bundles, bundles_of, changed, documents_in_scope, in_scope, matches
from tests import worlds


@pytest.mark.parametrize(
    ("path", "glob", "wanted"),
    [
        ("evidence/a", "evidence/*", True),
        ("evidence/a/b", "evidence/*", False),
        ("evidence/a/b", "evidence/**", True),
        ("a/b/c.json", "**/c.json", True),
        ("c.json", "**/c.json", True),
        ("ac.json", "**/c.json", False),
        ("a/c", "a/**/c", True),
        ("a/x/y/c", "a/**/c", True),
        ("aXb", "a.b", False),
        ("a.b", "a?b", True),
        ("a/b", "a?b", False),
        ("语/b", "?/b", True),
        ("[a]/b c", "[a]/b *", True),
        ("raw/x/y", "raw/", True),
        ("raw", "raw/", False),
        ("a\nb", "a*", True),
        ("\udc80.json", "?.json", True),
        ("A", "a", False),
        ("a", "", False),
    ],
)
def test_globs(path: str, glob: str, wanted: bool) -> None:
    assert matches(path, glob) is wanted


@pytest.mark.parametrize("glob", ["*a" * 8 + "b", "*a" * 400, "**a" * 300 + "b", "**/" * 300 + "b", "?*" * 400 + "/"[:0] + "b"])
def test_no_glob_costs_more_than_linear_time(glob: str) -> None:
    start = time.process_time()
    assert not matches("a" * 100_000 + "c", glob) and not matches("a/" * 50_000 + "c", glob)
    assert time.process_time() - start < 8


@given(st.text(min_size=1, max_size=8).filter(lambda text: not set(text) & set("*?") and not text.endswith("/")))
def test_a_glob_without_stars_matches_itself_alone(text: str) -> None:
    assert matches(text, text) and not matches(text + "x", text) and matches(f"a/{text}", f"**/{text}")


FILES: dict[str, object] = {
    "README.md": "x",
    "evidence/README.md": "x",
    "evidence/b/README.md": "x",
    "evidence/b/results/r.json": {},
    "evidence/a/plan/p.json": {},
    "evidence/templates/x.json": {},
    "other/c/x.md": "x",
}


def test_bundles_are_directories_with_files_but_not_what_is_ignored() -> None:
    held = worlds.snapshot(FILES, config=Config.model_validate({"ignore": ["templates"]}))
    assert [(bundle.id, bundle.path, len(bundle.files)) for bundle in bundles(held)] == [("a", "evidence/a", 1), ("b", "evidence/b", 2)]
    found = bundle_at(held, "evidence/b/results/r.json")
    assert found is not None and found.id == "b" and bundle_at(held, "evidence/README.md") is None


def test_several_roots_for_a_monorepo() -> None:
    roots = [{"bundles": "evidence/*"}, {"bundles": "other/*", "inventory": None}]
    held = worlds.snapshot(FILES, config=Config.model_validate({"roots": roots}))
    assert [(bundle.path, bundle.root.inventory is None) for bundle in bundles(held)] == [
        ("evidence/a", False),
        ("evidence/b", False),
        ("evidence/templates", False),
        ("other/c", True),
    ]


def test_parts_of_a_bundle_with_their_numbered_siblings() -> None:
    (bundle,) = bundles(
        worlds.snapshot(worlds.bundle(dict.fromkeys(("validator/a", "validator-v2/b", "validator2/c", "validators/d", "plan/e", "f"), "x")))
    )
    assert [bundle.relative(path) for path in bundle.part("validator")] == ["validator-v2/b", "validator/a", "validator2/c"]
    assert {bundle.relative(path): bundle.part_of(path) for path in bundle.files if "v" not in path.partition("/camp/")[2]} == {
        "plan/e": "plan",
        "f": None,
    }


def test_without_a_base_all_is_in_scope() -> None:
    held = worlds.snapshot(FILES)
    assert in_scope(held) == tuple(sorted(FILES)) and changed(held) == {}
    assert documents_in_scope(held) == ("README.md", "evidence/README.md", "evidence/b/README.md", "other/c/x.md")


def test_with_a_base_what_the_pull_touches_and_the_whole_of_touched_bundles() -> None:
    base = {**FILES, "evidence/b/README.md": "old", "gone.md": "x", "evidence/a/plan/gone.json": {}}
    held = worlds.snapshot({**FILES, "docs/new.md": "x"}, base=base)
    assert list(changed(held)) == ["docs/new.md", "evidence/a/plan/gone.json", "evidence/b/README.md", "gone.md"]
    assert changed(held)["gone.md"][1] is None and changed(held)["docs/new.md"][0] is None
    assert [bundle.id for bundle in bundles(held)] == ["a", "b"]
    assert in_scope(held) == ("docs/new.md", "evidence/a/plan/p.json", "evidence/b/README.md", "evidence/b/results/r.json")
    assert len(bundles_of(held, held.head)) == 3


def test_a_changed_mode_is_a_change() -> None:
    held = worlds.snapshot({"a": "x"}, base={"a": "x"})
    entry = held.head.files["a"]
    object.__setattr__(held.head, "files", {"a": type(entry)(entry.oid, "100755", entry.size)})
    assert list(changed(held)) == ["a"]
