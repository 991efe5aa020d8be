"""The words of the program: what is read, what is asked, what is found, what is reported.

Everything here is a value. Trees and histories are the only things that read, and they do so behind a protocol, so that a rule cannot
tell a bare mirror from a plain folder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from rules.core.cache import Cache
    from rules.core.config import Config, Root

T = TypeVar("T")


class Severity(StrEnum):
    """How strong a finding is, strongest first."""

    BLOCKING = "blocking"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def rank(self) -> int:
        """0 for blocking, 3 for low."""
        return list(Severity).index(self)


class Verdict(StrEnum):
    """What a review concludes. It never says anything about the campaign's own verdict."""

    PASS = "pass"
    CHANGES_NEEDED = "changes-needed"
    NEEDS_HUMAN = "needs-human"
    INCOMPLETE = "incomplete"


# ---------------------------------------------------------------- reading


class Missing(Exception):
    """An object is named by a tree but is not in the object store (partial or damaged clone), or a path is not in the tree."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a tree: git object id (or a content address in a plain folder), mode (octal as git prints it) and size in bytes.

    `size` is -1 where the object is missing.
    """

    oid: str
    mode: str
    size: int

    @property
    def is_file(self) -> bool:
        return self.mode.startswith("100")

    @property
    def is_symlink(self) -> bool:
        return self.mode == "120000"

    @property
    def is_submodule(self) -> bool:
        return self.mode == "160000"


class Tree(Protocol):
    """The files of one commit, or of a plain folder."""

    @property
    def commit(self) -> str | None:
        """Full commit id; None for a plain folder or a merge result that was never committed."""

    @property
    def files(self) -> Mapping[str, Entry]:
        """Path (slashes, no leading `./`) → entry, in git's order. Paths that are not UTF-8 are decoded with surrogate escapes."""

    def read(self, path: str) -> bytes:
        """The blob's bytes, unfiltered. A symlink gives its target. Raises `Missing`."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit. Times are committer times, aware."""

    id: str
    parents: tuple[str, ...]
    time: datetime
    author_time: datetime
    subject: str


@dataclass(frozen=True, slots=True)
class Change:
    """One path in one commit, against the first parent that differs. `before`/`after` are object ids, None where the file is absent."""

    commit: str
    path: str
    before: str | None
    after: str | None


class History(Protocol):
    """What git knows beside the trees: the commits of head, each change of an evidence path, and the kind of any object."""

    @property
    def complete(self) -> bool:
        """False for a shallow clone or a plain folder: what needs all commits is then not checked."""

    @property
    def commits(self) -> Mapping[str, Commit]:
        """All commits reachable from head, newest first (topological)."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """Every change of any path reachable from head, newest commit first, merges compared with each parent."""

    def is_ancestor(self, older: str, newer: str) -> bool:
        """True when `older` is `newer` or reachable from it."""

    def kind(self, id: str) -> str | None:
        """`commit`, `tree`, `blob` or `tag` for a full or unambiguous short id in the object store, else None."""

    def blob(self, oid: str) -> bytes:
        """A blob of the history by object id. Raises `Missing`."""

    def tree(self, commit: str) -> Tree | None:
        """The files of any commit in the object store, by full or unambiguous short id, whether head reaches it or not; else None."""


@dataclass(frozen=True, slots=True)
class User:
    """A GitHub account. A deleted account has login `ghost`."""

    login: str
    is_bot: bool


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment of an issue or pull."""

    id: int
    user: User
    association: str
    body: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request as GitHub's REST API gives it (docs.github.com/rest/pulls/pulls). `body` is "" where GitHub says null."""

    number: int
    title: str
    body: str
    user: User
    draft: bool
    state: str
    head_sha: str
    base_sha: str
    base_repository: str | None
    head_repository: str | None
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue with its comments (oldest first) and the pulls linked to it."""

    number: int
    title: str
    body: str
    user: User
    state: str
    labels: tuple[str, ...]
    comments: tuple[Comment, ...]
    linked_pulls: tuple[Pull, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """What merging head into the current base tip gives. `tree` is None when it conflicts."""

    clean: bool
    tree: Tree | None
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Snapshot:
    """All that one review looks at. Judged data comes from `head`; config, forms and norms from `base` (or `head` where there is no base)."""

    head: Tree
    config: Config
    cache: Cache
    base: Tree | None = None
    merge_base: Tree | None = None
    merge: Merge | None = None
    history: History | None = None
    pull: Pull | None = None
    issue: Issue | None = None
    linked: Mapping[int, Tree] = field(default_factory=dict)
    repository: str | None = None
    renames: Mapping[str, str] = field(default_factory=dict)

    @property
    def law(self) -> Tree:
        """The tree that config, forms and norms are read from."""
        return self.base or self.head

    def memo(self, key: object, make: Callable[[], T]) -> T:
        """Keep what `make()` gives for the life of this snapshot."""
        return self.cache.memo((id(self), key), make)


@dataclass(frozen=True)
class Bundle:
    """One campaign's directory at one tree. `files` are full paths, sorted."""

    id: str
    path: str
    files: tuple[str, ...]
    root: Root

    def part(self, name: str) -> tuple[str, ...]:
        """Files under `plan`, `results`, `patch` or `validator` (a sibling with a suffix, `validator-v2/`, belongs to it)."""
        return self._parts[name]

    def part_of(self, path: str) -> str | None:
        """Which part `path` belongs to, or None for a file beside them."""
        return self._part_of.get(path)

    @cached_property
    def _parts(self) -> dict[str, tuple[str, ...]]:
        made = {}
        for name in ("plan", "results", "patch", "validator"):
            lead = re.compile(re.escape(f"{self.path}/{getattr(self.root, name)}") + r"(?:[-_.]?v?\d[\w.-]*)?/")
            made[name] = tuple(path for path in self.files if lead.match(path))
        return made

    @cached_property
    def _part_of(self) -> dict[str, str]:
        return {path: name for name in reversed(self._parts) for path in self._parts[name]}

    @cached_property
    def folders(self) -> frozenset[str]:
        """The names of the folders at its root."""
        return frozenset(inside.partition("/")[0] for path in self.files if "/" in (inside := self.relative(path)))

    def relative(self, path: str) -> str:
        """`path` inside the bundle."""
        return path.removeprefix(self.path + "/")


# ---------------------------------------------------------------- asking


@dataclass(frozen=True, slots=True)
class Question:
    """Does `sha` resolve in `repository`? Asked of GitHub's commit API, `GET /repos/{owner}/{repo}/commits/{sha}`."""

    repository: str
    sha: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The commit API's answer. `status` as HTTP; `reachable` is None where it could not be established; `type` is the object's kind if known."""

    status: int
    reachable: bool | None = None
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Answers to the questions of the first pass. A question without an answer is not checked."""

    commits: Mapping[Question, Answer] = field(default_factory=dict)

    def commit(self, repository: str, sha: str) -> Answer | None:
        return self.commits.get(Question(repository.lower(), sha.lower()))


# ---------------------------------------------------------------- finding

Role = Literal["claim", "record", "norm", "manifest", "entry", "file", "inventory", "gate", "result", "operand", "related"]
Decision = Literal["author", "human"]


@dataclass(frozen=True, slots=True)
class Location:
    """Where something stands. Give `pointer` for a value in JSON or YAML, or `line` for text; lines of pointers are found by the engine.

    path     file path, or `pull:body`, `pull:title`, `issue:body`, `issue:title`, `issue:comment:<id>`
    pointer  JSON pointer (RFC 6901)
    line     1-based; `end_line` is inclusive
    text     the sentence itself, when it is text: the anchor of the fingerprint. Never printed.
    at       commit id, only if it is not head
    """

    path: str
    pointer: str | None = None
    line: int | None = None
    end_line: int | None = None
    role: Role = "claim"
    at: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact that is wrong, with an address. The first location is where the wrong thing stands.

    title     names the defect in a few words
    problem   the values seen, with their places; never a guess
    impact    what a reader would be misled into
    next      the smallest honest fix and its cost
    evidence  (label, value) pairs of what was seen
    roots     what a reader would call one matter: findings that share a root are one story
    searched  for a finding of absence: what was looked through
    """

    rule: str
    severity: Severity
    title: str
    problem: str
    impact: str
    next: str
    locations: tuple[Location, ...]
    evidence: tuple[tuple[str, str], ...] = ()
    roots: tuple[str, ...] = ()
    decision: Decision = "author"
    searched: str | None = None
    numbered: bool = True


@dataclass(frozen=True, slots=True)
class Confirmed:
    """Something that a comparing rule found in agreement."""

    what: Literal["figure", "digest", "revision", "record"]
    value: str
    claim: Location
    receipt: Location


@dataclass(frozen=True, slots=True)
class Unchecked:
    """Something a rule would have compared but could not. Neither a finding nor a pass."""

    what: str
    why: str


Item = Finding | Confirmed | Unchecked
Need = Literal["base", "history", "pull", "issue"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Its module's docstring is its documentation. It has `each`, or `check`, or both.

    each(snapshot, bundle)  judges one bundle by itself. It may depend on nothing but the bundle's files at head, the inventory and the config,
                            so what it yields is kept by their object ids and not computed again while they stay the same
    reads(snapshot, bundle) takes, while the bundle's documents are parsed, what `check` and `asks` will need of them, and keeps it by object ids
    check(snapshot, facts)  judges what needs more: history, other bundles, the conversation, answers from the outside
    asks(snapshot)          yields questions for the outside, before `check`
    needs                   parts of the snapshot without which the rule has nothing to look at
    preview                 off unless asked for: its measured precision is below the target
    """

    id: str
    family: str
    severity: Severity
    check: Callable[[Snapshot, Facts], Iterable[Item]] | None = None
    needs: frozenset[Need] = frozenset()
    asks: Callable[[Snapshot], Iterable[Question]] | None = None
    each: Callable[[Snapshot, Bundle], Iterable[Item]] | None = None
    reads: Callable[[Snapshot, Bundle], None] | None = None
    preview: bool = False
    norms: tuple[tuple[str, ...], ...] = ()
    doc: str = ""


# ---------------------------------------------------------------- reporting


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one rule."""

    rule: str
    state: Literal["ran", "skipped", "crashed"]
    reason: str | None
    ms: float


@dataclass(frozen=True, slots=True)
class Reported:
    """A finding with its F-number and fingerprint, its locations resolved to lines and its text redacted."""

    id: str | None
    family: str
    fingerprint: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign's own status as recorded. Not judged."""

    id: str
    status: str
    location: Location


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What merging head into the base tip would do to the change."""

    clean: bool
    changed_files: int
    same_change_as_head: bool | None
    blobs_equal_head: int | None
    base_touches: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not read, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was read, and what was not."""

    files: int
    bytes: int
    changed_files: int
    changed_read: int
    skipped: tuple[Skipped, ...]
    bundles: int
    hashes_checked: int
    external: tuple[str, ...]
    not_checked: tuple[Unchecked, ...]
    not_judged: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """One review."""

    head: str | None
    base: str | None
    merge_base: str | None
    verdict: Verdict
    waiting_on: tuple[str, ...]
    findings: tuple[Reported, ...]
    confirmed: tuple[Confirmed, ...]
    merge: MergeReport | None
    campaigns: tuple[Campaign, ...]
    outcomes: tuple[Outcome, ...]
    coverage: Coverage

    def stories(self) -> Iterator[tuple[str, tuple[Reported, ...]]]:
        """Findings grouped by F-number, in order; un-numbered ones are left out."""
        groups: dict[str, list[Reported]] = {}
        for one in self.findings:
            if one.id is not None:
                groups.setdefault(one.id, []).append(one)
        for id, group in groups.items():
            yield id, tuple(group)


Json = dict[str, Any]
