"""The wording of reviews, held in `tests/golden/`; and what they must never hold."""

import re
from dataclasses import replace

import pytest

from bot.review.check import MOST_ANNOTATIONS, SUMMARY_LIMIT
from bot.review.compose import BODY_LIMIT, Words, compose, failed
from bot.review.ledger import Ledger, Override, overridden
from bot.review.markers import read, without
from bot.review.positions import Spot
from bot.review.reconcile import Seen
from bot.review.scene import Approval, HumanThread, Job
from rules.core.config import Config
from rules.core.model import Location, MergeReport, Severity, Unchecked, Verdict
from tests.bot.review.talks import (
    COUNT,
    DECISION,
    DIFF,
    FIRST,
    KEY,
    LIFECYCLE,
    RECEIPT,
    SECOND,
    TALK,
    WORDING,
    found,
    golden,
    report,
    reviewed,
    scene,
    words,
)

START = Ledger(TALK)
JOBS = (
    Job(
        "full-check (3.10)",
        "Ready",
        "failure",
        True,
        ("FAILED tests/test_inventory.py::test_checked_in - assert 21 == 22",),
        True,
        "tools/evidence_inventory.json",
    ),
    Job("full-check (3.11)", "Ready", "failure", True, None, True),
    Job("wheel", "Ready", "success", False, ("3544 passed, 13 skipped in 241.10s",), True),
    Job("knowledge-model-policy", "statuses", "success", True),
)
APPROVALS = (Approval("carol", FIRST), Approval("dave", SECOND))


def body(held: Words) -> str:
    """The words without the marker, whose bytes depend on the compressor."""
    return without(held.body) + "\n"


def first(**parts: object) -> Words:
    return words(START, report(FIRST, COUNT, LIFECYCLE, DECISION, RECEIPT, WORDING), {COUNT[0]: Seen("21")}, scene(**parts))


def second(**parts: object) -> Words:
    before = overridden(first().ledger, 5, Override("waived", "carol", "agreed with @dave, see #12", "2026-12-01"))
    only_pull = (RECEIPT[0], replace(RECEIPT[1], locations=RECEIPT[1].locations[:1]))
    fresh = found(
        "fresh", "hash-mismatch", Severity.BLOCKING, title="2 of 41 digests differ", locations=(Location("evidence/c/plan/preflight.json", line=7),)
    )
    now = report(SECOND, fresh, DECISION, only_pull, WORDING)
    seen = {COUNT[0]: Seen("22", silent=SECOND), LIFECYCLE[0]: Seen(silent=SECOND)}
    return words(before, now, seen, scene(jobs=JOBS, approvals=APPROVALS, linked=(321,), **parts))


def test_golden_first_review() -> None:
    golden("first.md", body(first(jobs=JOBS, repository_url="https://github.com/o/r")))


def test_golden_second_review_with_resolved_open_and_new_stories() -> None:
    golden("second.md", body(second()))


def test_golden_clean_review() -> None:
    held = words(START, report(FIRST, waiting_on=(), merge=MergeReport(True, 8, True, 8, ())))
    golden("clean.md", body(held))


def test_golden_in_chinese() -> None:
    golden("second-zh.md", body(second(config=Config(language="zh"))))


def test_golden_in_both_languages() -> None:
    golden("second-both.md", body(second(config=Config(language="both", severity_names={"high": "P1"}))))


def test_golden_inline_comments() -> None:
    texts = [f"{one.spot}\n{without(one.body)}" for held in (first(), second()) for one in held.inlines]
    golden("inline.md", "\n\n========\n\n".join(texts) + "\n")


def test_golden_check_run() -> None:
    check = second().check
    marks = "\n".join(f"{one.path}:{one.start_line}-{one.end_line} {one.level} {one.title}\n  {one.message}" for one in check.annotations)
    golden("check.md", f"{check.conclusion}\n{check.title}\n\n{without(check.summary)}\n\n{marks}\n")


def test_golden_review_that_could_not_be() -> None:
    golden("failed.md", body(failed(first().ledger, SECOND, "memory", "the review needed more than 2,048 MiB of memory.", scene(), KEY)))


# ---------------------------------------------------------------- size


def oversize(count: int) -> Words:
    stories = [
        found(
            f"{n}",
            "hash-mismatch",
            Severity.BLOCKING if n % 2 else Severity.MEDIUM,
            title=f"数据 {n} differs",
            problem=f"`file-{n}` " + "wörter 数字 " * 80,
            impact="i" * 400,
            next=f"fix {n} " + "n" * 300,
            locations=tuple(Location(f"evidence/c/results/file-{n}-{p}.json", line=p + 1) for p in range(12)),
        )
        for n in range(count)
    ]
    held = report(FIRST, *stories)
    notes = tuple(Unchecked(f"thing {n}", "a reason " * 10) for n in range(300))
    return words(START, replace(held, coverage=replace(held.coverage, not_checked=notes)))


def test_golden_oversize_body() -> None:
    golden("oversize.md", body(oversize(60)))


@pytest.mark.parametrize("count", [20, 300, 3000])
def test_a_body_of_any_number_of_stories_fits_and_keeps_its_marker(count: int) -> None:
    held = oversize(count)
    assert len(held.body.encode()) <= BODY_LIMIT and len(held.check.summary.encode()) <= SUMMARY_LIMIT + 30_000
    marker = read(held.body, KEY, TALK)
    assert marker and marker.ledger and marker.ledger.last == count
    assert "**F2 —" in held.body and len(held.check.annotations) <= MOST_ANNOTATIONS and len(held.check.title) <= 255


def test_one_enormous_story_fits() -> None:
    one = found("big", title="x" * 100_000, problem="`" * 50_000 + "@a " * 50_000, next="n" * 70_000)
    held = words(START, report(FIRST, one))
    assert len(held.body.encode()) <= BODY_LIMIT and read(held.body, KEY, TALK) and len(held.inlines[0].body.encode()) < 20_000


# ---------------------------------------------------------------- what the words must be

ORDER = (
    "**Review verdict:",
    "**Campaign status as recorded:**",
    "### Resolved this round",
    "### Findings",
    "### Before this can merge",
    "### Not blocking",
    "### What held",
    "### Checks and limits",
    "<sub>Static review",
    "<!-- assay:v1:review:",
)


def test_the_order_of_a_body() -> None:
    text = second().body
    at = [text.find(part) for part in ORDER]
    assert -1 not in at and at == sorted(at)


def test_empty_sections_say_none() -> None:
    text = words(reviewed(START, report(FIRST)).ledger, report(SECOND, confirmed=())).body
    assert text.count("\n\nNone") == 5


def test_a_pass_of_ours_is_no_pass_of_the_campaign() -> None:
    text = words(START, report(FIRST)).body
    assert "**Review verdict: pass**" in text and "**INCONCLUSIVE**" in text and "Not an approval" in text


def test_editing_says_the_same_as_posting() -> None:
    """A crash between posting and noting: the words of the same head are the same words."""
    held = report(SECOND, DECISION, RECEIPT)
    once = words(first().ledger, held)
    twice = words(once.ledger, held)
    assert once.news and not twice.news and twice.body == once.body and twice.ledger == once.ledger


def test_t38_what_people_write_cannot_ping_close_or_link() -> None:
    said = "@alice fixes #1 https://evil.example <!-- x --> [a](b)"
    job = Job(said, said, "failure", lines=(said,), log_wanted=True)
    before = overridden(words(START, report(FIRST, LIFECYCLE)).ledger, 1, Override("waived", "@bob", said, said))
    held = words(before, report(FIRST, LIFECYCLE), {}, scene(jobs=(job,), approvals=(Approval(said, FIRST),), trigger=said, config_change=said))
    shown = without(held.body) + without(held.check.summary) + "".join(without(one.body) for one in held.inlines)
    outside = re.sub(r"(`+)[^`].*?\1(?!`)", "", shown.replace("&#8203;", "\u200b"))
    assert not re.search(r"@\w|#\d|://|<!--|(?<!\\)\]\(", outside)


def test_private_names_are_shown_nowhere() -> None:
    job = Job("build", "CI", "failure", lines=("error in /home/alice/x",), log_wanted=True)
    held = words(START, report(FIRST, LIFECYCLE), {}, scene(jobs=(job,), config_change="see /home/alice/y"))
    assert "alice" not in held.body + held.check.summary


def test_a_failing_job_is_linked_and_not_blamed() -> None:
    text = first(jobs=JOBS).body
    assert "see F1, which is not claimed to be the only cause" in text and "log not readable" in text
    assert "`wheel` success, its log closes with `3544 passed, 13 skipped in 241.10s`" in text


def test_inline_comments_are_for_what_must_be_fixed() -> None:
    spots = {one.number: one.spot for one in first().inlines}
    assert spots == {1: Spot("tools/evidence_inventory.json"), 2: Spot("evidence/c/results/oom.json", 274), 3: None, 4: None, 5: None}
    assert {one.spot for one in first(draft=True).inlines} == {None}


def test_where_a_person_has_an_open_thread_it_is_linked_and_not_repeated() -> None:
    thread = HumanThread("evidence/c/results/oom.json", 274, "https://github.com/o/r/pull/320#discussion_r9", "carol")
    held = first(threads=(thread,))
    assert next(one.spot for one in held.inlines if one.number == 2) is None
    assert "**Open thread at this place:** [carol](https://github.com/o/r/pull/320#discussion_r9)" in held.body
    elsewhere = first(threads=(replace(thread, line=12), replace(thread, line=None)))
    assert next(one.spot for one in elsewhere.inlines if one.number == 2)


def test_inline_words_change_only_when_their_story_does() -> None:
    before = first()
    now = report(SECOND, COUNT, LIFECYCLE, DECISION, RECEIPT, WORDING)
    again = compose(reviewed(before.ledger, now), now, scene(), DIFF, KEY)
    assert [one.body for one in again.inlines] == [one.body for one in before.inlines]


@pytest.mark.parametrize(
    ("verdict", "stories", "conclusion"),
    [
        (Verdict.PASS, [], "success"),
        (Verdict.PASS, [LIFECYCLE], "failure"),
        (Verdict.PASS, [DECISION], "action_required"),
        (Verdict.INCOMPLETE, [], "action_required"),
    ],
)
def test_the_conclusion_of_the_check_run(verdict: Verdict, stories: list[object], conclusion: str) -> None:
    assert words(START, report(FIRST, *stories, verdict=verdict)).check.conclusion == conclusion  # type: ignore[arg-type]


def test_annotations_stand_in_files_of_the_head() -> None:
    paths = [one.path for one in first().check.annotations]
    assert paths == ["tools/evidence_inventory.json", "evidence/c/results/oom.json"]


def test_a_check_alone_shows_the_whole_review() -> None:
    assert first().check.text == "" and "### Checks and limits" in first(check_only=True).check.text


def test_what_could_not_be_looked_at_again_stands() -> None:
    held = words(first().ledger, report(SECOND, outcomes=()))
    assert "Not checked this time, so it stands as it stood at `tools/evidence_inventory.json:45`" in held.body
    assert "- [ ] **F1** The inventory declares 21 bundles, not 22" in held.body
