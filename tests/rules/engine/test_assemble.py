"""Stories, verdict, lines, coverage: from loose findings to a report."""

import itertools

import pytest

from rules.core.config import Config
from rules.core.model import Confirmed, Entry, Facts, Finding, Location, Merge, Missing, Outcome, Report, Rule, Severity, Snapshot, Unchecked, Verdict
from rules.engine.assemble import report, verdict
from rules.engine.run import review
from tests import worlds


def finding(*roots: str, severity: Severity = Severity.MEDIUM, path: str = "a.md", line: int = 1, **more: object) -> Finding:
    words = {"title": f"t{roots}{line}", "problem": "p", "impact": "i", "next": "n", "locations": (Location(path, line=line),), **more}
    return Finding(rule="r", severity=severity, roots=roots, **words)  # type: ignore[arg-type]


def ids(*found: Finding) -> list[str | None]:
    """The F-numbers in the order in which the findings are given."""
    made = report(worlds.snapshot({}), {}, found, ())
    by_title = {one.finding.title: one.id for one in made.findings}
    return [by_title[one.title] for one in found]


# ---------------------------------------------------------------- stories


def test_findings_that_share_a_root_are_one_story() -> None:
    assert ids(finding("a", line=1), finding("b", line=2), finding("a", "c", line=3)) == ["F1", "F2", "F1"]


def test_roots_join_stories_through_others() -> None:
    chain = [finding("a", "b", line=1), finding("c", "d", line=2), finding("e", line=3), finding("d", "e", line=4), finding("b", "c", line=5)]
    assert all(ids(*order) == ["F1"] * 5 for order in itertools.permutations(chain))


def test_findings_without_roots_are_stories_of_their_own() -> None:
    assert ids(finding(line=1), finding(line=2)) == ["F1", "F2"]


def test_numbers_follow_severity_then_place() -> None:
    low, blocking = finding("a", severity=Severity.LOW, path="a.md"), finding("b", severity=Severity.BLOCKING, path="z.md")
    assert ids(low, blocking) == ["F2", "F1"]


def test_a_suggestion_has_no_number_and_joins_nothing() -> None:
    assert ids(finding("a", line=1), finding("a", line=2, numbered=False), finding("b", line=3)) == ["F1", None, "F2"]


def test_the_same_finding_twice_is_one() -> None:
    assert len(report(worlds.snapshot({}), {}, [finding("a"), finding("a")], ()).findings) == 1


def test_stories_of_a_report_in_order() -> None:
    made = report(worlds.snapshot({}), {}, [finding("a", line=1), finding("b", line=2), finding("a", line=3)], ())
    assert [(id, len(group)) for id, group in made.stories()] == [("F1", 2), ("F2", 1)]


# ---------------------------------------------------------------- verdict

RAN, CRASHED, SKIPPED = Outcome("x", "ran", None, 1), Outcome("x", "crashed", "why", 1), Outcome("x", "skipped", "why", 1)
BLOCKING, HIGH, MEDIUM = finding(severity=Severity.BLOCKING), finding(severity=Severity.HIGH), finding()
HUMAN, HUMAN_BLOCKING = finding(severity=Severity.HIGH, decision="human"), finding(severity=Severity.BLOCKING, decision="human")


@pytest.mark.parametrize(
    ("found", "outcomes", "unread", "wanted"),
    [
        ([], [RAN], False, Verdict.PASS),
        ([MEDIUM, finding(severity=Severity.LOW)], [RAN], False, Verdict.PASS),
        ([], [SKIPPED], False, Verdict.PASS),
        ([HUMAN], [RAN], False, Verdict.NEEDS_HUMAN),
        ([finding(decision="human")], [RAN], False, Verdict.PASS),
        ([HUMAN, HIGH], [RAN], False, Verdict.CHANGES_NEEDED),
        ([BLOCKING], [RAN], False, Verdict.CHANGES_NEEDED),
        ([HUMAN_BLOCKING], [RAN], False, Verdict.CHANGES_NEEDED),
        ([BLOCKING], [RAN, CRASHED], False, Verdict.INCOMPLETE),
        ([], [CRASHED], False, Verdict.INCOMPLETE),
        ([], [RAN], True, Verdict.INCOMPLETE),
    ],
)
def test_the_verdict(found: list[Finding], outcomes: list[Outcome], unread: bool, wanted: Verdict) -> None:
    assert verdict(found, outcomes, unread) is wanted


def test_who_is_waited_for() -> None:
    made = report(worlds.snapshot({}), {}, [HUMAN, HIGH, finding(decision="human")], ())
    assert made.waiting_on == ("author", "requester")
    assert report(worlds.snapshot({}), {}, [MEDIUM], ()).waiting_on == ()


# ---------------------------------------------------------------- lines and confirmed


def test_lines_of_pointers_are_found_and_texts_redacted() -> None:
    held = worlds.snapshot({"r.json": {"/home/jane/x": [{"a": 1}]}})
    one = finding(problem="in /home/jane/x", locations=(Location("r.json", pointer="/~1home~1jane~1x/0/a"), Location("r.json", pointer="/gone")))
    (shown,) = report(held, {}, [one], ()).findings
    first, second = shown.finding.locations
    assert (first.line, first.end_line, first.pointer) == (4, 4, "/~1home~1<name>~1x/0/a")
    assert (second.line, second.pointer) == (None, "/gone") and shown.finding.problem == "in /home/<name>/x"


def test_confirmed_entries_keep_both_places() -> None:
    held = worlds.snapshot({"r.json": {"s": 1.5}})
    item = Confirmed("figure", "1.5 s at /home/jane", Location("pull:body", line=3), Location("r.json", pointer="/s"))
    (shown,) = report(held, {}, [item], ()).confirmed
    assert (shown.value, shown.claim.line, shown.receipt.line) == ("1.5 s at /home/<name>", 3, 2)


# ---------------------------------------------------------------- coverage


def _review(held: Snapshot, *rules: Rule) -> Report:
    return review(held, Facts(), rules)


def test_everything_unread_is_named_and_never_counts_as_read() -> None:
    class Partial(worlds.MemoryTree):
        def read(self, path: str) -> bytes:
            if path.endswith("gone.json"):
                raise Missing(path)
            return super().read(path)

    lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 5\n"
    held = worlds.snapshot(
        worlds.bundle(
            {
                "results/bad.json": "{",
                "results/lfs.json": lfs,
                "results/gone.json": "",
                "results/big.json": "[" + "1," * 50 + "1]",
                "big.md": "x" * 99,
            }
        ),
        base={},
        config=Config.model_validate({"limits": {"json": 90, "markdown": 50}}),
    )
    tree = Partial({path: held.head.read(path) for path in held.head.files})
    files = dict(tree.files)
    files["evidence/camp/results/gone.json"] = Entry("0" * 40, "100644", -1)
    files |= {"evidence/camp/link": Entry("1" * 40, "120000", 3), "evidence/camp/sub": Entry("2" * 40, "160000", 0)}
    object.__setattr__(tree, "files", dict(sorted(files.items())))
    object.__setattr__(held, "head", tree)
    coverage = _review(held).coverage
    reasons = {skip.path.rpartition("/")[2]: skip.reason for skip in coverage.skipped}
    assert reasons.keys() == {"bad.json", "lfs.json", "gone.json", "big.json", "big.md", "link", "sub"} - (
        {"lfs.json"} if len(lfs) > 90 else set()
    ) | {"lfs.json"}
    assert (
        "not followed" in reasons["link"]
        and "not entered" in reasons["sub"]
        and "missing" in reasons["gone.json"]
        and "limit of 90" in reasons["big.json"]
    )
    assert (coverage.changed_files, coverage.changed_read) == (7, 0)


def test_bytes_bundles_hashes_and_externals() -> None:
    digest = "a" * 64
    inventory = {"bundles": [{"id": "camp", "path": "evidence/camp", "external": [{"name": "raw logs"}, {"name": "raw logs"}]}]}
    files = {
        "tools/evidence_inventory.json": inventory,
        **worlds.bundle({"a.md": "x", "plan/m.json": {"files": {"a.md": digest, "gone.md": digest}}}),
    }
    coverage = _review(worlds.snapshot(files)).coverage
    assert (coverage.files, coverage.bundles, coverage.hashes_checked, coverage.external) == (3, 1, 1, ("raw logs",))
    assert coverage.changed_files == 0 and coverage.not_judged


def test_a_bundle_of_which_nothing_could_be_read_makes_the_review_incomplete() -> None:
    held = worlds.snapshot(worlds.bundle({"results/a.json": {}}))
    object.__setattr__(held.head, "files", {path: Entry(entry.oid, entry.mode, -1) for path, entry in held.head.files.items()})
    assert _review(held).verdict is Verdict.INCOMPLETE


def test_not_checked_names_crashes_first_and_says_each_once() -> None:
    def crashing(snapshot: Snapshot, facts: Facts) -> list[Unchecked]:
        raise ValueError("the text of /home/jane")

    def unsure(snapshot: Snapshot, facts: Facts) -> list[Unchecked]:
        return [Unchecked("a thing", "no answer"), Unchecked("a thing", "no answer")]

    rules = (
        Rule("unsure", "x", Severity.LOW, unsure),
        Rule("needy", "x", Severity.LOW, unsure, needs=frozenset({"issue"})),
        Rule("crashing", "x", Severity.LOW, crashing),
    )
    made = _review(worlds.snapshot({}), *rules)
    assert [one.what for one in made.coverage.not_checked] == ["crashing", "needy", "a thing"]
    assert [outcome.state for outcome in made.outcomes] == ["ran", "skipped", "crashed"] and "jane" not in repr(made)


# ---------------------------------------------------------------- the merge


def test_what_merging_would_do() -> None:
    held = worlds.snapshot({"a": "1", "b": "2"}, base={"a": "0", "c": "3"})
    merged = worlds.tree({"a": "1", "b": "2", "c": "4"})
    object.__setattr__(held, "merge", Merge(True, merged))
    made = _review(held).merge
    assert made is not None and (made.clean, made.changed_files, made.blobs_equal_head, made.same_change_as_head) == (True, 3, 2, False)
    object.__setattr__(held, "merge", Merge(False, None, ("a",)))
    conflict = _review(held).merge
    assert conflict is not None and (conflict.clean, conflict.blobs_equal_head) == (False, None)
    assert _review(worlds.snapshot({"a": "1"})).merge is None
