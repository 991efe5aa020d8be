"""The one walk over the history: every change, merges against each parent, shallow and damaged clones."""

from datetime import UTC, datetime
from pathlib import Path

from bot.checkout.history import GitHistory
from bot.checkout.mirror import Repository, open_repository
from rules.core.model import Change
from tests.bot.making import commit, git, new


def history(folder: Path, revision: str = "HEAD") -> tuple[GitHistory, Repository]:
    repository = open_repository(str(folder))
    assert repository is not None
    return GitHistory(repository, repository.resolve(revision)), repository


def test_commits_and_changes_newest_first(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    one = commit(made, {"a b": "1", b"latin-\xe9": "x"}, "first\n\nbody")
    first = git(made, "rev-parse", "HEAD:a b")
    two = commit(made, {"a b": "2", "new\nline": "y"}, "second")
    second = git(made, "rev-parse", "HEAD:a b")
    three = commit(made, {"a b": None}, "third")
    found, repository = history(made)
    with repository:
        assert list(found.commits) == [three, two, one]
        assert [found.commits[id].subject for id in (one, two, three)] == ["first", "second", "third"]
        assert found.commits[two].parents == (one,) and found.commits[one].parents == ()
        assert found.commits[one].time == datetime(2026, 11, 1, 9, tzinfo=UTC)
        assert [c for c in found.changes if c.path == "a b"] == [
            Change(three, "a b", second, None),
            Change(two, "a b", first, second),
            Change(one, "a b", None, first),
        ]
        assert {c.path for c in found.changes} == {"a b", "latin-\udce9", "new\nline"}
        assert found.complete
        assert found.is_ancestor(one, three) and found.is_ancestor(two, two) and not found.is_ancestor(three, one)
        assert found.kind(first[:8]) == "blob" and found.kind(one) == "commit" and found.kind("0" * 40) is None and found.kind("HEAD") is None
        assert found.blob(first) == b"1"


def test_a_merge_is_compared_with_each_parent(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    base = commit(made, {"a": "1", "b": "1"})
    git(made, "checkout", "-q", "-b", "side")
    side = commit(made, {"b": "2"})
    git(made, "checkout", "-q", "main")
    main = commit(made, {"a": "2"})
    git(made, "merge", "-q", "--no-commit", "side")
    merge = commit(made, {"b": "3"}, "evil merge")
    found, repository = history(made)
    with repository:
        assert found.commits[merge].parents == (main, side)
        assert sorted(c.path for c in found.changes if c.commit == merge) == ["a", "b"]
        assert found.is_ancestor(side, merge) and not found.is_ancestor(side, main) and found.is_ancestor(base, side)


def test_is_ancestor_beyond_the_history_of_head(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    base = commit(made, {"a": "1"})
    later = commit(made, {"a": "2"})
    found, repository = history(made, base)
    with repository:
        assert found.is_ancestor(base, later) and not found.is_ancestor(later, base)


def test_a_shallow_clone_is_not_complete(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    commit(made, {"a": "1"})
    head = commit(made, {"a": "2"})
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{made}", "shallow")
    found, repository = history(tmp_path / "shallow")
    with repository:
        assert not found.complete and list(found.commits) == [head]


def test_a_missing_parent_makes_it_incomplete(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    first = commit(made, {"a": "1"})
    commit(made, {"a": "2"})
    (made / ".git/objects" / first[:2] / first[2:]).unlink()
    found, repository = history(made)
    with repository:
        assert not found.complete


def test_replacements_and_grafts_do_not_change_history(tmp_path: Path) -> None:
    made = new(tmp_path / "r")
    first = commit(made, {"a": "1"})
    second = commit(made, {"a": "2"})
    git(made, "replace", "--graft", second)
    (made / ".git/info").mkdir(exist_ok=True)
    (made / ".git/info/grafts").write_text(second + "\n")
    found, repository = history(made)
    with repository:
        assert list(found.commits) == [second, first]
