"""A second look at the places of a conversation's stories: what stands there now, and the first commit at which a finding is silent."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from bot.checkout.history import GitHistory
from bot.checkout.mirror import Repository
from bot.checkout.process import GitError
from bot.checkout.tree import TooManyFiles, tree_of
from bot.gather import Gathered
from bot.review.ledger import TEXT, Ledger, Point
from bot.review.reconcile import Seen
from rules.core.model import Facts, Finding, Location, Missing, Report, Rule, Snapshot
from rules.core.redact import excerpt
from rules.engine import run
from rules.reading.documents import Number, document, parse_pointer

VALUE_WIDTH = 80
# Pushes are small; of a larger one, and after this many seconds, the commit is not looked for.
MOST_COMMITS = 12
PATIENCE = 8.0
MOST_SEEN = 500
_ABSENT = "(absent)"
# Three digits and more: a smaller number stands in a text by chance.
_FIGURE = re.compile(r"(?<![A-Za-z\d.])\d[\d.,]{1,20}\d")


def renamed(repository: Repository, old: str, new: str) -> Mapping[str, str]:
    """New path → old path of every file that git finds renamed between the commits; none where one of them is not here."""
    if not old or old == new or repository.commit(old) is None:
        return {}
    fields = repository.git.fields("diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status", "--no-commit-id", "--end-of-options", old, new)
    try:
        found = [field.decode("utf-8", "surrogateescape") for field in fields]
    except GitError:
        return {}
    return dict(zip(found[2::3], found[1::3], strict=False))


# ---------------------------------------------------------------- what stands there


def seen_now(report: Report, snapshot: Snapshot) -> dict[str, Seen]:
    """The value at the first place of each finding."""
    numbered = [one for one in report.findings if one.id is not None][:MOST_SEEN]
    return {one.fingerprint: Seen(value=_value(snapshot, one.finding.locations[0]) or _figure(one.finding)) for one in numbered}


def _value(snapshot: Snapshot, at: Location) -> str:
    """The JSON or YAML value at a pointer of the head, as it is written, cut and redacted; "" for any other place."""
    if at.pointer is None or at.at is not None or at.path not in snapshot.head.files:
        return ""
    doc = document(snapshot, at.path)
    return _shown(doc.value, parse_pointer(at.pointer)) if doc is not None else ""


def _shown(value: Any, parts: tuple[str, ...]) -> str:
    for part in parts:
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return _ABSENT
    return excerpt(_written(value), VALUE_WIDTH)


def _written(value: Any) -> str:
    """A scalar as it is printed; of a list or mapping only how large it is."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, dict | list):
        return f"{len(value)} {'keys' if isinstance(value, dict) else 'elements'}"
    return json.dumps(value, ensure_ascii=False)[: 4 * VALUE_WIDTH]


def _figure(finding: Finding) -> str:
    """Of a finding in a text: the first thing that was seen there which holds a digit."""
    return next((excerpt(value, VALUE_WIDTH) for _, value in finding.evidence if any(c.isdigit() for c in value)), "")


# ---------------------------------------------------------------- what is silent


def seen_again(ledger: Ledger, report: Report, gathered: Gathered, facts: Facts, rules: tuple[Rule, ...]) -> dict[str, Seen]:
    """By fingerprint: what became of each remembered place whose finding is silent now."""
    now = {one.fingerprint for one in report.findings}
    silent = [point for one in ledger.standings for point in one.points if not point.silent and point.fingerprint not in now][:MOST_SEEN]
    unsure = _unsure(silent, gathered.snapshot, facts, rules)
    commits = _first_silent([one for one in silent if one.rule not in unsure], ledger.head, gathered, facts, rules) if silent else {}
    return {point.fingerprint: _again(point, gathered.snapshot, point.rule in unsure, commits.get(point.fingerprint, "")) for point in silent}


def _again(point: Point, snapshot: Snapshot, unsure: bool, commit: str) -> Seen:
    path = next((new for new, old in snapshot.renames.items() if old == (point.origin or point.path)), point.path)
    if point.pointer:
        absent = _ABSENT if path not in snapshot.head.files else ""
        return Seen(value=absent or _value(snapshot, Location(path, pointer=point.pointer)), silent=commit, unsure=unsure)
    return Seen(stated=_stated(point, path, snapshot), silent=commit, unsure=unsure)


def _stated(point: Point, path: str, snapshot: Snapshot) -> bool:
    """Whether the text still gives the figures that the finding was about."""
    figures = _FIGURE.findall(point.value)
    text = _text(path, snapshot) if figures else ""
    return bool(figures) and all(figure in text for figure in figures)


def _text(path: str, snapshot: Snapshot) -> str:
    kind, _, part = path.partition(":")
    held = snapshot.pull if kind == "pull" else snapshot.issue if kind == "issue" else None
    if held is not None:
        return held.title if part == "title" else held.body
    entry = snapshot.head.files.get(path)
    if entry is None or not entry.is_file or not 0 <= entry.size <= snapshot.config.limits.markdown:
        return ""
    return snapshot.head.read(path).decode("utf-8", "replace")


def _unsure(points: Iterable[Point], snapshot: Snapshot, facts: Facts, rules: Iterable[Rule]) -> frozenset[str]:
    """Rules among those of `points` that asked the outside and got no answer."""
    names = {point.rule for point in points}
    asking = [rule for rule in rules if rule.id in names and rule.asks]
    return frozenset(rule.id for rule in asking if any(q not in facts.commits for q in run.questions(snapshot, (rule,))))


# ---------------------------------------------------------------- since when


def _first_silent(points: list[Point], last: str, gathered: Gathered, facts: Facts, rules: tuple[Rule, ...]) -> dict[str, str]:
    """The first commit since `last` at which each finding is silent, and stays so; `TEXT` where it is silent at `last` too."""
    repository, head = gathered.repository, gathered.snapshot.head.commit or ""
    if repository is None or repository.commit(last) is None:
        return {}
    if last == head:
        return {point.fingerprint: TEXT for point in points}
    chain = _chain(gathered.snapshot, head, last)
    waiting = {point.fingerprint: point.rule for point in points}
    found: dict[str, str] = {}
    deadline = time.monotonic() + PATIENCE
    for newer, commit in pairwise(chain):
        if not waiting or time.monotonic() > deadline:
            break
        firing = _firing(commit, set(waiting.values()), gathered, facts, rules)
        if firing is None:
            break
        found |= {name: newer for name in waiting if name in firing}
        waiting = {name: rule for name, rule in waiting.items() if name not in firing}
        if commit == last:
            found |= dict.fromkeys(waiting, TEXT)
    return found


def _chain(snapshot: Snapshot, head: str, last: str) -> list[str]:
    """From head back to `last` along first parents, both included; only head where `last` is not on that way, or too far."""
    commits = snapshot.history.commits if snapshot.history else {}
    chain = [head]
    while chain[-1] != last and len(chain) <= MOST_COMMITS:
        known = commits.get(chain[-1])
        if known is None or not known.parents:
            break
        chain.append(known.parents[0])
    return chain if chain[-1] == last else [head]


def _firing(commit: str, names: set[str], gathered: Gathered, facts: Facts, rules: tuple[Rule, ...]) -> set[str] | None:
    """Fingerprints of what the named rules find at `commit`; None where it cannot be read or a rule crashes there."""
    snapshot = _at(commit, gathered)
    if snapshot is None:
        return None
    try:
        report = run.review(snapshot, facts, [rule for rule in rules if rule.id in names])
    except (Missing, GitError, TooManyFiles):
        return None
    return None if any(one.state == "crashed" for one in report.outcomes) else {one.fingerprint for one in report.findings}


def _at(commit: str, gathered: Gathered) -> Snapshot | None:
    """The snapshot as it was at an earlier commit, with today's texts. The merge is not computed again: rules of one commit need it least."""
    repository, snapshot = gathered.repository, gathered.snapshot
    if repository is None:
        return None
    base = snapshot.base.commit if snapshot.base else None
    merge_base = repository.merge_base(base, commit) if base else None
    return replace(
        snapshot,
        head=tree_of(repository, commit),
        merge_base=tree_of(repository, merge_base) if merge_base else None,
        merge=None,
        history=GitHistory(repository, commit),
    )
