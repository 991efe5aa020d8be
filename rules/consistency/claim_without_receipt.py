"""A measured figure stands in no committed receipt

What it checks: measured quantities (a number with its unit and at least four significant digits) in the issue's and the pull's text, in guides about a
bundle and in a bundle's README, against every number of the bundle's records: JSON, YAML, JSONL, CSV, logs. A figure holds when it is the printed number
within its precision and in the declared units, or the mean, median, min or max of one listed array.

Why: a figure that no committed record holds can neither be checked nor compared; readers take it for measured evidence.

Fix: commit the receipt, correct the figure, or say beside it that it has no committed receipt.

Example: "the control took 168.956 s", while no file of the bundle holds that time.

Not flagged: settings, versions, targets; figures of other campaigns, of vendors and papers that are cited as such; changes and shares that follow from two
figures; reported speech; figures labelled as having no committed receipt; a figure whose receipt the inventory declares external (not checked).

Strength: high with a unit, else low.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rules.core.model import Confirmed, Facts, Finding, Item, Rule, Severity, Snapshot, Tree, Unchecked
from rules.core.redact import excerpt
from rules.reading.campaigns import Stated, bundles_of_conversation, bundles_of_issue, issues_of, named_bundles
from rules.reading.claimed import Claimed, Own, claimed
from rules.reading.conversation import Text, claim_root, texts
from rules.reading.derived import follows_from, follows_from_records, is_share
from rules.reading.figures import Stand, find
from rules.reading.inventory import externals
from rules.reading.layout import Bundle, bundle_at, bundles_of, documents_in_scope
from rules.reading.listed import Request
from rules.reading.markdown import markdown, markdown_of
from rules.reading.statements import statements, text_statements

_BARE = frozenset(["number", "ratio", "factor"])
"""What carries no unit of measure."""
_TEXT_LIMIT = 200
"""Agreements of one text that are listed."""
_ISSUE = re.compile(r"issue|track|议题|工单|问题单|跟踪|跟进", re.IGNORECASE)
_PATH = re.compile(r"[\w.-]{1,100}(?:/[\w.-]{1,100}){1,12}")

Held = tuple[Bundle, Tree]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A figure, and the bundles whose records it may stand in."""

    claim: Claimed
    held: tuple[Held, ...]


@dataclass(frozen=True, slots=True)
class _Missing:
    claim: Claimed
    bundles: tuple[Bundle, ...]
    files: int


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    """The bundle's own README."""
    path = f"{bundle.path}/README.md"
    if path in bundle.files:
        held = ((bundle, snapshot.head),)
        yield from _items(snapshot, _of_file(snapshot, path, held))


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    """The conversation's texts and the guides, looked up together."""
    asked: list[_Asked] = []
    for text in texts(snapshot):
        held = _meant(snapshot, text)
        asked += [_Asked(one, held) for one in claimed(text.path, text_statements(snapshot, text), markdown_of(snapshot, text), _own(snapshot, held))]
    for path in documents_in_scope(snapshot):
        if bundle_at(snapshot, path) is None and not path.startswith(".github/"):
            named = named_bundles(snapshot, "\n".join(_words(statements(snapshot, path))))
            asked += _of_file(snapshot, path, tuple((bundle, snapshot.head) for bundle in named))
    yield from _items(snapshot, asked)


def _of_file(snapshot: Snapshot, path: str, held: tuple[Held, ...]) -> list[_Asked]:
    if not held:
        return []
    return [_Asked(one, held) for one in claimed(path, statements(snapshot, path), markdown(snapshot, path), _own(snapshot, held))]


def _words(said: Iterable[object]) -> Iterator[str]:
    for one in said:
        yield getattr(one, "text", "")
        yield from (link for span in getattr(one, "code_spans", ()) for link in (span.text,))


def _meant(snapshot: Snapshot, text: Text) -> tuple[Held, ...]:
    """The bundles, and the trees they are in, whose records a text of the conversation answers to."""
    of_issue = bundles_of_issue(snapshot, snapshot.issue) if snapshot.issue and text.path.startswith("issue:") else ()
    return of_issue or tuple((bundle, snapshot.head) for bundle in bundles_of_conversation(snapshot))


def _own(snapshot: Snapshot, held: Sequence[Held]) -> Own:
    numbers = {one.number for one in (snapshot.pull, snapshot.issue) if one}
    numbers |= {pull.number for pull in snapshot.issue.linked_pulls} if snapshot.issue else set()
    numbers |= {int(stated.value) for bundle, tree in held for stated in issues_of(snapshot, bundle, tree) if _is_own(stated)}
    meant = {bundle.path for bundle, _ in held}
    others = {one.id for one in bundles_of(snapshot, snapshot.head) if one.path not in meant and re.search(r"[-_\d]", one.id)}
    return Own(frozenset(numbers), frozenset(others))


def _is_own(stated: Stated) -> bool:
    """A record names the issue, or the README does so as an issue: `campaign #293` there may be another one."""
    return stated.place.pointer is not None or _ISSUE.search(stated.place.text or "") is not None


# ---------------------------------------------------------------- judging


def _items(snapshot: Snapshot, asked: Sequence[_Asked]) -> Iterator[Item]:
    """What holds, what is missing, and what could not be checked."""
    stands, files, unread = _looked_up(snapshot, asked)
    listed: dict[str, int] = {}
    missing: list[_Missing] = []
    for index, one in enumerate(asked):
        stand, claim = stands.get(index), one.claim
        if stand:
            listed[claim.location.path] = listed.get(claim.location.path, 0) + 1
            if listed[claim.location.path] <= _TEXT_LIMIT:
                yield Confirmed("figure", claim.shown + (f" ({stand.how})" if stand.how else ""), claim.location, stand.place)
        elif claim.asserted and one.held and not _follows(snapshot, one):
            not_read = [held for bundle, tree in one.held for held in unread[bundle.path, id(tree)]]
            why = _not_checked(snapshot, one, not_read)
            if why:
                yield Unchecked(f"{claim.shown} ({claim.location.path}:{claim.location.line})", why)
            else:
                missing.append(
                    _Missing(claim, tuple(bundle for bundle, _ in one.held), sum(files[bundle.path, id(tree)] for bundle, tree in one.held))
                )
    elsewhere = _elsewhere(snapshot, missing)
    yield from (_finding(group) for group in _groups([one for at, one in enumerate(missing) if at not in elsewhere]))


def _elsewhere(snapshot: Snapshot, missing: Sequence[_Missing]) -> set[int]:
    """Of the figures of guides, those that a bundle holds which the guide does not name: a guide of the repository speaks of all of them."""
    guides = [
        at
        for at, one in enumerate(missing)
        if one.claim.location.path in snapshot.head.files and bundle_at(snapshot, one.claim.location.path) is None
    ]
    found: set[int] = set()
    for bundle in bundles_of(snapshot, snapshot.head) if guides else ():
        left = [at for at in guides if at not in found and bundle not in missing[at].bundles]
        also = [Request(n, missing[at].claim.kinds) for n, at in enumerate(left) if missing[at].claim.kinds]
        found |= {left[n] for n in find(snapshot, bundle, [missing[at].claim.quantity for at in left], snapshot.head, also).found} if left else set()
    return found


_Key = tuple[str, int]


def _looked_up(snapshot: Snapshot, asked: Sequence[_Asked]) -> tuple[dict[int, Stand], dict[_Key, int], dict[_Key, tuple[tuple[str, str], ...]]]:
    """One search per bundle: where each figure stands, how many files were read, and which were not."""
    found: dict[int, Stand] = {}
    files: dict[_Key, int] = {}
    unread: dict[_Key, tuple[tuple[str, str], ...]] = {}
    places = {(bundle.path, id(tree)): (bundle, tree) for one in asked for bundle, tree in one.held}
    for key, (bundle, tree) in places.items():
        left = [i for i, one in enumerate(asked) if i not in found and any((b.path, id(t)) == key for b, t in one.held)]
        also = [Request(at, asked[i].claim.kinds) for at, i in enumerate(left) if asked[i].claim.kinds]
        search = find(snapshot, bundle, [asked[i].claim.quantity for i in left], tree, also)
        found.update({left[at]: stand for at, stand in search.found.items()})
        files[key], unread[key] = search.files, search.unread
    return found, files, unread


def _follows(snapshot: Snapshot, one: _Asked) -> bool:
    """A change, a share or a difference that follows from other figures."""
    claim = one.claim
    if follows_from(claim.quantity, claim.others, claim.change):
        return True
    if not is_share(claim.quantity) and not claim.change:
        return False
    return any(follows_from_records(snapshot, bundle, claim.quantity, claim.change, tree) for bundle, tree in one.held)


def _not_checked(snapshot: Snapshot, one: _Asked, unread: Sequence[tuple[str, str]]) -> str | None:
    named = _external(one.claim, one.held, snapshot)
    if named:
        return f"its receipt {named} is declared external"
    return f"it stands in no record that was read; {unread[0][0]} was not: {unread[0][1]}" if unread else None


def _external(claim: Claimed, held: Sequence[Held], snapshot: Snapshot) -> str | None:
    """The path in the claim's sentence that the inventory declares to be outside the repository."""
    for path in _PATH.findall(claim.sentence):
        for bundle, _ in held:
            if any(external.covers(path.removeprefix(bundle.path + "/").rstrip(".")) for external in externals(snapshot, bundle)):
                return str(path)
    return None


# ---------------------------------------------------------------- findings


def _groups(missing: Sequence[_Missing]) -> list[list[_Missing]]:
    """Figures of one sentence, the same figure in several places, and the rows of one table belong together."""
    groups: list[tuple[set[object], list[_Missing]]] = []
    for one in missing:
        keys: set[object] = {(one.claim.location.path, one.claim.sentence), one.claim.shown}
        if " | " in one.claim.sentence and one.claim.location.line is not None:
            keys |= {(one.claim.location.path, "row", one.claim.location.line + step) for step in (0, 1)}
        near = [group for group in groups if group[0] & keys]
        merged = (keys.union(*(group[0] for group in near)), [item for group in near for item in group[1]] + [one])
        groups = [group for group in groups if group not in near] + [merged]
    return [items for _, items in groups]


def _finding(group: Sequence[_Missing]) -> Finding:
    figures = list(dict.fromkeys(one.claim.shown for one in group))
    places = list(dict.fromkeys(one.claim.location for one in group))
    paths = list(dict.fromkeys(bundle.path for one in group for bundle in one.bundles))
    with_unit = any(one.claim.quantity.unit and one.claim.quantity.unit.family not in _BARE for one in group)
    several = len(figures) > 1
    shown = ", ".join(figures[:8]) + (f" and {len(figures) - 8} more" if len(figures) > 8 else "")
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH if with_unit else Severity.LOW,
        title="Measured figures stand in no committed receipt" if several else "A measured figure stands in no committed receipt",
        problem=f"“{excerpt(group[0].claim.sentence)}”: {shown} {'are' if several else 'is'} neither printed in a record of `{'`, `'.join(paths[:3])}`"
        " within its precision and unit, nor the mean, median, min or max of a listed array.",
        impact="Readers take it for measured evidence, and nobody can check it or compare with it.",
        next="Commit the receipt that holds it; or correct the figure to the recorded one; or say beside it that it has no committed receipt (edit text). "
        "Do not write a receipt after the figure: without the raw record it stays author commentary, or needs a new run.",
        locations=tuple(places[:20]),
        evidence=tuple(("figure", figure) for figure in figures[:8]),
        roots=tuple(
            dict.fromkeys(
                [claim_root(one.claim.location.path, one.claim.sentence) for one in group]
                + [f"figure:{bundle.path}#{one.claim.shown}" for one in group for bundle in one.bundles[:3]]
            )
        ),
        searched=f"{group[0].files} records of {', '.join(paths[:3])}" + (f" and {len(paths) - 3} more bundles" if len(paths) > 3 else ""),
    )


RULE = Rule(
    "claim-without-receipt",
    "consistency",
    Severity.HIGH,
    check,
    each=each,
    norms=(("receipt", "figure"), ("receipt", "number"), ("measurement", "committed"), ("claim", "receipt"), ("回执", "数字")),
)
