"""From what a user names to a snapshot and a report, with a small rule of the test's own."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.gather import Gathered, UnusableInput, Wanted, gather, github_name, load_config, load_issue, load_pull, recorded, review
from rules.core.model import Answer, Confirmed, Facts, Finding, Item, Location, Pull, Question, Rule, Severity, Snapshot, Unchecked, User
from tests.bot.making import commit, git, new


def _check(snapshot: Snapshot, facts: Facts) -> Iterator[Item]:
    for path in snapshot.head.files:
        if path.endswith("bad.txt"):
            yield Finding("fake-rule", Severity.HIGH, "It is bad", f"`{path}`", "impact", "next", (Location(path, line=1),), roots=(f"file:{path}",))
    answer = facts.commit("acme/engine", "abc1234")
    if answer is None:
        yield Unchecked("abc1234", "nobody was asked")
    elif answer.status == 200:
        place = Location("a.txt", line=1)
        yield Confirmed("revision", "abc1234", place, place)


RULE = Rule("fake-rule", "integrity", Severity.HIGH, _check, asks=lambda _: [Question("Acme/Engine", "ABC1234")])


def pull(**parts: object) -> Pull:
    held = {"number": 7, "title": "t", "body": "", "user": User("a", False), "draft": False, "state": "open", "head_sha": "", "base_sha": ""}
    return Pull(**(held | {"base_repository": None, "head_repository": None, "labels": ()} | parts))  # type: ignore[arg-type]


@pytest.fixture
def world(tmp_path: Path) -> dict[str, str]:
    """main: one, two; topic (from one): three, which adds a bad file."""
    made = new(tmp_path / "r")
    one = commit(made, {"a.txt": "1\n"})
    git(made, "checkout", "-q", "-b", "topic")
    three = commit(made, {"bad.txt": "x\n"})
    git(made, "checkout", "-q", "main")
    two = commit(made, {"b.txt": "1\n"})
    return {"folder": str(made), "one": one, "two": two, "three": three}


def gathered(**parts: object) -> Gathered:
    return gather(Wanted(**parts))  # type: ignore[arg-type]


def test_a_pull(world: dict[str, str]) -> None:
    wanted = Wanted(world["folder"], head="topic", base="main")
    with gather(wanted) as found:
        snapshot = found.snapshot
        assert (snapshot.head.commit, snapshot.base and snapshot.base.commit) == (world["three"], world["two"])
        assert snapshot.merge_base and snapshot.merge_base.commit == world["one"]
        assert snapshot.merge and snapshot.merge.clean and snapshot.merge.tree
        assert sorted(snapshot.merge.tree.files) == ["a.txt", "b.txt", "bad.txt"]
        report = review(found, [RULE], None, wanted)
    assert [one.finding.title for one in report.findings] == ["It is bad"] and report.verdict == "changes-needed"
    assert report.merge and report.merge.same_change_as_head
    assert Unchecked("abc1234", "nobody was asked") in report.coverage.not_checked


@pytest.mark.parametrize(("head", "base", "merged"), [("main", "main~1", ["a.txt", "b.txt"]), ("main~1", "main", ["a.txt", "b.txt"])])
def test_a_merge_that_is_one_of_its_sides(world: dict[str, str], head: str, base: str, merged: list[str]) -> None:
    with gathered(folder=world["folder"], head=head, base=base) as found:
        assert found.snapshot.merge and found.snapshot.merge.tree
        assert sorted(found.snapshot.merge.tree.files) == merged


def test_answers_reach_the_rule(world: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "commits.json").write_text(json.dumps({"Acme/engine": {"ABC1234": {"status": 200, "reachable": None}}}))
    wanted = Wanted(world["folder"])
    with gather(wanted) as found:
        report = review(found, [RULE], recorded(str(tmp_path / "commits.json")), wanted)
    assert [one.value for one in report.confirmed] == ["abc1234"]


def test_recorded_statuses_stay_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "commits.json"
    file.write_text(json.dumps({"o/r": {"a" * 7: {"status": 404}, "b" * 7: {"status": 200, "reachable": False, "type": "tree"}}}))
    answers, notes = recorded(str(file))([Question("o/r", "a" * 7), Question("o/r", "b" * 7), Question("o/r", "c" * 7)])
    assert answers == {Question("o/r", "a" * 7): Answer(404), Question("o/r", "b" * 7): Answer(200, False, "tree")} and notes == ()


def test_what_a_shallow_clone_lacks_is_said(world: dict[str, str], tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{world['folder']}", "shallow")
    with gathered(folder=str(tmp_path / "shallow"), head="origin/topic", base="origin/main") as found:
        assert found.snapshot.merge_base is None and found.snapshot.merge is None
        assert found.notes == (Unchecked("history", "the clone is shallow"), Unchecked("merge of head and base", "the clone is shallow"))


def test_a_plain_folder(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("x")
    wanted = Wanted(str(tmp_path))
    with gather(wanted) as found:
        report = review(found, [RULE], None, wanted)
    assert report.head is None and len(report.findings) == 1
    with pytest.raises(UnusableInput, match="not a git repository"):
        gathered(folder=str(tmp_path), base="main")


def test_a_folder_inside_a_repository(world: dict[str, str]) -> None:
    inside = Path(world["folder"]) / "untracked"
    inside.mkdir()
    (inside / "bad.txt").write_text("x")
    with gathered(folder=str(inside)) as found:
        assert found.snapshot.head.commit is None and list(found.snapshot.head.files) == ["bad.txt"]
    commit(Path(world["folder"]), {"tracked/c.txt": "1"})
    with gathered(folder=str(inside.parent / "tracked")) as found:
        assert found.snapshot.head.commit is not None and "a.txt" in found.snapshot.head.files


def test_the_base_is_the_law(world: dict[str, str], tmp_path: Path) -> None:
    made = Path(world["folder"])
    commit(made, {".github/assay.yml": "upstreams: [acme/engine]\n"})
    git(made, "checkout", "-q", "topic")
    commit(made, {".github/assay.yml": "upstreams: [evil/engine]\n"})
    with gathered(folder=str(made), head="topic", base="main") as found:
        assert found.snapshot.config.upstreams == ("acme/engine",)
    with gathered(folder=str(made), head="topic") as found:
        assert found.snapshot.config.upstreams == ("evil/engine",)
    (tmp_path / "own.yml").write_text("upstreams: [own/engine]\n")
    with gathered(folder=str(made), head="topic", config=load_config(str(tmp_path / "own.yml"))) as found:
        assert found.snapshot.config.upstreams == ("own/engine",)


def test_a_config_that_is_a_link(world: dict[str, str]) -> None:
    made = Path(world["folder"])
    (made / ".github").mkdir()
    (made / ".github/assay.yml").symlink_to("/etc/passwd")
    commit(made, {})
    with pytest.raises(UnusableInput, match="a link or a submodule"):
        gathered(folder=str(made))


def test_linked_pulls_heads_and_the_repositorys_name(world: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "issue.json"
    linked = [{"number": 7, "head": {"sha": world["three"]}, "user": None, "body": None}, {"number": 8, "head": {"sha": "f" * 40, "repo": None}}]
    file.write_text(json.dumps({"number": 5, "body": None, "user": None, "comments": [{"user": None, "body": None}], "linked_pulls": linked}))
    git(Path(world["folder"]), "remote", "add", "origin", "git@github.com:Acme/evidence.git")
    with gathered(folder=world["folder"], issue=load_issue(str(file))) as found:
        assert {n: t.commit for n, t in found.snapshot.linked.items()} == {7: world["three"]}
        assert found.snapshot.repository == "Acme/evidence"
    with gathered(folder=world["folder"], pull=pull(base_repository="o/r", head_sha="f" * 40)) as found:
        assert found.snapshot.repository == "o/r" and found.notes[0].what == "the pull's own head"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/o/r.git", "o/r"),
        ("https://user:pw@github.com/o/r", "o/r"),
        ("git@github.com:o/r.git", "o/r"),
        ("git@github.com-work:o/r", "o/r"),
        ("ssh://git@github.com:22/o/r.git", "o/r"),
        ("ssh://git@ssh.github.com:443/o/r.git", "o/r"),
        ("https://gitlab.com/o/r.git", None),
        ("https://evil.com/github.com/o/r", None),
        ("/srv/github.com/o/r", None),
        ("../r", None),
        ("file:///srv/r", None),
    ],
)
def test_names_of_remotes(url: str, name: str | None) -> None:
    assert github_name(url) == name


def test_a_remote_on_an_enterprise_server() -> None:
    assert github_name("https://git.example.org/o/r", "https://git.example.org") == "o/r"
    assert github_name("https://github.com/o/r", "https://git.example.org") is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"[]", "not a JSON object"),
        (b"{}", "no `number`"),
        (b"[" * 200_000, "nested too deep"),
        (None, "cannot be read"),
    ],
)
def test_pulls_that_cannot_be_used(tmp_path: Path, content: bytes | None, message: str) -> None:
    file = tmp_path / "pull.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UnusableInput, match=message):
        load_pull(str(file))


@pytest.mark.parametrize("content", ["[]", '{"o/r": []}', '{"o/r": {"abc": {}}}', '{"o/r": {"abc": {"status": true}}}', '{"o/r": {"abc": 200}}'])
def test_recorded_answers_that_cannot_be_used(tmp_path: Path, content: str) -> None:
    (tmp_path / "commits.json").write_text(content)
    with pytest.raises(UnusableInput):
        recorded(str(tmp_path / "commits.json"))


def test_a_tree_that_lacks_a_folder_is_refused_with_words(world: dict[str, str]) -> None:
    made = Path(world["folder"])
    commit(made, {"d/e": "1"})
    folder = git(made, "rev-parse", "HEAD:d")
    (made / ".git/objects" / folder[:2] / folder[2:]).unlink()
    with pytest.raises(UnusableInput, match="lacks objects"):
        gathered(folder=str(made))
