"""A report as one page of HTML that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from bot.review.excerpts import Line, Sources
from bot.review.stories import VERDICTS, Story, merge_line, place, read_line, role, scope, stories, suggestions, tally, waiting
from rules.core.model import Finding, Report, Snapshot

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
article { border: 1px solid var(--line); border-left-width: .4rem; border-radius: .4rem; padding: 0 1rem .5rem; margin: 1rem 0; }
.blocking, .high { border-left-color: #c0392b; } .medium { border-left-color: #d68910; } .low { border-left-color: #2874a6; }
pre { background: var(--soft); padding: .5rem; overflow-x: auto; border-radius: .3rem; } mark { background: #f7dc6f88; color: inherit; }
code { font-size: .9em; } h3 small { font-weight: normal; } dt { font-weight: bold; } footer { border-top: 1px solid var(--line); margin-top: 2rem; }
"""


def as_html(report: Report, snapshot: Snapshot) -> str:
    """The page."""
    sources = Sources(snapshot)
    told = stories(report)
    body = [
        f"<h1>Review verdict: {escape(VERDICTS[report.verdict])}</h1>",
        f"<p>{escape(_commits(report))}; {escape(scope(report))}. {escape('Waiting on ' + waiting(report) + '.') if waiting(report) else ''}</p>",
        *(
            f"<p>Campaign status as recorded: {_code(c.id)} <b>{escape(c.status)}</b> ({_code(place(c.location))}; not a defect)</p>"
            for c in report.campaigns
        ),
        "<h2>Findings</h2>",
        *([_story(story, sources) for story in told] or ["<p>None</p>"]),
        *(f"<p>Suggested: {escape(one.finding.title)} — {escape(one.finding.problem)}</p>" for one in suggestions(report)),
        "<h2>What held</h2>",
        _held(report),
        "<h2>Checks and limits</h2>",
        _list(list(_limits(report))),
        "<footer><p>Static review: no code, model or device was run. Not an approval, merge authorisation or campaign acceptance.</p></footer>",
    ]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Assay review</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n' + "\n".join(body) + "\n</body></html>\n"


def _commits(report: Report) -> str:
    named = (("head", report.head), ("merge base", report.merge_base), ("base", report.base))
    return ", ".join(f"{name} {id[:12]}" for name, id in named if id) or "a plain folder"


def _story(story: Story, sources: Sources) -> str:
    first = story.findings[0]
    rules = ", ".join(story.rules)
    parts = [f"<h3>{story.id} {escape(first.title)} <small>{story.severity.value} · {_code(rules)}</small></h3>"]
    parts += [part for finding in story.findings for part in _finding(finding, sources, finding is not first)]
    parts += [f"<p><b>Next:</b> {escape(text)}</p>" for text in story.nexts]
    return f'<article id="{story.id}" class="{story.severity.value}">' + "\n".join(parts) + "</article>"


def _finding(finding: Finding, sources: Sources, also: bool) -> Iterator[str]:
    if also:
        yield f"<h4>{escape(finding.title)} <small>{_code(finding.rule)}</small></h4>"
    for number, at in enumerate(finding.locations):
        yield f"<div>{escape(role(at)) + ' ' if number else ''}{_code(place(at))}{' at ' + _code(at.at[:12]) if at.at else ''}</div>"
        yield _excerpt(sources.excerpt(at)) if number == 0 else ""
    for label, text in (("Problem", finding.problem), ("Impact", finding.impact), ("Searched", finding.searched or "")):
        if text:
            yield f"<p><b>{label}:</b> {escape(text)}</p>"


def _excerpt(lines: Sequence[Line]) -> str:
    if not lines:
        return ""
    shown = [f"{line.number or '':>6}  {f'<mark>{escape(line.text)}</mark>' if line.marked else escape(line.text)}" for line in lines]
    return "<pre>" + "\n".join(shown) + "</pre>"


def _held(report: Report) -> str:
    if not report.confirmed:
        return "<p>None</p>"
    rows = [f"{escape(one.what)} {_code(one.value)}: {_code(place(one.claim))} agrees with {_code(place(one.receipt))}" for one in report.confirmed]
    return f"<details><summary>{escape(tally(report.confirmed))}</summary>{_list(rows)}</details>"


def _limits(report: Report) -> Iterator[str]:
    coverage = report.coverage
    yield f"Read: {escape(read_line(report))}"
    yield f"Merge: {escape(merge_line(report))}"
    yield from (f"External: {escape(name)}" for name in coverage.external)
    yield from (f"Not read: {_code(s.path)}: {escape(s.reason)}" for s in coverage.skipped)
    yield from (f"Not checked: {escape(n.what)}: {escape(n.why)}" for n in coverage.not_checked)
    yield f"Not judged: {escape('; '.join(coverage.not_judged))}"


def _list(rows: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{row}</li>" for row in rows) + "</ul>"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"
