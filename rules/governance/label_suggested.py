"""A label that the repository's policy infers is missing

What it checks: the config's `labels` policy (`when` a title, a body or changed paths match, `add` labels, provided one of `requires` is set)
against the labels of the pull and of the issue.

Why: queues and dashboards are built on labels; the policy says which follow from the text.

Fix: set the label (one click), or change the policy.

Example: an issue titled `[Campaign] …` without `kind:acceptance`, where the policy adds it to such titles.

Not flagged: labels that the policy does not know; a label whose `requires` is not met (it is named beside another suggestion). Labels are never
removed. A pattern that does not compile is not checked.

Strength: low, without an F-number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rules.core.config import LabelRule
from rules.core.model import Facts, Finding, Item, Location, Rule, Severity, Snapshot, Unchecked
from rules.core.patterns import compiled
from rules.reading.layout import changed, matches


@dataclass(frozen=True, slots=True)
class _Subject:
    """One conversation: `pull` or `issue`, with the paths that it changes."""

    name: str
    title: str
    body: str
    labels: frozenset[str]
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Reason:
    text: str
    place: Location


def check(snapshot: Snapshot, _: Facts) -> Iterator[Item]:
    policy = snapshot.config.labels if isinstance(snapshot.config.labels, tuple) else ()
    usable = []
    for number, rule in enumerate(policy, 1):
        broken = [name for name in ("title", "body") if (pattern := getattr(rule.when, name)) is not None and compiled(pattern) is None]
        if broken:
            yield Unchecked(f"label policy {number}", f"its `{broken[0]}` is no valid regular expression (RE2)")
        else:
            usable.append(rule)
    yield from _suggestions([(subject, rule) for subject in _subjects(snapshot) for rule in usable])


def _subjects(snapshot: Snapshot) -> Iterator[_Subject]:
    for name, held in (("pull", snapshot.pull), ("issue", snapshot.issue)):
        if held is not None:
            paths = tuple(changed(snapshot)) if name == "pull" else ()
            yield _Subject(name, held.title, held.body, frozenset(label.casefold() for label in held.labels), paths)


def _suggestions(pairs: list[tuple[_Subject, LabelRule]]) -> Iterator[Finding]:
    missing: dict[str, list[_Reason]] = {}
    names: dict[str, str] = {}
    withheld: dict[str, str] = {}
    for subject, rule in pairs:
        reasons = _reasons(subject, rule)
        wanted = [label for label in rule.add if label.casefold() not in subject.labels]
        if reasons is None or not wanted:
            continue
        if rule.requires and not subject.labels & {label.casefold() for label in rule.requires}:
            withheld.update({label: " or ".join(f"`{one}`" for one in rule.requires) for label in wanted})
            continue
        for label in wanted:
            names.setdefault(label.casefold(), label)
            missing.setdefault(label.casefold(), []).extend(reasons)
    for number, (key, reasons) in enumerate(missing.items()):
        yield _finding(names[key], reasons, withheld if number == 0 else {})


def _reasons(subject: _Subject, rule: LabelRule) -> list[_Reason] | None:
    """Why the rule holds for the subject, key by key; None where one does not hold."""
    when, made = rule.when, []
    if when.title is not None:
        if not compiled(when.title).search(subject.title):
            return None
        made.append(_Reason(f"the {subject.name}'s title matches `{when.title}`", Location(f"{subject.name}:title", line=1)))
    if when.body is not None:
        found = compiled(when.body).search(subject.body)
        if not found:
            return None
        line = subject.body.count("\n", 0, found.start()) + 1
        made.append(_Reason(f"line {line} of the {subject.name}'s text matches `{when.body}`", Location(f"{subject.name}:body", line=line)))
    if when.paths:
        path = next((path for path in subject.paths for glob in when.paths if matches(path, glob)), None)
        if path is None:
            return None
        made.append(
            _Reason(
                f"`{path}` is changed, which matches {', '.join(f'`{glob}`' for glob in when.paths[:5])}", Location(f"{subject.name}:title", line=1)
            )
        )
    return made or [_Reason(f"the policy sets it on every {subject.name}", Location(f"{subject.name}:title", line=1))]


def _finding(label: str, reasons: list[_Reason], withheld: dict[str, str]) -> Finding:
    held = "".join(f" No `{other}`: it needs {needs}." for other, needs in withheld.items() if other.casefold() != label.casefold())
    first = reasons[0].place
    return Finding(
        rule=RULE.id,
        severity=Severity.LOW,
        title=f"The policy infers the label {label}",
        problem=f"`{label}` is not set: {'; '.join(dict.fromkeys(reason.text for reason in reasons))}.{held}",
        impact="Queues and filters by label miss it.",
        next=f"Set `{label}`, or change the policy in the config (a decision of who keeps the labels).",
        locations=tuple(dict.fromkeys([Location(first.path, line=first.line, text=label), *(reason.place for reason in reasons[1:])])),
        evidence=(("label", label),),
        numbered=False,
    )


RULE = Rule("label-suggested", "governance", Severity.LOW, check)
