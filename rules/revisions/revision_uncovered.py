"""A result was made with a revision that the run spec does not pin

What it checks: the source revision that each result names, against the pins of the run spec (every full commit id in it), and against the commits
that a committed diff makes from a pin: a `git format-patch` file names its commit (`From <sha>`) and its parent (`base-commit:`), a record says
`{"parent": …, "commit": …}`.

Why: the run spec says what the campaign runs on. A result made with something else can be neither reproduced nor compared with the others.

Fix: pin the revision in the run spec, one for each duration or arm, or commit the diff that makes it from a pinned one.

Example: `plan/runspec.json` pins `c7f56f01…`, and `results/baseline15.json` says `"source_revision": "ce216014…"`.

Not flagged: an abbreviated id of a pin; revisions of data sets, models or harnesses that are named as such; the own revision of a list of digests;
a bundle without a run spec.

Strength: high.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rules.core.model import Bundle, Confirmed, Finding, Item, Location, Rule, Severity, Snapshot
from rules.reading.patches import Used, derivations, diffs, pins, same_revision, used_revisions


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    by_sha: dict[str, list[Used]] = defaultdict(list)
    for used in used_revisions(snapshot, bundle):
        known = next((sha for sha in by_sha if same_revision(sha, used.sha)), used.sha)
        by_sha[known].append(used)
    for sha, places in by_sha.items():
        cover = next((used.cover for used in places if used.cover), None)
        if cover:
            first = places[0]
            yield Confirmed("revision", f"{sha[:12]} of {len(places)} places is pinned", Location(first.path, pointer=first.node.pointer), cover)
        else:
            yield _finding(snapshot, bundle, sha, places)


def _finding(snapshot: Snapshot, bundle: Bundle, sha: str, places: list[Used]) -> Finding:
    pinned = pins(snapshot, bundle)
    names = list(dict.fromkeys(bundle.relative(used.path) for used in places))
    shown = ", ".join(f"`{name}`" for name in names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return Finding(
        rule="revision-uncovered",
        severity=Severity.HIGH,
        title=f"Results were made with {sha[:8]}, which the run spec does not pin",
        problem=f"{shown} {'name' if len(names) > 1 else 'names'} `{sha}`. The run spec pins {_listed(list(pinned)) or 'no revision'}. {_diffs(snapshot, bundle, sha)}",
        impact="What these results ran on cannot be rebuilt from the repository, and they are not results of the run that was specified.",
        next="Pin the revision in the run spec for the duration or arm that uses it, or commit the exact diff that makes it from a pinned revision "
        "(commit a file). Do not rewrite the result's revision to match.",
        locations=(
            *(Location(used.path, pointer=used.node.pointer, role="result") for used in places[:30]),
            *dict.fromkeys(list(pinned.values())[:3]),
        ),
        evidence=(("used", sha), *(("pinned", pin) for pin in list(pinned)[:5])),
        roots=(f"revisions:{bundle.path}",),
    )


def _listed(shas: list[str]) -> str:
    return ", ".join(f"`{sha[:8]}`" for sha in shas[:4]) + (f" and {len(shas) - 4} more" if len(shas) > 4 else "")


def _diffs(snapshot: Snapshot, bundle: Bundle, sha: str) -> str:
    """What the patches say about the revision: nothing, or that they make it from a parent that is no pin."""
    made = next((one for one in derivations(snapshot, bundle) if same_revision(one.commit, sha)), None)
    if made:
        return f"`{bundle.relative(made.location.path)}` makes it from `{made.parent[:8]}`, which is no pin either."
    held = diffs(snapshot, bundle)
    return f"None of the {len(held)} committed diffs names it as its commit with a pinned parent." if held else "No diff is committed that makes it."


RULE = Rule(
    "revision-uncovered",
    "revisions",
    Severity.HIGH,
    each=each,
    norms=(("pinned", "revision"), ("differs", "another run"), ("runspec", "revision"), ("run spec", "revision"), ("基线", "版本")),
)
