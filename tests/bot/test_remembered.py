"""The second look at a conversation's places, on real repositories."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from bot.box import Answer, Box, Limits, Request
from bot.review.ledger import TEXT, Ledger
from bot.review.reconcile import Reconciled, Seen, reconcile
from rules.core.model import Facts, Pull, User
from tests.bot.making import commit, git, new

BUNDLE = "evidence/c"
RECORD = f"{BUNDLE}/results/summary.json"
PRIVATE = json.dumps({"verdict": "INCONCLUSIVE", "raw": "/home/alice/raw"}, indent=1)
CLEAN = json.dumps({"verdict": "INCONCLUSIVE", "raw": "<ARTIFACT_ROOT>/raw"}, indent=1)


@pytest.fixture(scope="module")
def box() -> Iterator[Box]:
    made = Box(Limits(seconds=60))
    yield made
    made.close()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = new(tmp_path / "r")
    commit(folder, {"README.md": "hello\n"})
    git(folder, "branch", "base")
    return folder


def review(box: Box, folder: Path, head: str, ledger: Ledger, only: str = "private-path", pull: Pull | None = None) -> tuple[Answer, Reconciled]:
    request = Request(str(folder), head, git(folder, "rev-parse", "base"), pull=pull, facts=Facts(), ledger=ledger, only=(only,) if only else ())
    answer = box.run(request)
    assert answer.report is not None, answer.failure
    return answer, reconcile(ledger, answer.report, answer.seen, today=date(2026, 11, 4), renames=answer.renames)


def test_what_stood_there_what_stands_there_and_since_when(box: Box, repository: Path) -> None:
    first = commit(repository, {RECORD: PRIVATE})
    _, told = review(box, repository, first, Ledger("1#2"))
    assert [point.value for point in told.ledger.standings[0].points] == ['"/home/<name>/raw"']
    commit(repository, {"notes.md": "something else\n"})
    mended = commit(repository, {RECORD: CLEAN})
    head = commit(repository, {"notes.md": "something more\n"})
    answer, told = review(box, repository, head, told.ledger)
    assert list(answer.seen.values()) == [Seen('"<ARTIFACT_ROOT>/raw"', silent=mended)]
    point = told.ledger.standings[0].points[0]
    assert (point.value, point.now, point.silent) == ('"/home/<name>/raw"', '"<ARTIFACT_ROOT>/raw"', mended)


def test_a_finding_that_came_back_in_between_is_silent_from_the_last_time_on(box: Box, repository: Path) -> None:
    _, told = review(box, repository, commit(repository, {RECORD: PRIVATE}), Ledger("1#2"))
    commit(repository, {RECORD: CLEAN})
    commit(repository, {RECORD: PRIVATE})
    last = commit(repository, {RECORD: CLEAN})
    answer, _ = review(box, repository, last, told.ledger)
    assert [one.silent for one in answer.seen.values()] == [last]


def test_a_file_that_is_gone_holds_nothing(box: Box, repository: Path) -> None:
    _, told = review(box, repository, commit(repository, {RECORD: PRIVATE, f"{BUNDLE}/README.md": "x\n"}), Ledger("1#2"))
    answer, _ = review(box, repository, commit(repository, {RECORD: None}), told.ledger)
    assert [one.value for one in answer.seen.values()] == ["(absent)"]


def test_a_renamed_file_keeps_its_story_and_its_number(box: Box, repository: Path) -> None:
    other = "evidence/aaa/results/aaa.json"  # of another bundle: those of one bundle are one story
    _, told = review(box, repository, commit(repository, {RECORD: PRIVATE, other: PRIVATE.replace("raw", "bin")}), Ledger("1#2"))
    assert [one.number for one in told.ledger.standings] == [1, 2]
    fingerprints = {one.number: one.points[0].fingerprint for one in told.ledger.standings}
    for name in ("moved.json", "moved-again.json"):
        current = next(p for p in git(repository, "ls-files", f"{BUNDLE}/results").split() if "aaa" not in p)
        head = commit(repository, {current: None, f"{BUNDLE}/results/{name}": PRIVATE})
        answer, told = review(box, repository, head, told.ledger)
        assert not told.news and answer.renames == {f"{BUNDLE}/results/{name}": RECORD}
    assert {one.number: one.points[0].fingerprint for one in told.ledger.standings} == fingerprints
    head = commit(repository, {f"{BUNDLE}/results/moved-again.json": CLEAN})
    answer, told = review(box, repository, head, told.ledger)
    ended = told.ledger.standing(2)
    assert ended and ended.points[0].now == '"<ARTIFACT_ROOT>/raw"' and ended.points[0].silent == head


def test_after_a_force_push_only_the_head_is_named(box: Box, repository: Path) -> None:
    first = commit(repository, {RECORD: PRIVATE})
    _, told = review(box, repository, first, Ledger("1#2"))
    git(repository, "reset", "-q", "--hard", "base")
    head = commit(repository, {RECORD: CLEAN})
    _, told = review(box, repository, head, told.ledger)
    assert told.ledger.standings[0].points[0].silent == f"by {head}"


def pull(body: str, head: str) -> Pull:
    return Pull(2, "A campaign", body, User("bob", False), False, "open", head, "b" * 40, "o/r", "o/r", ())


def test_an_edit_of_the_text_and_no_commit_ended_it(box: Box, repository: Path) -> None:
    files = {RECORD: CLEAN, f"{BUNDLE}/README.md": "The raw logs are external and unavailable; all numbers are author-reported.\n"}
    head = commit(repository, files)
    said = "The change was locally verified with retained raw logs of the campaign `c`.\n"
    _, told = review(box, repository, head, Ledger("1#2"), "artifact-missing", pull(said, head))
    assert told.ledger.standings, "the claim is found"
    later = commit(repository, {"notes.md": "x\n"})
    answer, told = review(box, repository, later, told.ledger, "artifact-missing", pull("All numbers are author-reported.\n", later))
    assert [one.silent for one in answer.seen.values()] == [TEXT]


def test_what_the_change_does_to_the_config(box: Box, repository: Path) -> None:
    head = commit(repository, {RECORD: CLEAN})
    answer, _ = review(box, repository, head, Ledger("1#2"))
    assert (answer.config_blob, answer.config_change) == ("", "")
    head = commit(repository, {".github/assay.yml": "language: zh\n"})
    answer, _ = review(box, repository, head, Ledger("1#2"))
    assert answer.config and answer.config.language == "en" and "edits .github/assay.yml, and it is valid" in answer.config_change
    head = commit(repository, {".github/assay.yml": "langage: zh\n"})
    assert "cannot be used: langage" in review(box, repository, head, Ledger("1#2"))[0].config_change
    git(repository, "branch", "-f", "base", head)
    failure = box.run(Request(str(repository), head, head)).failure
    assert failure and failure.kind == "unusable" and "langage" in failure.sentence


def test_a_change_without_evidence(box: Box, repository: Path) -> None:
    answer, told = review(box, repository, commit(repository, {"src/a.py": "x = 1\n"}), Ledger("1#2"), "")
    assert not answer.evidence and not told.told
    assert review(box, repository, commit(repository, {RECORD: CLEAN}), Ledger("1#2"), "")[0].evidence


def test_an_old_head_that_is_not_here_any_more(box: Box, repository: Path) -> None:
    head = commit(repository, {RECORD: PRIVATE})
    answer, _ = review(box, repository, head, Ledger("1#2", 1, "e" * 40))
    assert answer.renames == {}
