"""private-path: whose folder, in which file, how strong, and that the name is never repeated."""

import pytest

from rules.core.config import Config
from rules.core.model import Severity, Unchecked
from rules.privacy.private_path import RULE
from tests.worlds import bundle, findings, run, snapshot


def found(path: str, text: object) -> list[tuple[Severity, str]]:
    made = findings(RULE, snapshot(bundle({path: text})))
    assert "jane" not in repr([(one.title, one.problem, one.evidence, one.roots, one.next) for one in made])
    return [(one.severity, dict(one.evidence)["prefix"]) for one in made]


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("/home/jane/x", "/home/<name>/"),
        ("/Users/jane/x", "/Users/<name>/"),
        ("C:\\Users\\jane\\x", "C:\\Users\\<name>\\"),
        ("`file:///home/jane/x`", "/home/<name>/"),
        ("```\ncd /home/jane\n```", "/home/<name>/"),
        ("日志位于/home/jane/x", "/home/<name>/"),
        ("-I/home/jane/include", "/home/<name>/"),
        ("file:%2F%2F%2Fhome%2Fjane%2Fx", "/home/<name>/"),
        ("/mnt/c/Users/jane/x", "/mnt/c/Users/<name>/"),
    ],
)
def test_a_person_s_folder_however_it_is_written(text: str, prefix: str) -> None:
    assert (Severity.BLOCKING, prefix) in found("README.md", text)


@pytest.mark.parametrize(
    "text",
    [
        "/home/runner/work",
        "/home/ubuntu/x",
        "/home/$USER/x",
        "/home/<user>/x",
        "$HOME/x",
        "https://example.org/home/jane/x",
        "results/home/jane/x",
        "../Users/jane",
        "GET /users/jane",
        "/homework/jane",
    ],
)
def test_what_belongs_to_nobody(text: str) -> None:
    assert found("README.md", text) == []


@pytest.mark.parametrize(
    ("path", "severity"),
    [
        ("README.md", Severity.BLOCKING),
        ("results/r.json", Severity.BLOCKING),
        ("results/r.yaml", Severity.BLOCKING),
        ("results/r.csv", Severity.BLOCKING),
        ("results/server.log", Severity.MEDIUM),
        ("results/raw/r.txt", Severity.MEDIUM),
        ("results/r.jsonl", Severity.MEDIUM),
    ],
)
def test_prose_and_records_block_and_raw_logs_do_not(path: str, severity: Severity) -> None:
    assert [level for level, _ in found(path, '"/home/jane/x"')] == [severity]


@pytest.mark.parametrize("text", ["/mnt/models/x", "/data/x", "/root/x"])
def test_shared_mounts_are_low(text: str) -> None:
    assert [level for level, _ in found("README.md", text)] == [Severity.LOW]


def test_one_finding_for_a_file_and_a_name_with_all_its_places() -> None:
    text = {"a": "/home/jane/x", "b": ["/home/jane/y", {"c": "/home/joe/z"}], "/home/jane/key": 1}
    made = findings(RULE, snapshot(bundle({"r.json": text})))
    assert [[at.pointer for at in one.locations][:2] for one in made if "/home/<name>/" in one.problem] == [["/a", "/b/0"], ["/a", "/b/0"]]
    assert [dict(one.evidence)["lines"] for one in made] == ["3", "1"]


def test_slashes_that_json_escapes() -> None:
    (one,) = findings(RULE, snapshot(bundle({"r.json": '{"a": "\\/home\\/jane\\/x"}'})))
    assert one.locations[0].pointer == "/a" and dict(one.evidence)["prefix"] == "/home/<name>/"


def test_a_frozen_file_is_not_to_be_edited() -> None:
    import hashlib

    digest = hashlib.sha256(b"/home/jane/x").hexdigest()
    (one,) = findings(RULE, snapshot(bundle({"a.md": "/home/jane/x", "plan/m.json": {"files": {"a.md": digest}}})))
    assert "frozen by" in one.next and "redacted copy" in one.next
    (free,) = findings(RULE, snapshot(bundle({"a.md": "/home/jane/x"})))
    assert "<ARTIFACT_ROOT>" in free.next and "frozen" not in free.next


def test_documents_of_the_change_count_and_other_files_do_not() -> None:
    files = {"docs/a.md": "/home/jane/x", "src/a.py": "/home/jane/x", "old.md": "/home/jane/x"}
    assert [one.locations[0].path for one in findings(RULE, snapshot(files, base={"old.md": "/home/jane/x"}))] == ["docs/a.md"]


def test_binary_empty_and_too_large_files() -> None:
    assert found("a.md", b"\0/home/jane/x") == [] == found("a.md", "")
    held = snapshot(bundle({"a.log": "/home/jane/" + "x" * 200}), config=Config.model_validate({"limits": {"scan": 100}}))
    assert [type(item) for item in run(RULE, held)] == [Unchecked]
