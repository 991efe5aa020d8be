"""A record names no immutable revision where one is required

What it checks: the values of run specs, patch pointers, gates and results that should be a revision, and the container images: placeholders
(`<baseline-sha>`, TBD, "to be filled in", 待定), branches (`main`, `HEAD`, a branch's address), images without tag or digest or with `latest`.

Why: what a branch or a placeholder stands for changes or was never said; a result bound to it is bound to nothing.

Fix: write the full commit id, or the image's digest.

Example: `"branch": "drama3-full-acl-graph"` as the only pointer to the patch.

Not flagged: a branch beside a pinned revision, tagged images, placeholders in guides and code fences, templates.

Strength: high; low where the same document also says author-reported and INCONCLUSIVE.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rules.core.model import Bundle, Finding, Item, Location, Rule, Severity, Snapshot
from rules.core.redact import excerpt
from rules.reading.documents import Node, document, is_document, places
from rules.reading.manifests import manifests
from rules.reading.named_paths import split_key
from rules.reading.outline import Shape, key_of
from rules.reading.references import ZH_REVISION_KEY, image_reference, mutable_reference, placeholder
from rules.reading.statements import Statement, statements
from rules.reading.words import AUTHOR_REPORTED, has_word

_REVISION = frozenset(
    [
        "revision",
        "rev",
        "revisions",
        "commit",
        "commits",
        "sha",
        "shas",
        "commitish",
        "githash",
        "gitsha",
        "oid",
        "gitref",
        "ref",
        "refs",
        "pin",
        "pins",
        "head",
        "提交",
        "修订",
        "版本号",
        "提交号",
    ]
)
_ARM = frozenset(
    [
        "baseline",
        "candidate",
        "control",
        "base",
        "head",
        "upstream",
        "source",
        "engine",
        "before",
        "after",
        "old",
        "new",
        "target",
        "reference",
        "treatment",
        "基线",
        "候选",
        "对照",
    ]
)
_HOLDERS = frozenset(
    ["revisions", "commits", "pins", "shas", "refs", "sources", "versions", "revision", "commit", "pin", "source", "修订", "提交", "版本"]
)
_BRANCH = frozenset(["branch", "branches", "分支"])
_IMAGE = frozenset(["image", "container", "docker", "镜像", "容器"])
_NO_IMAGE = re.compile(
    r"\.(?:png|jpe?g|svg|gif|webp|bmp|tiff?|pdf|json|ya?ml|txt|md|py|html)\Z|\s|\A(?:none|n/?a|host|native|bare-?metal|true|false|-|无)\Z",
    re.IGNORECASE,
)
_NOT_ONE = frozenset(
    [
        "digest",
        "sha256",
        "hash",
        "checksum",
        "size",
        "width",
        "height",
        "count",
        "type",
        "format",
        "path",
        "file",
        "date",
        "time",
        "url",
        "message",
        "author",
        "name",
        "id",
        "label",
        "note",
        "description",
        "status",
        "subject",
        "title",
        "tag",
    ]
)
_POINTER = frozenset(
    ["url", "source", "patch", "pointer", "upstream", "code", "location", "link", "href", "diff", "change", "tree", "来源", "补丁", "链接"]
)
# In a result, these may lead to anything; texts and data at an address are read, not run.
_LINKS = frozenset(["url", "upstream", "location", "link", "href", "链接"])
_TEXT_URL = re.compile(r"/(?:blob|raw)/[^\s]{1,300}\.(?:md|rst|txt|html?|pdf|csv|png|svg|json)(?:[#?][^\s]{0,200})?\s*\Z", re.IGNORECASE)
_FULL = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z", re.IGNORECASE)
_SHORT = re.compile(r"[0-9a-f]{7,40}\Z", re.IGNORECASE)
_TEMPLATE = re.compile(r"template|example|sample-plan|skeleton|模板|示例", re.IGNORECASE)
_TESTS = re.compile(r"(?:^|/)(?:tests?|fixtures?|test-?data|test-fixtures|examples?|templates?|mocks?)/", re.IGNORECASE)
_SHA_LIKE = re.compile(r"sha|commit|revision|rev\b|hash|提交|修订", re.IGNORECASE)
_INCONCLUSIVE = re.compile(r"\bINCONCLUSIVE\b|未定论|无定论|无结论|尚无结论|不确定", re.IGNORECASE)
_TEXT_ROLE = re.compile(
    r"\b(?:revision|commit|sha|baseline|candidate|patch|source|branch|change|pinned?|head|diff|lives?|image)s?\b|修订|提交|分支|基线|候选|补丁|改动|镜像",
    re.IGNORECASE,
)
_TEXT_BRANCH = re.compile(
    r"\bbranch(?:es)?\s+[`“\"']?(?P<after>[A-Za-z][\w./-]{2,100})|[`“\"'](?P<before>[A-Za-z][\w./-]{2,100})[`”\"']?\s+branch\b|分支\s*[`“\"：:]{0,2}(?P<zh>[A-Za-z][\w./-]{1,100})"
)
_ANY_ID = re.compile(r"(?<![0-9a-zA-Z])(?=[0-9a-f]*\d)[0-9a-f]{7,40}(?![0-9a-zA-Z])")
_NOUN_AFTER = frozenset(
    ["is", "was", "has", "names", "name", "which", "that", "and", "of", "on", "in", "for", "from", "to", "with", "may", "can", "moves", "at"]
)


@dataclass(frozen=True, slots=True)
class Loose:
    """One value that pins nothing: what it is, where it stands, and how it is shown."""

    kind: str
    place: Location
    shown: str


def each(snapshot: Snapshot, bundle: Bundle) -> Iterator[Item]:
    for path in bundle.files:
        if _TEMPLATE.search(path.rpartition("/")[2]) or _TESTS.search(bundle.relative(path)):
            continue
        if is_document(path):
            yield from _findings(snapshot, bundle, path, tuple(_in_document(snapshot, bundle, path)))
        elif path.lower().endswith(".md") and bundle.part_of(path) in ("patch", "plan", "validator"):
            yield from _findings(snapshot, bundle, path, tuple(_in_text(snapshot, bundle, path)))


# ---------------------------------------------------------------- documents


def _in_document(snapshot: Snapshot, bundle: Bundle, path: str) -> Iterator[Loose]:
    if any(manifest.path == path for manifest in manifests(snapshot, bundle)):
        return
    for node in places(snapshot, path).nodes(_may_name_one, str):
        if len(node.value) <= 400:
            kind = _kind(bundle, path, node)
            if kind:
                yield Loose(kind, Location(path, pointer=node.pointer), node.value)


@lru_cache(maxsize=8192)
def _may_name_one(shape: Shape) -> bool:
    key = key_of(shape)
    return bool(frozenset(split_key(key).split("_")) & (_IMAGE | _REVISION | _ARM | _BRANCH | _POINTER)) or ZH_REVISION_KEY.search(key) is not None


def _kind(bundle: Bundle, path: str, node: Node) -> str | None:
    words = frozenset(split_key(node.key).split("_"))
    above = {word for part in node.path[:-1] if isinstance(part, str) for word in split_key(part).split("_")}
    if words & _IMAGE and not words & (_NOT_ONE - {"name", "tag", "id"}):
        image = None if _NO_IMAGE.search(node.value) else image_reference(node.value)
        return "image" if image and image.is_mutable else "placeholder" if placeholder(node.value) else None
    required = bool(words & _REVISION) or ZH_REVISION_KEY.search(node.key) is not None or (bool(words & _ARM) and bool(above & _HOLDERS))
    if required and not words & _NOT_ONE:
        if placeholder(node.value):
            return "placeholder"
        if mutable_reference(node.value) and not _pinned_beside(node, _PARENT):
            return "branch"
    if words & _ARM and not words & _NOT_ONE and _SHA_LIKE.search(node.value) and placeholder(node.value):
        return "placeholder"
    if words & _BRANCH and _is_pointer(bundle, path, node) and not _pinned_beside(node):
        return "placeholder" if placeholder(node.value) else "branch"
    pointers = _POINTER if bundle.part_of(path) != "results" else _POINTER - _LINKS
    if (
        words & (pointers | _ARM)
        and not _TEXT_URL.search(node.value)
        and "github" in node.value
        and mutable_reference(node.value)
        and not _pinned_beside(node)
    ):
        return "branch"
    return None


def _is_pointer(bundle: Bundle, path: str, node: Node) -> bool:
    """A branch is a pointer in the patch and the plan, and where a repository is named beside it."""
    beside = node.parent if isinstance(node.parent, dict) else {}
    named = any(
        key != node.path[-1]
        and isinstance(value, str)
        and "/" in value
        and set(split_key(key).split("_")) & {"repository", "repo", "upstream", "url", "remote", "fork", "仓库"}
        for key, value in beside.items()
    )
    return bundle.part_of(path) in ("patch", "plan") or named


_PARENT = frozenset(["parent", "base", "onto", "against", "父提交"])


def _pinned_beside(node: Node, but: frozenset[str] = frozenset()) -> bool:
    """True when the same object holds an immutable revision; that of the parent (`but`) does not say which commit grew from it."""
    held: Any = node.parent
    return isinstance(held, dict) and any(
        _is_id(value) for key, value in held.items() if not set(split_key(key).split("_")) & ({"digest", "sha256", "checksum"} | but)
    )


def _is_id(value: Any) -> bool:
    """A commit id, alone or before its subject line (`4f2c9d1 Raise the limit`)."""
    first = value.split(maxsplit=1)[0] if isinstance(value, str) and value.strip() else ""
    return bool(_FULL.match(first) or (_SHORT.match(first) and any(c.isdigit() for c in first)))


# ---------------------------------------------------------------- text


def _in_text(snapshot: Snapshot, bundle: Bundle, path: str) -> Iterator[Loose]:
    for statement in statements(snapshot, path):
        if not _TEXT_ROLE.search(statement.text) or _ANY_ID.search(statement.text) or statement.standing not in ("asserted", "planned", "reported"):
            continue
        kind = _text_kind(bundle, path, statement)
        if kind:
            yield Loose(*kind[:1], statement.location(), kind[1])


def _text_kind(bundle: Bundle, path: str, statement: Statement) -> tuple[str, str] | None:
    label, colon, rest = statement.text.partition(":") if ":" in statement.text[:60] else statement.text.partition("：")
    for span in (*(s.text for s in statement.code_spans), *([rest.strip()] if colon and _SHA_LIKE.search(label) else [])):
        if placeholder(span) and (_SHA_LIKE.search(span) or _SHA_LIKE.search(label) or _SHA_LIKE.search(statement.text)):
            return "placeholder", span
    address = re.search(r"https?://\S+", _source(snapshot_text=statement))
    if address and mutable_reference(address[0]):
        return "branch", mutable_reference(address[0]) or ""
    if bundle.part_of(path) == "patch":
        match = _TEXT_BRANCH.search(statement.text)
        name = next((group for group in match.groups() if group), "") if match else ""
        if name and name.rstrip(".,") and name.lower() not in _NOUN_AFTER:
            return "branch", name.rstrip(".,")
    return None


def _source(snapshot_text: Statement) -> str:
    return snapshot_text.text


# ---------------------------------------------------------------- findings


def _findings(snapshot: Snapshot, bundle: Bundle, path: str, loose: tuple[Loose, ...]) -> Iterator[Finding]:
    """One finding for each kind in a document."""
    for kind in dict.fromkeys(one.kind for one in loose):
        yield _finding(snapshot, bundle, path, kind, [one for one in loose if one.kind == kind])


WHAT = {"placeholder": "a placeholder", "branch": "a mutable branch", "image": "an image without a fixed tag or digest"}
NEXT = {
    "placeholder": "Write the full commit id (edit text), or an explicit record that none is selected yet.",
    "branch": "Write the full commit id that the branch stood at when it was measured (edit text); the branch may stay beside it as a label.",
    "image": "Write the image's digest, `name@sha256:…` (edit text).",
}


def _finding(snapshot: Snapshot, bundle: Bundle, path: str, kind: str, loose: list[Loose]) -> Finding:
    name = bundle.relative(path)
    low = _is_qualified(snapshot, path)
    shown = ", ".join(f"`{excerpt(one.shown, 80)}`" for one in loose[:4]) + (f" and {len(loose) - 4} more" if len(loose) > 4 else "")
    return Finding(
        rule=RULE.id,
        severity=Severity.LOW if low else Severity.HIGH,
        title=f"{name} names {WHAT[kind]} where {'an image' if kind == 'image' else 'a revision'} must be fixed",
        problem=f"`{path}` has {shown}."
        + (" The document itself says that its measurements are author-reported and the campaign INCONCLUSIVE." if low else ""),
        impact="What was measured cannot be told from what the name stands for today.",
        next=NEXT[kind],
        locations=tuple(one.place for one in loose[:20]),
        evidence=tuple((one.place.pointer or "text", excerpt(one.shown, 80)) for one in loose[:10]),
        roots=(f"revisions:{bundle.path}",),
    )


def _is_qualified(snapshot: Snapshot, path: str) -> bool:
    doc = document(snapshot, path) if is_document(path) else None
    text = doc.text if doc else snapshot.head.read(path).decode("utf-8", "replace")
    return has_word(text[:65536].replace("_", " "), AUTHOR_REPORTED) and bool(_INCONCLUSIVE.search(text[:65536]))


RULE = Rule(
    "revision-unpinned",
    "revisions",
    Severity.HIGH,
    each=each,
    norms=(("pinned", "revision"), ("revisions", "in full"), ("immutable", "revision")),
)
