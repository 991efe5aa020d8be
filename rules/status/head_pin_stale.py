"""A text calls a revision the head that is no longer the pull's head

What it checks: revisions in the issue's and the pull's body that are said to be a pull's head, or the revision that is reviewed or published,
against the head of that pull.

Why: what the text says of that revision need not hold for the one under review.

Fix: name the present head, or say when the named one was the head.

Example: "Draft #321 (df3723cd) publishes…" while the pull's head is `14de17a3`.

Not flagged: bases, baselines and candidates; revisions of other repositories; dated history ("on 1 November the head was…"); comments, which are
dated records.

Strength: low; medium where a path that the same text cites has changed in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rules.core.model import Facts, Finding, Item, Location, Rule, Severity, Snapshot
from rules.reading.conversation import Text, bodies, claim_root
from rules.reading.markdown import Markdown, markdown_of, spoken
from rules.reading.pins import Pin, changed_since, head_pins
from rules.reading.statements import Statement, text_statements

_PATH = re.compile(r"(?<![\w/.:-])[\w.-]{1,100}(?:/[\w.-]{1,100}){1,20}/?")


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    for text in bodies(snapshot):
        read = markdown_of(snapshot, text)
        seen: set[str] = set()
        for sentence in text_statements(snapshot, text):
            for pin in head_pins(sentence.text, snapshot.repository) if sentence.standing not in ("quoted", "withdrawn") else ():
                number, head = _head_of(snapshot, text, pin)
                if head and not _same(pin.sha, head) and pin.sha not in seen:
                    seen.add(pin.sha)
                    yield _finding(snapshot, text, sentence, pin, number, head, read)


def _heads(snapshot: Snapshot) -> dict[int, str]:
    """The heads of the pulls that are known, by number."""
    known = {pull.number: pull.head_sha for pull in (snapshot.issue.linked_pulls if snapshot.issue else ()) if pull.head_sha}
    if snapshot.pull is not None:
        known[snapshot.pull.number] = snapshot.pull.head_sha or snapshot.head.commit or ""
    return known


def _head_of(snapshot: Snapshot, text: Text, pin: Pin) -> tuple[int, str]:
    """The pull that the pin is said of, and its head; (0, "") where that is not known."""
    known = _heads(snapshot)
    own = snapshot.pull.number if snapshot.pull else None
    number = None if snapshot.issue is not None and pin.pull == snapshot.issue.number else pin.pull
    if number is None:
        number = own if text.path == "pull:body" or len(known) != 1 else next(iter(known))
        if text.path == "issue:body" and len(known) > 1 and any(_same(pin.sha, head) for head in known.values()):
            return 0, ""
    return (number, known[number]) if number in known else (0, "")


def _same(sha: str, head: str) -> bool:
    return head.startswith(sha) or sha.startswith(head)


def _cited(read: Markdown | None) -> frozenset[str]:
    """The paths that a text names; a folder ends in a slash or has no extension."""
    return frozenset(match[0].rstrip(".") for block in spoken(read) for match in _PATH.finditer(block.text))


def _touched(cited: frozenset[str], changed: frozenset[str]) -> list[str]:
    return sorted(path for path in changed if any(path == one or path.startswith(one.rstrip("/") + "/") or path.endswith("/" + one) for one in cited))


def _finding(snapshot: Snapshot, text: Text, sentence: Statement, pin: Pin, number: int, head: str, read: Markdown | None) -> Finding:
    changed = changed_since(snapshot, pin.sha, head)
    touched = _touched(_cited(read), changed) if changed else []
    where = "issue" if text.path.startswith("issue") else "pull"
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM if touched else Severity.LOW,
        title=f"The {where} names {pin.sha[:12]} as head of #{number}, whose head is {head[:12]}",
        problem=f"The {where}'s text calls `{pin.sha[:12]}` the head of #{number}; the head is `{head[:12]}`. {_between(changed, touched)}",
        impact="What the text says of the named revision need not hold at the head under review.",
        next=f"Name the present head `{head[:12]}` after checking what the sentence says against it, or date the sentence (edit text).",
        locations=(
            Location(text.path, line=sentence.line, end_line=sentence.end_line, text=sentence.text),
            *(Location(path, role="related") for path in touched[:20]),
        ),
        evidence=(("named", pin.sha), ("head", head)),
        roots=(claim_root(text.path, sentence.text),),
    )


def _between(changed: frozenset[str] | None, touched: list[str]) -> str:
    if changed is None:
        return "Whether the cited paths changed in between cannot be told from this clone, which does not hold the named revision."
    if touched:
        return f"{len(touched)} of the cited paths changed in between: {', '.join(f'`{path}`' for path in touched[:3])}."
    return f"{len(changed)} paths changed in between, none of those that the text cites."


RULE = Rule("head-pin-stale", "status", Severity.LOW, check, norms=(("exact head",), ("current head",)))
