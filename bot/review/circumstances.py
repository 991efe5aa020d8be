"""What a review says beside its findings: the head's own checks, approvals, the config, and the footer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import groupby

from bot.review.blocks import Style, assay_version, listed
from bot.review.logs import LOG_TAIL
from bot.review.quoting import code, plain
from bot.review.reconcile import Reconciled, Told
from bot.review.scene import Approval, Job, Scene
from rules.core.config import CONFIG_PATH
from rules.core.model import Report
from rules.core.redact import redact

MOST_JOBS_NAMED = 12
MOST_STORIES_NAMED = 4


def lines(reconciled: Reconciled, report: Report, scene: Scene, style: Style) -> Iterator[str]:
    """What follows the limits of the reading."""
    yield from _checks(scene.jobs, reconciled.told, style)
    yield from listed(style.say("approvals"), [_approval(one, report.head, style) for one in scene.approvals], style)
    if scene.config_change:
        yield f"- {style.say('config')}: {plain(redact(scene.config_change))}"
    if scene.linked:
        yield f"- {style.say('linked')} {', '.join(f'#{number}' for number in scene.linked[: style.listed])}."


def _approval(one: Approval, head: str | None, style: Style) -> str:
    return f"{code(one.login)} {code(one.head[:12])} ({style.say('current' if one.head == head else 'stale')})"


# ---------------------------------------------------------------- checks of the head


def _checks(jobs: Sequence[Job], told: Sequence[Told], style: Style) -> Iterator[str]:
    if not jobs:
        yield f"- {style.say('checks')}: {style.say('no checks')}."
        return
    yield f"- {style.say('checks')}:"
    ordered = sorted(jobs, key=lambda job: (job.run, job.outcome != "failure", job.name))
    runs = [(run, list(group)) for run, group in groupby(ordered, key=lambda job: job.run)]
    yield from (f"  - **{plain(redact(run))}**: {'; '.join(_run(group, told, style))}" for run, group in runs[: style.listed])
    if len(runs) > style.listed:
        yield f"  - {style.say('more', len(runs) - style.listed)}"


def _run(jobs: Sequence[Job], told: Sequence[Told], style: Style) -> Iterator[str]:
    yield from (_job(job, told, style) for job in jobs[:MOST_JOBS_NAMED])
    if len(jobs) > MOST_JOBS_NAMED:
        yield style.say("more", len(jobs) - MOST_JOBS_NAMED)


def _job(job: Job, told: Sequence[Told], style: Style) -> str:
    words = [f"{code(redact(job.name))} {job.outcome if job.outcome != 'failure' else '**failure**'}"]
    words += [style.say("required")] if job.required else []
    if job.log_wanted and job.outcome in ("success", "failure"):
        words.append(_log(job, style))
    about = _about(job, told) if job.outcome == "failure" else []
    words += [style.say("about", ", ".join(about))] if about else []
    return ", ".join(words)


def _log(job: Job, style: Style) -> str:
    closing = [code(redact(line)) for line in job.lines or ()]
    return f"{style.say('closes')} {' / '.join(closing)}" if closing else style.say("no log")


def _about(job: Job, told: Sequence[Told]) -> list[str]:
    """Stories whose file the failing job's log names."""
    log = "\n".join((*(job.lines or ()), job.log[-LOG_TAIL:]))
    found = [one.standing.id for one in told if one.standing.state.fires and any(point.path in log for point in one.standing.points)]
    return found[:MOST_STORIES_NAMED]


# ---------------------------------------------------------------- footer


def footer(report: Report | None, scene: Scene, style: Style) -> str:
    """What this is not, who speaks, and by which rules."""
    parts = [
        style.say("footer"),
        f"{style.say('account')} {code(scene.account)};" if scene.account else "",
        f"Assay {plain(scene.version) or assay_version()};",
        _rule_set(report, style),
        f"{code(CONFIG_PATH)} {code(scene.config_blob[:12])};" if scene.config_blob else f"{style.say('defaults')};",
        f"{style.say('trigger')}: {plain(redact(scene.trigger))}." if scene.trigger else "",
        style.say("reread"),
    ]
    return f"<sub>{' '.join(part for part in parts if part)}</sub>"


def _rule_set(report: Report | None, style: Style) -> str:
    """How many rules, and a digest of which."""
    if report is None:
        return ""
    ids = sorted(one.rule for one in report.outcomes)
    digest = hashlib.sha256("\n".join(ids).encode()).hexdigest()[:8]
    return f"{len(ids)} {style.say('rules')} ({code(digest)});"
