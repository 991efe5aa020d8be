"""The files of one commit, out of git objects; and the same over a plain folder."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from functools import cached_property

from bot.checkout.mirror import Repository
from bot.checkout.process import GitError, TooMuch, TooSlow
from rules.core.model import Entry, Missing

FILES_LIMIT = 500_000
FOLDER_READ_LIMIT = 64 * 1024 * 1024
_BLOB_MODES = ("100644", "100755", "120000")


class TooManyFiles(Exception):
    """The tree or folder has more files than are read; one sentence."""


class GitTree:
    """A commit's (or a merge result's) files. Blobs are read from the object store, never from a work tree: no filters, no links followed."""

    def __init__(self, repository: Repository, tree: str, commit: str | None) -> None:
        self._repository, self._tree, self._commit = repository, tree, commit

    @property
    def commit(self) -> str | None:
        return self._commit

    @cached_property
    def files(self) -> Mapping[str, Entry]:
        try:
            return _sized(self._repository, self._tree)
        except TooMuch as error:
            raise TooManyFiles(str(error)) from error
        except TooSlow:
            raise
        except GitError:
            return _unsized(self._repository, self._tree)

    def read(self, path: str) -> bytes:
        entry = self.files.get(path)
        if entry is None or entry.mode not in _BLOB_MODES:
            raise Missing(path)
        return self._repository.blob(entry.oid)


def tree_of(repository: Repository, commit: str) -> GitTree:
    """The tree of `commit`."""
    return GitTree(repository, commit, commit)


def _sized(repository: Repository, tree: str) -> dict[str, Entry]:
    """Every entry with its size. Where an object is missing git says BAD in place of its size, or refuses as a whole, as its version pleases."""
    files: dict[str, Entry] = {}
    for field in repository.git.fields("ls-tree", "-r", "-l", "-z", "--full-tree", "--end-of-options", tree):
        left, _, path = field.partition(b"\t")
        mode, _, oid, size = left.decode("ascii").split()
        _add(files, path, Entry(oid, mode, int(size) if size.isdigit() else 0 if size == "-" else -1))
    return files


def _unsized(repository: Repository, tree: str) -> dict[str, Entry]:
    """Every entry that can be listed in a partial or damaged clone; -1 where the object is not here."""
    found: list[tuple[bytes, str, str]] = []
    try:
        for field in repository.git.fields("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", tree):
            left, _, path = field.partition(b"\t")
            mode, _, oid = left.decode("ascii").split()
            found.append((path, oid, mode))
            if len(found) > FILES_LIMIT:
                raise TooManyFiles(_many("the tree"))
    except TooMuch as error:
        raise TooManyFiles(str(error)) from error
    except GitError as error:
        raise Missing(f"a folder of {tree[:12]} cannot be listed: {error}") from error
    sizes = _sizes(repository, {oid for _, oid, mode in found if mode in _BLOB_MODES})
    files: dict[str, Entry] = {}
    for path, oid, mode in found:
        _add(files, path, Entry(oid, mode, sizes.get(oid, -1) if mode in _BLOB_MODES else 0))
    return files


def _sizes(repository: Repository, oids: set[str]) -> dict[str, int]:
    """Object id → size of those that are here."""
    given = "".join(oid + "\n" for oid in sorted(oids)).encode("ascii")
    try:
        printed = repository.git.run("cat-file", "--batch-check=%(objectname) %(objectsize)", "--buffer", given=given)
    except GitError:
        return {oid: len(data) for oid in oids if (data := _bytes_of(repository, oid)) is not None}
    pairs = (line.split() for line in printed.decode("ascii", "replace").splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _bytes_of(repository: Repository, oid: str) -> bytes | None:
    try:
        return repository.blob(oid)
    except Missing:
        return None


def _add(files: dict[str, Entry], path: bytes, entry: Entry) -> None:
    if len(files) >= FILES_LIMIT:
        raise TooManyFiles(_many("the tree"))
    files[path.decode("utf-8", "surrogateescape")] = entry


def _many(what: str) -> str:
    return f"{what} has more than {FILES_LIMIT:,} files."


# ---------------------------------------------------------------- a plain folder


class FolderTree:
    """A plain folder's files as they are now. No link is followed, no pipe or device opened, `.git` is left out."""

    commit = None

    def __init__(self, folder: str) -> None:
        self._folder = os.path.abspath(folder)

    @cached_property
    def files(self) -> Mapping[str, Entry]:
        found = sorted(_walk(self._folder), key=os.fsencode)
        return {path: _folder_entry(self._full(path)) for path in found}

    def read(self, path: str) -> bytes:
        if path not in self.files or self.files[path].size < 0:
            raise Missing(path)
        data = _content(self._full(path))
        if data is None:
            raise Missing(path)
        return data

    def _full(self, path: str) -> str:
        return os.path.join(self._folder, path)


def _walk(folder: str) -> Iterator[str]:
    """Relative paths of plain files and links, without recursion."""
    waiting, count = [""], 0
    while waiting:
        inside = waiting.pop()
        for item in _listed(os.path.join(folder, inside)):
            path = f"{inside}/{item.name}" if inside else item.name
            if item.name == ".git":
                continue
            if item.is_dir(follow_symlinks=False):
                waiting.append(path)
            elif item.is_symlink() or item.is_file(follow_symlinks=False):
                count += 1
                if count > FILES_LIMIT:
                    raise TooManyFiles(_many("the folder"))
                yield path


def _listed(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as items:
            return list(items)
    except OSError:
        return []


def _folder_entry(full: str) -> Entry:
    """The entry of one file: git's own object id for its content, so that equal content is read once; larger files are named by size and time."""
    try:
        found = os.lstat(full)
    except OSError:
        return Entry(_missing_id(full), "100644", -1)
    mode = "120000" if stat.S_ISLNK(found.st_mode) else "100755" if found.st_mode & stat.S_IXUSR else "100644"
    if mode != "120000" and found.st_size > FOLDER_READ_LIMIT:
        return Entry(_missing_id(f"{full}\0{found.st_size}\0{found.st_mtime_ns}"), mode, found.st_size)
    data = _content(full)
    if data is None:
        return Entry(_missing_id(full), mode, -1)
    return Entry(hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest(), mode, len(data))


def _missing_id(name: str) -> str:
    return hashlib.sha1(b"unread\0" + os.fsencode(name), usedforsecurity=False).hexdigest()


def _content(full: str) -> bytes | None:
    """The bytes of a plain file, or a link's target; None where it cannot be read, is too large or no longer a plain file."""
    try:
        if os.path.islink(full):
            return os.fsencode(os.readlink(full))
        handle = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            data = file.read(FOLDER_READ_LIMIT * 8 + 1)
        except OSError:
            return None
    return data if len(data) <= FOLDER_READ_LIMIT * 8 else None
