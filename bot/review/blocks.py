"""The parts that a review is made of, as Markdown: one story, what must happen, what held, what was read. Shared by the shell and by GitHub."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal
from urllib.parse import quote

from bot.review.phrases import Language, heading, say, verdict_words
from bot.review.quoting import code, plain, prose
from bot.review.stories import Story, counted, merge_line, place, read_line, role, scope, suggestions, tally
from rules.core.config import Config
from rules.core.model import Confirmed, Finding, Location, Report, Verdict

Detail = Literal["full", "short", "line"]
CUT = 300


@dataclass(frozen=True, slots=True)
class Style:
    """In which words, and how much of everything. `blob` is where files of the head are shown, "" for no links."""

    language: Language = "en"
    names: Mapping[str, str] = field(default_factory=dict)
    blob: str = ""
    places: int = 12
    listed: int = 30
    held: int = 30
    strong: Detail = "full"
    minor: Detail = "full"
    ended: Detail = "full"
    stories: int = 1000

    def say(self, key: str, *values: object) -> str:
        return say(key, self.language, *values)

    def level(self, severity: str) -> str:
        """A severity as this repository calls it."""
        return plain(self.names.get(severity, severity))


# What is given up first, when a body would be too long. Each step keeps what the ones before it took.
SHORTENING: tuple[Mapping[str, object], ...] = (
    {"held": 0},
    {"blob": ""},
    {"listed": 5},
    {"places": 3},
    {"minor": "line"},
    {"ended": "line"},
    {"strong": "short"},
    {"strong": "line"},
    {"stories": 120},
    {"stories": 30},
)


def style_of(config: Config, blob: str = "") -> Style:
    """The style that the repository's config asks for."""
    return Style(config.language, {str(level): name for level, name in config.severity_names.items()}, blob)


def fitted(make: Callable[[Style], str], style: Style, limit: int) -> str:
    """What `make` gives in the fullest style whose text has at most `limit` bytes in UTF-8."""
    text = make(style)
    for step in SHORTENING:
        if len(text.encode("utf-8", "replace")) <= limit:
            return text
        style = replace(style, **step)  # type: ignore[arg-type]
        text = f"{make(style)}\n\n{style.say('shortened')}"
    return cut(text, limit)


def cut(text: str, limit: int) -> str:
    """The last resort: `text` cut to `limit` bytes, at a line's end where there is one."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    kept = data[: limit - 4].decode("utf-8", "ignore")
    return (kept[: kept.rfind("\n")] if "\n" in kept else kept) + "\n…"


def verdict_lines(report: Report, verdict: Verdict, style: Style) -> str:
    """Ours, and the campaigns' own; the one never implies the other."""
    commits = [f"head {code(report.head[:12])}" if report.head else "a plain folder"]
    commits += [f"{name} {code(id[:12])}" for name, id in (("merge base", report.merge_base), ("base", report.base)) if id]
    ours = f"**{style.say('verdict')}: {verdict_words(verdict, style.language)}** — {', '.join(commits)}; {scope(report)}."
    recorded = [f"{code(c.id)} **{plain(c.status)}** ({code(place(c.location))})" for c in report.campaigns[: style.listed]]
    theirs = f"{'; '.join(recorded)}. {style.say('no defect')}" if recorded else f"{style.say('none found')}."
    return f"{ours}\n\n**{style.say('status')}:** {theirs}"


# ---------------------------------------------------------------- stories


def section(key: str, blocks: Sequence[str], style: Style, nothing: str = "none") -> list[str]:
    """A heading and what stands below it; an empty section says so."""
    return [heading(key, style.language), *(blocks or [style.say(nothing)])]


def kind(story: Story, style: Style) -> str:
    """What a story asks for."""
    return style.say("must-fix" if story.strong and story.decision == "author" else "human" if story.strong else "minor")


def title_line(story: Story, style: Style, label: str = "") -> str:
    """`F3 — high, must-fix, still open — The record …`, in bold, with its rules."""
    words = ", ".join(word for word in (style.level(story.severity.value), kind(story, style), label) if word)
    rules = " ".join(code(rule) for rule in story.rules)
    return f"**{story.id} — {words} — {prose(story.findings[0].title)}** · {rules}"


def block(story: Story, style: Style, label: str = "", notes: Iterable[str] = ()) -> str:
    """One story as a quoted block."""
    detail = style.strong if story.strong else style.minor
    first, *rest = story.findings
    lines = [title_line(story, style, label)]
    if detail == "line":
        lines.append(f"**{style.say('where')}:** {_address(first.locations[0], style)}")
        return quoted(lines)
    lines += [*_points(first, style, detail), *notes]
    for finding in rest:
        lines.append(f"**{style.say('also')}:** {prose(finding.title)} ({code(finding.rule)})")
        lines += _points(finding, style, detail)
    lines += [f"**{style.say('next')}:** {prose(shorter(text, detail))}" for text in story.nexts]
    return quoted(lines)


def quoted(lines: Iterable[str]) -> str:
    """Lines as one quoted paragraph that keeps its line breaks."""
    return "\n".join(f"> {line}  " for line in lines)


def _points(finding: Finding, style: Style, detail: Detail) -> Iterator[str]:
    yield f"**{style.say('where')}:** {where(finding.locations, style)}"
    yield f"**{style.say('problem')}:** {prose(shorter(finding.problem, detail))}"
    if finding.impact and detail == "full":
        yield f"**{style.say('impact')}:** {prose(finding.impact)}"
    if finding.searched and detail == "full":
        yield f"**{style.say('searched')}:** {prose(finding.searched)}"


def shorter(text: str, detail: Detail) -> str:
    """The text, cut where there is little room; a cut code span is closed by `prose`."""
    return text if detail == "full" or len(text) <= CUT else text[: CUT - 1] + "…"


def where(locations: Sequence[Location], style: Style) -> str:
    """The places of a finding in one line."""
    first, *rest = locations[: style.places]
    words = _address(first, style) + "".join(f"; {role(at, style.language)} {_address(at, style)}" for at in rest)
    more = len(locations) - style.places
    return words + (f"; {style.say('more', counted(more, 'place') if style.language != 'zh' else more)}" if more > 0 else "")


def _address(at: Location, style: Style) -> str:
    """The place; a link where it is a file of the head."""
    shown = code(place(at)) + (f" at {code(at.at[:12])}" if at.at else "")
    if not style.blob or at.at or at.path.startswith(("pull:", "issue:")) or "<name>" in at.path:
        return shown
    lines = f"#L{at.line}" + (f"-L{at.end_line}" if at.end_line not in (None, at.line) else "") if at.line else ""
    return f"[{shown}]({style.blob}/{quote(at.path, errors='replace')}{lines})"


def tasks(told: Iterable[Story], style: Style) -> list[str]:
    """What must happen, and who must do it."""
    lines = []
    for story in told:
        who = "" if story.decision == "author" else f" — {style.say('authority')}"
        lines.append(f"- [ ] **{story.id}** {prose(shorter(story.nexts[0] if story.nexts else story.findings[0].title, style.strong))}{who}")
    return lines


def waiting_line(names: Sequence[str], style: Style) -> str:
    """Who must act; empty where nobody must."""
    joined = f" {style.say('and')} ".join(style.say(name) for name in names)
    return f"{style.say('waiting')} {joined}." if names else ""


def suggested(report: Report, style: Style) -> list[str]:
    return [
        f"- {style.say('suggested')} ({code(one.finding.rule)}): {prose(one.finding.title)} — {prose(one.finding.problem)}"
        for one in suggestions(report)[: style.listed]
    ]


# ---------------------------------------------------------------- what held, and the limits


def held(report: Report, style: Style) -> list[str]:
    """Collapsed: the tally, and each agreement."""
    if not report.confirmed:
        return []
    lines = [_confirmed(one, style) for one in report.confirmed[: style.held]]
    more = len(report.confirmed) - style.held
    lines += [f"- … {style.say('more', f'{more:,}')}"] if more > 0 else []
    return ["\n".join([f"<details><summary>{tally(report.confirmed)}</summary>", "", *lines, "", "</details>"])]


def _confirmed(one: Confirmed, style: Style) -> str:
    return f"- {one.what} {code(one.value)}: {code(place(one.claim))} {style.say('agrees')} {code(place(one.receipt))}"


def limits(report: Report, style: Style) -> Iterator[str]:
    """What was read and what was not."""
    coverage = report.coverage
    yield f"- {style.say('read')}: {read_line(report)}."
    yield f"- {style.say('merge')}: {merge_line(report)}."
    yield from listed(style.say("external"), [code(name) for name in coverage.external], style, ", ")
    yield from listed(style.say("not read"), [f"{code(s.path)}: {plain(s.reason)}" for s in coverage.skipped], style)
    yield from listed(style.say("not checked"), [f"{plain(n.what)}: {plain(n.why)}" for n in coverage.not_checked], style)
    yield from listed(style.say("not judged"), [plain(text) for text in coverage.not_judged], replace(style, listed=100))


def listed(label: str, items: Sequence[str], style: Style, joint: str = "; ") -> Iterator[str]:
    """One line of a list, cut to what the style allows; nothing for no items."""
    if items:
        more = len(items) - style.listed
        rest = f"{joint}{style.say('more', f'{more:,}')}" if more > 0 else ""
        yield f"- {label}: {joint.join(items[: style.listed])}{rest}."


@lru_cache(maxsize=1)
def assay_version() -> str:
    """The installed version."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("assay")
    except PackageNotFoundError:
        return "unreleased"
