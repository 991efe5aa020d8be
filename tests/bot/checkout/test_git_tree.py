"""Trees out of real repositories, and out of plain folders: every byte, every name, nothing followed, nothing written."""

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from bot.checkout.mirror import Repository, open_repository
from bot.checkout.tree import FolderTree, GitTree, tree_of
from rules.core.model import Missing
from tests.bot.making import commit, git, new


def opened(folder: Path) -> Repository:
    repository = open_repository(str(folder))
    assert repository is not None
    return repository


def tree(repository: Repository, revision: str = "HEAD") -> GitTree:
    return tree_of(repository, repository.resolve(revision))


@pytest.mark.parametrize("object_format", ["sha1", "sha256"])
def test_every_byte_of_every_blob(tmp_path: Path, object_format: str) -> None:
    made = new(tmp_path / "r", f"--object-format={object_format}")
    files = {"empty": b"", "newline": b"\n", "crlf": b"a\r\nb\r\n", "binary": bytes(range(256)) * 5000, "zeros": b"\0" * 70_000, "no newline": b"x"}
    commit(made, files)
    (made / ".git/info").mkdir(exist_ok=True)
    (made / ".git/info/attributes").write_text("* text eol=crlf ident\n")
    with opened(made) as repository:
        found = tree(repository)
        assert {name: found.read(name) for name in files} == files
        assert {name: found.files[name].size for name in files} == {name: len(data) for name, data in files.items()}
        assert len(found.files["binary"].oid) == (64 if object_format == "sha256" else 40)
        assert found.commit == git(made, "rev-parse", "HEAD")


def test_names_that_git_would_quote(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    names = [
        b"a b",
        b"new\nline",
        b"tab\t",
        b'quo"te',
        b"back\\slash",
        b"latin-\xe9",
        "nfc-\u00e9".encode(),
        "nfd-e\u0301".encode(),
        b"-dash",
        b":colon",
    ]
    commit(made, {b"f/" + name: name for name in names})
    with opened(made) as repository:
        found = tree(repository)
        assert {os.fsencode(path): found.read(path) for path in found.files} == {b"f/" + name: name for name in names}
        assert "f/latin-\udce9" in found.files


def test_links_and_submodules_are_not_followed(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    (made / "out").symlink_to("/etc/passwd")
    commit(made, {"file": "x"})
    git(made, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    git(made, "commit", "-q", "-m", "sub")
    with opened(made) as repository:
        found = tree(repository)
        assert found.files["out"].is_symlink and found.read("out") == b"/etc/passwd"
        assert found.files["sub"].is_submodule and found.files["sub"].size == 0
        with pytest.raises(Missing):
            found.read("sub")
        with pytest.raises(Missing):
            found.read("no such file")


def test_partial_clone_names_what_is_missing_and_fetches_nothing(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    commit(made, {"old.json": "{}", "kept.json": "[1]"})
    git(made, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{made}", "partial")
    partial = tmp_path / "partial"
    git(partial, "checkout", "HEAD", "--", "kept.json")
    packs = sorted(path.name for path in (partial / ".git/objects/pack").iterdir())
    with opened(partial) as repository:
        found = tree(repository)
        assert found.files["old.json"].size == -1 and found.files["kept.json"].size == 3
        assert found.read("kept.json") == b"[1]"
        with pytest.raises(Missing):
            found.read("old.json")
        assert found.read("kept.json") == b"[1]"
    assert sorted(path.name for path in (partial / ".git/objects/pack").iterdir()) == packs


def test_a_damaged_object_is_missing_and_the_rest_is_read(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    commit(made, {"a": "aaa", "b": "bbb", "c": "ccc"})
    oid = git(made, "rev-parse", "HEAD:b")
    loose = made / ".git/objects" / oid[:2] / oid[2:]
    loose.chmod(0o644)
    loose.write_bytes(b"not zlib")
    with opened(made) as repository:
        found = tree(repository)
        assert found.read("a") == b"aaa"
        with pytest.raises(Missing):
            found.read("b")
        assert found.read("c") == b"ccc"
        assert found.files["b"].size == -1


def test_bare_repositories_and_worktrees(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    first = commit(made, {"a": "1"})
    git(made, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    second = commit(tmp_path / "side", {"a": "2"})
    git(tmp_path, "clone", "-q", "--bare", str(made), "bare.git")
    for folder, head in ((made, first), (tmp_path / "side", second), (tmp_path / "bare.git", first)):
        with opened(folder) as repository:
            assert tree(repository).commit == head
    with opened(tmp_path / "bare.git") as repository:
        assert tree(repository, "side").read("a") == b"2"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become nobody")
def test_a_repository_that_cannot_be_written_and_belongs_to_somebody_else(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    commit(made, {"a": "1"})
    for path in (tmp_path, *tmp_path.parents[:2]):
        path.chmod(0o755)
    shutil.chown(made, "nobody")
    before = {path: path.stat().st_mtime_ns for path in made.rglob("*")}
    with opened(made) as repository:
        assert tree(repository).read("a") == b"1"
    assert {path: path.stat().st_mtime_ns for path in made.rglob("*")} == before


def test_a_plain_folder(tmp_path: Path) -> None:
    (tmp_path / "d/.git").mkdir(parents=True)
    (tmp_path / "d/.git/config").write_text("hidden")
    (tmp_path / "d/e").mkdir()
    (tmp_path / "d/e/file").write_bytes(b"abc\r\n")
    (tmp_path / "d/link").symlink_to("/etc/passwd")
    (tmp_path / "d/loop").symlink_to("..")
    os.mkfifo(tmp_path / "d/pipe")
    found = FolderTree(str(tmp_path / "d"))
    assert list(found.files) == ["e/file", "link", "loop"]
    assert found.read("e/file") == b"abc\r\n" and found.commit is None
    assert found.files["e/file"].oid == hashlib.sha1(b"blob 5\0abc\r\n").hexdigest()
    assert found.files["link"].is_symlink and found.read("link") == b"/etc/passwd"
    with pytest.raises(Missing):
        found.read("pipe")


def test_a_file_that_becomes_a_link_after_listing_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    found = FolderTree(str(tmp_path))
    assert found.files["file"].size == 1
    (tmp_path / "file").unlink()
    os.mkfifo(tmp_path / "file")
    with pytest.raises(Missing):
        found.read("file")
