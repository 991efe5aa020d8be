"""The command line as its users meet it: exit codes, one line for whatever is wrong, and nothing of the reviewed repository run or imported."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.bot.making import CLEAN, ROOT, SCHEMA, assay, commit, git, new

LEAK = {
    "evidence/one/README.md": "# One\n\nThe log is at /home/alice/run/log.txt on our machine.\n",
    "tools/evidence_inventory.json": '{"bundles": [{"id": "one", "path": "evidence/one"}]}\n',
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """main: a clean tree; topic: a bundle that names a person's folder."""
    made = new(tmp_path_factory.mktemp("world") / "r")
    commit(made, {"README.md": "# r\n"})
    git(made, "checkout", "-q", "-b", "topic")
    commit(made, LEAK)
    git(made, "checkout", "-q", "main")
    return made


def report(*args: str | Path, code: int, **env: str) -> dict[str, Any]:
    done = assay("check", *args, "--format", "json", "--offline", **env)
    assert done.returncode == code, done.stderr
    held: dict[str, Any] = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(held)
    return held


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_nothing_found_something_found(world: Path) -> None:
    assert report(world, code=0)["verdict"] == "pass"
    found = report(world, "--head", "topic", "--base", "main", code=1)
    assert found["verdict"] == "changes-needed" and found["merge"]["clean"] and found["coverage"]["changed_files"] == 2
    assert any(one["rule"] == "private-path" for one in found["findings"])
    assert "alice" not in json.dumps(found)


@pytest.mark.parametrize(("level", "code"), [("blocking", 1), ("high", 1), ("low", 1), ("never", 0)])
def test_fail_on(world: Path, level: str, code: int) -> None:
    report(world, "--head", "topic", "--rule", "private-path", "--fail-on", level, code=code)


def test_fail_on_counts_from_its_level(world: Path, tmp_path: Path) -> None:
    (tmp_path / "c.yml").write_text("rules: {private-path: medium}\n")
    args = (world, "--head", "topic", "--rule", "private-path", "--config", tmp_path / "c.yml")
    report(*args, code=0)
    report(*args, "--fail-on", "medium", code=1)


@pytest.mark.parametrize("form", ["text", "markdown", "html", "sarif"])
def test_no_form_shows_what_is_private(world: Path, form: str) -> None:
    done = assay("check", world, "--head", "topic", "--format", form, "--offline", "--rule", "private-path")
    assert done.returncode == 1 and "alice" not in done.stdout and "private-path" in done.stdout
    assert "\x1b" not in done.stdout and done.stderr == ""


def test_text_shows_the_line(world: Path) -> None:
    done = assay("check", world, "--head", "topic", "--offline", "--rule", "private-path")
    assert "--> evidence/one/README.md:3" in done.stdout
    assert " > 3 | The log is at /home/<name>/run/log.txt" in done.stdout


def test_colour(world: Path) -> None:
    args = ("check", world, "--offline", "--rule", "private-path")
    assert "\x1b[" in assay(*args, FORCE_COLOR="1").stdout
    assert "\x1b[" not in assay(*args, FORCE_COLOR="1", NO_COLOR="1").stdout


def test_output(world: Path, tmp_path: Path) -> None:
    done = assay("check", world, "--offline", "--format", "json", "--output", tmp_path / "r.json")
    assert (done.returncode, done.stdout) == (0, "")
    jsonschema.validate(json.loads((tmp_path / "r.json").read_text("utf-8")), SCHEMA)


BAD: dict[str, tuple[list[str], str]] = {
    "no folder": (["check", "/no/such"], "/no/such does not exist"),
    "a file": (["check", "/etc/passwd"], "is not a folder"),
    "unknown head": (["check", "{world}", "--head", "nope"], "there is no commit 'nope'"),
    "unknown base": (["check", "{world}", "--base", "nope"], "there is no commit 'nope'"),
    "an option as revision": (["check", "{world}", "--head=--output=x"], "is no revision"),
    "base in a plain folder": (["check", "{empty}", "--base", "main"], "is not a git repository"),
    "no pull": (["check", "{world}", "--pull", "/no/such"], "--pull /no/such cannot be read"),
    "no issue": (["check", "{world}", "--issue", "/no/such"], "--issue /no/such cannot be read"),
    "no commits": (["check", "{world}", "--commits", "/no/such"], "--commits /no/such cannot be read"),
    "no config": (["check", "{world}", "--config", "/no/such"], "--config /no/such cannot be read"),
    "a folder as pull": (["check", "{world}", "--pull", "{world}"], "cannot be read"),
    "a pull that is none": (["check", "{world}", "--pull", "{file}"], "is not JSON"),
    "a config that is none": (["check", "{world}", "--config", "{file}"], "cannot be used"),
    "unknown rule": (["check", "{world}", "--rule", "private-paths"], "did you mean private-path?"),
    "unwritable output": (["check", "{world}", "--output", "/no/such/file"], "--output /no/such/file cannot be written"),
    "a folder as output": (["check", "{world}", "--output", "{empty}"], "cannot be written"),
    "unknown option": (["check", "--nope"], "No such option"),
    "unknown format": (["check", "--format", "pdf"], "Invalid value"),
    "unknown command": (["nope"], "No such command"),
    "two repositories": (["check", "{world}", "{world}"], "unexpected extra argument"),
    "unknown rule to explain": (["rules", "nope"], "there is no rule 'nope'"),
    "bad address": (["check", "{world}"], "ASSAY_GITHUB_API_URL is no http(s) URL"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_exit_2(name: str, world: Path, tmp_path: Path) -> None:
    args, message = BAD[name]
    (tmp_path / "file").write_text("{no: [")
    (tmp_path / "empty").mkdir()
    places = {"world": str(world), "empty": str(tmp_path / "empty"), "file": str(tmp_path / "file")}
    env = {"ASSAY_GITHUB_API_URL": "ftp://x"} if name == "bad address" else {}
    done = assay(*(arg.format(**places) if arg.startswith("{") else arg for arg in args), **env)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr and done.stderr.startswith("assay: ") and done.stderr.count("\n") == 1


def test_no_git(world: Path) -> None:
    done = assay("check", world, PATH="/nowhere")
    assert done.returncode == 2 and "git is not installed" in done.stderr and done.stderr.count("\n") == 1


def test_an_empty_repository(tmp_path: Path) -> None:
    done = assay("check", new(tmp_path / "r"))
    assert done.returncode == 2 and "no commit yet" in done.stderr


def test_a_repository_full_of_modules_named_like_the_standard_librarys(tmp_path: Path) -> None:
    names = [name for name in sys.stdlib_module_names if not name.startswith("_")] + [
        "git",
        "click",
        "yaml",
        "pydantic",
        "rules",
        "bot",
        "sitecustomize",
    ]
    trap = f"open({str(tmp_path / 'ran')!r}, 'w').write(__name__)\n"
    made = new(tmp_path / "r")
    commit(made, {f"{name}.py": trap for name in names} | {f"rules/integrity/{name}.py": trap for name in names[:3]} | {"git": "#!/bin/sh\n"})
    (made / "git").chmod(0o755)
    done = assay("check", "--offline", cwd=made)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become nobody")
def test_a_read_only_clone_of_somebody_elses(world: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(world), "copy")
    copy = tmp_path / "copy"
    for path in (copy, *copy.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    for path in (tmp_path, *tmp_path.parents[:3]):
        path.chmod(0o755)
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-P", "-m", "bot.cli", "check", str(copy), "--offline"]
    env = {**CLEAN, "PYTHONPATH": str(ROOT), "HOME": "/nonexistent"}
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False, cwd="/")
    assert done.returncode == 0, done.stderr


def test_a_conflict_is_said(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    commit(made, {"a": "1\n"})
    git(made, "checkout", "-q", "-b", "topic")
    commit(made, {"a": "2\n"})
    git(made, "checkout", "-q", "main")
    commit(made, {"a": "3\n"})
    found = report(made, "--head", "topic", "--base", "main", code=0)
    assert found["merge"] == {"clean": False, "changed_files": 1, "same_change_as_head": None, "blobs_equal_head": None, "base_touches": ["a"]}


def test_clones_that_lack_something_are_reviewed_as_far_as_they_reach(world: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", "-b", "topic", f"file://{world}", "shallow")
    found = report(tmp_path / "shallow", "--rule", "private-path", code=1)
    assert {"what": "history", "why": "the clone is shallow"} in found["coverage"]["not_checked"]
    git(world, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", "-b", "topic", f"file://{world}", "partial")
    found = report(tmp_path / "partial", code=3)
    assert found["verdict"] == "incomplete" and len(found["coverage"]["skipped"]) == 3


def test_names_that_are_no_text(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    names = [b"evidence/one/latin-\xe9.json", b"evidence/one/new\nline.json", b"evidence/one/a b.json", "evidence/one/e\u0301.json".encode()]
    commit(made, dict.fromkeys(names, b"{"))
    found = report(made, "--fail-on", "never", code=0)
    assert found["coverage"]["files"] == 4 and len(found["coverage"]["skipped"]) == 4
    for form in ("text", "markdown", "html", "sarif"):
        assert assay("check", made, "--offline", "--format", form, "--fail-on", "never").returncode == 0


def test_a_reader_that_leaves(world: Path) -> None:
    command = f"{sys.executable} -P -m bot.cli check {world} --offline --format json | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env={**CLEAN, "PYTHONPATH": str(ROOT)}, check=False)
    assert done.stderr == ""


def test_an_interruption_is_quiet(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pull.json")
    command = [sys.executable, "-P", "-m", "bot.cli", "check", str(ROOT), "--pull", str(tmp_path / "pull.json")]
    env = {**CLEAN, "PYTHONPATH": str(ROOT)}
    obey = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=env, preexec_fn=obey)
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, b"") and b"Traceback" not in err


def test_ending_it_leaves_nothing_behind(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    commit(made, {"a": "1"})
    oid = git(made, "rev-parse", "HEAD:a")
    loose = made / ".git/objects" / oid[:2] / oid[2:]
    loose.unlink()
    os.mkfifo(loose)
    (tmp_path / "t").mkdir()
    env = {**CLEAN, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "t")}
    process = subprocess.Popen([sys.executable, "-P", "-m", "bot.cli", "check", str(made), "--offline"], env=env, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 20
    while not list((tmp_path / "t").iterdir()) and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(0.3)
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == 143 and list((tmp_path / "t").iterdir()) == []


def test_rules(world: Path) -> None:
    listed = assay("rules")
    assert listed.returncode == 0 and any(line.startswith("private-path ") and "blocking" in line for line in listed.stdout.splitlines())
    told = assay("rules", "private-path")
    assert told.returncode == 0 and told.stdout.startswith("private-path (privacy, blocking)")


def test_doctor(world: Path, tmp_path: Path) -> None:
    assert assay("doctor", world).returncode == 0
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{world}", "shallow")
    assert "the clone is shallow" in assay("doctor", tmp_path / "shallow").stdout
    broken = new(tmp_path / "broken")
    commit(broken, {".github/assay.yml": "nonsense: 1\n"})
    done = assay("doctor", broken)
    assert done.returncode == 2 and "bad   .github/assay.yml cannot be used" in done.stdout


def test_starting_is_cheap() -> None:
    for args in (["--help"], ["rules"]):
        command = [sys.executable, "-P", "-m", "bot.cli", *args]
        costs = []
        for _ in range(3):
            before = os.times()
            subprocess.run(command, capture_output=True, env={**CLEAN, "PYTHONPATH": str(ROOT)}, check=True)
            after = os.times()
            costs.append(after.children_user + after.children_system - before.children_user - before.children_system)
        assert min(costs) <= 0.25
