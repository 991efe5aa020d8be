"""The twin's repositories: bare, on disk, read and written by git itself."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
    "GIT_CONFIG_KEY_1": "core.quotePath",
    "GIT_CONFIG_VALUE_1": "false",
    "GIT_CONFIG_KEY_2": "gc.auto",
    "GIT_CONFIG_VALUE_2": "0",
}
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
Content = str | bytes | tuple[str, bytes] | None  # text, bytes, (mode, bytes), or None to delete


class GitFailed(Exception):
    """Git ended with an error; the message is what it printed."""


@dataclass(frozen=True)
class Signature:
    name: str
    email: str
    at: datetime


@dataclass(frozen=True)
class CommitObject:
    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str


@dataclass(frozen=True)
class TreeEntry:
    mode: str
    kind: str
    sha: str
    size: int
    name: str


def run(git_dir: Path, *arguments: str, stdin: bytes = b"", environment: Mapping[str, str] | None = None) -> bytes:
    """Standard output of git. Raises `GitFailed` on any exit but 0."""
    done = subprocess.run(
        ["git", f"--git-dir={git_dir}", *arguments],
        input=stdin,
        capture_output=True,
        env={"PATH": os.environ["PATH"], **ENVIRONMENT, **(environment or {})},
    )
    if done.returncode:
        raise GitFailed(f"git {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def text(git_dir: Path, *arguments: str) -> str:
    return run(git_dir, *arguments).decode(errors="replace").strip()


def init(git_dir: Path, branch: str = "main") -> None:
    git_dir.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "--quiet", "--bare", f"--initial-branch={branch}", str(git_dir)], check=True, env={**os.environ, **ENVIRONMENT})


def clone(source: Path, git_dir: Path, shared: bool = False) -> None:
    """A bare copy with every ref. `shared` borrows the source's objects, as a fork does; otherwise they are hard-linked."""
    git_dir.parent.mkdir(parents=True, exist_ok=True)
    how = ["--shared"] if shared else []
    command = ["git", "clone", "--quiet", "--mirror", *how, str(source), str(git_dir)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **ENVIRONMENT})


def resolve(git_dir: Path, revision: str) -> str | None:
    """The commit that a name, a full or a short id stands for; None where there is no such commit."""
    if not revision or revision.startswith("-") or any(mark in revision for mark in "^~:@{ \n"):
        return None
    try:
        return text(git_dir, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}") or None
    except GitFailed:
        return None


@lru_cache(maxsize=20_000)
def commit(git_dir: Path, sha: str) -> CommitObject:
    """A commit's parts. Raises `GitFailed` where it is missing."""
    return _parsed(sha, run(git_dir, "cat-file", "commit", sha))


def _parsed(sha: str, raw: bytes) -> CommitObject:
    head, _, message = raw.decode(errors="replace").partition("\n\n")
    lines = [line.split(" ", 1) for line in head.split("\n") if not line.startswith(" ") and " " in line]
    first = dict(reversed(lines))
    parents = tuple(value for key, value in lines if key == "parent")
    return CommitObject(sha, first["tree"], parents, _signature(first["author"]), _signature(first["committer"]), message.rstrip("\n"))


def _signature(line: str) -> Signature:
    who, _, when = line.rpartition("> ")
    name, _, email = who.partition(" <")
    seconds, _, zone = when.partition(" ")
    offset = datetime.strptime(zone or "+0000", "%z").tzinfo
    return Signature(name, email, datetime.fromtimestamp(int(seconds), offset))


def log(git_dir: Path, *ranges: str, most: int = 1_000, paths: Sequence[str] = ()) -> list[str]:
    """Commit ids, newest first."""
    found = text(git_dir, "rev-list", f"--max-count={most}", "--end-of-options", *ranges, "--", *paths)
    return found.split()


@lru_cache(maxsize=2_000)
def between(git_dir: Path, base: str, head: str) -> tuple[str, ...]:
    """The commits of head, by id, that base has not; oldest first."""
    return tuple(reversed(text(git_dir, "rev-list", f"{base}..{head}").split()))


def ahead_behind(git_dir: Path, base: str, head: str) -> tuple[int, int]:
    behind, ahead = text(git_dir, "rev-list", "--left-right", "--count", f"{base}...{head}").split()
    return int(ahead), int(behind)


def merge_base(git_dir: Path, base: str, head: str) -> str | None:
    """The best common ancestor of two commits given by id; None where nothing is shared."""
    try:
        return _merge_base(git_dir, base, head)
    except GitFailed:
        return None


@lru_cache(maxsize=10_000)
def _merge_base(git_dir: Path, base: str, head: str) -> str:
    return text(git_dir, "merge-base", base, head).split("\n")[0]


def is_ancestor(git_dir: Path, old: str, new: str) -> bool:
    return merge_base(git_dir, old, new) == old


def refs(git_dir: Path, prefix: str) -> dict[str, str]:
    """Short name → commit id, tags peeled, in git's order."""
    form = "%(refname)%00%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)"
    lines = text(git_dir, "for-each-ref", f"--format={form}", prefix).split("\n")
    return {name.removeprefix(prefix): sha for name, sha in (line.split("\0") for line in lines if line)}


def ref(git_dir: Path, name: str) -> str | None:
    """What a full ref's name holds."""
    try:
        return text(git_dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name) or None
    except GitFailed:
        return None


def update_ref(git_dir: Path, ref: str, sha: str | None) -> None:
    """Set a ref, or delete it (`sha` None)."""
    run(git_dir, "update-ref", *(["-d", ref] if sha is None else [ref, sha]))


def fetch(git_dir: Path, source: Path, *refspecs: str) -> None:
    run(git_dir, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", str(source), *refspecs)


def is_empty(git_dir: Path) -> bool:
    return not text(git_dir, "for-each-ref", "--count=1")


def entry(git_dir: Path, sha: str, path: str) -> TreeEntry | None:
    """The entry of exactly that path; the root is `("040000", "tree", …)`."""
    if not path:
        return TreeEntry("040000", "tree", commit(git_dir, sha).tree, 0, "")
    found = _entries(run(git_dir, "ls-tree", "-lz", sha, "--", path))
    return next((one for one in found if one.name == path), None)


def entries(git_dir: Path, tree: str, recursive: bool = False) -> list[TreeEntry]:
    return _entries(run(git_dir, "ls-tree", *(["-r", "-t"] if recursive else []), "-lz", tree))


def _entries(raw: bytes) -> list[TreeEntry]:
    return [_entry(line.decode("utf-8", "surrogateescape")) for line in raw.split(b"\0") if line]


def _entry(line: str) -> TreeEntry:
    meta, _, name = line.partition("\t")
    mode, kind, sha, size = meta.split()
    return TreeEntry(mode, kind, sha, int(size) if size.isdigit() else 0, name)


def blob(git_dir: Path, sha: str) -> bytes:
    return run(git_dir, "cat-file", "blob", sha)


def commit_files(
    git_dir: Path, branch: str, files: Mapping[str, Content], message: str, author: Signature, parent: str | None, merge: str | None = None
) -> str:
    """A new commit on `branch` (moved there even if that is not a fast-forward); the files are laid over the parent's tree."""
    lines = [f"commit refs/heads/{branch}\n".encode()]
    lines += [f"{role} {author.name} <{author.email}> {int(author.at.timestamp())} +0000\n".encode() for role in ("author", "committer")]
    lines.append(_data(message.encode()))
    lines += [f"from {parent}\n".encode()] if parent else []
    lines += [f"merge {merge}\n".encode()] if merge else []
    lines += [_change(path, content) for path, content in files.items()]
    if parent is None:
        lines.insert(0, f"reset refs/heads/{branch}\n\n".encode())
    run(git_dir, "fast-import", "--quiet", "--force", stdin=b"".join(lines) + b"\n")
    found = ref(git_dir, f"refs/heads/{branch}")
    assert found
    return found


def _change(path: str, content: Content) -> bytes:
    quoted = '"' + "".join(f"\\{byte:03o}" if byte < 32 or byte > 126 or chr(byte) in '"\\' else chr(byte) for byte in os.fsencode(path)) + '"'
    if content is None:
        return f"D {quoted}\n".encode()
    mode, raw = content if isinstance(content, tuple) else ("100644", content.encode() if isinstance(content, str) else content)
    return f"M {mode} inline {quoted}\n".encode() + _data(raw)


def _data(raw: bytes) -> bytes:
    return f"data {len(raw)}\n".encode() + raw + b"\n"


def merge_commit(git_dir: Path, base: str, head: str, message: str, author: Signature) -> str | None:
    """A merge of the two, in no branch; None where they conflict."""
    try:
        tree = text(git_dir, "merge-tree", "--write-tree", base, head).split("\n")[0]
    except GitFailed:
        return None
    when = f"{int(author.at.timestamp())} +0000"
    who = {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in (("NAME", author.name), ("EMAIL", author.email), ("DATE", when))
    }
    return run(git_dir, "commit-tree", tree, "-p", base, "-p", head, "-m", message, environment=who).decode().strip()
