"""A campaign id or an evidence path belongs to two campaigns

What it checks: the id and the path that an issue or a pull declares as its own, that a bundle's record carries, and that the inventory lists,
against what the other bundles, the inventory and the linked pulls say of the same id or path.

Why: two campaigns under one id mix their evidence; a figure of one is then read as a figure of the other.

Fix: choose an id of its own for the newer campaign, and correct the copied record.

Example: issue 320 declares `h3-ref2va-lossless-293`, and the run spec in that directory says `"issue": 293`.

Not flagged: the same campaign going on; another campaign's bundle that is only named as related work; ids of which one begins the other.

Strength: high.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rules.core.model import Facts, Finding, Item, Location, Pull, Rule, Severity, Snapshot, Tree
from rules.reading.campaigns import Stated, ids_of, issues_of, names, paths_of, planned_ids, read_bundle, trees
from rules.reading.conversation import cited_numbers
from rules.reading.documents import pointer
from rules.reading.fields import Part, body_lines, concept, is_blank, parts
from rules.reading.inventory import Inventory, Registered, inventories
from rules.reading.layout import Bundle, bundles, bundles_of, changed

_CLOSES = re.compile(
    r"(?:\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|for|part of|implements|addresses|tracking issue|campaign issue|issue|tracks|of)\b|属于|关联|跟踪|对应)[ :：]{0,3}(?:issue )?#(\d{1,9})\b",
    re.IGNORECASE,
)
_SPOKEN = re.compile(
    r"(?:\bcampaign (?:id|identifier)|活动编号)[\s:：=]{0,3}(?:is |will be |为|是)?[\s`\"“]{0,3}(?P<id>[A-Za-z0-9][\w.-]{0,100}[A-Za-z0-9])"
    r"|\bevidence (?:lives|goes|is|stands|stays|will be|will go|lies)(?: \w{1,12}){0,2} (?:in|under|at|to|into|below)[\s`\"“]{1,3}(?P<path>[\w.-]{1,100}(?:/[\w.-]{1,100}){1,9})",
    re.IGNORECASE,
)
_BORROWED = re.compile(r"reference|external|imported|cited|upstream|comparison|borrowed|related|prior", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Claim:
    """An id or a path that a conversation declares as its own, for the issue `number`."""

    value: str
    number: int
    place: Location


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    found = [one for claim in _claims(snapshot) for one in _taken(snapshot, claim)]
    for bundle in bundles(snapshot):
        found += (*_foreign_records(snapshot, bundle), *_arrived_twice(snapshot, bundle))
    for inventory in inventories(snapshot):
        found += _doubled_entries(snapshot, inventory)
    yield from _merged(found)


def _merged(found: list[Finding]) -> list[Finding]:
    """What is about one contested id or path is one finding with all places, whoever says it: the issue, a record, the inventory."""
    made: list[Finding] = []
    for one in found:
        near = next((i for i, other in enumerate(made) if set(_contested(one)) & set(_contested(other))), None)
        if near is None:
            made.append(one)
            continue
        first = made[near]
        made[near] = replace(
            first,
            problem=first.problem if one.roots == first.roots and one.title == first.title else f"{first.problem} {one.problem}",
            locations=tuple(dict.fromkeys((*first.locations, *one.locations))),
            evidence=tuple(dict.fromkeys((*first.evidence, *one.evidence))),
            roots=tuple(dict.fromkeys((*first.roots, *one.roots))),
        )
    return made


def _contested(one: Finding) -> Iterator[str]:
    """The path of the campaign that owns the name, and the name."""
    yield from (root for root in one.roots if root.startswith("campaign:"))
    yield from (value.casefold() for label, value in one.evidence if label in ("name", "id", "carried"))


# ---------------------------------------------------------------- texts against bundles


def _claims(snapshot: Snapshot) -> Iterator[_Claim]:
    own = snapshot.issue.number if snapshot.issue else None
    if snapshot.issue is not None and own is not None:
        yield from _declared("issue:body", snapshot.issue.body, own)
    if snapshot.pull is not None:
        number = own or _issue_of(snapshot.pull)
        if number:
            yield from _declared("pull:body", snapshot.pull.body, number)


def _issue_of(pull: Pull) -> int | None:
    """The one issue that the pull's text says it belongs to."""
    found = {int(match[1]) for match in _CLOSES.finditer(pull.body)}
    return found.pop() if len(found) == 1 else None


def _declared(path: str, body: str, number: int) -> Iterator[_Claim]:
    for part in parts(body.replace("\r\n", "\n")):
        name = concept(part.label)
        if name in ("campaign_id", "evidence_path") and not is_blank(part.text, name):
            value = _first_value(name, part.text)
            if value:
                yield _Claim(value, number, Location(path, line=_line_of(part, value), text=f"{part.label}: {value}"))
    for line, (text, fenced) in enumerate(body_lines(body.replace("\r\n", "\n")), 1):
        found = None if fenced or text.lstrip().startswith(">") else _SPOKEN.search(text)
        if found:
            yield _Claim((found["id"] or found["path"]).rstrip("/."), number, Location(path, line=line, text=found[0]))


def _first_value(name: str, text: str) -> str | None:
    pattern = r"[\w.-]+(?:/[\w.-]+)+/?" if name == "evidence_path" else r"[A-Za-z0-9][\w.-]*[A-Za-z0-9]"
    found = re.search(pattern, text.replace("`", " ").replace("*", " "))
    return found[0].rstrip("/.") if found else None


def _line_of(part: Part, value: str) -> int:
    return part.first + next((i for i, line in enumerate(part.text.split("\n")) if value in line), 0)


def _taken(snapshot: Snapshot, claim: _Claim) -> Iterator[Finding]:
    """The claimed bundle's record names other issues only, here or on the base."""
    for tree in trees(snapshot, bases=True):
        for bundle in bundles_of(snapshot, tree):
            stated = issues_of(snapshot, bundle, tree)
            if _is_named(snapshot, bundle, tree, claim.value) and stated and all(s.value != str(claim.number) for s in stated):
                yield _issue_finding(claim, bundle.path, stated[0])
                return
    for pull in _other_pulls(snapshot):
        number = _issue_of(pull)
        text = f"{pull.title}\n{pull.body}"
        if names(text, claim.value) and number not in (None, claim.number) and claim.number not in cited_numbers(text):
            yield _pull_finding(claim, pull, number)
            return


def _other_pulls(snapshot: Snapshot) -> list[Pull]:
    own = snapshot.pull.number if snapshot.pull else None
    return [pull for pull in (snapshot.issue.linked_pulls if snapshot.issue else ()) if pull.number != own]


def _is_named(snapshot: Snapshot, bundle: Bundle, tree: Tree, value: str) -> bool:
    """True when `value` is the bundle's path (or one inside it), its directory's name, or the id of its record."""
    wanted = value.casefold()
    own = {bundle.id.casefold(), *(stated.value.casefold() for stated in ids_of(snapshot, bundle, tree)[:1])}
    return wanted in own or wanted == bundle.path.casefold() or wanted.startswith(bundle.path.casefold() + "/")


# ---------------------------------------------------------------- bundles against bundles


def _foreign_records(snapshot: Snapshot, bundle: Bundle) -> Iterator[Finding]:
    """Records of `bundle` that carry the id or the path of another bundle: one finding per other bundle."""
    found: dict[str, list[Stated]] = defaultdict(list)
    known = {other.path: other for tree in trees(snapshot, bases=True) for other in bundles_of(snapshot, tree) if other.path != bundle.path}
    by_id = {other.id.casefold(): other.path for other in known.values()} | _inventory_ids(snapshot, bundle)
    for stated in ids_of(snapshot, bundle):
        other = by_id.get(stated.value.casefold())
        if other and stated.value.casefold() != bundle.id.casefold() and not _BORROWED.search(stated.place.path.rpartition("/")[2]):
            found[other].append(stated)
    for stated in paths_of(snapshot, bundle):
        other = next((path for path in known if stated.value == path or stated.value.startswith(path + "/")), None)
        if other:
            found[other].append(stated)
    found = found or _same_declared(snapshot, bundle)
    for other, places in found.items():
        if not _same_campaign(snapshot, bundle, known.get(other)):
            yield _record_finding(bundle, other, places)


def _inventory_ids(snapshot: Snapshot, bundle: Bundle) -> dict[str, str]:
    return {e.id.casefold(): e.path for inventory in inventories(snapshot) for e in inventory.bundles if e.path != bundle.path}


def _same_declared(snapshot: Snapshot, bundle: Bundle) -> dict[str, list[Stated]]:
    """Other bundles of head whose plan declares the id that this bundle's plan declares."""
    own = {stated.value.casefold(): stated for stated in reversed(planned_ids(snapshot, bundle))}
    made: dict[str, list[Stated]] = {}
    for other in bundles_of(snapshot, snapshot.head) if own else ():
        shared = next((s for s in planned_ids(snapshot, other) if s.value.casefold() in own), None) if other.path != bundle.path else None
        if shared and (other not in bundles(snapshot) or other.path < bundle.path):
            made[other.path] = [own[shared.value.casefold()], shared]
    return made


def _same_campaign(snapshot: Snapshot, bundle: Bundle, other: Bundle | None) -> bool:
    """Two directories of one campaign: their records name the same issue."""
    if other is None:
        return False
    tree = next((tree for tree in trees(snapshot, bases=True) if other in bundles_of(snapshot, tree)), snapshot.head)
    return bool({s.value for s in issues_of(snapshot, bundle)} & {s.value for s in issues_of(snapshot, other, tree)})


def _arrived_twice(snapshot: Snapshot, bundle: Bundle) -> Iterator[Finding]:
    """The base has got a bundle at the same path since the fork, and its record names another issue."""
    if snapshot.base is None or snapshot.merge_base is None or any(b.path == bundle.path for b in bundles_of(snapshot, snapshot.merge_base)):
        return
    there = next((b for b in bundles_of(snapshot, snapshot.base) if b.path == bundle.path), None)
    own = issues_of(snapshot, bundle)
    theirs = issues_of(snapshot, there, snapshot.base) if there else ()
    if own and theirs and not {s.value for s in own} & {s.value for s in theirs}:
        claim = _Claim(bundle.path, int(own[0].value), own[0].place)
        yield _issue_finding(claim, bundle.path, theirs[0])


# ---------------------------------------------------------------- the inventory


def _doubled_entries(snapshot: Snapshot, inventory: Inventory) -> Iterator[Finding]:
    if snapshot.base is not None and inventory.path not in changed(snapshot):
        return
    old = {(e.id, e.path) for before in (inventories(snapshot, snapshot.merge_base) if snapshot.merge_base else ()) for e in before.bundles}
    for what in ("id", "path"):
        groups: dict[str, list[Registered]] = defaultdict(list)
        for entry in inventory.bundles:
            groups[getattr(entry, what).casefold()].append(entry)
        for group in groups.values():
            different = len({entry.path if what == "id" else entry.id for entry in group}) > 1
            if different and any((entry.id, entry.path) not in old for entry in group):
                yield _inventory_finding(inventory, what, group)


# ---------------------------------------------------------------- words

_IMPACT = "Two campaigns share one name: evidence, figures and decisions of one can be read as those of the other."
_NEXT = "Give the newer campaign an id and a directory of its own and correct the text that carries the other's (edit text). Do not move or relabel the older campaign's evidence."


def _issue_finding(claim: _Claim, path: str, stated: Stated) -> Finding:
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title=f"{claim.value} already belongs to the campaign of issue #{stated.value}",
        problem=f"`{claim.value}` is declared here for issue #{claim.number}; the record of `{path}/` in `{stated.place.path}` names issue #{stated.value}.",
        impact=_IMPACT,
        next=_NEXT,
        locations=(claim.place, stated.place),
        evidence=(("name", claim.value), ("declared for", f"#{claim.number}"), ("recorded for", f"#{stated.value}")),
        roots=(f"campaign:{path}",),
    )


def _pull_finding(claim: _Claim, pull: Pull, number: int | None) -> Finding:
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title=f"{claim.value} is already used by pull #{pull.number}",
        problem=f"`{claim.value}` is declared here for issue #{claim.number}; the linked pull #{pull.number} uses it for issue #{number}.",
        impact=_IMPACT,
        next=_NEXT,
        locations=(claim.place,),
        evidence=(("name", claim.value), ("declared for", f"#{claim.number}"), ("used by", f"#{pull.number} for #{number}")),
        roots=(f"campaign:{claim.value}",),
    )


def _record_finding(bundle: Bundle, other: str, places: list[Stated]) -> Finding:
    value = places[0].value
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title=f"The bundle {bundle.id} carries the id of another campaign",
        problem=f"`{places[0].place.path}` says `{value}`, which is the campaign of `{other}/`; this bundle is `{bundle.path}/`.",
        impact=_IMPACT,
        next=_NEXT,
        locations=tuple(stated.place for stated in places[:50]),
        evidence=(("carried", value), ("other bundle", other)),
        roots=(f"campaign:{other}",),
    )


def _inventory_finding(inventory: Inventory, what: str, group: list[Registered]) -> Finding:
    shared = getattr(group[0], what)
    others = ", ".join(f"`{entry.path if what == 'id' else entry.id}`" for entry in group[:5])
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title=f"The inventory lists {shared} for {len(group)} campaigns",
        problem=f"`{inventory.path}` has {len(group)} entries with the {what} `{shared}`: {others}.",
        impact=_IMPACT,
        next=_NEXT,
        locations=tuple(Location(inventory.path, pointer=pointer((*entry.pointer, what)), role="inventory") for entry in reversed(group)),
        evidence=((what, shared),),
        roots=("inventory",),
    )


RULE = Rule(
    "campaign-id-conflict", "governance", Severity.HIGH, check, reads=read_bundle, norms=(("campaign", "id", "unique"), ("campaign id", "reuse"))
)
