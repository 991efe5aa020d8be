"""Cited revisions: the hex ids that a text or a document calls a commit, with the repositories they may belong to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from rules.core.model import Facts, Location, Snapshot, Tree
from rules.reading.conversation import texts
from rules.reading.documents import Document, Node, Number, Path, document, is_document
from rules.reading.layout import Bundle, bundle_at, documents_in_scope, in_scope
from rules.reading.markdown import Block, Markdown, markdown, markdown_of, read_markdown
from rules.reading.named_paths import split_key
from rules.reading.references import (
    MOST,
    Image,
    image_reference,
    mutable_reference,
    named_in_text,
    named_in_nodes,
    placeholder,
    repositories_named,
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

FULL = 40
SHORTEST = 7


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


# ---------------------------------------------------------------- words

_ID = re.compile(r"(?<![0-9A-Za-z_$#%&])(?<![0-9A-Za-z_]-)(?P<id>[0-9a-fA-F]{7,40})(?![0-9A-Za-z_])(?!-(?!dirty)[0-9A-Za-z])(?!\.[0-9A-Za-z])(?!/\w)")
_FULL_ID = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{40}(?![0-9A-Za-z])")
_URL = re.compile(
    r"(?:github\.com|api\.github\.com/repos)/(?P<owner>[\w-]{1,39})/(?P<name>[\w.-]{1,100})/"
    r"(?:(?P<kind>commits?|tree|blob|raw|blame|pull/\d{1,9}/(?:commits|changes)|archive)/(?P<id>[0-9a-fA-F]{7,40})(?![0-9A-Za-z_-])"
    r"|compare/(?P<old>[0-9a-fA-F]{7,40})\.{2,3}(?P<new>[0-9a-fA-F]{7,40})(?![0-9A-Za-z_-]))"
    r"|raw\.githubusercontent\.com/(?P<raw_owner>[\w-]{1,39})/(?P<raw_name>[\w.-]{1,100})/(?P<raw_id>[0-9a-fA-F]{40})(?![0-9A-Za-z_-])",
    re.IGNORECASE,
)
_NOUNS = re.compile(
    r"(?:revisions?|revs?|commits?|shas?|sha-?1|heads?|base|baselines?|candidates?|checkout|tip|parents?|pins?|pinned|changesets?|merge-base|ref)\Z",
    re.IGNORECASE,
)
_NOUNS_ZH = re.compile(r"提交|修订|版本|基线|基准|候选|头部|父提交")
_CERTAIN = re.compile(r"(?:revisions?|revs?|commits?|shas?|sha-?1)\Z|.*(?:提交|修订)", re.IGNORECASE)
_NEAR = re.compile(r"(?:at|against|onto|since|reviewed|rebased|branched|merged|synced)\Z", re.IGNORECASE)
_ANTI = re.compile(
    r"(?:trees?|blobs?|tags?|digests?|sha-?(?:2|224|256|384|512)|md5|checksums?|crc(?:32)?|images?|layers?|objects?|uuids?|etags?|seeds?|runs?|jobs?|builds?|ready|requests?|sessions?|traces?|containers?"
    r"|pids?|ports?|addresses|tokens?|keys?|serials?|devices?|index|colou?rs?|hex)\Z",
    re.IGNORECASE,
)
_ANTI_ZH = re.compile(r"摘要|校验|镜像|哈希|种子|作业|任务|运行号|编号")
_FILLER = re.compile(
    r"(?:of|is|was|are|were|the|a|an|its|to|from|by|id|ids|hash|hashes|git|now|current|currently|latest|new|exact|full|short|public|and|or|then|both|pull|pr|public|source|in|this|that|with|as|be|still|only"
    r"|[^0-9A-Za-z\u3400-\u9fff]|[0-9a-fA-F]{7,40})\Z",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"[\w.-]{1,100}/[\w.-]{1,100}(?:#\d{1,9})?|#\d{1,9}|[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*|[0-9][0-9A-Za-z]*|[\u3400-\u9fff]+|[^\s0-9A-Za-z\u3400-\u9fff]"
)
_SUBJECT = re.compile(
    r"(?:models?|weights?|datasets?|tokenizers?|checkpoints?|corpus|harness|scorer|evaluator|validator|dictionary|lora|prompts?)\Z",
    re.IGNORECASE,
)
_SUBJECT_ZH = re.compile(r"模型|权重|数据集|语料|分词器|评测框架|测试框架")
_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\Z")
_LEFT, _RIGHT = 120, 48
_DENIED = ("", False)
_WORDS_SHORT, _WORDS_FULL = 2, 12


def full_ids(text: str) -> tuple[str, ...]:
    """Every full hex id (40 digits) in `text`, whatever it is, lower case, each once: a run spec's pins need no role."""
    return tuple(dict.fromkeys(match[0].lower() for match in _FULL_ID.finditer(text)))


@dataclass(frozen=True, slots=True)
class _Found:
    id: str
    role: str
    explicit: bool
    start: int
    repository: str | None = None
    subject: str = ""


def _in_text(text: str) -> Iterator[_Found]:
    """The citations in one sentence or string."""
    for match in _URL.finditer(text):
        yield from _in_url(match)
    yield from (found for match in _ID.finditer(text) if (found := _with_role(text, match)))


def _in_url(match: re.Match[str]) -> Iterator[_Found]:
    owner, name = match["owner"] or match["raw_owner"], match["name"] or match["raw_name"]
    for group in ("id", "old", "new", "raw_id"):
        id = match[group]
        if id and (len(id) == FULL or group in ("old", "new") or (match["kind"] or "").lower().endswith(("commit", "commits", "changes"))):
            yield _Found(id.lower(), "commit URL", True, match.start(group), f"{owner}/{name.removesuffix('.git')}")


def _with_role(text: str, match: re.Match[str]) -> _Found | None:
    """The citation at `match`, if a word gives it a role."""
    id, start = match["id"], match.start()
    lead = text[max(0, start - 3) : start]
    if (
        lead.endswith("/")
        or (lead.endswith(".") and not lead.endswith(".."))
        or (lead.endswith("..") and text[max(0, start - 100) : start].rstrip(".").endswith(("/", ":")))
    ):
        return None
    if lead.endswith("..") or re.match(r"\.{2,3}[0-9a-fA-F]{7,40}(?![0-9A-Za-z_])", text[match.end() : match.end() + 44]):
        role: tuple[str, bool] | None = (
            None
            if re.search(r"\bindex\s\Z|index\s[0-9a-fA-F]{7,40}\.\.\Z", text[max(0, start - 60) : start]) or "/" in _word_before(text, start)
            else ("range", True)
        )
    elif lead.endswith("@"):
        role = ("@", True) if re.search(r"[\w)]@\Z", lead) else None
    else:
        role = _left_role(text, start, len(id)) or _right_role(text, match.end())
    if role is None or role is _DENIED or not _plausible(id, *role):
        return None
    return _Found(id.lower(), role[0], role[1], start, subject=_subject(text[max(0, start - 60) : start]))


def _word_before(text: str, end: int) -> str:
    return text[max(0, end - 120) : end].split()[-1] if text[max(0, end - 120) : end].split() and not text[end - 1 : end].isspace() else ""


def _left_role(text: str, start: int, length: int) -> tuple[str, bool] | None:
    """The nearest role word before the id; `_DENIED` where a word such as "digest" or "tree" is nearer; None where too many words lie between."""
    words = 0
    for token in reversed(_TOKEN.findall(text[max(0, start - _LEFT) : start])):
        if _NOUNS.match(token) or (_is_chinese(token) and _NOUNS_ZH.search(token) and not _ANTI_ZH.search(token)):
            return token.lower(), words == 0
        if _ANTI.match(token) or _ANTI_ZH.search(token):
            return _DENIED if words == 0 else None
        if _NEAR.match(token):
            if words == 0:
                return token.lower(), False
        elif not (_FILLER.match(token) or "/" in token or token[0] == "#"):
            words += 1
        elif token in (";", "；", "。") and length < FULL:
            return None
        if words > (_WORDS_SHORT if length < FULL else _WORDS_FULL):
            return None
    return None


def _right_role(text: str, end: int) -> tuple[str, bool] | None:
    """A role word right after the id: `abc1234 (baseline)`, `abc1234 is the head`."""
    for token in _TOKEN.findall(text[end : end + _RIGHT])[:7]:
        if _NOUNS.match(token) or (_is_chinese(token) and _NOUNS_ZH.search(token)):
            return token.lower(), True
        if not _FILLER.match(token) or token in (".", ";", "。", "；", ",", "，", ":", "and", "or"):
            return None
    return None


def _is_chinese(token: str) -> bool:
    return "\u3400" <= token[0] <= "\u9fff"


def _plausible(id: str, role: str, explicit: bool) -> bool:
    """A word of letters alone, or a number, is a revision only where a word at it says so."""
    if id.isdigit():
        return explicit and role not in ("range", "@") and len(id) <= 12 and not _DATE.match(id)
    if len(id) < FULL and (id.isalpha() or re.fullmatch(r"\d+[eE]\d+", id)):
        return explicit and bool(_CERTAIN.match(role))
    return True


def _subject(left: str) -> str:
    """What the words before an id say it is a revision of, within the last few."""
    for token in reversed(_TOKEN.findall(left)[-8:]):
        if token in (",", ";", "，", "；", "。", ".") or (_FILLER.match(token) and token.lower() == "and"):
            return ""
        found = _SUBJECT.match(token) or (_is_chinese(token) and _SUBJECT_ZH.search(token))
        if found:
            return found[0].lower()
    return ""


# ---------------------------------------------------------------- texts


def cited_in_text(text: str, path: str) -> tuple[Cited, ...]:
    """The revisions cited in a Markdown text; code blocks, quotes and comments cite nothing."""
    return in_markdown(read_markdown(text, path))


def in_markdown(found: Markdown | None) -> tuple[Cited, ...]:
    """The revisions cited in a Markdown document, in order of line."""
    if found is None:
        return ()
    blocks = [block for block in found.blocks if not block.quoted]
    everywhere = repositories_named("\n".join([*(block.text for block in blocks), *(link.target for block in blocks for link in block.links)]))
    made = [one for block in blocks for one in _in_block(found.path, block, everywhere)]
    made += _in_tables(found, everywhere)
    unique: dict[tuple[str, int | None], Cited] = {}
    for one in sorted(made, key=lambda one: not one.explicit):
        unique.setdefault((one.id, one.place.line), one)
    return tuple(sorted(unique.values(), key=lambda one: one.place.line or 0))


_MAYBE = re.compile(r"[0-9a-fA-F]{7}")


def _in_block(path: str, block: Block, everywhere: tuple[str, ...]) -> Iterator[Cited]:
    if block.kind != "row" and _MAYBE.search(block.text):
        near = repositories_named(block.text)
        for sentence in sentences(block.text, block.line):
            part = block.text[sentence.start : sentence.end]
            named = named_in_text(part)[:64] if _MAYBE.search(part) else []
            for one in _in_text(part):
                line = block.line_at(sentence.start + one.start)
                yield _made(
                    path, one, Location(path, line=line, end_line=line, text=sentence.text), [*_by_distance(named, one.start), *near, *everywhere]
                )
    for link in block.links:
        for match in _URL.finditer(link.target):
            for one in _in_url(match):
                yield _made(path, one, Location(path, line=link.line, end_line=link.line, text=" ".join(block.text.split())[:400]), everywhere)


def _in_tables(found: Markdown, everywhere: tuple[str, ...]) -> Iterator[Cited]:
    """Ids in cells: their role is in the cell, in the column's header, or in the row's first cell."""
    for table in found.tables:
        headers = [_cell_role(cell) for cell in table.header]
        for row in table.rows:
            label = _cell_role(row.cells[0]) if row.cells else None
            text = " | ".join(row.cells)
            place = Location(found.path, line=row.line, end_line=row.line, text=text)
            for header, cell in zip(headers, row.cells, strict=False):
                if header is not _DENIED and _MAYBE.search(cell):
                    for one in _in_cell(cell, header or label):
                        yield _made(found.path, one, place, [*repositories_named(text), *everywhere])


def _in_cell(cell: str, role: tuple[str, bool] | None) -> Iterator[_Found]:
    alone = re.fullmatch(r"[0-9a-fA-F]{7,40}", cell.strip().rstrip("…."))
    if alone and role and role is not _DENIED and _plausible(alone[0], *role):
        yield _Found(alone[0].lower(), role[0], True, 0, subject=_subject(role[0]))
    elif not alone:
        yield from _in_text(cell)


def _cell_role(cell: str) -> tuple[str, bool] | None:
    """The role that a header or a row's label gives."""
    tokens = _TOKEN.findall(cell[:100])
    if any(_ANTI.match(token) or _ANTI_ZH.search(token) for token in tokens):
        return _DENIED
    named = next((token for token in tokens if _NOUNS.match(token) or _NOUNS_ZH.search(token)), None)
    return (named.lower(), True) if named else None


def _by_distance(named: list[tuple[int, str]], start: int) -> list[str]:
    return [name for _, name in sorted(named, key=lambda one: abs(one[0] - start))]


def _made(path: str, one: _Found, place: Location, repositories: Iterable[str]) -> Cited:
    names = ([one.repository] if one.repository else []) + list(repositories)
    return Cited(one.id, one.role, replace(place, path=path), _few(names), one.explicit, one.subject)


def _few(names: Iterable[str]) -> tuple[str, ...]:
    seen: dict[str, str] = {}
    for name in names:
        seen.setdefault(name.lower(), name)
    return tuple(list(seen.values())[:MOST])


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
_ZH_KEY = re.compile(r"提交|修订|基线|候选")
_KINDS = ("type", "object_type", "objectType", "kind", "git_type")
_OTHER_KINDS = frozenset(["tree", "blob", "tag"])
_HEX_ONLY = re.compile(r"[0-9a-fA-F]{7,40}\Z")


def cited_in_document(snapshot: Snapshot, path: str, tree: Tree | None = None) -> tuple[Cited, ...]:
    """The revisions cited in the JSON or YAML document at `path` (of `tree`, default head); kept by object id."""
    doc = document(snapshot, path, tree)
    entry = (tree or snapshot.head).files.get(path)
    if doc is None or entry is None or not doc.readable or not _MAYBE.search(doc.text):
        return ()
    return snapshot.cache.by_blob("cited:" + path, entry.oid, max(0, entry.size), lambda: in_document(doc))


def in_document(doc: Document) -> tuple[Cited, ...]:
    """The revisions cited in a document that was read."""
    found = [(node, one) for node in doc.nodes for one in _in_node(node)]
    if not found:
        return ()
    near: dict[Path, list[str]] = {}
    for place, name in named_in_nodes(doc.nodes):
        # Named in an object, or in an object inside it: `{"upstream": {"name": "owner/name"}, "commit": …}`.
        for container in (place[:-1], place[:-2]):
            if len(near.setdefault(container, [])) < MOST:
                near[container].append(name)
    everywhere = [name for names in near.values() for name in names][: MOST * MOST]
    return tuple(_made(doc.path, one, Location(doc.path, pointer=node.pointer), [*_around(near, node.path), *everywhere]) for node, one in found)


_LEVELS = 12


def _around(near: dict[Path, list[str]], place: Path) -> Iterator[str]:
    """The repositories named in the objects that hold `place`, innermost first."""
    for depth in range(len(place) - 1, max(-1, len(place) - _LEVELS), -1):
        yield from near.get(place[:depth], ())


def _in_node(node: Node) -> Iterator[_Found]:
    value = node.value
    if type(value) is Number and SHORTEST <= len(value.text) <= FULL and _HEX_ONLY.match(value.text):
        yield from _keyed(node, value.text)
    elif isinstance(value, str) and len(value) >= SHORTEST:
        text = value.strip()
        if _HEX_ONLY.match(text.rstrip("….")):
            yield from _keyed(node, text.rstrip("…."))
        elif len(text) <= 65_536 and _MAYBE.search(text):
            subject = _subject_of(node.path)
            yield from (replace(one, subject=one.subject or subject) for one in _in_text(text))
    elif isinstance(value, dict) and _own_key(node.path) & {"commits", "revisions", "shas"}:
        for key in value:
            if re.fullmatch(r"[0-9a-fA-F]{40}", key):
                yield _Found(key.lower(), node.key, True, 0, subject=_subject_of(node.path))


def _keyed(node: Node, id: str) -> Iterator[_Found]:
    role = _key_role(node, id)
    if role and _plausible(id, *role) and not _is_other_kind(node.parent):
        yield _Found(id.lower(), role[0], role[1], 0, subject=_subject_of(node.path))


def _key_role(node: Node, id: str) -> tuple[str, bool] | None:
    """The key that makes the value a revision: its own, or the nearest one above that does, where its own says nothing else."""
    keys = [part for part in node.path if isinstance(part, str)]
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


def _own_key(path: Path) -> set[str]:
    return set(split_key(path[-1]).split("_")) if path and isinstance(path[-1], str) else set()


def _subject_of(path: Path) -> str:
    """What the keys say it is a revision of: a word of its own key, or a key above that says nothing else."""
    own = True
    for part in reversed(path):
        if isinstance(part, str):
            words = split_key(part).split("_")
            named = next((word for word in words if _SUBJECT.match(word)), "")
            zh = _SUBJECT_ZH.search(part)
            if zh or (named and (own or len(words) == 1)):
                return named or (zh[0] if zh else "")
            own = False
    return ""


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
        entry = snapshot.head.files[path]
        found = markdown(snapshot, path)
        if found:
            made = snapshot.cache.by_blob("cited:" + path, entry.oid, max(0, entry.size), lambda found=found: in_markdown(found))  # type: ignore[misc]
            yield from _of_bundle(snapshot, path, made)
    for text in texts(snapshot):
        yield from in_markdown(markdown_of(snapshot, text))


def _of_bundle(snapshot: Snapshot, path: str, made: tuple[Cited, ...]) -> Iterator[Cited]:
    """The citations, with the repositories that the rest of the bundle names behind those of the document."""
    bundle = bundle_at(snapshot, path) if made else None
    more = bundle_repositories(snapshot, bundle) if bundle else ()
    return (replace(one, repositories=_few([*one.repositories, *more])) for one in made)


def bundle_repositories(snapshot: Snapshot, bundle: Bundle) -> tuple[str, ...]:
    """The repositories that the documents and Markdown files of `bundle` name; those of the plan first."""
    return snapshot.memo(("repositories", bundle.path), lambda: _few(_bundle_repositories(snapshot, bundle)))


def _bundle_repositories(snapshot: Snapshot, bundle: Bundle) -> Iterator[str]:
    plan = set(bundle.part("plan"))
    for path in sorted(bundle.files, key=lambda path: (path not in plan, path)):
        doc = document(snapshot, path) if is_document(path) else None
        if doc is not None and doc.readable:
            yield from repositories_named(doc.value)
        elif path.lower().endswith((".md", ".markdown")):
            found = markdown(snapshot, path)
            for block in found.blocks if found else ():
                yield from repositories_named(block.text) if not block.quoted else ()


def is_other_object(snapshot: Snapshot, facts: Facts, one: Cited) -> bool:
    """True when the id is known to be a tree, a blob or a tag: in this repository's objects, or by a recorded answer for one of its repositories."""
    if snapshot.history is not None and snapshot.history.kind(one.id) in _OTHER_KINDS:
        return True
    names = [*one.repositories, *([snapshot.repository] if snapshot.repository else [])]
    return any(answer is not None and answer.type in _OTHER_KINDS for answer in (facts.commit(name, one.id) for name in names))
