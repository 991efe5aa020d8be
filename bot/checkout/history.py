"""What git knows beside the trees, out of one walk over the commits of head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from bot.checkout.mirror import Repository
from bot.checkout.process import GitError
from bot.checkout.tree import tree_of
from rules.core.model import Change, Commit, Tree

COMMITS_LIMIT = 300_000
CHANGES_LIMIT = 500_000
_MARK = b"\x01"
_FORMAT = "--format=%x01%H%x00%P%x00%ct%x00%at%x00%s"
_WALK = ("--raw", "-z", "-m", "-r", "--root", "--no-renames", "--full-history", "--no-abbrev", "--topo-order", "--no-ext-diff", "--no-textconv")
_EPOCH = datetime.fromtimestamp(0, UTC)


class GitHistory:
    """The commits reachable from `head` and every change they made. The walk runs when it is first needed, and once."""

    def __init__(self, repository: Repository, head: str) -> None:
        self._repository, self._head = repository, head
        self._walked: tuple[dict[str, Commit], tuple[Change, ...], bool] | None = None

    @property
    def complete(self) -> bool:
        return not self._repository.shallow and self._walk()[2]

    @property
    def commits(self) -> Mapping[str, Commit]:
        return self._walk()[0]

    @property
    def changes(self) -> tuple[Change, ...]:
        return self._walk()[1]

    def is_ancestor(self, older: str, newer: str) -> bool:
        if older == newer:
            return True
        commits = self._walk()[0]
        if newer not in commits:
            return self._repository.is_ancestor(older, newer)
        return older in commits and _reaches(commits, newer, older)

    def kind(self, id: str) -> str | None:
        return self._repository.kind(id)

    def blob(self, oid: str) -> bytes:
        return self._repository.blob(oid)

    def tree(self, commit: str) -> Tree | None:
        id = self._repository.commit(commit)
        return tree_of(self._repository, id) if id else None

    def _walk(self) -> tuple[dict[str, Commit], tuple[Change, ...], bool]:
        if self._walked is None:
            self._walked = _walk(self._repository, self._head)
        return self._walked


def _reaches(commits: Mapping[str, Commit], newer: str, older: str) -> bool:
    waiting, seen = [newer], {newer}
    while waiting:
        for parent in commits[waiting.pop()].parents:
            if parent == older:
                return True
            if parent in commits and parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    return False


def _walk(repository: Repository, head: str) -> tuple[dict[str, Commit], tuple[Change, ...], bool]:
    """(commits, changes, whether all were seen). A missing object or a limit ends the walk early."""
    commits: dict[str, Commit] = {}
    changes: list[Change] = []
    fields = repository.git.fields("log", *_WALK, _FORMAT, "--end-of-options", head, "--")
    try:
        for item in _read(fields):
            if isinstance(item, Commit):
                commits[item.id] = item
            else:
                changes.append(item)
            if len(commits) > COMMITS_LIMIT or len(changes) > CHANGES_LIMIT:
                return commits, tuple(changes), False
    except GitError:
        return commits, tuple(changes), False
    return commits, tuple(changes), True


def _read(fields: Iterator[bytes]) -> Iterator[Commit | Change]:
    """Commits and changes from `git log -z --raw`. A merge comes once per parent; a path is told against the first parent that differs."""
    names: dict[bytes, str] = {}
    current, told = "", set[bytes]()
    for field in fields:
        if field.startswith(_MARK):
            id = field[1:].decode("ascii")
            rest = [next(fields, b"") for _ in range(4)]
            if id != current:
                current, told = id, set()
                yield _commit(id, rest)
        elif field.lstrip(b"\n").startswith(b":"):
            path = next(fields, b"")
            if path not in told:
                told.add(path)
                name = names.setdefault(path, path.decode("utf-8", "surrogateescape"))
                yield _change(current, name, field.lstrip(b"\n"))


def _commit(id: str, rest: list[bytes]) -> Commit:
    parents, committed, authored, subject = rest
    return Commit(id, tuple(parents.decode("ascii").split()), _time(committed), _time(authored), subject.decode("utf-8", "replace"))


def _change(commit: str, path: str, raw: bytes) -> Change:
    _, _, before, after, _ = raw.decode("ascii").split(" ")
    return Change(commit, path, None if not before.strip("0") else before, None if not after.strip("0") else after)


def _time(seconds: bytes) -> datetime:
    """A commit's time; git allows dates that no calendar has."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return _EPOCH
