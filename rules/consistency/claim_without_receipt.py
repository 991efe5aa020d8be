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
from rules.reading.campaigns import bundles_of_conversation, bundles_of_issue, issues_of, named_bundles
from rules.reading.claimed import Claimed, Own, claimed
from rules.reading.conversation import Text, claim_root, texts
from rules.reading.derived import follows_from, follows_from_records, is_share
from rules.reading.figures import Stand, find
from rules.reading.inventory import externals
from rules.reading.layout import Bundle, bundle_at, bundles_of, documents_in_scope
from rules.reading.listed import Request
from rules.reading.markdown import markdown, markdown_of
from rules.reading.statements import statements, text_statements

_TEXT_LIMIT = 200
"""Agreements of one text that are listed."""
_PATH = re.compile(r"[\w.-]{1,100}(?:/[\w.-]{1,100}){1,12}")

Held = tuple[Bundle, Tree]


@dataclass(frozen=True, slots=True)
class _Missing:
    claim: Claimed
    bundles: tuple[Bundle, ...]
    files: int


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    """The bundle's own README."""
    path = f"{bundle.path}/README.md"
    if path in bundle.files:
        own = Own(frozenset(int(one.value) for one in issues_of(snapshot, bundle)), frozenset())
        claims = list(claimed(path, statements(snapshot, path), markdown(snapshot, path), own))
        yield from _findings(list(_judged(snapshot, claims, [(bundle, snapshot.head)])))


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    """The conversation's texts, together, and the guides, one by one."""
    made: list[Item | _Missing] = []
    for text in texts(snapshot):
        held = _meant(snapshot, text)
        claims = list(claimed(text.path, text_statements(snapshot, text), markdown_of(snapshot, text), _own(snapshot, held)))
        made += _judged(snapshot, claims, held)
    yield from _findings(made)
    for path in documents_in_scope(snapshot):
        if bundle_at(snapshot, path) is None and not path.startswith(".github/"):
            yield from _of_guide(snapshot, path)


def _of_guide(snapshot: Snapshot, path: str) -> Iterator[Item]:
    said = statements(snapshot, path)
    named = named_bundles(snapshot, "\n".join(_words(said)))
    if named:
        held = [(bundle, snapshot.head) for bundle in named]
        yield from _findings(list(_judged(snapshot, list(claimed(path, said, markdown(snapshot, path), _own(snapshot, held))), held)))


def _words(said: Iterable[object]) -> Iterator[str]:
    for one in said:
        yield getattr(one, "text", "")
        yield from (link for span in getattr(one, "code_spans", ()) for link in (span.text,))


def _meant(snapshot: Snapshot, text: Text) -> list[Held]:
    """The bundles, and the trees they are in, whose records a text of the conversation answers to."""
    of_issue = list(bundles_of_issue(snapshot, snapshot.issue)) if snapshot.issue and text.path.startswith("issue:") else []
    return of_issue or [(bundle, snapshot.head) for bundle in bundles_of_conversation(snapshot)]


def _own(snapshot: Snapshot, held: Sequence[Held]) -> Own:
    numbers = {one.number for one in (snapshot.pull, snapshot.issue) if one}
    numbers |= {pull.number for pull in snapshot.issue.linked_pulls} if snapshot.issue else set()
    numbers |= {int(stated.value) for bundle, tree in held for stated in issues_of(snapshot, bundle, tree)}
    meant = {bundle.path for bundle, _ in held}
    others = {one.id for one in bundles_of(snapshot, snapshot.head) if one.path not in meant and re.search(r"[-_\d]", one.id)}
    return Own(frozenset(numbers), frozenset(others))


# ---------------------------------------------------------------- judging


def _judged(snapshot: Snapshot, claims: Sequence[Claimed], held: Sequence[Held]) -> Iterator[Item | _Missing]:
    """What holds, what is missing, and what could not be checked."""
    if not claims or not held:
        return
    stands, files, unread = _looked_up(snapshot, claims, held)
    for index, claim in enumerate(claims):
        stand = stands.get(index)
        if stand:
            if index < _TEXT_LIMIT:
                yield Confirmed("figure", claim.shown + (f" ({stand.how})" if stand.how else ""), claim.location, stand.place)
        elif claim.asserted and not follows_from(claim.quantity, claim.others, claim.change):
            yield from _absent(snapshot, claim, held, files, unread)


def _looked_up(snapshot: Snapshot, claims: Sequence[Claimed], held: Sequence[Held]) -> tuple[dict[int, Stand], int, list[tuple[str, str]]]:
    found: dict[int, Stand] = {}
    unread: list[tuple[str, str]] = []
    files = 0
    for bundle, tree in held:
        left = [index for index in range(len(claims)) if index not in found]
        also = [Request(at, claims[index].kinds) for at, index in enumerate(left) if claims[index].kinds]
        search = find(snapshot, bundle, [claims[index].quantity for index in left], tree, also)
        found.update({left[at]: stand for at, stand in search.found.items()})
        files += search.files
        unread += search.unread
    return found, files, unread


def _absent(snapshot: Snapshot, claim: Claimed, held: Sequence[Held], files: int, unread: Sequence[tuple[str, str]]) -> Iterator[Item | _Missing]:
    computed = is_share(claim.quantity) or claim.change
    if computed and any(follows_from_records(snapshot, bundle, claim.quantity, claim.change, tree) for bundle, tree in held):
        return
    what = f"{claim.shown} ({claim.location.path}:{claim.location.line})"
    named = _external(snapshot, claim, held)
    if named:
        yield Unchecked(what, f"its receipt {named} is declared external")
    elif unread:
        yield Unchecked(what, f"it stands in no record that was read; {unread[0][0]} was not read: {unread[0][1]}")
    else:
        yield _Missing(claim, tuple(bundle for bundle, _ in held), files)


def _external(snapshot: Snapshot, claim: Claimed, held: Sequence[Held]) -> str | None:
    """The path in the claim's sentence that the inventory declares to be outside the repository."""
    for path in _PATH.findall(claim.sentence):
        for bundle, _ in held:
            if any(external.covers(path.removeprefix(bundle.path + "/").rstrip(".")) for external in externals(snapshot, bundle)):
                return str(path)
    return None


# ---------------------------------------------------------------- findings


def _findings(made: Sequence[Item | _Missing]) -> Iterator[Item]:
    yield from (item for item in made if not isinstance(item, _Missing))
    for group in _groups([item for item in made if isinstance(item, _Missing)]):
        yield _finding(group)


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
    with_unit = any(one.claim.quantity.unit and one.claim.quantity.unit.family != "number" for one in group)
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
