"""A report as the body of a review on GitHub, as the shell prints it: without a conversation, so nothing is resolved or remembered."""

from __future__ import annotations

from bot.review import blocks
from bot.review.stories import stories
from rules.core.model import Report, Snapshot


def as_markdown(report: Report, snapshot: Snapshot) -> str:
    """The review's body, in the order that people read it."""
    style = blocks.style_of(snapshot.config)
    told = stories(report)
    strong, minor = [s for s in told if s.strong], [s for s in told if not s.strong]
    todo = "\n".join(line for line in (*blocks.tasks(strong, style), "", blocks.waiting_line(report.waiting_on, style)) if strong)
    parts = [
        blocks.verdict_lines(report, report.verdict, style),
        *blocks.section("findings", [blocks.block(story, style) for story in strong], style),
        *blocks.section("before", [todo.rstrip()] if todo else [], style),
        *blocks.section("minor", [*(blocks.block(story, style) for story in minor), *blocks.suggested(report, style)], style),
        *blocks.section("held", blocks.held(report, style), style),
        *blocks.section("limits", ["\n".join(blocks.limits(report, style))], style),
        "---",
        f"<sub>{style.say('footer')} Assay {blocks.assay_version()}, run from a shell.</sub>",
    ]
    return "\n\n".join(parts) + "\n"
