"""A cited revision resolves but is on no branch, tag or open pull of its repository

What it checks: for each cited revision that the commit API knows, whether it hangs on the default branch, another branch, a tag or an open pull's head.

Why: GitHub also answers for commits that exist only in a fork or that a force-push left behind; they may be gone tomorrow.

Fix: push a branch or a tag that holds the commit, or cite the repository that really has it.

Example: a candidate commit of somebody's fork, cited as a commit of the upstream.

Not flagged: where the comparison is not available: not checked.

Strength: medium.
"""

from __future__ import annotations

from collections.abc import Iterator

from rules.core.model import Facts, Finding, Item, Rule, Severity, Snapshot, Unchecked
from rules.reading.lookups import Revision, answers, is_commit, questions, revisions
from rules.reading.revisions import read_bundle


def check(snapshot: Snapshot, facts: Facts) -> Iterator[Item]:
    for revision in revisions(snapshot):
        known = {name: answer for name, answer in answers(facts, revision).items() if answer and answer.status == 200}
        if not known or not is_commit(snapshot, facts, revision) or any(answer.reachable for answer in known.values()):
            continue
        if any(answer.reachable is None for answer in known.values()):
            yield Unchecked(f"where revision {revision.id[:12]} hangs", f"the comparison is not available in {', '.join(known)}")
        else:
            yield _finding(revision, tuple(known))


def _finding(revision: Revision, names: tuple[str, ...]) -> Finding:
    places = revision.places()
    return Finding(
        rule=RULE.id,
        severity=Severity.MEDIUM,
        title=f"The cited revision {revision.id[:12]} is on no branch, tag or open pull of {names[0]}",
        problem=f"`{revision.id}` resolves in {', '.join(names)} and is reachable from none of its branches, tags or open pull heads: it lives only in a "
        "fork, or a force-push left it behind.",
        impact="The commit can disappear, and with it the means to reproduce what was measured on it.",
        next="Push a branch or tag that holds it, or name the repository that really has it (edit text), or commit the diff under `patch/` (commit a file).",
        locations=places[:20],
        evidence=(("revision", revision.id), *((name, "200, not reachable") for name in names)),
        roots=(revision.root,),
        searched=f"default branch, branches, tags and open pulls of {', '.join(names)}",
    )


RULE = Rule("revision-unreachable", "revisions", Severity.MEDIUM, check, asks=questions, reads=read_bundle)
