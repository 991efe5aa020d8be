"""What stands where a revision should: repositories by name, placeholders, branches that move, container images."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rules.reading.documents import Path
from rules.reading.named_paths import split_key
from rules.reading.outline import Outline, outline
from rules.reading.words import PLACEHOLDER

_OWNER = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})"
_NAME = r"[A-Za-z0-9_.-]{1,100}"
_HOST = re.compile(
    rf"(?:https?://|git\+https://|ssh://|git@|git://)?(?:[\w.-]{{1,64}}@)?(?<![\w-])(?:www\.)?(?:raw\.githubusercontent\.com/|api\.github\.com/repos/|github\.com[/:])(?P<owner>{_OWNER})/(?P<name>{_NAME})",
    re.IGNORECASE,
)
_MARKED = re.compile(rf"(?<![\w./-])(?P<owner>{_OWNER})/(?P<name>{_NAME}?)(?:#\d{{1,9}}(?!\w)|@(?=[0-9a-fA-F]{{7,40}}(?![0-9A-Za-z])))")
_SPOKEN = re.compile(
    rf"(?<![\w./@-])(?P<owner>{_OWNER})/(?P<name>{_NAME})(?![\w/])",
)
_BEFORE = re.compile(
    r"(?:\b(?:repository|repo|upstream|fork|project|(?:commit|revision|head|baseline|candidate|branch|commits|checkout|clone) (?:of|in|from))|仓库|上游|项目|代码库|来自)(?:\s?(?:is|was|named|called|为|是|在|叫|位于|地址))?[\s:：=(`'\"*]{0,4}\Z",
    re.IGNORECASE,
)
_AFTER = re.compile(r"[`'\")]{0,2}\s{0,2}(?:\(?(?:commit|revision|head|branch|repository|repo|at|@)\b|的?(?:提交|仓库|修订))", re.IGNORECASE)
_WHOLE = re.compile(rf"(?P<owner>{_OWNER})/(?P<name>{_NAME})\Z")
_KEYS = frozenset(["repo", "repos", "repository", "repositories", "upstream", "upstreams", "fork", "origin", "remote", "project", "slug"])
_FILE = re.compile(
    r"\.(?:json|jsonl|ya?ml|md|txt|log|csv|tsv|py|sh|diff|patch|toml|ini|cfg|c|cc|cpp|h|rs|go|js|ts|html?|png|svg|jpe?g|pdf|gz|zip|tar|bin|whl|sql|xml|lock|sha256)\Z",
    re.IGNORECASE,
)
_NOT_OWNERS = frozenset(
    ["orgs", "users", "features", "settings", "marketplace", "apps", "sponsors", "topics", "about", "login", "notifications", "search", "collections"]
)
MOST = 16


def repositories_named(held: Any) -> tuple[str, ...]:
    """The repositories (`owner/name`) that a text, or a JSON value by its keys and addresses, names; each once, in order, at most 16.

    In a text: GitHub addresses, `owner/name#12`, `owner/name@sha`, and `owner/name` beside a word such as repository or "commit of".
    Paths such as `results/a.json` are none.
    """
    if isinstance(held, str):
        return each_once(name for _, name in named_in_text(held))
    return each_once(name for _, name in named_in(outline(held)))


def each_once(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once (case does not count), in order, at most `MOST`."""
    seen: dict[str, str] = {}
    for name in names:
        seen.setdefault(name.lower(), name)
        if len(seen) >= MOST:
            break
    return tuple(seen.values())


def named_in_text(text: str) -> list[tuple[int, str]]:
    """(offset, `owner/name`) of every repository that `text` names."""
    if "/" not in text:
        return []
    found = [(m.start(), _name(m)) for pattern in (_HOST, _MARKED) for m in pattern.finditer(text)]
    for match in _SPOKEN.finditer(text):
        if _BEFORE.search(text, max(0, match.start() - 40), match.start()) or _AFTER.match(text, match.end()):
            found.append((match.start(), _name(match)))
    return sorted((at, name) for at, name in found if name)


def _name(match: re.Match[str]) -> str:
    """`owner/name` without `.git` and a sentence's point; empty for what is no repository."""
    name = match["name"].rstrip(".").removesuffix(".git")
    return "" if not name or match["owner"].lower() in _NOT_OWNERS or _FILE.search(name) else f"{match['owner']}/{name}"


def named_in(held: Outline) -> Iterator[tuple[Path, str]]:
    """(place, `owner/name`) of every repository that the places of a document name."""
    for node in held.strings(lambda _: True, lambda text: "/" in text and len(text) < 4096):
        words = set(split_key(node.key).split("_"))
        whole = _WHOLE.match(node.value.strip()) if words & _KEYS or words >= {"full", "name"} else None
        names = [_name(whole)] if whole else [name for _, name in named_in_text(node.value)]
        yield from ((node.path, name) for name in names if name)


# ---------------------------------------------------------------- what is not a revision yet

_ANGLE = re.compile(
    r"<(?!https?:|/?(?:br|p|b|i|em|strong|code|details|summary|sub|sup|ul|ol|li|a|img|div|span|table|tr|td|th|hr|h[1-6]|kbd|pre|del|s)\b)[^<>@\n]{1,120}>",
    re.IGNORECASE,
)
_BLANK = re.compile(
    r"(?:\?{2,}|x{3,40}|X{3,40}|0{7,64}|\.{2,}|…+|[-–—_]{1,20}|\$\{[^{}]{1,100}\}|\{\{[^{}]{1,100}\}\}|\$[A-Z][A-Z0-9_]{1,60}|_?no response_?|pending|tbd|\[[^\[\]\n]{1,60}\]|（?待定）?)\Z",
    re.IGNORECASE,
)
_BRACKETED = re.compile(r"\[(?:TBD|TODO|fill|insert|your|to be|待)[^\[\]\n]{0,60}\]", re.IGNORECASE)


@lru_cache(maxsize=8192)
def placeholder(value: str) -> bool:
    """True when `value` as a whole stands for something that is still to be filled in: `<baseline-sha>`, TBD, "to be filled in", 待定, `???`, zeros."""
    text = value.strip().strip("`*_\"'“”").strip() or value.strip()
    if not text:
        return False
    if _BLANK.match(text) and not re.match(r"\[[^\[\]]*\]\Z", text):
        return True
    if _BRACKETED.match(text):
        return True
    angle = _ANGLE.search(text)
    if angle and len(text) - len(angle[0]) <= 20 and "/" not in text.replace(angle[0], ""):
        return True
    found = PLACEHOLDER.search(text[:400])
    return bool(found and len(text) <= 120 and (found.start() <= 24 or len(text) <= 60))


ZH_REVISION_KEY = re.compile(r"提交|修订|(?:基线|候选|对照|源码|源代码|代码|引擎|补丁|来源|被测|上游)版本|版本号")
"""Chinese keys of a revision; 版本 alone may be that of anything."""
_BRANCHES = re.compile(
    r"(?:(?:origin|upstream|remotes/[\w.-]{1,40}|refs/heads|refs/remotes/[\w.-]{1,40}|heads)/(?P<path>[\w./-]{1,200})"
    r"|(?P<topic>(?:feature|feat|fix|bugfix|hotfix|topic|wip|exp|experiment|users?)/[\w-][\w./-]{0,150})"
    r"|(?P<name>main|master|head|develop|development|dev|trunk|default|nightly|latest|tip|mainline|edge|current)(?:\s+branch)?"
    r"|(?:the\s+)?(?:latest|current)\s+(?P<latest>main|master|head|develop|trunk|commit)|(?:branch|分支)[\s:：]{1,3}`?(?P<said>[\w./-]{1,200})`?|(?P<zh>主干|主分支|最新(?:版|提交|代码)?))\Z",
    re.IGNORECASE,
)
_AT_BRANCH = re.compile(rf"(?:{_OWNER}/{_NAME}|\.git)[@#](?P<ref>main|master|HEAD|develop|dev|trunk|nightly|latest)\Z", re.IGNORECASE)
_BRANCH_URL = re.compile(
    rf"github\.com/{_OWNER}/{_NAME}/(?:tree|blob|commits|raw|archive/refs/heads)/(?P<ref>[^\s/?#()\[\]<>\"'`]{{1,200}})|(?P<raw>raw\.githubusercontent\.com/{_OWNER}/{_NAME}/(?P<rawref>[^\s/?#]{{1,200}}))",
    re.IGNORECASE,
)
_FIXED_REF = re.compile(r"(?:[0-9a-f]{7,40}|v?\d+(?:\.\d+){1,3}[\w.+-]{0,40})\Z", re.IGNORECASE)


@lru_cache(maxsize=8192)
def mutable_reference(value: str) -> str | None:
    """The branch that `value` names where a revision is wanted: a branch's name, `refs/heads/…`, `owner/name@main`, a branch's address. Else None."""
    text = value.strip().strip("`\"'").strip()
    whole = _BRANCHES.match(text) if len(text) <= 250 else None
    if whole:
        named = next((group for group in whole.groups() if group), text)
        return None if _FIXED_REF.match(named) else named
    at = _AT_BRANCH.search(text[-250:])
    if at:
        return at["ref"]
    for match in _BRANCH_URL.finditer(text):
        ref = (match["ref"] or match["rawref"]).rstrip(".,;:!?").removesuffix(".zip").removesuffix(".tar.gz")
        if ref and not _FIXED_REF.match(ref):
            return ref
    return None


@dataclass(frozen=True, slots=True)
class Image:
    """A container image as written. `tag` and `digest` (64 hex) are None where there is none."""

    name: str
    tag: str | None
    digest: str | None

    @property
    def is_pinned(self) -> bool:
        """Its bytes are fixed: there is a digest."""
        return self.digest is not None

    @property
    def is_mutable(self) -> bool:
        """No digest, and no tag or `latest`: it can be another image tomorrow."""
        return self.digest is None and (self.tag is None or self.tag.lower() in {"latest", "main", "master", "nightly", "edge", "dev"})


_IMAGE = re.compile(
    r"(?:docker://|docker\.io/)?(?P<name>(?:[\w.-]{1,100}(?::\d{2,5})?/)?[a-z0-9](?:[\w./-]{0,200}[a-z0-9])?)(?::(?P<tag>[\w][\w.-]{0,127}))?(?:@sha256:(?P<digest>[0-9a-fA-F]{64}))?\Z"
)


@lru_cache(maxsize=8192)
def image_reference(value: str) -> Image | None:
    """The image that `value` names as a whole (`registry/name:tag@sha256:…`, or a bare `sha256:…`), else None. Whether it is meant as one, its key tells."""
    text = value.strip().strip("`\"'")
    bare = re.match(r"sha256:([0-9a-fA-F]{64})\Z", text)
    if bare:
        return Image("", None, bare[1].lower())
    match = _IMAGE.match(text) if 1 < len(text) <= 512 else None
    if not match:
        return None
    return Image(match["name"], match["tag"], match["digest"].lower() if match["digest"] else None)
