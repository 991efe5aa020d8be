"""Older versions of a file: whether a digest is that of any version which the history holds."""

from __future__ import annotations

import hashlib

from rules.core.model import History, Snapshot

VERSIONS = 1000
"""Versions of one file that are hashed at most."""


def versions_of(history: History, path: str) -> tuple[str, ...]:
    """The object ids that `path` had in the history, newest first, each once."""
    return tuple(dict.fromkeys(change.after for change in history.changes if change.path == path and change.after))


def is_digest_of(snapshot: Snapshot, history: History, oid: str, digest: str) -> bool:
    """True when `digest` is the SHA-256 of the object, with its own line endings or with either kind. Raises `Missing`."""

    def make() -> tuple[str, ...]:
        data = history.blob(oid)
        unix = data.replace(b"\r\n", b"\n")
        return tuple(hashlib.sha256(form).hexdigest() for form in {data, unix, unix.replace(b"\n", b"\r\n")})

    return digest in snapshot.cache.by_blob("forms", oid, 256, make)
