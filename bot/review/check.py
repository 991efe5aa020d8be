"""The check run that mirrors a review: conclusion, title, summary, annotations.

docs.github.com/rest/checks/runs: summary and text hold 65,535 characters each, the title 255; annotations are only ever appended.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from bot.review import blocks
from bot.review.ledger import Standing
from bot.review.markers import Marker, signed
from bot.review.quoting import code, prose
from bot.review.reconcile import Reconciled, Told
from bot.review.scene import Scene
from bot.review.stories import STRONG, VERDICTS, counted, scope
from rules.core.model import Location, Report, Reported, Severity, Verdict

CHECK_NAME = "assay"
TITLE_LIMIT = 255
SUMMARY_LIMIT = 30_000
MESSAGE_LIMIT = 4_000
MOST_ANNOTATIONS = 200
Conclusion = Literal["success", "failure", "action_required"]
Level = Literal["notice", "warning", "failure"]
# `neutral` lets a pull be merged, so what waits for a person is `action_required`.
_CONCLUSIONS: Mapping[Verdict, Conclusion] = {
    Verdict.PASS: "success",
    Verdict.CHANGES_NEEDED: "failure",
    Verdict.NEEDS_HUMAN: "action_required",
    Verdict.INCOMPLETE: "action_required",
}
_LEVELS: Mapping[Severity, Level] = {Severity.BLOCKING: "failure", Severity.HIGH: "failure", Severity.MEDIUM: "warning", Severity.LOW: "notice"}


@dataclass(frozen=True, slots=True)
class Annotation:
    """A mark of a check run in a file, lines 1-based and inclusive."""

    path: str
    start_line: int
    end_line: int
    level: Level
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class Check:
    """The check run as it should be. `digest` is that of the annotations; a marker in `summary` carries it."""

    head: str
    conclusion: Conclusion
    title: str
    summary: str
    text: str
    annotations: tuple[Annotation, ...]
    digest: str


def check_of(reconciled: Reconciled, report: Report, scene: Scene, body: str, key: bytes) -> Check:
    """The check run of a review. `body` is shown in it where there is nothing else to show it in."""
    style = blocks.style_of(scene.config)
    lines = [blocks.verdict_lines(report, reconciled.verdict, style), *_lines(reconciled, style)]
    annotations = tuple(_annotations(reconciled.told))[:MOST_ANNOTATIONS]
    title = _title(reconciled, report, scene)
    text = body if scene.check_only else ""
    return _check(
        report.head or "", _CONCLUSIONS[reconciled.verdict], title, "\n\n".join(lines), text, annotations, reconciled.ledger.conversation, key
    )


def failed_check(head: str, sentence: str, scene: Scene, conversation: str, key: bytes) -> Check:
    """The check run where there is no report. It does not let anything be merged."""
    summary = blocks.style_of(scene.config).say("incomplete", prose(sentence))
    return _check(head, "action_required", f"incomplete: {sentence}", summary, "", (), conversation, key)


def _check(
    head: str, conclusion: Conclusion, title: str, summary: str, text: str, annotations: tuple[Annotation, ...], conversation: str, key: bytes
) -> Check:
    digest = hashlib.sha256(json.dumps([asdict(one) for one in annotations]).encode()).hexdigest()[:16]
    marker = signed(Marker("check", conversation, digest=digest), key)
    short = title if len(title) <= TITLE_LIMIT else title[: TITLE_LIMIT - 1] + "…"
    return Check(head, conclusion, short, f"{blocks.cut(summary, SUMMARY_LIMIT)}\n\n{marker}", text, annotations, digest)


def _title(reconciled: Reconciled, report: Report, scene: Scene) -> str:
    """`changes needed: 2 must-fix, 1 for a person to decide`."""
    if reconciled.verdict is Verdict.PASS:
        return f"pass: {scope(report)}" if scene.evidence else "pass: no evidence is touched"
    strong = [told.standing for told in reconciled.told if told.standing.state.counts and told.standing.severity in STRONG]
    fix, decide = sum(one.decision == "author" for one in strong), sum(one.decision == "human" for one in strong)
    parts = [f"{fix} must-fix"] * bool(fix) + [f"{counted(decide, 'decision')} for a person"] * bool(decide)
    return ": ".join(part for part in (VERDICTS[reconciled.verdict].partition(":")[0], ", ".join(parts)) if part)


def _lines(reconciled: Reconciled, style: blocks.Style) -> Iterator[str]:
    """One line per story that counts, the strongest first."""
    counting = sorted((t.standing for t in reconciled.told if t.standing.state.counts), key=lambda one: one.severity.rank)
    if counting:
        yield "\n".join(_line(one, style) for one in counting)


def _line(standing: Standing, style: blocks.Style) -> str:
    at = f" · {code(standing.points[0].place)}" if standing.points and standing.points[0].place else ""
    return f"- **{standing.id}** {style.level(standing.severity.value)} — {prose(standing.title)}{at}"


def _annotations(told: Sequence[Told]) -> Iterator[Annotation]:
    for one in sorted((one for one in told if one.standing.state.counts), key=lambda one: one.standing.severity.rank):
        for found in one.findings:
            at = found.finding.locations[0]
            if _in_tree(at):
                yield _annotation(one.standing.id, found, at)


def _in_tree(at: Location) -> bool:
    """A file of the head, by a path that GitHub can be told."""
    return at.at is None and ":" not in at.path.split("/")[0] and "<name>" not in at.path and at.path.isprintable()


def _annotation(id: str, found: Reported, at: Location) -> Annotation:
    finding = found.finding
    message = f"{finding.problem}\n\nNext: {finding.next}" if finding.next else finding.problem
    title = f"{id} {finding.title}"[:TITLE_LIMIT]
    first = at.line or 1
    return Annotation(at.path, first, max(first, at.end_line or first), _LEVELS[finding.severity], title, message[:MESSAGE_LIMIT])
