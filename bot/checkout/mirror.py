"""Opens an existing repository for reading, through a git directory of our own that borrows its objects and nothing else.

A reviewed repository's own config, hooks, attributes, grafts, replacements and commit graph could run programs or lie about history. So every
walk happens in an empty temporary repository whose alternate object store is the reviewed one: what git writes (a merge's tree) lands there,
a partial clone is never completed, and a read-only clone stays untouched. Only names (`HEAD`, `origin/main`) are resolved in the original.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections import OrderedDict
from pathlib import Path

from bot.checkout.process import Batch, GitError, Runner, git_version
from rules.core.model import Missing

BLOB_LIMIT = 512 * 1024 * 1024
KEPT_BYTES = 32 * 1024 * 1024
MERGE_TREE_SINCE = (2, 38)
_HEX = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")


class NotARepository(Exception):
    """The folder is no git repository, or one that git cannot use; one sentence."""


class UnknownRevision(Exception):
    """A revision that the user named is not in the repository; one sentence."""


class Repository:
    """One repository, opened for reading. `objects` is its object store, `prefix` where in its work tree the given folder lies ("" at the top)."""

    def __init__(self, folder: str, objects: str, prefix: str, object_format: str, shallow: bytes) -> None:
        self.folder, self.prefix = folder, prefix
        self.shallow = bool(shallow.strip())
        self.source = Runner("-C", folder)
        self._shadow = _shadow(objects, object_format, shallow)
        self._finalizer = weakref.finalize(self, shutil.rmtree, self._shadow, ignore_errors=True)
        self.git = Runner(f"--git-dir={self._shadow}")
        self._contents = Batch(self.git, "--batch")
        self._headers = Batch(self.git, "--batch-check")
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._kept_bytes = 0

    def close(self) -> None:
        """End the processes and remove the temporary directory."""
        self._contents.close()
        self._headers.close()
        self._finalizer()

    def __enter__(self) -> Repository:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def blob(self, oid: str) -> bytes:
        """The bytes of blob `oid`, exactly. Raises `Missing`."""
        if (kept := self._kept.get(oid)) is not None:
            self._kept.move_to_end(oid)
            return kept
        found = self._contents.ask(oid, BLOB_LIMIT)
        if found is None or found[1] != "blob":
            raise Missing(oid)
        self._keep(oid, found[3])
        return found[3]

    def _keep(self, oid: str, data: bytes) -> None:
        """Several rules read the same blob: the last ones stay at hand."""
        if len(data) > KEPT_BYTES // 16:
            return
        self._kept[oid] = data
        self._kept_bytes += len(data)
        while self._kept_bytes > KEPT_BYTES:
            self._kept_bytes -= len(self._kept.popitem(last=False)[1])

    def kind(self, name: str) -> str | None:
        """`commit`, `tree`, `blob` or `tag` for a full or unambiguous short id, else None."""
        found = self._headers.ask(name, 0) if re.fullmatch(r"[0-9a-fA-F]{4,64}", name) else None
        return found[1] if found else None

    def commit(self, name: str) -> str | None:
        """The full id of the commit that the full or short id `name` stands for, here, else None."""
        found = self._headers.ask(name.lower() + "^{commit}", 0) if re.fullmatch(r"[0-9a-fA-F]{4,64}", name) else None
        return found[0] if found and found[1] == "commit" else None

    def resolve(self, revision: str) -> str:
        """The commit that the user's `revision` names. Raises `UnknownRevision`."""
        if not revision or revision.startswith("-") or re.search(r"[\x00-\x20\x7f]", revision):
            raise UnknownRevision(f"{revision!r} is no revision.")
        try:
            printed = self.source.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except GitError as error:
            raise UnknownRevision(self._unknown(revision)) from error
        id = next((word for word in printed.decode("ascii", "replace").split() if _HEX.match(word)), None)
        if id is None or self.kind(id) != "commit":
            raise UnknownRevision(self._unknown(revision))
        return id

    def _unknown(self, revision: str) -> str:
        if revision == "HEAD":
            return f"{self.folder} has no commit yet (HEAD names none)."
        reason = " (the clone is shallow: fetch more of it)" if self.shallow else ""
        return f"there is no commit {revision!r} in {self.folder}{reason}."

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor, None where there is none here."""
        try:
            printed = self.git.run("merge-base", one, other).split()
        except GitError:
            return None
        return printed[0].decode("ascii") if printed else None

    def is_ancestor(self, older: str, newer: str) -> bool:
        """True when `older` is `newer` or reachable from it."""
        try:
            self.git.run("merge-base", "--is-ancestor", older, newer)
        except GitError:
            return False
        return True

    def merge_tree(self, ours: str, theirs: str) -> tuple[str | None, tuple[str, ...]] | None:
        """(tree id, ()) of a clean merge, (None, conflicting paths), or None where git cannot tell."""
        if git_version() < MERGE_TREE_SINCE:
            return None
        try:
            printed = self.git.run("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs, good=(0, 1))
        except GitError:
            return None
        tree, *paths = [field.decode("utf-8", "surrogateescape") for field in printed.split(b"\0") if field]
        return (None, tuple(dict.fromkeys(paths))) if paths else (tree, ())

    def origin(self) -> str | None:
        """The URL of the remote `origin`, if there is one."""
        try:
            return self.source.run("config", "--local", "--get", "remote.origin.url").decode("utf-8", "replace").strip() or None
        except GitError:
            return None


def open_repository(folder: str) -> Repository | None:
    """The repository that holds `folder`; None where there is none. Raises `NotARepository` where there is one that git cannot use."""
    path = os.path.abspath(folder)
    try:
        printed = Runner("-C", path).run(
            "rev-parse", "--show-object-format", "--is-shallow-repository", "--is-bare-repository", "--show-prefix", "--git-path", "objects"
        )
    except GitError as error:
        if "not a git repository" in str(error) and not os.path.lexists(os.path.join(path, ".git")):
            return None
        raise NotARepository(f"git cannot use {folder}: {error}") from error
    object_format, _, _, rest = printed.decode("utf-8", "surrogateescape").split("\n", 3)
    prefix, _, rest = rest.partition("\n")
    objects = os.path.join(path, rest.removesuffix("\n"))
    shallow = Path(objects).parent / "shallow"
    return Repository(path, objects, prefix, object_format, shallow.read_bytes() if shallow.is_file() else b"")


def _shadow(objects: str, object_format: str, shallow: bytes) -> str:
    """An empty bare repository that borrows `objects`."""
    shadow = Path(tempfile.mkdtemp(prefix="assay-"))
    for name in ("objects/info", "objects/pack", "refs"):
        (shadow / name).mkdir(parents=True)
    (shadow / "HEAD").write_text("ref: refs/heads/none\n")
    lines = ["[core]", "repositoryformatversion = 1", "bare = true", "[extensions]", f"objectFormat = {object_format}"]
    (shadow / "config").write_text("\n".join(lines if object_format == "sha256" else [lines[0], "repositoryformatversion = 0", lines[2]]) + "\n")
    (shadow / "objects/info/alternates").write_bytes(_quoted(os.fsencode(os.path.realpath(objects))) + b"\n")
    if shallow.strip():
        (shadow / "shallow").write_bytes(shallow)
    return str(shadow)


def _quoted(path: bytes) -> bytes:
    """`path` as a line of `objects/info/alternates` (gitrepository-layout): quoted as in C where a newline or a leading mark needs it."""
    if b"\n" not in path and not path.startswith((b'"', b"#")):
        return path
    return b'"' + path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'
