"""Numbers stay, states follow the findings, and silence that proves nothing resolves nothing."""

from dataclasses import replace
from datetime import date

from bot.review.ledger import TEXT, Ledger, Override, State, overridden
from bot.review.reconcile import Reconciled, Seen, origins, reconcile
from rules.core.model import Location, Outcome, Severity, Verdict
from tests.bot.review.talks import COUNT, DECISION, FIRST, LIFECYCLE, RECEIPT, SECOND, TALK, THIRD, WORDING, found, report, reviewed

START = Ledger(TALK)


def told(held: Reconciled) -> dict[str, tuple[str, str]]:
    return {one.standing.id: (one.change, one.standing.state.value) for one in held.told}


def first() -> Ledger:
    return reviewed(START, report(FIRST, LIFECYCLE, DECISION, RECEIPT)).ledger


def test_a_first_review() -> None:
    held = reviewed(START, report(FIRST, LIFECYCLE, DECISION))
    assert told(held) == {"F1": ("new", "open"), "F2": ("new", "open")}
    assert held.news and held.verdict is Verdict.CHANGES_NEEDED and held.waiting_on == ("author", "requester")
    assert (held.ledger.serial, held.ledger.head, held.ledger.last) == (1, FIRST, 2)


def test_a_clean_first_review_is_news_and_an_unchanged_second_is_not() -> None:
    held = reviewed(START, report(FIRST))
    assert held.news and held.verdict is Verdict.PASS
    again = reviewed(held.ledger, report(SECOND))
    assert not again.news and again.ledger.serial == 1 and again.ledger.head == SECOND


def test_numbers_stay_and_a_new_story_takes_the_next() -> None:
    held = reviewed(first(), report(SECOND, COUNT, DECISION, RECEIPT))
    assert told(held) == {"F1": ("resolved", "resolved"), "F2": ("same", "open"), "F3": ("same", "open"), "F4": ("new", "open")}
    assert [one.standing.born for one in held.told] == [1, 1, 1, 2]
    back = reviewed(held.ledger, report(THIRD, LIFECYCLE, COUNT, DECISION, RECEIPT))
    assert told(back)["F1"] == ("reopened", "open") and back.ledger.last == 4


def test_a_number_is_never_given_twice() -> None:
    forgotten = replace(first(), standings=())
    assert told(reviewed(forgotten, report(SECOND, COUNT))) == {"F4": ("new", "open")}


def test_stories_that_the_report_joins_or_parts_keep_their_numbers() -> None:
    joined = reviewed(first(), report(SECOND, [LIFECYCLE, DECISION, COUNT], RECEIPT))
    assert {one.standing.id: [f.fingerprint for f in one.findings] for one in joined.told} == {
        "F1": [LIFECYCLE[0], COUNT[0]],
        "F2": [DECISION[0]],
        "F3": [RECEIPT[0]],
    }
    parted = reviewed(joined.ledger, report(THIRD, COUNT, LIFECYCLE, DECISION, RECEIPT))
    assert set(told(parted)) == {"F1", "F2", "F3"}


def test_another_finding_of_the_same_matter_keeps_the_number() -> None:
    other = found("other", LIFECYCLE[1].rule, roots=LIFECYCLE[1].roots)
    assert told(reviewed(first(), report(SECOND, other, DECISION, RECEIPT)))["F1"] == ("changed", "open")


def test_an_ended_matter_of_another_rule_is_not_opened_again() -> None:
    ended = reviewed(first(), report(SECOND, DECISION, RECEIPT)).ledger
    other = found("other", "another-rule", roots=LIFECYCLE[1].roots)
    assert told(reviewed(ended, report(THIRD, other, DECISION, RECEIPT)))["F4"] == ("new", "open")


def test_old_and_new_values_and_the_first_silent_commit() -> None:
    before = reviewed(START, report(FIRST, COUNT), {COUNT[0]: Seen("21")}).ledger
    held = reviewed(before, report(THIRD), {COUNT[0]: Seen("22", silent=SECOND)})
    point = held.told[0].standing.points[0]
    assert (point.value, point.now, point.silent) == ("21", "22", SECOND)


def test_without_a_walk_only_the_head_is_named() -> None:
    assert reviewed(first(), report(SECOND)).told[0].standing.points[0].silent == f"by {SECOND}"
    assert reviewed(first(), report(FIRST)).told[0].standing.points[0].silent == TEXT


def test_a_rule_that_did_not_run_resolves_nothing() -> None:
    none = report(SECOND, outcomes=(Outcome(LIFECYCLE[1].rule, "crashed", "x", 1.0), Outcome(DECISION[1].rule, "skipped", "no issue was given", 0.0)))
    held = reviewed(first(), none)
    assert told(held) == {"F1": ("same", "open"), "F2": ("same", "open"), "F3": ("same", "open")} and not held.news
    assert held.verdict is Verdict.CHANGES_NEEDED and all(one.held for one in held.told)


def test_a_rule_that_could_not_ask_resolves_nothing() -> None:
    held = reviewed(first(), report(SECOND), {LIFECYCLE[0]: Seen(unsure=True)})
    assert told(held)["F1"] == ("same", "open") and told(held)["F2"] == ("resolved", "resolved")


def test_a_claim_that_the_text_now_qualifies_is_disclosed() -> None:
    held = reviewed(first(), report(SECOND, LIFECYCLE, DECISION), {RECEIPT[0]: Seen(stated=True)})
    assert told(held)["F3"] == ("disclosed", "disclosed")
    assert told(reviewed(first(), report(SECOND, LIFECYCLE, DECISION), {RECEIPT[0]: Seen()}))["F3"] == ("resolved", "resolved")


def test_no_disclosure_ends_a_lifecycle_or_decision_story() -> None:
    seen = {LIFECYCLE[0]: Seen(stated=True), DECISION[0]: Seen(stated=True)}
    held = told(reviewed(first(), report(SECOND, RECEIPT), seen))
    assert held["F1"][1] == held["F2"][1] == "resolved"


def test_resolved_in_the_issue_and_not_in_the_pull() -> None:
    only_pull = (RECEIPT[0], replace(RECEIPT[1], locations=RECEIPT[1].locations[:1]))
    held = reviewed(first(), report(SECOND, LIFECYCLE, DECISION, only_pull))
    assert told(held)["F3"] == ("partly", "partly-resolved")
    standing = held.told[2].standing
    assert standing.cleared == ("issue",)
    again = reviewed(held.ledger, report(THIRD, LIFECYCLE, DECISION, only_pull))
    assert told(again)["F3"] == ("same", "partly-resolved") and not again.news


def test_resolved_in_the_pull_and_not_in_the_issue_keeps_the_number() -> None:
    moved = (f"v1:{'m' * 32}", replace(RECEIPT[1], locations=RECEIPT[1].locations[1:]))
    held = reviewed(first(), report(SECOND, LIFECYCLE, DECISION, moved))
    assert told(held)["F3"] == ("partly", "partly-resolved") and held.told[2].standing.cleared == ("pull",)


def test_a_waived_story_does_not_count_until_its_waiver_ends() -> None:
    waived = overridden(first(), 1, Override("waived", "alice", "known", "2026-11-04"))
    held = reviewed(waived, report(SECOND, LIFECYCLE, DECISION, RECEIPT))
    assert told(held)["F1"] == ("same", "waived") and not held.news
    later = reconcile(waived, report(SECOND, LIFECYCLE, DECISION, RECEIPT), {}, today=date(2026, 11, 5))
    assert told(later)["F1"] == ("changed", "open") and later.news


def test_who_counts_for_the_verdict() -> None:
    only = reviewed(START, report(FIRST, LIFECYCLE)).ledger
    now = report(SECOND, LIFECYCLE)
    verdicts = {
        kind: reviewed(overridden(only, 1, Override(kind, "bob", "no")), now).verdict  # type: ignore[arg-type]
        for kind in ("waived", "withdrawn", "disputed")
    }
    assert verdicts == {"waived": Verdict.PASS, "withdrawn": Verdict.PASS, "disputed": Verdict.CHANGES_NEEDED}
    assert reviewed(only, report(SECOND, LIFECYCLE, verdict=Verdict.INCOMPLETE)).verdict is Verdict.INCOMPLETE


def test_a_severity_that_falls_is_a_change_and_a_line_that_moves_is_none() -> None:
    lower = (LIFECYCLE[0], replace(LIFECYCLE[1], severity=Severity.LOW))
    assert told(reviewed(first(), report(SECOND, lower, DECISION, RECEIPT)))["F1"][0] == "changed"
    moved = (LIFECYCLE[0], replace(LIFECYCLE[1], locations=(replace(LIFECYCLE[1].locations[0], line=300, end_line=300),)))
    held = reviewed(first(), report(SECOND, moved, DECISION, RECEIPT))
    assert told(held)["F1"][0] == "same" and held.told[0].standing.points[0].place.endswith(":300")


def test_a_draft_has_one_summary_and_the_ready_pull_a_review() -> None:
    draft = reviewed(START, report(FIRST, LIFECYCLE), draft=True)
    second = reviewed(draft.ledger, report(SECOND, LIFECYCLE, COUNT), draft=True)
    assert draft.news and not second.news and second.ledger.serial == 1
    ready = reviewed(second.ledger, report(SECOND, LIFECYCLE, COUNT))
    assert ready.news and ready.ledger.serial == 2


def test_after_a_failure_the_next_review_is_news() -> None:
    assert reviewed(replace(first(), failure="memory"), report(FIRST, LIFECYCLE, DECISION, RECEIPT)).news


def test_renamed_files_keep_their_stories() -> None:
    before = first()
    old = LIFECYCLE[1].locations[0].path
    chain = origins(before, {"evidence/c/results/oom-1.json": old})
    assert chain == {"evidence/c/results/oom-1.json": old}
    moved = (LIFECYCLE[0], replace(LIFECYCLE[1], locations=(Location("evidence/c/results/oom-1.json", line=274),)))
    held = reviewed(before, report(SECOND, moved, DECISION, RECEIPT), renames=chain)
    assert told(held)["F1"] == ("same", "open")
    # Renamed once more: the fingerprint is still the first path's.
    assert origins(held.ledger, {"x.json": "evidence/c/results/oom-1.json"}) == {"x.json": old}
    assert origins(held.ledger, {}) == chain


def test_a_suggestion_is_no_story() -> None:
    held = reviewed(START, replace(report(FIRST, WORDING), findings=()))
    assert not held.told and State.OPEN.counts
