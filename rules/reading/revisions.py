"""Cited revisions: the hex ids that a text or a document calls a commit, with the repositories they may belong to."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from rules.core.model import Facts, Location, Snapshot, Tree
from rules.reading.conversation import texts
from rules.reading.documents import Document, Node, Number, Path, document, is_document
from rules.reading.layout import Bundle, bundle_at, documents_in_scope, in_scope
from rules.reading.markdown import Block, Markdown, markdown, markdown_of, read_markdown, spoken
from rules.reading.named_paths import split_key
from rules.reading.outline import Column, Shape
from rules.reading.references import (
    MOST,
    ZH_REVISION_KEY,
    Image,
    each_once,
    image_reference,
    mutable_reference,
    named_in,
    named_in_text,
    placeholder,
    repositories_named,
)
from rules.reading.revision_ids import (
    COMMIT_URL,
    DENIED,
    FULL,
    MAYBE_ID,
    SHORTEST,
    Found,
    cell_role,
    find_ids,
    full_ids,
    ids_of_url,
    in_cell,
    is_id,
    plausible,
    subject_of,
)
from rules.reading.statements import sentences

__all__ = [
    "Cited",
    "Image",
    "cited",
    "cited_in_document",
    "cited_in_text",
    "full_ids",
    "image_reference",
    "is_other_object",
    "mutable_reference",
    "placeholder",
    "repositories_named",
]


# More links in one paragraph are a dump, not citations.
MOST_LINKS = 1000


@dataclass(frozen=True, slots=True)
class Cited:
    """One citation of a revision.

    id            7 to 40 hex digits, lower case
    role          the key or word that makes it a revision (`source_revision`, `head`), or "commit URL"
    place         where it stands: a pointer in a document, a line in a text
    repositories  `owner/name`, nearest first: named in the same object or sentence, then in the same document, then in the bundle
    explicit      a commit's address, or a role word or key directly at the id
    subject       what it is a revision of, where that is said and is not the code under test: model, dataset, harness, …; else ""
    """

    id: str
    role: str
    place: Location
    repositories: tuple[str, ...]
    explicit: bool
    subject: str = ""

    @property
    def is_short(self) -> bool:
        return len(self.id) < FULL


# ---------------------------------------------------------------- texts


def cited_in_text(text: str, path: str) -> tuple[Cited, ...]:
    """The revisions cited in a Markdown text; code blocks, quotes and comments cite nothing."""
    return in_markdown(read_markdown(text, path))


def in_markdown(found: Markdown | None) -> tuple[Cited, ...]:
    """The revisions cited in a Markdown document, in order of line."""
    if found is None:
        return ()
    blocks = list(spoken(found))
    everywhere = repositories_named("\n".join([*(block.text for block in blocks), *(link.target for block in blocks for link in block.links)]))
    made = [one for block in blocks for one in _in_block(found.path, block, everywhere)]
    made += _in_tables(found, everywhere)
    unique: dict[tuple[str, int | None], Cited] = {}
    for one in sorted(made, key=lambda one: not one.explicit):
        unique.setdefault((one.id, one.place.line), one)
    return tuple(sorted(unique.values(), key=lambda one: one.place.line or 0))


def _in_block(path: str, block: Block, everywhere: tuple[str, ...]) -> Iterator[Cited]:
    if block.kind != "row" and MAYBE_ID.search(block.text):
        near = repositories_named(block.text)
        for sentence in sentences(block.text, block.line):
            part = block.text[sentence.start : sentence.end]
            named = named_in_text(part) if MAYBE_ID.search(part) else []
            for one in find_ids(part):
                line = min(sentence.line + part.count("\n", 0, one.start), block.end_line)
                place = Location(path, line=line, end_line=line, text=sentence.text)
                yield _made(path, one, place, [*_by_distance(named, one.start), *near, *everywhere])
        yield from _alone(path, block, everywhere)
    yield from _in_links(path, block, everywhere)


def _alone(path: str, block: Block, everywhere: tuple[str, ...]) -> Iterator[Cited]:
    """An id that is a whole paragraph takes its role from the heading above it, as the answers of an issue form do."""
    role = cell_role(block.section[-1]) if block.section and len(block.text) < 200 else None
    for one in in_cell(block.text, role) if role and is_id(block.text) else ():
        text = " ".join(block.text.split())
        yield _made(path, one, Location(path, line=block.line, end_line=block.line, text=text), everywhere)


def _in_links(path: str, block: Block, everywhere: tuple[str, ...]) -> Iterator[Cited]:
    """A commit's address is a citation, whatever text the link shows."""
    text = " ".join(block.text[:2000].split())
    for link in block.links[:MOST_LINKS]:
        match = COMMIT_URL.search(link.target)
        for one in ids_of_url(match) if match else ():
            yield _made(path, one, Location(path, line=link.line, end_line=link.line, text=text), everywhere)


def _in_tables(found: Markdown, everywhere: tuple[str, ...]) -> Iterator[Cited]:
    """Ids in cells: their role is in the cell, in the column's header, or in the row's first cell."""
    for table in found.tables:
        headers = [cell_role(cell) for cell in table.header]
        for row in table.rows:
            label = cell_role(row.cells[0]) if row.cells else None
            text = " | ".join(row.cells)
            place = Location(found.path, line=row.line, end_line=row.line, text=text)
            for header, cell in zip(headers, row.cells, strict=False):
                if header is not DENIED and MAYBE_ID.search(cell):
                    for one in in_cell(cell, header or label):
                        yield _made(found.path, one, place, [*repositories_named(text), *everywhere])


def _by_distance(named: list[tuple[int, str]], start: int) -> list[str]:
    """The few repositories named nearest to offset `start`; `named` is in order of offset."""
    middle = bisect_left(named, (start, ""))
    near = named[max(0, middle - 4) : middle + 4]
    return [name for _, name in sorted(near, key=lambda one: abs(one[0] - start))]


def _made(path: str, one: Found, place: Location, repositories: Iterable[str]) -> Cited:
    names = ([one.repository] if one.repository else []) + list(repositories)
    return Cited(one.id, one.role, replace(place, path=path), each_once(names), one.explicit, one.subject)


# ---------------------------------------------------------------- documents

_KEY_NOUNS = frozenset(
    [
        "revision",
        "revisions",
        "rev",
        "revs",
        "commit",
        "commits",
        "sha",
        "shas",
        "sha1",
        "head",
        "heads",
        "base",
        "baseline",
        "baselines",
        "candidate",
        "candidates",
        "parent",
        "parents",
        "checkout",
        "pin",
        "pins",
        "pinned",
        "changeset",
        "ref",
        "refs",
        "githash",
        "gitsha",
    ]
)
_KEY_FULL = frozenset(
    ["source", "sources", "control", "upstream", "engine", "git", "origin", "fork", "tip", "at", "from", "to", "before", "after", "upstreams", "code"]
)
_KEY_ANTI = frozenset(
    [
        "sha256",
        "sha512",
        "sha384",
        "sha224",
        "md5",
        "digest",
        "digests",
        "checksum",
        "checksums",
        "crc",
        "crc32",
        "image",
        "images",
        "blob",
        "blobs",
        "tree",
        "trees",
        "content",
        "contents",
        "etag",
        "uuid",
        "seed",
        "seeds",
        "layer",
        "object",
        "objects",
        "file",
        "files",
        "run",
        "job",
        "trace",
        "session",
        "token",
        "key",
        "request",
        "container",
        "build",
        "fingerprint",
        "signature",
        "oid",
    ]
)
_ZH_KEY = re.compile(rf"{ZH_REVISION_KEY.pattern}|基线|候选")
_KINDS = ("type", "object_type", "objectType", "kind", "git_type")
_OTHER_KINDS = frozenset(["tree", "blob", "tag"])
_HEX_ONLY = re.compile(r"[0-9a-fA-F]{7,40}\Z")


def cited_in_document(snapshot: Snapshot, path: str, tree: Tree | None = None) -> tuple[Cited, ...]:
    """The revisions cited in the JSON or YAML document at `path` (of `tree`, default head); kept by object id."""
    entry = (tree or snapshot.head).files.get(path)
    if entry is None or not entry.is_file:
        return ()

    def make() -> tuple[Cited, ...]:
        doc = document(snapshot, path, tree)
        return in_document(doc) if doc is not None and doc.readable and MAYBE_ID.search(doc.text) else ()

    return snapshot.cache.by_blob("cited:" + path, entry.oid, 512 + max(0, entry.size) // 8, make)


def in_document(doc: Document) -> tuple[Cited, ...]:
    """The revisions cited in a document that was read."""
    found = [(node, one) for node in doc.outline.pick(_citing) for one in _in_node(node)]
    if not found:
        return ()
    near: dict[Path, list[str]] = {}
    for place, name in named_in(doc.outline):
        # Named in an object, or in an object inside it: `{"upstream": {"name": "owner/name"}, "commit": …}`.
        for container in (place[:-1], place[:-2]):
            if len(near.setdefault(container, [])) < MOST:
                near[container].append(name)
    everywhere = each_once(name for names in near.values() for name in names)
    return tuple(_made(doc.path, one, Location(doc.path, pointer=node.pointer), [*_around(near, node.path), *everywhere]) for node, one in found)


_LEVELS = 12


def _around(near: dict[Path, list[str]], place: Path) -> Iterator[str]:
    """The repositories named in the objects that hold `place`, innermost first."""
    for depth in range(len(place) - 1, max(-1, len(place) - _LEVELS), -1):
        yield from near.get(place[:depth], ())


def _citing(column: Column) -> list[int]:
    """The rows that may cite a revision: strings with an id, numbers under a key that makes an id of them, objects whose keys are ids."""
    texts = {value for value in {value for value in column.values if type(value) is str} if _may_cite(value)} if str in column.types else set()
    keyed, listed = _may_be_keyed(column.shape), bool(_own_key(column.shape) & _LISTED)
    if not texts and not keyed and not listed:
        return []
    return [
        row
        for row, value in enumerate(column.values)
        if (type(value) is str and value in texts) or (keyed and type(value) is Number) or (listed and isinstance(value, dict))
    ]


def _may_cite(text: str) -> bool:
    return len(text) >= SHORTEST and (_HEX_ONLY.match(text.strip().rstrip("….")) is not None or MAYBE_ID.search(text) is not None)


@lru_cache(maxsize=8192)
def _may_be_keyed(shape: Shape) -> bool:
    return bool(shape) and any(_key_role(shape, "0" * length) is not None for length in (SHORTEST, FULL))


_LISTED = frozenset(["commits", "revisions", "shas"])


def _in_node(node: Node) -> Iterator[Found]:
    value = node.value
    if type(value) is Number and SHORTEST <= len(value.text) <= FULL and _HEX_ONLY.match(value.text):
        yield from _keyed(node, value.text)
    elif isinstance(value, str) and len(value) >= SHORTEST:
        text = value.strip()
        if _HEX_ONLY.match(text.rstrip("….")):
            yield from _keyed(node, text.rstrip("…."))
        elif len(text) <= 65_536 and MAYBE_ID.search(text):
            subject = subject_of(node.path)
            yield from (replace(one, subject=one.subject or subject) for one in find_ids(text))
    elif isinstance(value, dict) and _own_key(node.path) & _LISTED:
        for key in value:
            if re.fullmatch(r"[0-9a-fA-F]{40}", key):
                yield Found(key.lower(), node.key, True, 0, subject=subject_of(node.path))


def _keyed(node: Node, id: str) -> Iterator[Found]:
    role = _key_role(node.path, id)
    if role and plausible(id, *role) and not _is_other_kind(node.parent):
        yield Found(id.lower(), role[0], role[1], 0, subject=subject_of(node.path))


def _key_role(path: tuple[str | int | None, ...], id: str) -> tuple[str, bool] | None:
    """The key that makes the value a revision: its own, or the nearest one above that does, where its own says nothing else."""
    keys = [part for part in path if isinstance(part, str)]
    for distance, key in enumerate(reversed(keys[-3:])):
        words = set(split_key(key).split("_"))
        if words & _KEY_ANTI:
            return None
        if words & _KEY_NOUNS or _ZH_KEY.search(key):
            # A short id under a neutral key (`{"candidate": {"name": "decade1"}}`) is a name.
            return (
                (key, distance == 0)
                if distance == 0 or len(id) == FULL or words & {"revisions", "commits", "shas", "pins", "revision", "commit"}
                else None
            )
        if words & _KEY_FULL and len(id) == FULL and distance == 0:
            return key, False
    return None


def _own_key(path: tuple[str | int | None, ...]) -> set[str]:
    return set(split_key(path[-1]).split("_")) if path and isinstance(path[-1], str) else set()


def _is_other_kind(parent: Any) -> bool:
    return isinstance(parent, dict) and any(isinstance(parent.get(k), str) and parent[k].lower() in _OTHER_KINDS for k in _KINDS)


# ---------------------------------------------------------------- all of a review


def cited(snapshot: Snapshot) -> tuple[Cited, ...]:
    """Every revision cited in what this review answers for: documents, Markdown, the titles and bodies of pull and issue (comments are dated records)."""
    return snapshot.memo("cited", lambda: tuple(_cited(snapshot)))


def _cited(snapshot: Snapshot) -> Iterator[Cited]:
    for path in in_scope(snapshot):
        if is_document(path) and not path.startswith(".github/"):
            yield from _of_bundle(snapshot, path, cited_in_document(snapshot, path))
    for path in documents_in_scope(snapshot):
        yield from _of_bundle(snapshot, path, _cited_in_markdown(snapshot, path))
    for text in texts(snapshot):
        yield from in_markdown(markdown_of(snapshot, text))


def _cited_in_markdown(snapshot: Snapshot, path: str) -> tuple[Cited, ...]:
    entry = snapshot.head.files[path]
    return snapshot.cache.by_blob("cited:" + path, entry.oid, 512 + max(0, entry.size) // 8, lambda: in_markdown(markdown(snapshot, path)))


def read_bundle(snapshot: Snapshot, bundle: Bundle) -> None:
    """Takes what a bundle's files cite and which repositories they name, while they are parsed."""
    for path in bundle.files:
        if is_document(path):
            cited_in_document(snapshot, path)
        elif path.lower().endswith((".md", ".markdown")):
            _cited_in_markdown(snapshot, path)
    bundle_repositories(snapshot, bundle)


def _of_bundle(snapshot: Snapshot, path: str, made: tuple[Cited, ...]) -> Iterator[Cited]:
    """The citations, with the repositories that the rest of the bundle names behind those of the document."""
    bundle = bundle_at(snapshot, path) if made else None
    more = bundle_repositories(snapshot, bundle) if bundle else ()
    return (replace(one, repositories=each_once([*one.repositories, *more])) for one in made)


def bundle_repositories(snapshot: Snapshot, bundle: Bundle) -> tuple[str, ...]:
    """The repositories that the documents and Markdown files of `bundle` name; those of the plan first."""
    return snapshot.memo(("repositories", bundle.path), lambda: each_once(_bundle_repositories(snapshot, bundle)))


def _bundle_repositories(snapshot: Snapshot, bundle: Bundle) -> Iterator[str]:
    plan = set(bundle.part("plan"))
    for path in sorted(bundle.files, key=lambda path: (path not in plan, path)):
        if is_document(path) or path.lower().endswith((".md", ".markdown")):
            entry = snapshot.head.files[path]
            yield from snapshot.cache.by_blob("repositories:" + path, entry.oid, 512, lambda path=path: _repositories(snapshot, path))  # type: ignore[misc]


def _repositories(snapshot: Snapshot, path: str) -> tuple[str, ...]:
    """The repositories that one file names."""
    if is_document(path):
        doc = document(snapshot, path)
        return each_once(name for _, name in named_in(doc.outline)) if doc is not None and "/" in doc.text else ()
    return repositories_named("\n".join(block.text for block in spoken(markdown(snapshot, path))))


def is_other_object(snapshot: Snapshot, facts: Facts, one: Cited) -> bool:
    """True when the id is known to be a tree, a blob or a tag: in this repository's objects, or by a recorded answer for one of its repositories."""
    if snapshot.history is not None and snapshot.history.kind(one.id) in _OTHER_KINDS:
        return True
    names = [*one.repositories, *([snapshot.repository] if snapshot.repository else [])]
    return any(answer is not None and answer.type in _OTHER_KINDS for answer in (facts.commit(name, one.id) for name in names))
