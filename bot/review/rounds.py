"""What changed since the last review, in words: resolved stories with their old and new values, labels, and what people have set aside."""

from __future__ import annotations

from collections.abc import Iterator

from bot.review.blocks import Style
from bot.review.ledger import BY, TEXT, Point, Standing, State
from bot.review.quoting import code, plain, prose
from bot.review.reconcile import Reconciled
from rules.core.redact import redact

MOST_VALUES = 6


def resolved(reconciled: Reconciled, style: Style) -> list[str]:
    """Stories that ended in this round, each with what stood there and what stands there now."""
    serial = reconciled.ledger.serial
    ended = [told.standing for told in reconciled.told if not told.standing.state.fires and told.standing.round == serial]
    partly = [told.standing for told in reconciled.told if told.standing.state is State.PARTLY and told.standing.round == serial]
    lines = [line for standing in ended[: style.stories] for line in _ended_lines(standing, style)]
    lines += [f"- **{one.id}** {style.say('partly')} — {prose(one.title)}: {cleared(one, style)}" for one in partly[: style.stories]]
    return ["\n".join(lines)] if lines else []


def _ended_lines(standing: Standing, style: Style) -> Iterator[str]:
    yield f"- **{standing.id}** {ended(standing, style)} — {prose(standing.title)}"
    if style.ended == "full":
        yield from (f"  - {_values(point)}" for point in standing.points[:MOST_VALUES] if point.value and point.now and point.value != point.now)


def _values(point: Point) -> str:
    return f"{code(point.place)}: {code(point.value)} → {code(point.now)}"


def ended(standing: Standing, style: Style) -> str:
    """`resolved, first silent at …`, `disclosed: …`, `waived by …`."""
    if standing.state.fires:
        return said(standing, style)
    if standing.state is State.DISCLOSED:
        return style.say("disclosed")
    silent = dict.fromkeys(point.silent for point in standing.points if point.silent not in ("", TEXT))
    exact = [code(one[:12]) for one in silent if not one.startswith(BY)]
    vague = [code(one.removeprefix(BY)[:12]) for one in silent if one.startswith(BY)]
    words = [f"{style.say(key)} {', '.join(found[:3])}" for key, found in (("silent at", exact), ("silent by", vague)) if found]
    return ", ".join((style.say("resolved"), *(words or [style.say("text edited")])))


def said(standing: Standing, style: Style) -> str:
    """What a person said of the story; that person is not pinged."""
    if standing.override is None:
        return style.say("partly" if standing.state is State.PARTLY else "still")
    override = standing.override
    until = f" {style.say('until')} {plain(override.until)}" if override.until else ""
    return f"{style.say(override.kind)} {code(override.by)}{until}"


def label(standing: Standing, serial: int, style: Style) -> str:
    """What a reader of the last review wants to know of a story; nothing in a first review."""
    if standing.state is State.DISPUTED:
        return said(standing, style)
    if serial <= 1:
        return ""
    if standing.born == serial:
        return style.say("new")
    if standing.state is State.PARTLY:
        return style.say("partly")
    return style.say("again" if standing.round == serial and standing.round != standing.born else "still")


def cleared(standing: Standing, style: Style) -> str:
    """Where a partly resolved story is resolved."""
    return f"{style.say('cleared')} {', '.join(style.say(surface) for surface in standing.cleared)}"


def cleared_line(standing: Standing, style: Style) -> list[str]:
    """The same as a line of the story; none where nothing is cleared."""
    return [f"**{style.say('partly').capitalize()}:** {cleared(standing, style)}."] if standing.cleared else []


def set_aside(reconciled: Reconciled, style: Style) -> list[str]:
    """Waived and withdrawn stories: listed, not counted."""
    found = [told.standing for told in reconciled.told if told.standing.state in (State.WAIVED, State.WITHDRAWN)]
    lines = [f"- **{one.id}** {said(one, style)}{_reason(one)} — {prose(one.title)}" for one in found[: style.stories]]
    return ["\n".join(lines)] if lines else []


def _reason(standing: Standing) -> str:
    reason = redact(standing.override.reason) if standing.override else ""
    return f": {plain(reason[:300])}" if reason else ""
