"""Opening repositories: revisions, merges, and hostile settings that must not run anything."""

from pathlib import Path

import pytest

from bot.checkout.mirror import NotARepository, Repository, UnknownRevision, open_repository
from bot.checkout.tree import GitTree, tree_of
from tests.bot.making import commit, git, new


def opened(folder: Path) -> Repository:
    repository = open_repository(str(folder))
    assert repository is not None
    return repository


def test_no_repository(tmp_path: Path) -> None:
    assert open_repository(str(tmp_path)) is None
    (tmp_path / ".git").write_text("gitdir: /nowhere\n")
    with pytest.raises(NotARepository, match="git cannot use"):
        open_repository(str(tmp_path))


def test_revisions(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    first = commit(made, {"a": "1"})
    head = commit(made, {"a": "2"})
    git(made, "tag", "-a", "v1", "-m", "tag", first)
    with opened(made) as repository:
        for name, id in {"HEAD": head, "main": head, "main~1": first, "v1": first, head[:9]: head, "@": head}.items():
            assert repository.resolve(name) == id
        for name in ("nope", "-x", "--all", "", "HEAD main", "HEAD\nmain", "HEAD:a", "main..HEAD", "^main", "--output=/tmp/x", "0" * 40):
            with pytest.raises(UnknownRevision):
                repository.resolve(name)
        assert repository.commit(head[:8]) == head and repository.commit("f" * 40) is None and repository.commit("main") is None


def test_an_empty_repository_has_no_head(tmp_path: Path) -> None:
    with opened(new(tmp_path / "r")) as repository, pytest.raises(UnknownRevision, match="no commit yet"):
        repository.resolve("HEAD")


def test_merges(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    base = commit(made, {"a": "1\n", "b": "1\n"})
    main = commit(made, {"a": "main\n"})
    git(made, "checkout", "-q", "-b", "clean", base)
    clean = commit(made, {"b": "topic\n"})
    git(made, "checkout", "-q", "-b", "conflict", base)
    conflict = commit(made, {"a": "other\n"})
    git(made, "checkout", "-q", "--orphan", "alone")
    alone = commit(made, {"z": "1"})
    before = sorted((made / ".git/objects").rglob("*"))
    with opened(made) as repository:
        merged = repository.merge_tree(main, clean)
        assert merged is not None and merged[0] is not None
        files = GitTree(repository, merged[0], None)
        assert files.read("a") == b"main\n" and files.read("b") == b"topic\n" and files.commit is None
        assert repository.merge_tree(main, conflict) == (None, ("a",))
        assert repository.merge_tree(main, alone) is None
        assert repository.merge_base(main, clean) == base and repository.merge_base(main, alone) is None
    assert sorted((made / ".git/objects").rglob("*")) == before


def test_the_temporary_directory_goes(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    commit(made, {"a": "1"})
    with opened(made) as repository:
        shadow = Path(repository._shadow)
        assert tree_of(repository, repository.resolve("HEAD")).read("a") == b"1"
        assert shadow.is_dir()
    assert not shadow.exists()


def test_settings_of_the_repository_run_nothing(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    bait = f"touch {tmp_path}/ran; false"
    base = commit(made, {"a": "1\n", ".gitattributes": "* merge=evil diff=evil filter=evil\n"})
    main = commit(made, {"a": "2\n"})
    git(made, "checkout", "-q", "-b", "topic", base)
    topic = commit(made, {"a": "3\n"})
    settings = {
        "core.fsmonitor": bait,
        "core.sshCommand": bait,
        "core.pager": bait,
        "core.alternateRefsCommand": bait,
        "merge.evil.driver": bait,
        "diff.external": bait,
        "diff.evil.textconv": bait,
        "diff.evil.command": bait,
        "filter.evil.smudge": bait,
        "gpg.program": f"{tmp_path}/gpg",
        "log.showSignature": "true",
        "remote.origin.url": f"ext::sh -c '{bait}'",
        "remote.origin.promisor": "true",
        "extensions.partialClone": "origin",
        "protocol.ext.allow": "always",
        "core.repositoryformatversion": "1",
    }
    for key, value in settings.items():
        git(made, "config", key, value)
    (tmp_path / "gpg").write_text(f"#!/bin/sh\n{bait}\n")
    (tmp_path / "gpg").chmod(0o755)
    with opened(made) as repository:
        assert repository.resolve("HEAD") == topic
        assert repository.merge_tree(main, topic) == (None, ("a",))
        assert tree_of(repository, topic).read("a") == b"3\n"
        assert repository.commit("1" * 40) is None
        with pytest.raises(UnknownRevision):
            repository.resolve("1" * 40)
        repository.git.run("log", "-p", topic)
    assert not (tmp_path / "ran").exists()


def test_the_callers_git_variables_are_not_obeyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, other = new(tmp_path / "r"), new(tmp_path / "other")
    head = commit(made, {"a": "1"})
    commit(other, {"b": "1"})
    for name, value in {
        "GIT_DIR": str(other / ".git"),
        "GIT_OBJECT_DIRECTORY": str(other / ".git/objects"),
        "GIT_TRACE": str(tmp_path / "trace"),
    }.items():
        monkeypatch.setenv(name, value)
    with opened(made) as repository:
        assert repository.resolve("HEAD") == head
        assert list(tree_of(repository, head).files) == ["a"]
    assert not (tmp_path / "trace").exists()
