"""The lock holds every package that the project declares, at a version that it allows, and nothing but names and versions."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LOCKED = [line for line in (ROOT / "requirements.lock").read_text("utf-8").splitlines() if not line.startswith("#")]


def test_names_and_versions_only() -> None:
    assert LOCKED and [line for line in LOCKED if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9A-Za-z.+!-]+", line)] == []
    assert len({canonicalize_name(line.partition("==")[0]) for line in LOCKED}) == len(LOCKED)


def test_what_is_declared_is_locked_at_an_allowed_version() -> None:
    versions = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in LOCKED)}
    declared = [Requirement(text) for text in (*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"])]
    wrong = [str(one) for one in declared if not one.specifier.contains(versions.get(canonicalize_name(one.name), "0"), prereleases=True)]
    assert wrong == [], "run `make lock`"


def test_what_ci_runs_is_there() -> None:
    script = (ROOT / ".ci/run").read_text("utf-8")
    made = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"make (\w+)$", script, re.MULTILINE)
    assert {"lint", "test", "try"} <= set(targets) and all(re.search(rf"^{target}:", made, re.MULTILINE) for target in targets)
    assert (ROOT / ".ci/run").stat().st_mode & 0o100
