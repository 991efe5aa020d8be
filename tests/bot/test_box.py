"""Whatever happens in the box is one clear answer, and the next review works."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.box import Answer, Box, Failure, Limits, Request
from rules.core.model import Facts
from tests.bot.boxed_work import work
from tests.bot.making import ROOT, commit, git, new

MIB = 1024 * 1024


def ask(box: Box, words: str) -> Answer:
    return box.run(Request(words, "head", None))


def said(answer: Answer) -> list[str]:
    assert answer.failure is None, answer.failure
    return [one.sha for one in answer.questions]


@pytest.fixture
def box() -> Iterator[Box]:
    made = Box(Limits(seconds=20, cpu_seconds=1, memory=400 * MIB, files=64, file_bytes=1_000_000), work)
    yield made
    made.close()


def works(box: Box) -> bool:
    return said(ask(box, "nothing")) == ["done"]


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def all_gone(folder: Path) -> bool:
    """The children that wrote their ids into `folder` are dead, at the latest in a moment."""
    pids = [int(pid) for file in folder.iterdir() for pid in file.read_text().split()]
    deadline = time.monotonic() + 5
    while not all(gone(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return all(gone(pid) for pid in pids)


def test_the_box_is_a_group_of_its_own_at_the_root(box: Box) -> None:
    pid, folder, group, *path = said(ask(box, "who"))
    assert int(pid) != os.getpid() and group == pid and folder == "/" and "" not in path
    assert said(ask(box, "who"))[0] == pid


def test_no_secret_goes_into_the_box(monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "import sys\nfrom bot.box import Box, Request\nfrom tests.bot.boxed_work import work\n"
        "if __name__ == '__main__':\n box = Box(work=work)\n print(box.run(Request('environment', 'h', None)))\n box.close()\n"
    )
    secrets = {"ASSAY_PRIVATE_KEY": "s3cret", "ASSAY_WEBHOOK_SECRET": "s3cret", "ASSAY_DATABASE_URL": "s3cret", "GITHUB_TOKEN": "s3cret"}
    done = run(script, ROOT, **secrets)
    assert "PYTHONSAFEPATH" in done.stdout and "s3cret" not in done.stdout, done.stderr


def test_time_limit() -> None:
    box = Box(Limits(seconds=1), work)
    start = time.monotonic()
    assert ask(box, "sleep 60").failure == Failure("time", "the review took longer than 1 s.")
    assert time.monotonic() - start < 15 and works(box)
    box.close()


def test_cpu_limit_is_for_each_review_and_not_for_the_worker(box: Box) -> None:
    pids = {said(ask(box, "who"))[0]}
    for _ in range(5):
        assert said(ask(box, "burn 0.9")) == ["done"]
    assert {said(ask(box, "who"))[0]} == pids
    failure = ask(box, "burn 60").failure
    assert failure == Failure("cpu", "the review used more than 1 s of processor time.")
    assert works(box)


def test_memory_limit(box: Box) -> None:
    assert ask(box, f"memory {64 * MIB}").failure == Failure("memory", "the review needed more than 400 MiB of memory.")
    assert works(box)


def test_a_worker_that_has_grown_is_replaced(box: Box) -> None:
    pid = said(ask(box, "who"))[0]
    assert said(ask(box, f"grow {230 * MIB}")) == ["done"]
    assert said(ask(box, "who"))[0] != pid


def test_too_many_files_and_too_large_a_file(box: Box, tmp_path: Path) -> None:
    for words in ("files 500", f"write {tmp_path / 'large'}"):
        failure = ask(box, words).failure
        assert failure and failure.kind == "crash" and "OSError" in failure.sentence
        assert works(box)


def test_the_whole_group_dies_with_the_worker(tmp_path: Path) -> None:
    box = Box(Limits(seconds=2), work)
    assert ask(box, f"children {tmp_path}").failure
    assert len(list(tmp_path.iterdir())) == 3 and all_gone(tmp_path)
    assert works(box)
    box.close()


@pytest.mark.parametrize(
    ("words", "kind"),
    [("exit 3", "crash"), ("exit 0", "crash"), ("signal 11", "crash"), ("signal 9", "memory"), ("signal 15", "crash"), ("raise", "crash")],
)
def test_a_worker_that_dies_costs_one_review(box: Box, words: str, kind: str) -> None:
    failure = ask(box, words).failure
    assert failure and failure.kind == kind and failure.sentence.endswith(".") and "secret" not in failure.sentence
    assert works(box)


def test_killed_from_outside(box: Box) -> None:
    works(box)
    timer = threading.Timer(0.5, box.kill)
    timer.start()
    start = time.monotonic()
    assert ask(box, "sleep 15").failure == Failure("killed", "a newer head is wanted.")
    assert time.monotonic() - start < 8 and works(box)
    box.kill()
    assert works(box)


def test_a_closed_box_leaves_nothing(tmp_path: Path) -> None:
    box = Box(Limits(seconds=60), work)
    future = box.submit(Request(f"children {tmp_path}", "h", None))
    while len(list(tmp_path.iterdir())) < 3:
        time.sleep(0.05)
    box.close()
    assert future.result(5).failure and all_gone(tmp_path)


# ---------------------------------------------------------------- repositories


@pytest.fixture(scope="module")
def reviewer() -> Iterator[Box]:
    made = Box(Limits(seconds=60, cpu_seconds=60))
    yield made
    made.close()


RECORD = '{"verdict": "INCONCLUSIVE", "samples": [1.25, 1.5]}\n'


def world(folder: Path, files: dict[str, str]) -> tuple[str, str]:
    """(base, head) of a repository whose change adds `files`."""
    new(folder)
    base = commit(folder, {"README.md": "hello\n"})
    return base, commit(folder, {"evidence/c/results/summary.json": RECORD, **files})


def both(box: Box, folder: Path, base: str, head: str) -> Answer:
    first = box.run(Request(str(folder), head, base))
    assert first.failure is None, first.failure
    return box.run(Request(str(folder), head, base, facts=Facts()))


def test_a_review_and_a_warm_second(reviewer: Box, tmp_path: Path) -> None:
    base, head = world(tmp_path / "r", {})
    answer = both(reviewer, tmp_path / "r", base, head)
    assert answer.failure is None and answer.report and answer.report.head == head and answer.config and answer.evidence
    again = both(reviewer, tmp_path / "r", base, head)
    assert again.report and again.report.findings == answer.report.findings
    box = Box(work=warm)
    kept = [said(box.run(Request(word, head, base, facts=Facts()))) for word in ("cache", str(tmp_path / "r"), "cache", str(tmp_path / "r"), "cache")]
    assert kept[0] == ["0"] and int(kept[2][0]) > 0 and kept[4] == kept[2]
    box.close()


def warm(request: Request) -> Answer:
    """A real review, or a look at what is kept."""
    from bot import boxed

    if request.folder == "cache":
        return work(request)
    answer = boxed.review(request)
    return answer if answer.failure else Answer()


def test_a_head_that_is_not_there_is_the_users_and_leaves_the_worker(reviewer: Box, tmp_path: Path) -> None:
    base, head = world(tmp_path / "secret-folder", {})
    failure = reviewer.run(Request(str(tmp_path / "secret-folder"), "f" * 40, base)).failure
    assert failure and failure.kind == "unusable" and "secret-folder" not in failure.sentence and "ffff" in failure.sentence
    assert both(reviewer, tmp_path / "secret-folder", base, head).report
    gone_folder = reviewer.run(Request("/nowhere", head, base)).failure
    assert gone_folder and gone_folder.kind == "unusable"


DEEP = 10_000
HOSTILE = {
    "deep JSON": {"evidence/c/results/deep.json": "[" * DEEP + "]" * DEEP},
    "deep objects": {"evidence/c/results/deep.json": '{"a":' * DEEP + "1" + "}" * DEEP},
    "deep YAML": {"evidence/c/results/deep.yaml": "[" * DEEP + "]" * DEEP},
    "YAML laughs": {
        "evidence/c/plan/laughs.yaml": "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
    },
    "deep Markdown": {"evidence/c/README.md": ">" * DEEP + "a\n" + "[" * DEEP + "]" * DEEP + "\n" + "*a " * DEEP + "\n" + "- " * DEEP},
    "many keys": {"evidence/c/results/wide.json": "{" + ",".join(f'"k{n}": {n}' for n in range(50_000)) + "}"},
    "large number": {"evidence/c/results/n.json": f'{{"p95": {"9" * 100_000}, "e": 1e999999999, "x": -1e-999999999}}'},
    "not text": {"evidence/c/results/x.json": "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")},
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_documents_cost_at_most_their_own_review(reviewer: Box, tmp_path: Path, kind: str) -> None:
    base, head = world(tmp_path / "r", HOSTILE[kind])
    answer = both(reviewer, tmp_path / "r", base, head)
    assert answer.failure is None and answer.report
    assert not [one for one in answer.report.outcomes if one.state == "crashed"]


def test_one_line_of_200_mb(reviewer: Box, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    base, _ = world(folder, {})
    for name in ("results/line.json", "README.md", "results/log.txt"):
        with open(folder / "evidence/c" / name, "wb") as file:
            file.write(b'["' + b"a" * 200_000_000 + b'"]')
    git(folder, "-c", "core.compression=1", "add", "-A")
    git(folder, "commit", "-q", "-m", "large")
    answer = both(reviewer, folder, base, git(folder, "rev-parse", "HEAD"))
    assert (
        answer.failure is None and answer.report and {s.path.rpartition("/")[2] for s in answer.report.coverage.skipped} >= {"line.json", "README.md"}
    )


NAMES = (
    "multiprocessing",
    "json",
    "pickle",
    "re",
    "yaml",
    "typing",
    "signal",
    "resource",
    "ctypes",
    "runpy",
    "site",
    "sitecustomize",
    "usercustomize",
)
MORE = ("bot", "rules", "pebble", "git", "random", "zlib", "tempfile", "encodings", "collections", "numpy", "re2", "markdown_it", "pydantic")


def run(script: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    known = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    file = cwd / "script_of_the_test.py" if cwd != ROOT else None
    command = [sys.executable, "-P", str(file)] if file else [sys.executable, "-P", "-c", script]
    if file:
        file.write_text(script)
    return subprocess.run(command, cwd=cwd, env={**known, **env}, capture_output=True, text=True, timeout=100, check=False)


def test_modules_named_like_the_standard_librarys_are_never_run(tmp_path: Path) -> None:
    folder, proof = tmp_path / "r", tmp_path / "proof"
    mine = f"open({str(proof)!r}, 'a').write(__name__ + chr(10))\n"
    base, head = world(folder, {f"{name}.py": mine for name in (*NAMES, *MORE)} | {f"{name}/__init__.py": mine for name in MORE})
    script = (
        "import os, sys\nfrom bot.box import Box, Request\nfrom rules.core.model import Facts\n"
        "if __name__ == '__main__':\n"
        " sys.path[:0] = ['', os.getcwd()]\n"
        f" box = Box()\n for facts in (None, Facts()):\n  answer = "
        f"box.run(Request({str(folder)!r}, {head!r}, {base!r}, facts=facts))\n"
        "  print(answer.failure, bool(answer.report))\n box.close()\n"
    )
    done = run(script, folder)
    assert done.stdout.splitlines() == ["None False", "None True"], done.stderr
    assert not proof.exists(), proof.read_text()
