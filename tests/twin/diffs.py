"""What changed between two commits as GitHub's API tells it: files with patches, and which lines can carry a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from tests.twin import git
from tests.twin.limits import PATCH_BYTES, PATCH_LINES

STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied", "T": "changed"}
HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
OPTIONS = ("-M", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/")


@dataclass(frozen=True)
class Place:
    """Where a commentable line is: its hunk's number, its position in the patch (the first line below the first `@@` is 1), its index."""

    hunk: int
    position: int
    text: str


@dataclass(frozen=True)
class FileChange:
    """One changed file. `patch` is None for a binary file, a pure rename and a diff above GitHub's limits."""

    path: str
    previous: str | None
    status: str
    blob: str | None
    additions: int
    deletions: int
    binary: bool
    patch: str | None

    @cached_property
    def places(self) -> dict[tuple[str, int], Place]:
        """(side, line) → place. RIGHT holds additions and context, LEFT deletions and context."""
        return _places(self.patch or "")


@lru_cache(maxsize=64)
def changes(git_dir: Path, old: str, new: str) -> tuple[FileChange, ...]:
    """The changed files from `old` to `new`, renames found, in git's order."""
    raw = _raw(git.run(git_dir, "diff", "--raw", "--numstat", "-z", "-M", "--full-index", "--abbrev=40", old, new))
    patches = iter(_patches(diff_text(git_dir, old, new)))
    return tuple(_change(*found, _next_patch(patches, found[2])) for found in raw)


def _next_patch(patches: Iterator[str], status: str) -> str:
    """A change of type (file to symlink) is printed as a deletion and a creation."""
    return next(patches) + ("\n" + next(patches) if status == "changed" else "")


def diff_text(git_dir: Path, old: str, new: str) -> str:
    """The whole diff, as the diff media type gives it."""
    return git.run(git_dir, "diff", "-p", *OPTIONS, old, new).decode("utf-8", "replace")


def patch_text(git_dir: Path, old: str, new: str) -> str:
    """The commits as mails, as the patch media type gives them."""
    return git.run(git_dir, "format-patch", "--stdout", f"{old}..{new}").decode("utf-8", "replace")


def _raw(output: bytes) -> list[tuple[str, str | None, str, str | None, int, int, bool]]:
    """Entries of `--raw --numstat -z`: all raw records come first, then the counts in the same order."""
    fields = [field.decode("utf-8", "surrogateescape") for field in output.split(b"\0")]
    records, index = [], 0
    while index < len(fields) and fields[index].startswith(":"):
        letter = fields[index].split()[4][0]
        paths = 2 if letter in "RC" else 1
        records.append((letter, fields[index].split(), fields[index + 1 : index + 1 + paths]))
        index += 1 + paths
    found: list[tuple[str, str | None, str, str | None, int, int, bool]] = []
    for letter, meta, paths_of in records:
        added, deleted, name = fields[index].split("\t")
        index += 1 if name else 3
        blob = None if letter == "D" else meta[3]
        previous = paths_of[0] if len(paths_of) == 2 else None
        counts = (_number(added), _number(deleted))
        found.append((paths_of[-1], previous, STATUS[letter], blob or meta[2], *counts, added == "-"))
    return found


def _number(word: str) -> int:
    return int(word) if word.isdigit() else 0


def _change(path: str, previous: str | None, status: str, blob: str | None, added: int, deleted: int, binary: bool, patch: str) -> FileChange:
    shown = patch if patch.startswith("@@") and len(patch.encode()) <= PATCH_BYTES and patch.count("\n") <= PATCH_LINES else None
    return FileChange(path, previous, status, blob, added, deleted, binary, shown)


def _patches(diff: str) -> list[str]:
    """Each file's part from its first `@@`; empty where there is none (binary, pure rename, mode change, empty file)."""
    parts = re.split(r"^diff --git .*\n", diff, flags=re.MULTILINE)[1:]
    return [part[found.start() :].rstrip("\n") if (found := re.search(r"^@@ ", part, re.MULTILINE)) else "" for part in parts]


def _places(patch: str) -> dict[tuple[str, int], Place]:
    places: dict[tuple[str, int], Place] = {}
    hunk = left = right = 0
    for position, line in enumerate(patch.split("\n") if patch else ()):
        if header := HUNK.match(line):
            hunk, left, right = hunk + 1, int(header[1]), int(header[2])
        elif line.startswith("\\"):
            continue
        else:
            place = Place(hunk, position, line)
            if not line.startswith("+"):
                places["LEFT", left] = place
                left += 1
            if not line.startswith("-"):
                places["RIGHT", right] = place
                right += 1
    return places


def hunk_up_to(change: FileChange, position: int) -> str:
    """The part of the patch that GitHub shows above a comment: from its hunk's header down to its line."""
    lines = (change.patch or "").split("\n")[: position + 1]
    start = max((index for index, line in enumerate(lines) if line.startswith("@@")), default=0)
    return "\n".join(lines[start:])


def follow(git_dir: Path, old: str, new: str, path: str, line: int) -> tuple[str, int] | None:
    """Where a line of `path` at `old` stands at `new`: (path, line); None where it was changed or deleted."""
    change = next((one for one in changes(git_dir, old, new) if path in (one.previous or one.path, one.path)), None)
    if change is None:
        return path, line
    if change.status == "removed" or (change.patch is None and change.status != "renamed"):
        return None
    moved = line + _shift(change.patch or "", line)
    return (change.path, moved) if not _deleted(change.patch or "", line) else None


def _deleted(patch: str, line: int) -> bool:
    place = _places(patch).get(("LEFT", line))
    return place is not None and place.text.startswith("-")


def _shift(patch: str, line: int) -> int:
    """How far additions and deletions above `line` (of the old side) move it."""
    shift = left = 0
    for text in patch.split("\n"):
        if header := HUNK.match(text):
            left = int(header[1])
        elif left > line:
            break
        elif text.startswith("+"):
            shift += 1
        elif not text.startswith("\\"):
            shift -= text.startswith("-")
            left += 1
    return shift
