"""Conversations with reviews, for the tests of words and plans."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from bot.review.compose import Inline, Words, compose
from bot.review.ledger import Ledger
from bot.review.plan import Action, PostedState, PostInline, PostReview, posted_state
from bot.review.positions import ChangedFile
from bot.review.reconcile import Reconciled, Seen, reconcile
from bot.review.scene import Scene
from rules.core.config import Config
from rules.core.model import Finding, Location, Outcome, Report, Reported, Severity, Verdict
from tests.bot.review import reports

KEY = b"a key of the test"
TALK = "7#320"
FIRST, SECOND, THIRD = "1" * 40, "2" * 40, "3" * 40
TODAY = date(2026, 11, 4)
ME = "assay[bot]"
GOLDEN = Path(__file__).resolve().parents[2] / "golden"


def found(name: str, rule: str = "lifecycle-contradiction", severity: Severity = Severity.HIGH, **parts: Any) -> tuple[str, Finding]:
    """(fingerprint, finding): a finding with a name of its own."""
    at = (Location("evidence/c/results/oom.json", pointer="/failure_analysis/lifecycle", line=274, end_line=274),)
    held: dict[str, Any] = {
        "title": "The TP2/SP2 record describes a forced teardown as clean exits",
        "problem": "`forced_signals` is 4 and four workers ended with -15; the summary says `All workers exited zero`.",
        "impact": "A forced teardown reads like a clean one.",
        "next": "Correct the summary to what the raw record says (edit text).",
        "locations": at,
        "roots": (f"root:{name}",),
    }
    return f"v1:{name:0>32}"[:35], Finding(rule=rule, severity=severity, **(held | parts))


LIFECYCLE = found("lifecycle")
DECISION = found(
    "decision",
    "decision-unrecorded",
    decision="human",
    title="Scope, target and stop condition have no requester's record",
    problem="The text attributes the target to the requester; 3 bot comments hold no such decision.",
    impact="An agent's proposal cannot be told from an accepted campaign.",
    next="The requester posts one comment that accepts scope, target and stop condition (decision). Neither the author nor a bot should record this.",
    searched="3 bot comments, 2 cross-references",
    locations=(Location("issue:body", line=12, end_line=12),),
)
RECEIPT = found(
    "receipt",
    "claim-without-receipt",
    Severity.HIGH,
    title="168.956 s has no committed receipt",
    problem="No file of the bundle holds 168.956 s.",
    impact="A control that may become a denominator cannot be checked.",
    next="Commit the receipt, or say that the figure is unverified (edit text).",
    locations=(Location("pull:body", line=4, end_line=4), Location("issue:body", line=9, end_line=9, role="claim")),
    evidence=(("claim", "168.956 s"),),
)
COUNT = found(
    "count",
    "inventory-count-stale",
    Severity.BLOCKING,
    title="The inventory declares 21 bundles, not 22",
    problem="`bundle_count` is 21; there are 22 at head.",
    impact="The repository's own check fails on it.",
    next="Change the number to 22 (edit text).",
    locations=(Location("tools/evidence_inventory.json", pointer="/bundle_count", line=45, end_line=45, role="inventory"),),
)
WORDING = found(
    "wording",
    "wording-stale",
    Severity.MEDIUM,
    title="The pull's text claims more than the committed files",
    problem="It claims “locally verified with retained raw logs”; the inventory lists `raw logs` as external.",
    impact="Readers take for kept what is not.",
    next="Align the sentence with the files (edit text).",
    locations=(Location("pull:body", line=23, end_line=23),),
)


def report(head: str, *stories: tuple[str, Finding] | list[tuple[str, Finding]], **parts: Any) -> Report:
    """A report of `head`: one story per argument, or several findings of one in a list."""
    groups = [story if isinstance(story, list) else [story] for story in stories]
    findings = tuple(Reported(f"F{n}", "family", name, one) for n, group in enumerate(groups, 1) for name, one in group)
    rules = sorted({one.rule for one in (f[1] for f in (LIFECYCLE, DECISION, RECEIPT, COUNT, WORDING))} | {one.finding.rule for one in findings})
    held: dict[str, Any] = {"head": head, "findings": findings, "outcomes": tuple(Outcome(rule, "ran", None, 1.0) for rule in rules)}
    return replace(reports.report(), **({"verdict": Verdict.PASS} | held | parts))


def scene(**parts: Any) -> Scene:
    config = parts.pop("config", None) or Config()  # type: ignore[call-arg]
    held: dict[str, Any] = {"account": ME, "version": "0.1.0", "trigger": "push", "config_blob": "c" * 40}
    return Scene(TALK, 320, config, **(held | parts))


@dataclass(frozen=True)
class File:
    """A changed file as GitHub lists it."""

    path: str
    status: str = "modified"
    patch: str | None = None


def files(*listed: File) -> Mapping[str, ChangedFile]:
    return {one.path: one for one in listed}


DIFF = files(
    File("evidence/c/results/oom.json", patch="@@ -270,4 +270,8 @@\n a\n+b\n+c\n+d\n+e\n f\n g\n h"),
    File("tools/evidence_inventory.json"),
)


def reviewed(before: Ledger, held: Report, seen: Mapping[str, Seen] | None = None, **parts: Any) -> Reconciled:
    return reconcile(before, held, seen or {}, today=TODAY, **parts)


def words(before: Ledger, held: Report, seen: Mapping[str, Seen] | None = None, at: Scene | None = None, **parts: Any) -> Words:
    """What a review wants to say."""
    at = at or scene()
    return compose(reviewed(before, held, seen, draft=at.draft, **parts), held, at, DIFF, KEY)


# ---------------------------------------------------------------- what is on GitHub


@dataclass(frozen=True)
class Review:
    id: int
    body: str
    login: str = ME
    state: str = "COMMENTED"
    commit_id: str = FIRST


@dataclass(frozen=True)
class Comment:
    id: int
    body: str
    login: str = ME


@dataclass(frozen=True)
class Run:
    id: int
    head_sha: str
    conclusion: str | None
    title: str
    summary: str
    name: str = "assay"
    app_id: int | None = 5


@dataclass(frozen=True)
class GitHub:
    """A small GitHub: it does what actions say."""

    reviews: tuple[Review, ...] = ()
    comments: tuple[Comment, ...] = ()
    runs: tuple[Run, ...] = ()

    def state(self, head: str = FIRST) -> PostedState:
        return posted_state(key=KEY, conversation=TALK, me=ME, app_id=5, head=head, reviews=self.reviews, comments=self.comments, runs=self.runs)

    def after(self, actions: tuple[Action, ...]) -> GitHub:
        made = self
        for action in actions:
            made = _done(made, action)
        return made


def _done(held: GitHub, action: Action) -> GitHub:
    number = 100 + len(held.reviews) + len(held.comments) + len(held.runs)
    if isinstance(action, PostReview):
        state = "CHANGES_REQUESTED" if action.event == "REQUEST_CHANGES" else "COMMENTED"
        made = replace(held, reviews=(*held.reviews, Review(number, action.body, state=state, commit_id=action.commit)))
        return replace(made, comments=(*made.comments, *(_comment(number + n + 1, one) for n, one in enumerate(action.comments))))
    if isinstance(action, PostInline):
        return replace(held, comments=(*held.comments, _comment(number, action.comment)))
    name = type(action).__name__
    if name == "EditReview":
        return replace(held, reviews=tuple(replace(one, body=action.body) if one.id == action.review_id else one for one in held.reviews))  # type: ignore[union-attr]
    if name == "EditInline":
        return replace(held, comments=tuple(replace(one, body=action.body) if one.id == action.comment_id else one for one in held.comments))  # type: ignore[union-attr]
    if name == "WriteCheck":
        check, id = action.check, action.run_id or number  # type: ignore[union-attr]
        others = tuple(one for one in held.runs if one.id != id)
        return replace(held, runs=(*others, Run(id, check.head, check.conclusion, check.title, check.summary)))
    if name == "DismissReview":
        return replace(held, reviews=tuple(replace(one, state="DISMISSED") if one.id == action.review_id else one for one in held.reviews))  # type: ignore[union-attr]
    return replace(held, reviews=tuple(one for one in held.reviews if one.id != action.review_id))  # type: ignore[union-attr]


def _comment(id: int, one: Inline) -> Comment:
    return Comment(id, one.body)


def golden(name: str, text: str) -> None:
    """Hold `text` against `tests/golden/<name>`; with ASSAY_GOLDEN=write it is written instead."""
    file = GOLDEN / name
    if os.environ.get("ASSAY_GOLDEN") == "write":
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8")
