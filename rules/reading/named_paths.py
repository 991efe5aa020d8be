"""Paths inside a bundle that its documents name, and whether they are there."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rules.core.model import Snapshot
from rules.reading.documents import Node, Path, document, places
from rules.reading.inventory import is_external
from rules.reading.layout import Bundle, matches
from rules.reading.manifests import manifests, normal

_EXTENSION = re.compile(r"[^/\s.][^/\s]{0,200}\.(?P<ext>[A-Za-z][A-Za-z0-9]{0,11}|7z|mp4|mp3|h5|bz2)\Z")
_UNUSABLE = re.compile(r"://|[<>{}$|\"`\s…]|\.\.\.|^[~/\\]|^[A-Za-z]:[\\/]|^-|@|=|%\(|::")
_PATH_KEY = re.compile(
    r"(?:^|_)(?:paths?|files?|filename|logs?|artifacts?|receipts?|traces?|outputs?|samples|profile|attachment|evidence|records?|report|raw|stdout|stderr|dump|plot|figure|csv|manifest)(?:_|\Z)"
)
_BARE_KEY = re.compile(r"(?:^|_)(?:raw|logs?|artifacts?|receipts?|traces?|samples|stdout|stderr|attachment|evidence|profile)(?:_|\Z)")
_ELSEWHERE_KEY = re.compile(
    r"(?:^|_)(?:external|missing|absent|unavailable|not_committed|uncommitted|upstream|expected|example|placeholder|planned|todo|deleted|removed|ignored?|excluded?"
    r"|model|weights|checkpoint|dataset|image|url|uri|command|cmd|argv?|args|entrypoint|cwd|workdir|media_type|content_type|mime|source_file|changed_files|touches|upstream_files)(?:_|\Z)"
)
_ABSENT_WORD = re.compile(
    r"missing|absent|external|unavailable|not[ _-](?:committed|retained|available|recorded)|lost|deleted|withheld|pending|planned|缺失|未提交|外部|未保留",
    re.I,
)
_DATA = frozenset(
    [
        "json",
        "jsonl",
        "ndjson",
        "yaml",
        "yml",
        "csv",
        "tsv",
        "txt",
        "log",
        "out",
        "err",
        "md",
        "diff",
        "patch",
        "py",
        "sh",
        "svg",
        "png",
        "jpg",
        "jpeg",
        "pdf",
        "html",
        "gz",
        "xz",
        "zst",
        "bz2",
        "zip",
        "tar",
        "tgz",
        "7z",
        "bin",
        "dat",
        "data",
        "db",
        "sqlite",
        "parquet",
        "npz",
        "npy",
        "pt",
        "prof",
        "trace",
        "perf",
        "nsys",
        "ncu",
        "qdrep",
        "pcap",
        "mp4",
        "wav",
        "mp3",
        "h5",
        "hdf5",
        "pb",
        "onnx",
        "sha256",
        "sums",
        "toml",
        "ini",
        "cfg",
        "xml",
        "ipynb",
        "rst",
    ]
)
_NOT_HERE = ("in_repository", "checked_in", "committed", "retained", "available", "present", "exists", "included")
_OTHER_REPOSITORY = ("repository", "repo", "upstream", "pull", "pull_request", "branch", "source_repository")


@dataclass(frozen=True, slots=True)
class Named:
    """A path that a place of a document names. `files` are the files of head it stands for; empty when there is none."""

    text: str
    place: Path
    files: tuple[str, ...]
    external: bool


@lru_cache(maxsize=4096)
def split_key(key: str) -> str:
    """`rawLog`, `raw-log` and `raw_log` as `raw_log`."""
    return re.sub(r"[\s.\-]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key[:200])).lower()


def named_paths(snapshot: Snapshot, bundle: Bundle, path: str) -> tuple[Named, ...]:
    """Every path inside `bundle` that a string of the JSON or YAML document at `path` names; pairs of manifests are left out."""
    return snapshot.memo(("named", path), lambda: tuple(_named(snapshot, bundle, path)))


def _named(snapshot: Snapshot, bundle: Bundle, path: str) -> Iterator[Named]:
    doc = document(snapshot, path)
    pinned = {pair.place[:-1] for manifest in manifests(snapshot, bundle) if manifest.path == path for pair in manifest.pairs if pair.place}
    for node in places(snapshot, path).strings(lambda _: True, _may_be_path):
        if _names_one(bundle, node) and node.path[:-1] not in pinned and not _elsewhere(doc.value if doc else None, node):
            text = node.value.strip()
            yield Named(text, node.path, files_of(snapshot, bundle, path, text), is_external(snapshot, bundle, _inside(bundle, text)))


def _may_be_path(text: str) -> bool:
    """A path has a slash or an extension."""
    text = text.strip()
    return ("/" in text or "\\" in text or "." in text) and 3 <= len(text) <= 300 and _UNUSABLE.search(text) is None


def _names_one(bundle: Bundle, node: Node) -> bool:
    text = node.value.strip()
    key = split_key(node.key)
    if inside_bundle(bundle, text):
        return bool(extension(text)) or text.endswith("/") or "*" in text or bool(_PATH_KEY.search(key))
    return "/" not in text and bool(_BARE_KEY.search(key)) and extension(text) in _DATA


def extension(text: str) -> str | None:
    """The file extension of a path, lower case, or None."""
    match = _EXTENSION.search(text.rpartition("/")[2] or "")
    return match["ext"].lower() if match else None


def inside_bundle(bundle: Bundle, text: str) -> bool:
    """True for a path that begins with a part of the bundle, with one of its own folders, or with the bundle itself."""
    text = text.replace("\\", "/").removeprefix("./")
    if text.startswith(bundle.path + "/"):
        return True
    first, slash, rest = text.partition("/")
    return bool(slash) and (bool(rest) or text.endswith("/")) and first in _folders(bundle)


def _folders(bundle: Bundle) -> frozenset[str]:
    return bundle.folders | {bundle.root.plan, bundle.root.results, bundle.root.patch, bundle.root.validator, "raw", "logs", "artifacts"}


def _inside(bundle: Bundle, text: str) -> str:
    return normal(text).removeprefix(bundle.path + "/")


def _elsewhere(root: Any, node: Node) -> bool:
    """True where the key, a sibling or an object around says that the path is another repository's, external, absent or only planned."""
    held = root
    for part in node.path:
        if isinstance(part, str) and _ELSEWHERE_KEY.search(split_key(part)):
            return True
        if isinstance(held, dict) and _says_elsewhere(held):
            return True
        held = held[part]
    return False


def _says_elsewhere(held: dict[str, Any]) -> bool:
    if any(held.get(key) is False for key in _NOT_HERE):
        return True
    if any(
        isinstance(held.get(key), str) and _ABSENT_WORD.search(held[key][:200])
        for key in ("status", "state", "availability", "note", "reason", "location")
    ):
        return True
    return any(key in held for key in _OTHER_REPOSITORY) and any(key in held for key in ("path", "file", "files"))


def files_of(snapshot: Snapshot, bundle: Bundle, document_path: str, text: str) -> tuple[str, ...]:
    """The files of head that a path names, from the document's folder, then the bundle's root, then the repository's; globs and folders give all inside."""
    text = text.replace("\\", "/")
    text = re.sub(r"(?:#L?\d+(?:-L?\d+)?|:\d+(?:-\d+)?)\Z", "", text)
    for folder in (document_path.rpartition("/")[0] + "/", bundle.path + "/", ""):
        wanted = normal(folder + text)
        if wanted in snapshot.head.files:
            return (wanted,)
        found = tuple(f for f in _below(snapshot, wanted) if "*" not in wanted or matches(f, wanted))
        if found:
            return found
    return ()


def _below(snapshot: Snapshot, wanted: str) -> Iterator[str]:
    """The files of head inside a folder; for a glob those that begin as it does before its first wildcard."""
    fixed, star, _ = wanted.partition("*")
    lead = fixed if star else wanted + "/"
    ordered = snapshot.memo(("paths in order", id(snapshot.head)), lambda: sorted(snapshot.head.files))
    for at in range(bisect_left(ordered, lead), len(ordered)):
        if not ordered[at].startswith(lead):
            return
        yield ordered[at]
