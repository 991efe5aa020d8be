"""Repositories by name, placeholders, branches and images."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.reading.references import image_reference, mutable_reference, placeholder, repositories_named

SHA = "c85c339fc49794f100fe162e6cd21efbe5c5ab9e"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("https://github.com/acme/engine/commit/abc", ("acme/engine",)),
        ("git@github.com:acme/engine.git", ("acme/engine",)),
        ("raw.githubusercontent.com/acme/engine/main/x", ("acme/engine",)),
        ("https://api.github.com/repos/acme/engine/commits", ("acme/engine",)),
        ("see acme/engine#12 and acme/engine#13", ("acme/engine",)),
        (f"acme/engine@{SHA}", ("acme/engine",)),
        ("Baseline commit of acme/engine: abc", ("acme/engine",)),
        ("the repository `acme/engine`", ("acme/engine",)),
        ("The baseline is acme/engine commit abc", ("acme/engine",)),
        ("and/or audio/video TP2/SP2 results/a.json", ()),
        ("commit of results/a.json", ()),
        ("https://github.com/orgs/acme", ()),
        ("https://gitlab.com/acme/engine", ()),
    ],
)
def test_repositories_in_text(text: str, names: tuple[str, ...]) -> None:
    assert repositories_named(text) == names


def test_repositories_in_a_value() -> None:
    value = {
        "upstream": "acme/engine",
        "fork": "me/engine",
        "path": "results/a",
        "note": "x/y",
        "source": {"url": "https://github.com/o/r"},
        "repo": "a/b.json",
    }
    assert repositories_named(value) == ("acme/engine", "me/engine", "o/r")


PLACEHOLDERS = [
    "<baseline-sha>",
    "TBD",
    "tbd (after the run)",
    "TODO: fill",
    "to be filled in after bring-up",
    "待定",
    "待补充",
    "???",
    "xxxx",
    "0" * 40,
]
PLACEHOLDERS += ["_No response_", "-", "…", "[TBD]", "${REVISION}", "{{ sha }}", "`<sha>`", "Placeholder until the first run"]


@pytest.mark.parametrize("value", PLACEHOLDERS)
def test_placeholders(value: str) -> None:
    assert placeholder(value)


@pytest.mark.parametrize(
    "value",
    [
        SHA,
        "main",
        "unselected",
        "results/a.json",
        "<ARTIFACT_ROOT>/logs/",
        "[decision](url)",
        "<br>",
        "<https://x.y>",
        "",
        "0",
        "The target is pending.",
    ],
)
def test_no_placeholders(value: str) -> None:
    assert not placeholder(value)


@pytest.mark.parametrize(
    ("value", "branch"),
    [
        ("main", "main"),
        ("HEAD", "HEAD"),
        ("origin/main", "main"),
        ("refs/heads/feature/x", "feature/x"),
        ("acme/engine@main", "main"),
        ("https://github.com/acme/engine/tree/acl-graph-decode.", "acl-graph-decode"),
        ("The change lives at https://github.com/acme/engine/tree/wip", "wip"),
        ("https://raw.githubusercontent.com/acme/engine/main/x.py", "main"),
        ("the latest main", "main"),
        ("branch: wip", "wip"),
        ("主干", "主干"),
        (SHA, None),
        (f"https://github.com/acme/engine/tree/{SHA}", None),
        ("https://github.com/acme/engine/tree/v1.2.3", None),
        ("https://github.com/acme/engine", None),
        ("v0.11.0", None),
        ("main loop time", None),
    ],
)
def test_mutable_references(value: str, branch: str | None) -> None:
    assert mutable_reference(value) == branch


def test_images() -> None:
    digest = "ab" * 32
    pinned = image_reference(f"quay.io/ascend/vllm:v1@sha256:{digest}")
    assert pinned and (pinned.name, pinned.tag, pinned.digest, pinned.is_pinned, pinned.is_mutable) == (
        "quay.io/ascend/vllm",
        "v1",
        digest,
        True,
        False,
    )
    tagged = image_reference("quay.io/ascend/vllm:v0.11.0")
    assert tagged and not tagged.is_pinned and not tagged.is_mutable
    assert all((image := image_reference(name)) and image.is_mutable for name in ("quay.io/ascend/vllm", "ubuntu:latest", "localhost:5000/x/y"))
    assert image_reference(f"sha256:{digest}") is not None
    assert image_reference("an image with words") is None


@given(st.text(max_size=200))
def test_any_text(value: str) -> None:
    repositories_named(value)
    placeholder(value)
    mutable_reference(value)
    image_reference(value)


@pytest.mark.parametrize(
    "unit", ["a/b ", "a/b#1 ", "a/b@abc1234 ", "github.com/", "github.com/a/b/tree/", "a/", "<", "[TBD", "a-", "x", "${", "to be "]
)
def test_is_linear(unit: str) -> None:
    value = unit * (200_000 // len(unit))
    start = time.process_time()
    repositories_named(value)
    placeholder(value)
    mutable_reference(value)
    image_reference(value)
    assert time.process_time() - start < 1.5
