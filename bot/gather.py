"""Brings together what one review looks at: the snapshot of a repository and the answers of the outside to the rules' questions."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from bot.checkout.history import GitHistory
from bot.checkout.mirror import NotARepository, Repository, UnknownRevision, open_repository
from bot.checkout.process import GitError, GitUnavailable
from bot.checkout.tree import FolderTree, GitTree, TooManyFiles, tree_of
from rules.core.cache import Cache
from rules.core.config import CONFIG_LIMIT, CONFIG_PATH, Config, ConfigError, read_config
from rules.core.model import Answer, Facts, Issue, Merge, Missing, Pull, Question, Report, Rule, Snapshot, Tree, Unchecked
from rules.core.redact import redact
from rules.engine import run
from rules.reading.conversation import Unusable, read_issue, read_pull

GITHUB = "https://github.com"
INPUT_LIMIT = 64 * 1024 * 1024
T = TypeVar("T")
Ask = Callable[[Sequence[Question]], tuple[Mapping[Question, Answer], tuple[Unchecked, ...]]]


class UnusableInput(Exception):
    """What the user gave cannot be used; one sentence that says what to do."""


@dataclass(frozen=True)
class Wanted:
    """What a user asks to have reviewed."""

    folder: str = "."
    head: str | None = None
    base: str | None = None
    pull: Pull | None = None
    issue: Issue | None = None
    config: Config | None = None
    only: tuple[str, ...] = ()
    preview: bool = False


@dataclass
class Gathered:
    """A snapshot, what could not be gathered, and what must be closed in the end."""

    snapshot: Snapshot
    notes: tuple[Unchecked, ...] = ()
    repository: Repository | None = field(default=None, repr=False)

    def close(self) -> None:
        if self.repository is not None:
            self.repository.close()

    def __enter__(self) -> Gathered:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def gather(wanted: Wanted, cache: Cache | None = None) -> Gathered:
    """The snapshot that `wanted` names. Raises `UnusableInput`."""
    with usable(wanted.folder):
        return _gather(wanted, cache or Cache())


@contextmanager
def usable(folder: str) -> Iterator[None]:
    """Whatever is wrong with the user's `folder` becomes `UnusableInput`."""
    _must_be_folder(folder)
    try:
        yield
    except (NotARepository, UnknownRevision, TooManyFiles, GitUnavailable, ConfigError) as error:
        raise UnusableInput(str(error)) from error
    except GitError as error:
        raise UnusableInput(f"git fails in {folder}: {error}") from error
    except Missing as error:
        raise UnusableInput(f"{folder} lacks objects that the review stands on ({error}): fetch them, or give a full clone.") from error


def _gather(wanted: Wanted, cache: Cache) -> Gathered:
    repository = open_repository(wanted.folder)
    if repository is None:
        return _folder(wanted, cache)
    try:
        return _repository(wanted, cache, repository)
    except BaseException:
        repository.close()
        raise


def _must_be_folder(folder: str) -> None:
    if not os.path.exists(folder):
        raise UnusableInput(f"{folder} does not exist.")
    if not os.path.isdir(folder):
        raise UnusableInput(f"{folder} is not a folder; give a git repository or a folder.")
    if not os.access(folder, os.R_OK | os.X_OK):
        raise UnusableInput(f"{folder} cannot be read (permission denied).")


def _folder(wanted: Wanted, cache: Cache) -> Gathered:
    """A plain folder: no commits, so nothing to compare with."""
    if wanted.head or wanted.base:
        raise UnusableInput(f"{wanted.folder} is not a git repository, so --head and --base name nothing in it.")
    head = FolderTree(wanted.folder)
    notes = (Unchecked("history", "a plain folder has none"),)
    return Gathered(
        Snapshot(head, wanted.config or _config(head), cache, pull=wanted.pull, issue=wanted.issue, repository=_name(wanted.pull, None)), notes
    )


def _repository(wanted: Wanted, cache: Cache, repository: Repository) -> Gathered:
    head = tree_of(repository, repository.resolve(wanted.head or "HEAD"))
    if repository.prefix and wanted.head is None and wanted.base is None and not any(p.startswith(repository.prefix) for p in head.files):
        repository.close()
        return _folder(wanted, cache)
    base = tree_of(repository, repository.resolve(wanted.base)) if wanted.base else None
    merge_base, merge, notes = _merged(repository, head, base) if base else (None, None, ())
    snapshot = Snapshot(
        head=head,
        config=wanted.config or _config(base or head),
        cache=cache,
        base=base,
        merge_base=merge_base,
        merge=merge,
        history=GitHistory(repository, head.commit or ""),
        pull=wanted.pull,
        issue=wanted.issue,
        linked=_linked(repository, wanted),
        repository=_name(wanted.pull, repository),
    )
    for tree in (head, base, merge_base):
        _must_be_listed(tree)
    return Gathered(snapshot, (*_state(repository, wanted, head), *notes), repository)


def _must_be_listed(tree: Tree | None) -> None:
    """Read the listing now, where a missing folder or too many files is still the user's to mend. Raises `Missing`, `TooManyFiles`."""
    if tree is not None:
        len(tree.files)


def _merged(repository: Repository, head: GitTree, base: GitTree) -> tuple[Tree | None, Merge | None, tuple[Unchecked, ...]]:
    """(merge base, merge result, what could not be had)."""
    ours, theirs = base.commit or "", head.commit or ""
    found = repository.merge_base(ours, theirs)
    if found is None:
        why = "the clone is shallow" if repository.shallow else "head and base have no common ancestor here"
        return None, None, (Unchecked("merge of head and base", why),)
    merge_base = base if found == ours else head if found == theirs else tree_of(repository, found)
    if merge_base is base:
        return merge_base, Merge(True, head), ()
    if merge_base is head:
        return merge_base, Merge(True, base), ()
    result = repository.merge_tree(ours, theirs)
    if result is None:
        return merge_base, None, (Unchecked("merge of head and base", "git cannot tell (it needs git 2.38 and all objects of both sides)"),)
    tree, conflicts = result
    return merge_base, Merge(tree is not None, GitTree(repository, tree, None) if tree else None, conflicts), ()


def _state(repository: Repository, wanted: Wanted, head: GitTree) -> tuple[Unchecked, ...]:
    """What the clone itself, or a mismatch of what was given, keeps from being checked."""
    notes = []
    if repository.shallow:
        notes.append(Unchecked("history", "the clone is shallow"))
    absent = sum(entry.size < 0 for entry in head.files.values())
    if absent:
        notes.append(Unchecked("missing objects", f"{absent} of {len(head.files)} files are not in this clone (partial or damaged)"))
    if wanted.pull and wanted.pull.head_sha and wanted.pull.head_sha != head.commit:
        notes.append(Unchecked("the pull's own head", f"the pull says {wanted.pull.head_sha[:12]}, reviewed is {(head.commit or '')[:12]}"))
    return tuple(notes)


def _linked(repository: Repository, wanted: Wanted) -> dict[int, Tree]:
    """The heads of the linked pulls that are in the repository, whole."""
    pulls = wanted.issue.linked_pulls if wanted.issue else ()
    found = ((pull.number, repository.commit(pull.head_sha)) for pull in pulls)
    trees = ((number, tree_of(repository, commit)) for number, commit in found if commit is not None)
    return {number: tree for number, tree in trees if _listable(tree)}


def _listable(tree: Tree) -> bool:
    try:
        _must_be_listed(tree)
    except (Missing, TooManyFiles):
        return False
    return True


def _config(law: Tree) -> Config:
    """The config that `law` holds, else the defaults. Raises `ConfigError`."""
    entry = law.files.get(CONFIG_PATH)
    if entry is None:
        return Config()  # type: ignore[call-arg]
    if not entry.is_file:
        raise ConfigError(f"{CONFIG_PATH} is a link or a submodule: make it a plain file.")
    if entry.size > CONFIG_LIMIT:
        raise ConfigError(f"{CONFIG_PATH} has {entry.size} bytes, more than {CONFIG_LIMIT}: shorten it.")
    return read_config(law.read(CONFIG_PATH))


def _name(pull: Pull | None, repository: Repository | None) -> str | None:
    """`owner/name` of the repository: the pull's base, else what `origin` says, where that is on GitHub."""
    if pull is not None and pull.base_repository:
        return pull.base_repository
    url = repository.origin() if repository else None
    return github_name(url, os.environ.get("ASSAY_GITHUB_URL") or GITHUB) if url else None


def github_name(url: str, github: str = GITHUB) -> str | None:
    """`owner/name` of a remote's URL on the host of `github` (also `git@host:…` and ssh aliases such as `github.com-work`), else None."""
    host = re.sub(r"\A\w+://", "", github).split("/")[0].split(":")[0]
    match = _REMOTE.match(url)
    if match is None or not (match[1].lower() == host or match[1].lower().startswith(host + "-")):
        return None
    return f"{match[2]}/{match[3].removesuffix('.git')}"


_REMOTE = re.compile(r"(?:[\w+.-]{1,20}://)?(?:[^@/\s]{1,200}@)?(?:ssh\.)?([\w.-]{1,200})(?::\d{1,5}/|[:/])/?([\w.-]{1,100})/([\w.-]{1,100})/?\Z")


# ---------------------------------------------------------------- reviewing


def review(gathered: Gathered, rules: Sequence[Rule], ask: Ask | None, wanted: Wanted, progress: Callable[[str], None] = lambda _: None) -> Report:
    """Both passes over the snapshot, in this process. What could not be gathered or answered is named in the coverage."""
    snapshot = gathered.snapshot
    chosen = run.chosen(rules, snapshot, wanted.only, wanted.preview)
    questions = run.questions(snapshot, chosen, progress)
    answers, notes = ask(questions) if ask and questions else ({}, ())
    report = run.review(snapshot, Facts(answers), chosen, progress)
    return _completed(report, (*gathered.notes, *notes))


def _completed(report: Report, notes: tuple[Unchecked, ...]) -> Report:
    """The report with what was not gathered, and with every name that the repository chose redacted like all else."""
    coverage = replace(
        report.coverage,
        not_checked=tuple(dict.fromkeys((*notes, *report.coverage.not_checked))),
        external=tuple(redact(name) for name in report.coverage.external),
    )
    return replace(report, coverage=coverage, campaigns=tuple(replace(c, id=redact(c.id)) for c in report.campaigns))


# ---------------------------------------------------------------- what the user gives as files


def load_pull(path: str) -> Pull:
    """The pull in a JSON file. Raises `UnusableInput`."""
    return _conversation(path, "--pull", read_pull)


def load_issue(path: str) -> Issue:
    """The issue in a JSON file, with its comments and linked pulls. Raises `UnusableInput`."""
    return _conversation(path, "--issue", read_issue)


def _conversation(path: str, option: str, read: Callable[[Any], T]) -> T:
    try:
        return read(_json(path, option))
    except Unusable as error:
        raise UnusableInput(f"{option} {path}: {error}") from error


def load_config(path: str) -> Config:
    """The config in a YAML file. Raises `UnusableInput`."""
    try:
        return read_config(_bytes(path, "--config"), path)
    except ConfigError as error:
        raise UnusableInput(str(error)) from error


def recorded(path: str) -> Ask:
    """Answers out of a file of recorded ones, `{"owner/name": {"<sha>": {"status": 200, "reachable": true, "type": "commit"}}}`."""
    known = _recorded(_json(path, "--commits"), path)
    return lambda questions: ({q: known[q] for q in questions if q in known}, ())


def _recorded(raw: Any, path: str) -> dict[Question, Answer]:
    if not isinstance(raw, dict) or not all(isinstance(held, dict) for held in raw.values()):
        raise UnusableInput(f'--commits {path}: expected {{"owner/name": {{"<sha>": {{"status": 200}}}}}}.')
    known = {}
    for repository, held in raw.items():
        for sha, answer in held.items():
            known[Question(repository.lower(), sha.lower())] = _answer(answer, f"--commits {path}: {repository}: {sha}")
    return known


def _answer(raw: Any, where: str) -> Answer:
    status = raw.get("status") if isinstance(raw, dict) else None
    if not isinstance(status, int) or isinstance(status, bool):
        raise UnusableInput(f"{where} has no `status` (a number, as HTTP).")
    reachable, kind = raw.get("reachable"), raw.get("type")
    return Answer(status, reachable if isinstance(reachable, bool) else None, kind if isinstance(kind, str) else None)


def _json(path: str, option: str) -> Any:
    try:
        return json.loads(_bytes(path, option).decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise UnusableInput(f"{option} {path} is not UTF-8.") from error
    except json.JSONDecodeError as error:
        raise UnusableInput(f"{option} {path} is not JSON (line {error.lineno}: {error.msg}).") from error
    except RecursionError as error:
        raise UnusableInput(f"{option} {path} is nested too deep to be read.") from error


def _bytes(path: str, option: str) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(INPUT_LIMIT + 1)
    except OSError as error:
        raise UnusableInput(f"{option} {path} cannot be read ({(error.strerror or 'error').lower()}).") from error
    if len(data) > INPUT_LIMIT:
        raise UnusableInput(f"{option} {path} has more than {INPUT_LIMIT:,} bytes.")
    return data
