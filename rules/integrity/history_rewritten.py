"""A pull changes or deletes files of a campaign it does not belong to, where the config says that files may only be added

What it checks: every file under the config's `append_only` globs that exists at the merge base, by object id.

Why: an archived campaign is evidence of what was known then; rewriting it in passing takes that away.

Fix: restore the files, or make the correction in a pull that names the campaign it corrects.

Example: a pull for one campaign deletes the README of a closed one.

Not flagged: without `append_only` in the config the rule is off; a pull may change the campaigns that its title or body names or whose
bundle it adds; one that names none may change all that it touches; additions.

Strength: high. How many such files equal the base's is always reported.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from rules.core.model import Confirmed, Facts, Finding, Item, Location, Rule, Severity, Snapshot
from rules.reading.layout import bundles_of, changed, matches


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    old, globs = snapshot.merge_base, snapshot.config.append_only
    if old is None or not globs:
        return
    guarded = [path for path in old.files if any(matches(path, glob) for glob in globs)]
    touched = [path for path in guarded if path in changed(snapshot)]
    equal = f"{len(guarded) - len(touched)} of {len(guarded)} append-only files equal the base's"
    own = _own_campaigns(snapshot)
    foreign: dict[str, list[str]] = defaultdict(list)
    for path in touched:
        campaign = _campaign(snapshot, path)
        if own and campaign not in own:
            foreign[campaign].append(path)
    for campaign, paths in foreign.items():
        yield _finding(snapshot, campaign, paths, own, equal)
    if guarded:
        yield Confirmed("record", equal, Location(guarded[0], role="file", at=old.commit), Location(guarded[0], role="file"))


def _campaign(snapshot: Snapshot, path: str) -> str:
    """The bundle's id, or the file's own path where it lies in no bundle."""
    assert snapshot.merge_base is not None
    return next((b.id for b in bundles_of(snapshot, snapshot.merge_base) if path.startswith(b.path + "/")), path)


def _own_campaigns(snapshot: Snapshot) -> frozenset[str]:
    """The campaigns that the pull's title or body names, or whose bundle it adds."""
    assert snapshot.merge_base is not None
    before = {bundle.id for bundle in bundles_of(snapshot, snapshot.merge_base)}
    after = {bundle.id for bundle in bundles_of(snapshot, snapshot.head)}
    text = f"{snapshot.pull.title}\n{snapshot.pull.body}" if snapshot.pull else ""
    named = {id for id in before | after if re.search(rf"(?<![\w-]){re.escape(id)}(?![\w-])", text)}
    return frozenset(named | (after - before))


def _finding(snapshot: Snapshot, campaign: str, paths: list[str], own: frozenset[str], equal: str) -> Finding:
    gone = [path for path in paths if path not in snapshot.head.files]
    verb = "deletes" if len(gone) == len(paths) else "changes" if not gone else "changes and deletes"
    shown = ", ".join(f"`{path}`" for path in paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
    old = snapshot.merge_base.commit if snapshot.merge_base else None
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title=f"The pull {verb} files of {campaign}, which it does not belong to",
        problem=f"The pull belongs to {', '.join(f'`{id}`' for id in sorted(own))} and {verb} {shown}, which `append_only` guards. {equal}.",
        impact=f"What {campaign} recorded is no longer what a reader finds.",
        next="Restore the files as they are at the merge base, or correct them in a pull that names this campaign (commit a file).",
        locations=tuple(Location(path, role="file", at=old if path in gone else None) for path in paths[:50]),
        evidence=tuple((path, "deleted" if path in gone else "changed") for path in paths[:20]),
        roots=(f"rewritten:{campaign}", *(f"file:{path}" for path in paths)),
    )


RULE = Rule(
    "history-rewritten", "integrity", Severity.HIGH, check, needs=frozenset({"base"}), norms=(("append-only",), ("never", "rewrite", "evidence"))
)
