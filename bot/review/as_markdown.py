"""A report as the body of a review on GitHub. Text of the repository is quoted so that it stays text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bot.review.quoting import code, plain, prose
from bot.review.stories import VERDICTS, Story, counted, merge_line, place, read_line, role, scope, stories, suggestions, tally, waiting
from rules.core.model import Confirmed, Finding, Location, Report, Snapshot

PLACES = 12
LISTED = 30
_HEADINGS: Mapping[str, Mapping[str, str]] = {
    "findings": {"en": "Findings", "zh": "问题"},
    "before": {"en": "Before this can merge", "zh": "批准前必做"},
    "minor": {"en": "Not blocking", "zh": "非阻塞问题或建议"},
    "held": {"en": "What held", "zh": "已核实"},
    "limits": {"en": "Checks and limits", "zh": "检查与限制"},
}
NOTHING = "None"


def as_markdown(report: Report, snapshot: Snapshot) -> str:
    """The review's body, in the order that people read it."""
    language = snapshot.config.language
    names = {str(level): name for level, name in snapshot.config.severity_names.items()}
    told = stories(report)
    strong, minor = [s for s in told if s.strong], [s for s in told if not s.strong]
    parts = [
        "\n\n".join(_verdicts(report)),
        _heading("findings", language),
        *(_blocks(strong, names) or [NOTHING]),
        _heading("before", language),
        "\n".join(_before(report, strong)) or NOTHING,
        _heading("minor", language),
        *([*_blocks(minor, names), *_suggested(report)] or [NOTHING]),
        _heading("held", language),
        _held(report) or NOTHING,
        _heading("limits", language),
        "\n".join(_limits(report)),
        "---",
        _footer(),
    ]
    return "\n\n".join(parts) + "\n"


def _heading(key: str, language: str) -> str:
    names = _HEADINGS[key]
    return f"### {names['en']} / {names['zh']}" if language == "both" else f"### {names[language]}"


def _verdicts(report: Report) -> Iterator[str]:
    commits = [f"head {code(report.head[:12])}" if report.head else "a plain folder"]
    commits += [f"{name} {code(id[:12])}" for name, id in (("merge base", report.merge_base), ("base", report.base)) if id]
    yield f"**Review verdict: {VERDICTS[report.verdict]}** — {', '.join(commits)}; {scope(report)}."
    recorded = [f"{code(c.id)} **{plain(c.status)}** ({code(place(c.location))})" for c in report.campaigns[:LISTED]]
    yield (
        f"**Campaign status as recorded:** {'; '.join(recorded)}. This is no defect." if recorded else "**Campaign status as recorded:** none found."
    )


# ---------------------------------------------------------------- stories


def _blocks(told: Sequence[Story], names: Mapping[str, str]) -> list[str]:
    return [_story(story, names) for story in told]


def _story(story: Story, names: Mapping[str, str]) -> str:
    first, *rest = story.findings
    level = names.get(story.severity.value, story.severity.value)
    kind = "must-fix" if story.strong and story.decision == "author" else "a human must decide" if story.strong else "not blocking"
    rules = " ".join(code(rule) for rule in story.rules)
    lines = [f"**{story.id} — {plain(level)}, {kind} — {prose(first.title)}** · {rules}", *_points(first)]
    for finding in rest:
        lines.append(f"**Also:** {prose(finding.title)} ({code(finding.rule)})")
        lines += _points(finding)
    lines += [f"**Next:** {prose(text)}" for text in story.nexts]
    return "\n".join(f"> {line}  " for line in lines)


def _points(finding: Finding) -> Iterator[str]:
    yield f"**Where:** {_where(finding.locations)}"
    yield f"**Problem:** {prose(finding.problem)}"
    if finding.impact:
        yield f"**Impact:** {prose(finding.impact)}"
    if finding.searched:
        yield f"**Searched:** {prose(finding.searched)}"


def _where(locations: Sequence[Location]) -> str:
    first, *rest = locations[:PLACES]
    words = _address(first) + "".join(f"; {role(at)} {_address(at)}" for at in rest)
    more = len(locations) - PLACES
    return words + (f"; and {counted(more, 'more place')}" if more > 0 else "")


def _address(at: Location) -> str:
    return code(place(at)) + (f" at {code(at.at[:12])}" if at.at else "")


def _before(report: Report, strong: Sequence[Story]) -> Iterator[str]:
    """What must happen, and who must do it."""
    for story in strong:
        who = "" if story.decision == "author" else " — must be recorded by somebody with authority"
        yield f"- [ ] **{story.id}** {prose(story.nexts[0] if story.nexts else story.findings[0].title)}{who}"
    if strong and waiting(report):
        yield f"\nWaiting on {waiting(report)}."


def _suggested(report: Report) -> list[str]:
    return [f"- Suggested ({code(one.finding.rule)}): {prose(one.finding.title)} — {prose(one.finding.problem)}" for one in suggestions(report)]


# ---------------------------------------------------------------- what held, and the limits


def _held(report: Report) -> str:
    if not report.confirmed:
        return ""
    lines = [_confirmed(one) for one in report.confirmed[:LISTED]]
    more = len(report.confirmed) - LISTED
    lines += [f"- … and {more:,} more"] if more > 0 else []
    return "\n".join([f"<details><summary>{tally(report.confirmed)}</summary>", "", *lines, "", "</details>"])


def _confirmed(one: Confirmed) -> str:
    return f"- {one.what} {code(one.value)}: {code(place(one.claim))} agrees with {code(place(one.receipt))}"


def _limits(report: Report) -> Iterator[str]:
    coverage = report.coverage
    yield f"- Read: {read_line(report)}."
    yield f"- Merge: {merge_line(report)}."
    if coverage.external:
        yield f"- External, by name: {', '.join(code(name) for name in coverage.external[:LISTED])}."
    yield from _listed("Not read", [f"{code(s.path)}: {plain(s.reason)}" for s in coverage.skipped])
    yield from _listed("Not checked", [f"{plain(n.what)}: {plain(n.why)}" for n in coverage.not_checked])
    yield f"- Not judged: {plain('; '.join(coverage.not_judged))}."


def _listed(label: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        more = f"; and {len(lines) - LISTED:,} more" if len(lines) > LISTED else ""
        yield f"- {label}: {'; '.join(lines[:LISTED])}{more}."


def _footer() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("assay")
    except PackageNotFoundError:
        number = "unreleased"
    return (
        "<sub>Static review: no code, model or device was run. Not an approval, merge authorisation or campaign acceptance. "
        f"Assay {number}, run from a shell.</sub>"
    )
