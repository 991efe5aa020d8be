"""The documentation is true: generated pages are up to date, links lead somewhere, and every shell example does what the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from bot import docs
from rules.core.config import read_config
from tests.bot.making import CLEAN, commit, git, new

ROOT = Path(__file__).resolve().parents[1]
WRITTEN = ("README.md", "CONTRIBUTING.md", "docs/extending.md")
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")))
EXECUTED = {"README.md": 3, "CONTRIBUTING.md": 1, "docs/extending.md": 2}
"""Shell examples of each page; each is run by a test of this module."""
SOURCE = shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".*_cache", ".hypothesis", "build", "*.egg-info", "scenarios")


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a page that are written in `language`."""
    tokens = MarkdownIt("commonmark").parse((ROOT / page).read_text("utf-8"))
    return [token.content for token in tokens if token.type == "fence" and token.info == language]


def files(page: str) -> dict[str, str]:
    """The files that a page shows: blocks whose first line is a comment with a path."""
    shown = [text for language in ("python", "yaml", "json", "toml") for text in blocks(page, language)]
    named = [(match[1], text[match.end() :]) for text in shown if (match := re.match(r"(?:#|//) ([\w./-]+\.\w+)\n", text))]
    return dict(named)


PACKAGES = os.pathsep.join(path for path in sys.path if path.endswith("-packages"))
PIP = {"PIP_NO_DEPS": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_IGNORE_INSTALLED": "1", "PYTHONPATH": PACKAGES}
"""What the project needs is installed already, at the same versions; the package itself is built and installed for real."""


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """An environment in which `assay`, `python` and `pip` are this project's."""
    (tmp_path / "home").mkdir()
    return {**CLEAN, "HOME": str(tmp_path / "home"), "PATH": shims(tmp_path / "shims", sys.executable), "PYTHONPATH": str(ROOT)}


def shims(folder: Path, python: str) -> str:
    """A search path that begins with the commands of `python`."""
    folder.mkdir()
    for name, command in {"assay": "-P -m bot.cli", "python": "", "python3": "", "pip": "-m pip"}.items():
        (folder / name).write_text(f'#!/bin/sh\nexec "{python}" {command} "$@"\n')
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def run(script: str, cwd: Path, env: dict[str, str]) -> str:
    """Run a script line by line, as a reader does; what it prints. A review may end with 1: it found something."""
    said = ""
    for line in script.splitlines():
        if not line.startswith("export PATH="):
            done = subprocess.run(["bash", "-c", line], cwd=cwd, env=env, capture_output=True, text=True, timeout=300, check=False)
            assert done.returncode in ((0, 1) if "assay check " in line else (0,)), f"{line}\n{done.stdout[-1500:]}{done.stderr[-1500:]}"
            said += done.stdout
    return said


# ---------------------------------------------------------------- pages


def test_generated_pages_are_up_to_date() -> None:
    assert [path for path, _ in docs._stale(docs.pages())] == []


def test_a_stale_page_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "docs/rules").mkdir(parents=True)
    (tmp_path / "docs/rules/gone.md").write_text("x")
    (tmp_path / "docs/config.md").write_text("old")
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    monkeypatch.setattr(docs, "pages", lambda: {"docs/config.md": "new"})
    monkeypatch.setattr(sys, "argv", ["docs", "--check"])
    assert docs.main() == 1 and capsys.readouterr().out == "stale: docs/config.md\nstale: docs/rules/gone.md\n"
    monkeypatch.setattr(sys, "argv", ["docs"])
    assert docs.main() == 0 and [at.name for at in (tmp_path / "docs").rglob("*.md")] == ["config.md"]


def test_links_lead_somewhere() -> None:
    dead = []
    for page in PAGES:
        text = (ROOT / page).read_text("utf-8")
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
            target, _, mark = link.partition("#")
            at = (ROOT / page).parent / target if target else ROOT / page
            if not link.startswith("https://") and (not at.exists() or (mark and mark not in _marks(at))):
                dead.append(f"{page}: {link}")
    assert dead == [] and len(PAGES) > 30


def _marks(page: Path) -> set[str]:
    return {
        re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-") for line in page.read_text("utf-8").splitlines() if line.startswith("#")
    }


def test_every_shell_example_is_run_by_a_test() -> None:
    held = {page: len(blocks(page, "sh")) for page in PAGES}
    assert {page: count for page, count in held.items() if count} == EXECUTED
    assert all(not blocks(page, language) for page in PAGES for language in ("", "bash", "console", "shell"))


def test_the_picture_is_of_a_real_review_and_fetches_nothing() -> None:
    svg = (ROOT / "docs/review.svg").read_text("utf-8")
    assert (
        "private-path" in svg
        and "changes&#160;needed" in svg
        and "http" not in svg.replace("http://www.w3.org/", "").replace("https://www.textualize.io", "")
    )


# ---------------------------------------------------------------- README


def test_the_commands_of_the_readme(tmp_path: Path, shell: dict[str, str]) -> None:
    made = new(tmp_path / "path/to/repository")
    commit(made, {"README.md": "# Evidence\n"})
    git(made, "checkout", "-q", "-b", "topic")
    commit(made, {"evidence/a/README.md": "# a\n", "evidence/a/results/r.json": '{"log": "/home/jane/x"}\n'})
    check, other, _ = blocks("README.md", "sh")
    said = run(check, tmp_path, shell)
    assert said.count("Review verdict") == 2 and "jane" not in said
    assert "F1" in (tmp_path / "review.md").read_text("utf-8")
    said = run(other, tmp_path, shell)
    assert "hash-mismatch" in said and "What it checks" in said and 'bundles: "evidence/*"' in said and "git repository at" in said


def test_the_installed_command_works_without_the_source(tmp_path: Path, shell: dict[str, str]) -> None:
    source = tmp_path / "source"
    shutil.copytree(ROOT, source, ignore=SOURCE)
    env = {**shell, **PIP}
    run(blocks("README.md", "sh")[2], source, env)
    shutil.rmtree(source)
    made = new(tmp_path / "r")
    commit(made, {"evidence/a/results/r.json": "{"})
    installed = tmp_path / "home/assay/bin/assay"
    where = run("~/assay/bin/python -P -c 'import bot; print(bot.__file__)'", tmp_path, env)
    assert where.startswith(str(tmp_path / "home/assay/lib"))
    for arguments in ("--version", "rules", f"check {made} --offline --format json", f"check {made} --offline --format html"):
        assert run(f"assay {arguments}", tmp_path, {**env, "PATH": f"{installed.parent}:{env['PATH']}"})


# ---------------------------------------------------------------- CONTRIBUTING


def test_a_rule_in_five_minutes(tmp_path: Path, shell: dict[str, str]) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(ROOT, copy, ignore=SOURCE)
    shown = files("CONTRIBUTING.md")
    assert len(shown) == 3
    for path, text in shown.items():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).write_text(text, "utf-8")
    said = run(blocks("CONTRIBUTING.md", "sh")[0], copy, {**shell, "PYTHONPATH": "."})
    assert said.startswith("host-missing (integrity, medium)\n\nA result does not say on which host it was measured")
    assert "found 1/1   quiet 1/1" in said and "2 passed, 0 failed" in said
    assert "wrote: docs/rules/host-missing.md" in said and (copy / "docs/rules/host-missing.md").is_file()
    module = copy / "rules/integrity/host_missing.py"
    for tool in ("check", "format --check"):
        run(f"python -m ruff {tool} --config {ROOT}/pyproject.toml {module}", copy, shell)


# ---------------------------------------------------------------- extending


def test_assertions_of_the_config(tmp_path: Path, shell: dict[str, str]) -> None:
    shown = files("docs/extending.md")
    assert len(read_config(shown[".github/assay.yml"].encode()).assertions) == 2
    made = new(tmp_path / "r")
    commit(made, {path: text for path, text in shown.items() if path.startswith((".github/", "evidence/"))})
    said = run(blocks("docs/extending.md", "sh")[0], made, shell)
    (wanted,) = blocks("docs/extending.md", "text")
    assert [line for line in wanted.splitlines() if line not in said.splitlines()] == []


def test_rules_of_an_operator(tmp_path: Path, shell: dict[str, str]) -> None:
    made = new(tmp_path / "r")
    package = made / "acme-assay-rules"
    package.mkdir()
    for path, text in files("docs/extending.md").items():
        if not path.startswith((".github/", "evidence/")):
            (package / path).write_text(text, "utf-8")
    commit(made, {"evidence/raft/results/a.json": "{}"})
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    env = {**shell, **PIP, "PYTHONPATH": f"{ROOT}{os.pathsep}{PACKAGES}", "PATH": shims(tmp_path / "own", str(tmp_path / "env/bin/python"))}
    said = run(blocks("docs/extending.md", "sh")[1], made, env)
    assert "acme-readme (acme, high)" in said and "A bundle has no README" in said and "F1 high[acme-readme]: raft has no README" in said
