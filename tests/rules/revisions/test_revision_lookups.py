"""revision-unresolvable and revision-unreachable: what recorded answers of the commit API say together."""

import pytest

from rules.core.config import Config
from rules.core.model import Answer, Confirmed, Facts, Finding, Issue, Question, Severity, Snapshot, Unchecked, User
from rules.revisions.revision_unreachable import RULE as UNREACHABLE
from rules.revisions.revision_unresolvable import RULE as UNRESOLVABLE
from tests.worlds import Step, bundle, run, snapshot, story, tree

SHA = "c85c339fc49794f100fe162e6cd21efbe5c5ab9e"
OTHER = "39ca157e14b2ed98799c330c0749052a72721eff"


def world(document: object = None, **more: object) -> Snapshot:
    held = document if document is not None else {"source_revision": SHA, "repository": "acme/engine"}
    return snapshot(bundle({"results/r.json": held}), **more)  # type: ignore[arg-type]


def facts(*answers: tuple[str, int], sha: str = SHA, reachable: bool | None = True, type: str | None = None) -> Facts:
    return Facts({Question(name, sha): Answer(status, reachable, type) for name, status in answers})


def asked(held: Snapshot) -> set[tuple[str, str]]:
    assert UNRESOLVABLE.asks is not None
    return {(question.repository, question.sha) for question in UNRESOLVABLE.asks(held)}


# ---------------------------------------------------------------- what is asked


def test_every_repository_that_it_may_belong_to_is_asked() -> None:
    held = world(config=Config.model_validate({"upstreams": ["Acme/Upstream"]}), repository="acme/evidence")
    assert asked(held) == {("acme/engine", SHA), ("acme/upstream", SHA), ("acme/evidence", SHA)}


@pytest.mark.parametrize(
    "document",
    [
        {"sha256": "ab" * 32},
        {"note": SHA},
        {"input_hash": SHA},
        {"count": 12345678},
        {"seed": "12345678"},
    ],
)
def test_what_has_no_role_is_no_revision(document: object) -> None:
    assert asked(world(document, repository="acme/evidence")) == set()


def test_an_abbreviation_stands_for_the_full_id_beside_it() -> None:
    held = world({"baseline_commit": SHA, "repository": "acme/engine", "runs": [{"commit": SHA[:8]}]})
    assert {sha for _, sha in asked(held)} == {SHA}


# ---------------------------------------------------------------- unresolvable


def test_422_everywhere_is_a_finding_with_all_its_places() -> None:
    held = world({"repository": "acme/engine", "baseline_revision": SHA, "arms": [{"commit": SHA}]})
    (found,) = run(UNRESOLVABLE, held, facts(("acme/engine", 422)))
    assert isinstance(found, Finding) and found.severity is Severity.HIGH
    assert {at.pointer for at in found.locations} == {"/baseline_revision", "/arms/0/commit"} and found.roots == ("revisions:evidence/camp",)


def test_a_short_id_is_medium() -> None:
    (found,) = run(UNRESOLVABLE, world({"commit": SHA[:9], "repository": "acme/engine"}), facts(("acme/engine", 422), sha=SHA[:9]))
    assert isinstance(found, Finding) and found.severity is Severity.MEDIUM


@pytest.mark.parametrize("status", [401, 403, 404, 409, 429, 500, 502, 503])
def test_any_other_answer_of_one_repository_leaves_it_open(status: int) -> None:
    held = world(repository="acme/evidence")
    (item,) = run(UNRESOLVABLE, held, facts(("acme/engine", 422), ("acme/evidence", status)))
    assert isinstance(item, Unchecked) and str(status) in item.why


def test_no_answer_leaves_it_open_and_no_repository_too() -> None:
    assert [type(item) for item in run(UNRESOLVABLE, world(repository="acme/evidence"), facts(("acme/engine", 422)))] == [Unchecked]
    (item,) = run(UNRESOLVABLE, world({"commit": SHA}), Facts())
    assert isinstance(item, Unchecked) and "no repository" in item.why


def test_one_200_resolves_it() -> None:
    (item,) = run(UNRESOLVABLE, world(repository="acme/evidence"), facts(("acme/engine", 200), ("acme/evidence", 422)))
    assert isinstance(item, Confirmed) and item.what == "revision" and "acme/engine" in item.value


def test_a_commit_of_this_repository_s_objects_needs_no_answer() -> None:
    held = story(Step(bundle({"results/r.json": {"source_revision": SHA, "repository": "acme/engine"}})), others={SHA: tree({})})
    assert [type(item) for item in run(UNRESOLVABLE, held, facts(("acme/engine", 422)))] == [Confirmed]


def test_a_tree_is_no_commit_citation() -> None:
    for rule in (UNRESOLVABLE, UNREACHABLE):
        assert [item for item in run(rule, world(), facts(("acme/engine", 422), type="tree")) if isinstance(item, Finding)] == []


def test_the_issue_s_text_is_read_too() -> None:
    body = f"Baseline: https://github.com/acme/engine/commit/{SHA} is used.\n"
    issue = Issue(5, "t", body, User("a", False), "open", (), (), ())
    (found,) = run(UNRESOLVABLE, snapshot({}, issue=issue), facts(("acme/engine", 422)))
    assert isinstance(found, Finding) and (found.locations[0].path, found.locations[0].line) == ("issue:body", 1)


# ---------------------------------------------------------------- unreachable


@pytest.mark.parametrize(("reachable", "kind"), [(False, Finding), (None, Unchecked), (True, None)])
def test_where_it_hangs(reachable: bool | None, kind: type | None) -> None:
    items = run(UNREACHABLE, world(), facts(("acme/engine", 200), reachable=reachable))
    assert [type(item) for item in items] == ([kind] if kind else [])
    assert all(item.severity is Severity.MEDIUM and item.searched for item in items if isinstance(item, Finding))


def test_reachable_in_one_repository_is_enough() -> None:
    known = Facts({Question("acme/engine", SHA): Answer(200, False), Question("acme/fork", SHA): Answer(200, True)})
    held = world(config=Config.model_validate({"upstreams": ["acme/fork"]}))
    assert run(UNREACHABLE, held, known) == []


def test_what_does_not_resolve_is_not_this_rule_s() -> None:
    assert run(UNREACHABLE, world(), facts(("acme/engine", 422))) == [] == run(UNREACHABLE, world(), Facts())
