"""A report for a terminal: stories with their source lines, as a compiler shows its errors."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from bot.review.excerpts import Line, Sources
from bot.review.stories import VERDICTS, Story, counted, merge_line, place, read_line, role, scope, stories, suggestions, tally, waiting
from rules.core.model import Finding, Location, Report, Snapshot, Verdict

FEW = 3
MORE = 8
EXCERPTS = 3
_COLOURS = {"bold": "1", "dim": "2", "red": "1;31", "yellow": "1;33", "blue": "1;34", "green": "1;32", "cyan": "36"}
_LEVELS = {"blocking": "red", "high": "red", "medium": "yellow", "low": "cyan"}


class Ink:
    """Colours text, or leaves it alone."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def __call__(self, text: str, name: str) -> str:
        return f"\x1b[{_COLOURS[name]}m{text}\x1b[0m" if self._colour and text else text


def as_text(report: Report, snapshot: Snapshot, colour: bool = False, width: int = 100) -> str:
    """The whole report. `width` is the terminal's, in columns."""
    ink, sources = Ink(colour), Sources(snapshot)
    blocks = ["\n".join(_story(story, sources, ink, width)) for story in stories(report)]
    blocks += ["\n".join(part) for part in (list(_suggested(report, ink)), list(_held(report, ink)), list(_coverage(report, ink, width))) if part]
    blocks.append("\n".join(_closing(report, ink)))
    return "\n\n".join(blocks) + "\n"


# ---------------------------------------------------------------- stories


def _story(story: Story, sources: Sources, ink: Ink, width: int) -> Iterator[str]:
    first, *rest = story.findings
    level = story.severity.value
    yield f"{ink(f'{story.id} {level}', _LEVELS[level])}{ink(f'[{first.rule}]', 'dim')}: {ink(first.title, 'bold')}"
    yield from _places(first, sources, ink, width)
    yield from _points(first, ink, width)
    for finding in rest:
        yield ""
        yield f"  {ink('also', _LEVELS[finding.severity.value])}{ink(f'[{finding.rule}]', 'dim')}: {ink(finding.title, 'bold')}"
        yield from _places(finding, sources, ink, width)
        yield from _points(finding, ink, width)
    human = " (a person with authority must decide)" if story.decision == "human" else ""
    for number, text in enumerate(story.nexts):
        yield from _labelled("next" if number == 0 else "also", text + (human if number == 0 else ""), ink, width)


def _places(finding: Finding, sources: Sources, ink: Ink, width: int) -> Iterator[str]:
    for number, at in enumerate(finding.locations):
        arrow = "-->" if number == 0 else ":::"
        words = f" {ink(role(at), 'dim')}" if number else ""
        yield f"  {ink(arrow, 'blue')}{words} {place(at)}{_moment(at)}"
        if number < EXCERPTS:
            yield from _excerpt(sources.excerpt(at, max(40, width - 12), 1 if number == 0 else 0), ink)
        if number == MORE and len(finding.locations) > MORE + 1:
            yield f"      … and {counted(len(finding.locations) - MORE - 1, 'more place')}"
            return


def _moment(at: Location) -> str:
    return f" at {at.at[:12]}" if at.at else ""


def _excerpt(lines: Sequence[Line], ink: Ink) -> Iterator[str]:
    """Lines with their numbers; the finding's own carry a mark."""
    if not lines:
        return
    gutter = max(len(str(line.number or "")) for line in lines)
    for line in lines:
        number = ink(f"{line.number or '':>{gutter}} |", "blue")
        mark = ink(">", "red") if line.marked else " "
        yield f"   {mark} {number} {line.text if line.marked else ink(line.text, 'dim')}".rstrip()


def _points(finding: Finding, ink: Ink, width: int) -> Iterator[str]:
    yield from _labelled("problem", finding.problem, ink, width)
    yield from _labelled("impact", finding.impact, ink, width)
    if finding.searched:
        yield from _labelled("searched", finding.searched, ink, width)


def _labelled(label: str, text: str, ink: Ink, width: int) -> Iterator[str]:
    """`  = problem: …`, wrapped."""
    if not text.strip():
        return
    lead = f"  = {label}: "
    lines = textwrap.wrap(" ".join(text.split()), max(40, width - 6), initial_indent=lead, subsequent_indent="      ", break_on_hyphens=False)
    yield f"  {ink('=', 'blue')} {ink(f'{label}:', 'bold')} {lines[0][len(lead) :]}"
    yield from lines[1:]


def _suggested(report: Report, ink: Ink) -> Iterator[str]:
    for one in suggestions(report):
        yield f"{ink('suggested', 'cyan')}{ink(f'[{one.finding.rule}]', 'dim')}: {one.finding.title} — {' '.join(one.finding.problem.split())}"


# ---------------------------------------------------------------- what held, what was read


def _held(report: Report, ink: Ink) -> Iterator[str]:
    if not report.confirmed:
        return
    yield f"{ink('what held', 'green')}: {tally(report.confirmed)}"
    for one in report.confirmed[:FEW]:
        yield f"  {one.what} {one.value}: {place(one.claim)} = {place(one.receipt)}"
    yield from _rest(len(report.confirmed), FEW)


def _coverage(report: Report, ink: Ink, width: int) -> Iterator[str]:
    coverage = report.coverage
    yield f"{ink('read', 'bold')}: {read_line(report)}"
    if report.base:
        yield f"{ink('merge', 'bold')}: {merge_line(report)}"
    if coverage.external:
        yield f"{ink('external', 'bold')}: {', '.join(coverage.external[:MORE])}"
    yield from _list("not read", [f"{s.path}: {s.reason}" for s in coverage.skipped], ink)
    yield from _list("not checked", [f"{n.what}: {n.why}" for n in coverage.not_checked], ink)
    judged = textwrap.wrap("; ".join(coverage.not_judged), max(40, width - 12))
    yield f"{ink('not judged', 'bold')}: " + "\n  ".join(judged)


def _list(label: str, lines: Sequence[str], ink: Ink) -> Iterator[str]:
    if lines:
        yield f"{ink(label, 'bold')}:"
        yield from (f"  {' '.join(line.split())}" for line in lines[:MORE])
        yield from _rest(len(lines), MORE)


def _rest(total: int, shown: int) -> Iterator[str]:
    if total > shown:
        yield f"  … and {total - shown:,} more (--format json lists them all)"


# ---------------------------------------------------------------- the verdict


def _closing(report: Report, ink: Ink) -> Iterator[str]:
    for campaign in report.campaigns[:MORE]:
        yield f"Campaign status as recorded: {campaign.id} {ink(campaign.status, 'bold')} ({place(campaign.location)}; not a defect)"
    colour = {Verdict.PASS: "green", Verdict.NEEDS_HUMAN: "yellow"}.get(report.verdict, "red")
    commits = [(report.head or "the folder as it is")[: 19 if report.head is None else 12]]
    if report.base:
        commits.append(f"base {report.base[:12]}, merge base {(report.merge_base or 'none')[:12]}")
    yield f"{ink('Review verdict', 'bold')}: {ink(VERDICTS[report.verdict], colour)}{_numbers(report)} — {', '.join(commits)}; {scope(report)}"
    who = waiting(report)
    if who:
        yield f"Waiting on {who}."


def _numbers(report: Report) -> str:
    counts = [sum(story.severity.value == level for story in stories(report)) for level in _LEVELS]
    words = [f"{count} {level}" for level, count in zip(_LEVELS, counts, strict=True) if count]
    return f" ({', '.join(words)})" if words else ""
