"""What the commit API must be asked about the cited revisions, and what its answers say together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rules.core.model import Answer, Facts, Location, Question, Snapshot
from rules.reading.layout import bundle_at
from rules.reading.revisions import Cited, cited, is_other_object

MOST_REPOSITORIES = 6
"""Repositories that one revision is looked up in at most: the nearest named ones, the configured upstreams, this one."""


@dataclass(frozen=True)
class Revision:
    """One revision, all the places that cite it, and the repositories (lower case) it may belong to. `root` names its bundle or text."""

    id: str
    citations: tuple[Cited, ...]
    repositories: tuple[str, ...]
    root: str

    @property
    def is_short(self) -> bool:
        return self.citations[0].is_short

    def places(self) -> tuple[Location, ...]:
        return tuple(dict.fromkeys(one.place for one in self.citations))


State = Literal["resolves", "unresolvable", "unknown"]


def revisions(snapshot: Snapshot) -> tuple[Revision, ...]:
    """Every cited revision, an abbreviation together with the full id it stands for."""
    return snapshot.memo("revisions", lambda: tuple(_revisions(snapshot)))


def _revisions(snapshot: Snapshot) -> Iterator[Revision]:
    groups: dict[tuple[str, str], list[Cited]] = defaultdict(list)
    for one in cited(snapshot):
        groups[_root(snapshot, one), _full(snapshot, one)].append(one)
    for (root, id), citations in groups.items():
        named = [name for one in citations for name in one.repositories]
        own = [snapshot.repository] if snapshot.repository else []
        names = dict.fromkeys(name.lower() for name in (*named, *snapshot.config.upstreams, *own))
        yield Revision(id, tuple(citations), tuple(names), root)


def _root(snapshot: Snapshot, one: Cited) -> str:
    bundle = bundle_at(snapshot, one.place.path)
    return f"revisions:{bundle.path if bundle else one.place.path}"


def _full(snapshot: Snapshot, one: Cited) -> str:
    """The full id that a short one abbreviates, where the same bundle or text cites exactly one such; else itself."""
    if not one.is_short:
        return one.id
    full = snapshot.memo("full ids", lambda: _full_ids(snapshot))
    found = {id for id in full[_root(snapshot, one)] if id.startswith(one.id)}
    return found.pop() if len(found) == 1 else one.id


def _full_ids(snapshot: Snapshot) -> dict[str, set[str]]:
    made: dict[str, set[str]] = defaultdict(set)
    for one in cited(snapshot):
        if not one.is_short:
            made[_root(snapshot, one)].add(one.id)
    return made


def questions(snapshot: Snapshot) -> Iterator[Question]:
    """What to ask, each revision in each repository it may belong to."""
    for revision in revisions(snapshot):
        for repository in revision.repositories[:MOST_REPOSITORIES]:
            yield Question(repository, revision.id)


def answers(facts: Facts, revision: Revision) -> dict[str, Answer | None]:
    """The answer of each repository; None where there is none."""
    return {name: facts.commit(name, revision.id) for name in revision.repositories}


def state(snapshot: Snapshot, facts: Facts, revision: Revision) -> tuple[State, str]:
    """Whether the revision resolves, and the reason in words."""
    if snapshot.history is not None and snapshot.history.kind(revision.id) == "commit":
        return "resolves", "a commit of this repository's objects"
    held = answers(facts, revision)
    known = next((name for name, answer in held.items() if answer and answer.status == 200), None)
    if known:
        return "resolves", f"the commit API answers 200 in {known}"
    if not held:
        return "unknown", "no repository is named that it could belong to"
    open_ = [name for name, answer in held.items() if answer is None or answer.status != 422]
    if open_:
        said = ", ".join(f"{name} {_said(held[name])}" for name in open_[:3])
        return "unknown", f"{said}"
    return "unresolvable", "the commit API answers 422 in " + ", ".join(held)


def _said(answer: Answer | None) -> str:
    if answer is None:
        return "was not asked or did not answer"
    return "answers 404 (missing or not visible)" if answer.status == 404 else f"answers {answer.status}"


def is_commit(snapshot: Snapshot, facts: Facts, revision: Revision) -> bool:
    """False for an id that is known to be a tree, a blob or a tag."""
    return not any(is_other_object(snapshot, facts, one) for one in revision.citations[:1])
