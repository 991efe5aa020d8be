"""Manifests: anything that pairs paths with SHA-256 digests, recognised by content."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from rules.core.model import Location, Missing, Role, Snapshot, Tree
from rules.reading.documents import Document, Path, document, is_document, is_lfs_pointer, pointer
from rules.reading.inventory import is_external, registered
from rules.reading.keys import family, words
from rules.reading.layout import Bundle, matches

_DIGEST = re.compile(r"(?:sha-?256[:=-])?([0-9a-fA-F]{64})\Z", re.IGNORECASE)
_TRUNCATED = re.compile(r"(?:sha-?256[:=-])?([0-9a-fA-F]{8,63})(?:…|\.\.\.)?\Z", re.IGNORECASE)
_SUM_LINE = re.compile(r"\\?(?P<digest>[0-9a-fA-F]{8,128})(?:[ \t]+\d{1,18})?(?:[ \t]+[ *]?|[ \t]*\*)(?P<path>\S.{0,1023}?)\s*\Z")
_BSD_LINE = re.compile(r"SHA256 ?\((?P<path>[^)]{1,1024})\) ?= ?(?P<digest>[0-9a-fA-F]{8,64})\s*\Z")
_SUMS_NAME = re.compile(
    r"(?:^|/)(?:sha256sums?(?:\.txt)?|checksums?(?:\.txt|\.sha256)?|[^/]*\.sha256(?:sums?)?|manifest-sha256\.txt)\Z", re.IGNORECASE
)
_DIGEST_KEYS = ("sha256", "sha-256", "sha_256", "sha256sum", "digest", "hash", "checksum", "content_sha256", "file_sha256")
_PATH_KEYS = ("path", "file", "filename", "name", "relative_path", "rel_path", "file_path", "artifact")
_PATH_NOUNS = family("path file filename filepath relpath artifact 路径 文件 文件名 文件路径 相对路径")
_PATH_WORDS = _PATH_NOUNS | family("name relative rel repo repository full bundle")
_DIGEST_NOUNS = family("256 sha256 sha256sum digest hash checksum 摘要 哈希 哈希值 校验和 校验值 散列 散列值")
_DIGEST_WORDS = _DIGEST_NOUNS | family("sha sum hex value content file blob expected recorded")
_PAIR_KEYS = 64
"""An object with more members is a map, not one entry."""
_SUMS_LIMIT = 16 * 1024 * 1024
DIGEST_LENGTH = 64
OTHER_DIGESTS = (32, 40, 48, 56)


@dataclass(frozen=True, slots=True)
class Pinned:
    """One (path, digest) pair. `digest` is lower-case hex without prefix, as long as it was written; `place` is its pointer, `line` its line."""

    path: str
    digest: str
    place: Path | None
    line: int | None
    size: int | None = None


@dataclass(frozen=True)
class Manifest:
    """One manifest of a bundle. `freeze` tells a freeze manifest from a record manifest."""

    path: str
    freeze: bool
    pairs: tuple[Pinned, ...]
    own_revision: str | None = None


def looks_like_path(text: str) -> bool:
    """A path has a slash or an extension: `control` is a label, `control.json` a path."""
    name = text.strip()
    if not name or len(name) > 1024 or "\n" in name or "://" in name:
        return False
    return (
        "/" in name
        or "\\" in name
        or bool(re.search(r"[^.\s]\.[A-Za-z0-9_]{1,12}\Z", name))
        or name in {"Makefile", "Dockerfile", "LICENSE", "README"}
    )


def read_pairs(value: Any) -> tuple[Pinned, ...]:
    """Every (path, digest) pair of a document's value, at any depth, in order; none where no digest has its full length."""
    pairs = tuple(_read_pairs(value, ()))
    return pairs if any(len(pair.digest) == DIGEST_LENGTH for pair in pairs) else ()


def _read_pairs(value: Any, place: Path) -> Iterator[Pinned]:
    stack: list[tuple[Any, Path]] = [(value, place)]
    while stack:
        held, at = stack.pop()
        if isinstance(held, dict):
            pair = _object_pair(held, at)
            if pair:
                yield pair
                held = {k: v for k, v in held.items() if isinstance(v, (dict, list))}
            digests, rest = [], []
            for key, child in held.items():
                found = _keyed_pair(key, child, (*at, key))
                digests.append(found) if found else rest.append((child, (*at, key)))
            yield from digests
            stack.extend(reversed([item for item in rest if isinstance(item[0], (dict, list))]))
        elif isinstance(held, list):
            if len(held) == 2 and all(isinstance(x, str) for x in held) and looks_like_path(held[0]) and _digest(held[1]):
                yield Pinned(held[0], _digest(held[1]) or "", (*at, 1), None)
                continue
            stack.extend((held[i], (*at, i)) for i in range(len(held) - 1, -1, -1) if isinstance(held[i], (dict, list)))


def _keyed_pair(key: str, child: Any, at: Path) -> Pinned | None:
    """`{path: digest}`, `{path: {"sha256": digest, …}}` and `{digest: path}`."""
    if isinstance(child, str) and _DIGEST.match(key) and looks_like_path(child):
        return Pinned(child, _digest(key) or "", at, None)
    if not looks_like_path(key):
        return None
    if isinstance(child, str) and _digest(child):
        return Pinned(key, _digest(child) or "", at, None)
    if isinstance(child, dict) and not any(_is_path_key(k) and isinstance(v, str) and looks_like_path(v) for k, v in child.items()):
        found = _digest_in(child)
        return Pinned(key, found[0], (*at, found[1]), None, _size(child)) if found else None
    return None


def _object_pair(held: dict[str, Any], at: Path) -> Pinned | None:
    """`{"path": …, "sha256": …, "size": …}` under any of the usual names, in any style of writing; `{"name": …, "digest": {"sha256": …}}`."""
    if len(held) > _PAIR_KEYS:
        return None
    named = [key for key, value in held.items() if isinstance(value, str) and _is_path_key(key) and looks_like_path(value)]
    found = _digest_in(held) if named else None
    if found is None:
        return None
    best = min(named, key=lambda key: _PATH_KEYS.index(key.lower()) if key.lower() in _PATH_KEYS else len(_PATH_KEYS))
    return Pinned(held[best], found[0], (*at, found[1]), None, _size(held))


def _digest_in(held: dict[str, Any]) -> tuple[str, str] | None:
    """The digest that an object holds under a key that says so, and that key."""
    if len(held) > _PAIR_KEYS:
        return None
    rank = {key: n for n, key in enumerate(_DIGEST_KEYS)}
    for key in sorted(filter(_is_digest_key, held), key=lambda key: rank.get(key.lower(), len(rank))):
        value = held[key]
        if isinstance(value, str) and _digest(value, key):
            return _digest(value, key) or "", key
        if isinstance(value, dict) and len(value) <= 4:
            inside = (_digest(v, k) for k, v in value.items() if isinstance(v, str) and (_is_digest_key(k) or k.lower() in ("value", "hex")))
            digest = next(filter(None, inside), None)
            if digest is not None:
                return digest, key
    return None


@lru_cache(maxsize=4096)
def _is_path_key(key: str) -> bool:
    """`path`, `filePath`, `relative-path`, `文件`: every word speaks of a file, none of which file."""
    said = set(words(key))
    return key.lower() in _PATH_KEYS or bool(said & _PATH_NOUNS and said <= _PATH_WORDS)


@lru_cache(maxsize=4096)
def _is_digest_key(key: str) -> bool:
    """`sha256`, `contentSha256`, `file_hash`, `摘要`; not `weights_sha256`, which is the digest of something else than the file beside it."""
    said = set(words(key))
    return key.lower() in _DIGEST_KEYS or bool(said & _DIGEST_NOUNS and said <= _DIGEST_WORDS)


def _size(held: dict[str, Any]) -> int | None:
    for key in ("size", "bytes", "size_bytes"):
        value = held.get(key)
        if isinstance(value, float) and 0 <= value < 1e15:
            return int(value)
    return None


def _digest(text: str, key: str = "") -> str | None:
    """The hex of a SHA-256 digest, whole or cut short. Lengths of other digests (MD5, SHA-1, SHA-224) are none, unless the key says SHA-256."""
    text = text.strip()
    found = _DIGEST.match(text) or _TRUNCATED.match(text)
    return found[1].lower() if found and (len(found[1]) not in OTHER_DIGESTS or "256" in key) else None


def read_sums(text: str) -> tuple[Pinned, ...]:
    """The pairs of a `SHA256SUMS` text: GNU (two blanks or ` *`), with a size column, or BSD style."""
    made = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _SUM_LINE.match(line.rstrip("\r")) or _BSD_LINE.match(line.rstrip("\r"))
        if match and len(match["digest"]) <= DIGEST_LENGTH and len(match["digest"]) not in OTHER_DIGESTS:
            made.append(Pinned(match["path"].strip(), match["digest"].lower(), None, number))
    return tuple(made)


def is_sums(path: str) -> bool:
    """True for a file that is named as a list of SHA-256 sums."""
    return bool(_SUMS_NAME.search(path))


def manifests(snapshot: Snapshot, bundle: Bundle, tree: Tree | None = None) -> tuple[Manifest, ...]:
    """All manifests of `bundle` at `tree` (default head), in order of path."""
    tree = tree or snapshot.head
    return snapshot.memo(("manifests", id(tree), bundle.path), lambda: tuple(_manifests(snapshot, bundle, tree)))


def _manifests(snapshot: Snapshot, bundle: Bundle, tree: Tree) -> Iterator[Manifest]:
    for path in bundle.files:
        pairs, revision = _pairs(snapshot, tree, path, bundle)
        if pairs:
            yield Manifest(path, is_freeze(snapshot, bundle, path, tree), pairs, revision)


def is_freeze(snapshot: Snapshot, bundle: Bundle, path: str, tree: Tree | None = None) -> bool:
    """A freeze manifest lies under the plan, or is named in the inventory's `freeze_manifests` or the config's."""
    entry = registered(snapshot, bundle, tree)
    named = {name.removeprefix("./") for name in (entry.freeze_manifests if entry else ())}
    relative = bundle.relative(path)
    return path in bundle.part("plan") or relative in named or path in named or any(matches(relative, glob) for glob in bundle.root.freeze_manifests)


def _pairs(snapshot: Snapshot, tree: Tree, path: str, bundle: Bundle) -> tuple[tuple[Pinned, ...], str | None]:
    entry = tree.files.get(path)
    if entry is None or not entry.is_file or entry.size > _SUMS_LIMIT:
        return (), None
    if is_sums(path) or any(matches(bundle.relative(path), glob) for glob in bundle.root.manifests if not is_document(path)):
        return snapshot.cache.by_blob("sums", entry.oid, entry.size, lambda: _sums(tree, path)), None
    if not is_document(path):
        return (), None
    return snapshot.cache.by_blob("pairs:" + path, entry.oid, 256 + entry.size // 8, lambda: _of_document(document(snapshot, path, tree)))


def _of_document(doc: Document | None) -> tuple[tuple[Pinned, ...], str | None]:
    if doc is None or not doc.readable or not re.search(r"[0-9a-fA-F]{32}", doc.text):
        return (), None
    return read_pairs(doc.value), _own_revision(doc.value)


def _sums(tree: Tree, path: str) -> tuple[Pinned, ...]:
    try:
        return read_sums(tree.read(path).decode("utf-8", "replace"))
    except Missing:
        return ()


def _own_revision(value: Any) -> str | None:
    """The source revision that a record manifest says its digests are of, if any."""
    if not isinstance(value, dict):
        return None
    for key, held in value.items():
        if (
            re.search(r"(?:source|repo|git|origin|record|code)?_?(?:revision|commit|sha|head)\Z", key, re.IGNORECASE)
            and isinstance(held, str)
            and re.fullmatch(r"[0-9a-fA-F]{7,40}", held)
        ):
            return held
        if key in {"source", "repository", "git", "origin"} and isinstance(held, dict):
            inner = _own_revision(held)
            if inner:
                return inner
    return None


# ---------------------------------------------------------------- what a pair names


def normal(path: str) -> str:
    """A manifest's path as git would write it: forward slashes, no `./`, no `*`, composed Unicode."""
    path = path.strip().replace("\\", "/")
    path = path.removeprefix("*") if path.startswith("*") else path
    while path.startswith("./"):
        path = path[2:]
    parts: list[str] = []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part not in (".", ""):
            parts.append(part)
    return unicodedata.normalize("NFC", "/".join(parts))


def target(snapshot: Snapshot, tree: Tree, bundle: Bundle, manifest: str, path: str) -> str | None:
    """The file of `tree` that a manifest's path names: from the manifest's folder, then the bundle's root, the folders between, then the repository's."""
    by_normal = snapshot.memo(("normal paths", id(tree)), lambda: {unicodedata.normalize("NFC", p): p for p in tree.files})
    if path in tree.files and path.startswith(bundle.path + "/"):
        return path
    own = manifest.rpartition("/")[0]
    above = ["/".join(own.split("/")[:depth]) for depth in range(own.count("/"), 0, -1)]
    for folder in dict.fromkeys((own, bundle.path, *above, "")):
        found = by_normal.get(normal(f"{folder}/{path.replace(chr(92), '/').removeprefix('*')}"))
        if found:
            return found
    return None


@dataclass(frozen=True, slots=True)
class Digests:
    """SHA-256 of a blob, of its CRLF twin and of its LF twin (None for binary or equal), and an LFS pointer's oid."""

    raw: str
    crlf: str | None
    lf: str | None
    lfs: str | None
    size: int


def digests(snapshot: Snapshot, tree: Tree, path: str) -> Digests:
    """The digests of the blob at `path`, kept by object id. Raises `Missing`."""
    entry = tree.files[path]
    return snapshot.cache.by_blob("digests", entry.oid, 256, lambda: _digests(tree.read(path)))


def sha256(snapshot: Snapshot, tree: Tree, path: str) -> str:
    """SHA-256 of the blob at `path`, kept by object id. Raises `Missing`."""
    entry = tree.files[path]
    return snapshot.cache.by_blob("sha256", entry.oid, 128, lambda: hashlib.sha256(tree.read(path)).hexdigest())


EMPTY = hashlib.sha256(b"").hexdigest()
ZEROS = "0" * DIGEST_LENGTH
Kind = Literal["equal", "lfs", "external", "unread", "self", "truncated", "absent", "moved", "crlf", "plain"]


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one pair: its kind, the file it names at the tree, the actual digest, and for a moved file where it is now."""

    pair: Pinned
    kind: Kind
    file: str | None = None
    actual: str | None = None
    moved_to: str | None = None


_NAMED = re.compile(r"integrity|manifest|sha-?256|checksum|sums|digest|freeze|frozen|hash|清单|校验", re.IGNORECASE)


def is_about_elsewhere(manifest: Manifest, judged: tuple[Judged, ...]) -> bool:
    """True for a record that is no manifest by name and of whose files not one is here: it speaks of another checkout."""
    return not manifest.freeze and not _NAMED.search(manifest.path.rpartition("/")[2]) and all(one.kind in ("absent", "external") for one in judged)


def judge(snapshot: Snapshot, bundle: Bundle, manifest: Manifest) -> tuple[Judged, ...]:
    """Every pair of `manifest` held against the blobs of head."""
    key = ("judged", manifest.path)
    return snapshot.memo(key, lambda: tuple(_judge(snapshot, bundle, manifest, pair) for pair in manifest.pairs))


def _judge(snapshot: Snapshot, bundle: Bundle, manifest: Manifest, pair: Pinned) -> Judged:
    file = target(snapshot, snapshot.head, bundle, manifest.path, pair.path)
    if file is None:
        return _judge_absent(snapshot, bundle, pair)
    if file == manifest.path:
        return Judged(pair, "self", file)
    if not snapshot.head.files[file].is_file:
        return Judged(pair, "unread", file)
    try:
        actual = sha256(snapshot, snapshot.head, file)
        return Judged(pair, "equal", file, actual) if actual == pair.digest else _judge_different(snapshot, pair, file)
    except Missing:
        return Judged(pair, "unread", file)


def _judge_absent(snapshot: Snapshot, bundle: Bundle, pair: Pinned) -> Judged:
    if is_external(snapshot, bundle, normal(pair.path)):
        return Judged(pair, "external")
    moved = _by_digest(snapshot, bundle).get(pair.digest)
    return Judged(pair, "moved", None, pair.digest, moved) if moved else Judged(pair, "absent")


def _judge_different(snapshot: Snapshot, pair: Pinned, file: str) -> Judged:
    found = digests(snapshot, snapshot.head, file)
    if found.lfs is not None:
        return Judged(pair, "lfs" if found.lfs == pair.digest else "plain", file, found.lfs)
    if len(pair.digest) != DIGEST_LENGTH:
        return Judged(pair, "truncated", file, found.raw)
    return Judged(pair, "crlf" if pair.digest in (found.crlf, found.lf) else "plain", file, found.raw)


def _by_digest(snapshot: Snapshot, bundle: Bundle) -> dict[str, str]:
    """SHA-256 → file, for the bundle's files that can be read and are not empty."""

    def make() -> dict[str, str]:
        made: dict[str, str] = {}
        for path in bundle.files:
            entry = snapshot.head.files[path]
            if entry.is_file and entry.size > 0:
                made.setdefault(sha256(snapshot, snapshot.head, path), path)
        return made

    return snapshot.memo(("by digest", bundle.path), make)


def place_of(manifest: Manifest, pair: Pinned, role: Role = "entry", at: str | None = None) -> Location:
    """Where `pair` stands in `manifest`."""
    if pair.place is not None:
        return Location(manifest.path, pointer=pointer(pair.place), role=role, at=at)
    return Location(manifest.path, line=pair.line, role=role, at=at, text=pair.path)


def frozen_by(snapshot: Snapshot, bundle: Bundle, path: str) -> Manifest | None:
    """The freeze manifest of head that lists `path`, if any."""

    def make() -> dict[str, Manifest]:
        listed: dict[str, Manifest] = {}
        for manifest in manifests(snapshot, bundle):
            for pair in manifest.pairs if manifest.freeze else ():
                file = target(snapshot, snapshot.head, bundle, manifest.path, pair.path)
                listed.setdefault(file or pair.path, manifest)
        return listed

    return snapshot.memo(("frozen", bundle.path), make).get(path)


def listed_by(snapshot: Snapshot, bundle: Bundle) -> Mapping[str, Manifest]:
    """File of head → the first manifest of `bundle` that lists it; freeze manifests go before record manifests."""

    def make() -> dict[str, Manifest]:
        listed: dict[str, Manifest] = {}
        for manifest in sorted(manifests(snapshot, bundle), key=lambda m: not m.freeze):
            for pair in manifest.pairs:
                file = target(snapshot, snapshot.head, bundle, manifest.path, pair.path)
                if file and file != manifest.path:
                    listed.setdefault(file, manifest)
        return listed

    return snapshot.memo(("manifest that lists", bundle.path), make)


def _digests(data: bytes) -> Digests:
    raw = hashlib.sha256(data).hexdigest()
    lfs = re.search(rb"^oid sha256:([0-9a-f]{64})$", data, re.MULTILINE) if is_lfs_pointer(data) else None
    if b"\0" in data[:8192]:
        return Digests(raw, None, None, None, len(data))
    lf = data.replace(b"\r\n", b"\n")
    crlf = hashlib.sha256(lf.replace(b"\n", b"\r\n")).hexdigest()
    unix = hashlib.sha256(lf).hexdigest()
    return Digests(raw, crlf if crlf != raw else None, unix if unix != raw else None, lfs[1].decode() if lfs else None, len(data))
