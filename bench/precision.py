"""Counts what the rules say of local clones: findings per rule and strength, and what pulls replayed from the history report beyond themselves.

    python -m bench.precision [--replay N] CLONE CONFIG [CLONE CONFIG …]

Prints numbers, rule ids and commit ids only, never a text of a reviewed repository. Exit 1 when a replayed pull reports something outside of what it touches.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from bot.gather import Gathered, Wanted, gather, load_config, review
from rules.core.cache import Cache
from rules.core.config import Config
from rules.core.model import Entry, Finding, Report
from rules.engine.run import discover
from rules.reading.layout import bundle_at

COLUMNS = ("blocking", "high", "medium", "low")
CONVERSATION = ("pull:", "issue:")


def _reviewed(wanted: Wanted, cache: Cache) -> tuple[Report, Gathered]:
    gathered = gather(wanted, cache)
    return review(gathered, discover(), None, wanted), gathered


def _name(clone: str) -> str:
    """The clone's folder; for a bare `…/name/.git` the one around it."""
    parts = Path(clone).resolve().parts
    return parts[-2] if parts[-1] in (".git", "repo") and len(parts) > 1 else parts[-1]


def whole(clone: str, config: Config) -> None:
    """One review of the whole tree: a line per rule that found something."""
    start = time.perf_counter()
    report, gathered = _reviewed(Wanted(folder=clone, config=config), Cache())
    gathered.close()
    spent = time.perf_counter() - start
    print(f"\n{_name(clone)} at {report.head}: {report.coverage.files} files, {report.coverage.bundles} bundles, {spent:.1f} s")
    print(f"{'rule':32}" + "".join(f"{name:>10}" for name in COLUMNS))
    counted = Counter((one.finding.rule, one.finding.severity.value) for one in report.findings)
    for rule in sorted({rule for rule, _ in counted}):
        print(f"{rule:32}" + "".join(f"{counted[rule, name] or '':>10}" for name in COLUMNS))
    crashed = [outcome.rule for outcome in report.outcomes if outcome.state == "crashed"]
    print(f"stories {len({one.id for one in report.findings if one.id})}, crashed {', '.join(crashed) or 'none'}")


def replay(clone: str, config: Config, most: int) -> int:
    """The last `most` commits that touch a bundle, each as a pull against its first parent. Gives the number of findings outside of what they touch."""
    cache, beyond = Cache(), 0
    for commit, parent in _touching(clone, config, most):
        report, gathered = _reviewed(Wanted(folder=clone, head=commit, base=parent, config=config), cache)
        outside = Counter(one.finding.rule for one in report.findings if not _is_its_own(gathered, one.finding))
        found = Counter(one.finding.rule for one in report.findings)
        gathered.close()
        beyond += outside.total()
        print(f"pull {commit[:12]}: {_listed(found)}" + (f"; outside of what it touches: {_listed(outside)}" if outside else ""))
    return beyond


def _listed(found: Counter[str]) -> str:
    return ", ".join(f"{rule} {count}" for rule, count in sorted(found.items())) or "nothing"


def _touching(clone: str, config: Config, most: int) -> list[tuple[str, str]]:
    """(commit, first parent), newest first, of commits that change a file of a bundle."""
    gathered = gather(Wanted(folder=clone, config=config), Cache())
    with gathered:
        history = gathered.snapshot.history
        changed = dict.fromkeys(change.commit for change in history.changes if _in_bundle(gathered, change.path)) if history else {}
        commits = history.commits if history else {}
        return [(id, commits[id].parents[0]) for id in changed if len(commits[id].parents) == 1][:most]


def _in_bundle(gathered: Gathered, path: str) -> bool:
    return bundle_at(gathered.snapshot, path) is not None


def _is_its_own(gathered: Gathered, finding: Finding) -> bool:
    """The finding's first place is a file that the pull changes, a bundle that it touches, or its conversation."""
    snapshot, path = gathered.snapshot, finding.locations[0].path
    before = snapshot.merge_base.files if snapshot.merge_base else {}
    changed = _changed(snapshot.head.files, before)
    bundle = bundle_at(snapshot, path)
    touched = bundle is not None and any(one.startswith(bundle.path + "/") for one in changed)
    inventories = {root.inventory for root in snapshot.config.roots}
    return path.startswith(CONVERSATION) or path in changed or touched or path in inventories


def _changed(head: Mapping[str, Entry], before: Mapping[str, Entry]) -> set[str]:
    return {path for path in {*head, *before} if head.get(path) != before.get(path)}


def main(arguments: Iterable[str] | None = None) -> int:
    """Run the command line above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", metavar="CLONE CONFIG", help="a local clone and the config to review it with")
    parser.add_argument("--replay", type=int, default=0, metavar="N", help="also review the last N commits that touch a bundle, each as a pull")
    options = parser.parse_args(list(arguments) if arguments is not None else None)
    if len(options.pairs) % 2:
        parser.error("give a config for every clone")
    beyond = 0
    for clone, path in zip(options.pairs[::2], options.pairs[1::2], strict=True):
        config = load_config(path)
        whole(clone, config)
        beyond += replay(clone, config, options.replay) if options.replay else 0
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
