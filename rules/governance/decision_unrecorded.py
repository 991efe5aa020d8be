"""A decision is attributed to the requester, and nobody with authority has recorded it

What it checks: sentences of the issue's and the pull's text that say the requester chose the scope, set a numeric target, accepts the result or
set the stop condition (or that leave acceptance to a role without a login), against the comments of the issue.

Why: a target that was written by the author in the requester's name can later be cited as the requester's; an accepted campaign and a proposed
one then look the same.

Fix: the person with authority posts one comment that states the scope, the target, the owners and the stop condition; the issue links it.

Example: "The requester asks for at least 30% lower latency", and the timeline holds nothing but a bot's review.

Not flagged: targets that the author calls a proposal; a comment by a configured login (`decisions`), or without config by an owner, member or
collaborator, that states or links the decision. Comments by bots, by the issue's author and by a pull's author record nothing, and neither does a
field of a file in the author's own pull. A linked comment of another conversation is not checked.

Strength: high, and a person has to decide: it waits for a human and never blocks the author.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rules.core.model import Facts, Finding, Issue, Item, Rule, Severity, Snapshot, Unchecked
from rules.reading.conversation import bodies
from rules.reading.decisions import Attributed, Linked, attributed, authorities, linked_comments, recorded
from rules.reading.statements import text_statements

PLACES = 10


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    assert snapshot.issue is not None
    issue = snapshot.issue
    held = authorities(snapshot, issue)
    linked = linked_comments(f"{issue.body}\n{snapshot.pull.body if snapshot.pull else ''}")
    if {one.id for one in linked} & {comment.id for comment in held}:
        return
    elsewhere = [one for one in linked if _is_elsewhere(snapshot, issue, one)]
    said = {record for comment in held for record in recorded(comment)}
    open_ones = [one for one in _attributed(snapshot) if not any(record.covers(one) for record in said)]
    if open_ones and elsewhere:
        yield Unchecked("the decision that the issue attributes", f"it links comment {elsewhere[0].id} of another conversation, which is not at hand")
    elif open_ones:
        yield _finding(issue, sorted(open_ones, key=lambda one: not one.statement.path.startswith("issue")), len(held))


def _attributed(snapshot: Snapshot) -> list[Attributed]:
    return [one for text in bodies(snapshot) for one in attributed(text_statements(snapshot, text))]


def _is_elsewhere(snapshot: Snapshot, issue: Issue, one: Linked) -> bool:
    """True for a comment that the issue's own timeline cannot hold."""
    other = one.repository is not None and snapshot.repository is not None and one.repository.casefold() != snapshot.repository.casefold()
    return other or (one.number is not None and one.number != issue.number)


def _finding(issue: Issue, found: list[Attributed], by_authority: int) -> Finding:
    topics = _names(found)
    return Finding(
        rule=RULE.id,
        severity=Severity.HIGH,
        title=f"No record by anybody with authority of {topics}",
        problem=f"{len(found)} sentence{'s' if len(found) > 1 else ''} attribute{'' if len(found) > 1 else 's'} {topics} to a requester or a role; "
        f"the timeline of #{issue.number} holds no comment by somebody with authority that states or links it.",
        impact="An accepted campaign cannot be told from a proposed one, and what the author wrote can later be cited as the requester's decision.",
        next="The requester posts one comment that states the scope, the target, who accepts and when to stop (a decision), and the issue links it. "
        "Neither the author nor a bot should record this.",
        locations=tuple(one.statement.location() for one in found[:PLACES]),
        evidence=(("attributed", topics), ("comments by authority", str(by_authority))),
        roots=("decision",),
        decision="human",
        searched=_searched(issue),
    )


def _names(found: list[Attributed]) -> str:
    parts = list(dict.fromkeys(part for one in found for part in re.split(" and ", one.what)))
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _searched(issue: Issue) -> str:
    """ "4 comments (3 by bots, 1 by the author), 2 cross-references"."""
    bots = sum(comment.user.is_bot for comment in issue.comments)
    authors = sum(comment.user.login == issue.user.login for comment in issue.comments)
    count = len(issue.comments)
    parts = [f"{bots} by bots"] * bool(bots) + [f"{authors} by the author"] * bool(authors)
    comments = f"{count} comment{'' if count == 1 else 's'}" + (f" ({', '.join(parts)})" if parts else "")
    pulls = len(issue.linked_pulls)
    return f"{comments}, {pulls} cross-reference{'' if pulls == 1 else 's'} of #{issue.number}"


RULE = Rule(
    "decision-unrecorded",
    "governance",
    Severity.HIGH,
    check,
    needs=frozenset(["issue"]),
    norms=(("decided by the requester",), ("requester", "decision"), ("owner", "stop condition"), ("scope", "authorized owner")),
)
