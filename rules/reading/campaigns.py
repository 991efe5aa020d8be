"""Which campaign is meant: the bundles a text names, the issue and the id that a bundle's own record gives, the bundles of an issue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rules.core.model import Issue, Location, Missing, Snapshot, Tree
from rules.reading.documents import Number, document, is_document, pointer
from rules.reading.inventory import inventories
from rules.reading.layout import Bundle, bundles, bundles_of
from rules.reading.prefilter import mentions

_ISSUE_KEY = re.compile(
    r"(?:(?:tracking|campaign|acceptance|parent|github|owning)_)?issue(?:_(?:number|no|id|url|ref|link))?\Z|(?:tracking|tracked_(?:in|by))\Z"
)
_ID_KEY = re.compile(r"campaign(?:_(?:id|name|slug|key|identifier))?\Z")
_PATH_KEY = re.compile(r"(?:evidence|bundle|campaign)_(?:path|dir|directory|folder|root)\Z|evidence\Z|bundle\Z")
_CITED = re.compile(r"(?<![\w#&])(?:(?P<repo>[\w.-]{1,100}/[\w.-]{1,100})#|#)?(?P<number>\d{1,9})\Z")
_URL = re.compile(r"(?:https?://)?[\w.-]{1,100}/(?P<repo>[\w.-]{1,100}/[\w.-]{1,100})/issues/(?P<number>\d{1,9})\b")
_PROSE = re.compile(
    r"(?P<lead>(?:tracking|tracked (?:in|by)|campaign|acceptance|跟踪|跟进|关联|对应)?)[ \t*_]{0,4}(?:issue|议题|问题单|工单)?[*_ \t]{0,4}[:：]?[ \t*_\[]{0,4}"
    r"(?:(?:https?://[\w.-]{1,100}/(?P<site>[\w.-]{1,100}/[\w.-]{1,100})/issues/)|(?P<repo>[\w.-]{1,100}/[\w.-]{1,100})#|#)(?P<number>\d{1,9})\b",
    re.IGNORECASE,
)
_HEAD_LINES = 40
RECORD_LIMIT = 64
"""Documents of a bundle that are asked for its id and issue, at most."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What a record says, and where."""

    value: str
    place: Location


def key_words(key: str) -> str:
    """A key in snake case: `trackingIssue`, `tracking-issue` and `tracking_issue` are one."""
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower()).strip("_")


# ---------------------------------------------------------------- what a bundle says of itself


def issues_of(snapshot: Snapshot, bundle: Bundle, tree: Tree | None = None) -> tuple[Stated, ...]:
    """The issues of this repository that the bundle's own records and the inventory name as its own; the value is the number."""
    tree = tree or snapshot.head
    return snapshot.memo(("issues of", id(tree), bundle.path), lambda: tuple(_issues_of(snapshot, bundle, tree)))


def _issues_of(snapshot: Snapshot, bundle: Bundle, tree: Tree) -> Iterator[Stated]:
    for path, place, key, value in _fields(snapshot, bundle, tree):
        number = _issue_number(value, snapshot.repository) if _ISSUE_KEY.match(key_words(key)) else None
        if number:
            yield Stated(number, Location(path, pointer=pointer(place), role="record", at=_at(snapshot, tree)))
    for inventory in inventories(snapshot, tree):
        for entry in inventory.bundles:
            number = _issue_number(entry.issue, snapshot.repository) if entry.path == bundle.path else None
            if number:
                yield Stated(number, Location(inventory.path, pointer=pointer(entry.pointer), role="record", at=_at(snapshot, tree)))
    yield from _prose_issues(snapshot, bundle, tree)


def _prose_issues(snapshot: Snapshot, bundle: Bundle, tree: Tree) -> Iterator[Stated]:
    """ "Tracking issue: #293", "issue #293" in the head of the bundle's README; several different ones without a leading word say nothing."""
    for name in ("README.md", "plan/README.md"):
        path = f"{bundle.path}/{name}"
        found = [(number, match) for number, match in _prose_matches(tree, path) if _ours(match["repo"] or match["site"], snapshot.repository)]
        leading = [pair for pair in found if pair[1]["lead"]]
        chosen = leading or (found if len({match["number"] for _, match in found}) == 1 else [])
        for number, match in chosen[:1]:
            yield Stated(match["number"], Location(path, line=number, role="record", at=_at(snapshot, tree), text=match[0]))


def _prose_matches(tree: Tree, path: str) -> Iterator[tuple[int, re.Match[str]]]:
    entry = tree.files.get(path)
    if entry is None or not entry.is_file or not 0 <= entry.size <= 64 * 1024:
        return
    try:
        lines = tree.read(path).decode("utf-8", "replace").splitlines()
    except Missing:
        return
    for number, line in enumerate(lines[:_HEAD_LINES], 1):
        for match in _PROSE.finditer(line[:2000]):
            if match["lead"] or re.search(r"issue|议题|问题单|工单", match[0], re.IGNORECASE):
                yield number, match


def ids_of(snapshot: Snapshot, bundle: Bundle, tree: Tree | None = None) -> tuple[Stated, ...]:
    """The campaign ids that the bundle's own records declare, with their places."""
    tree = tree or snapshot.head
    return snapshot.memo(
        ("ids of", id(tree), bundle.path),
        lambda: tuple(_ids(snapshot, bundle, _fields(snapshot, bundle, tree), tree)),
    )


def planned_ids(snapshot: Snapshot, bundle: Bundle) -> tuple[Stated, ...]:
    """Those of them that the bundle's plan, or a file at its root, declares at head."""
    return tuple(_ids(snapshot, bundle, _fields(snapshot, bundle, snapshot.head, own=True), snapshot.head))


def _ids(snapshot: Snapshot, bundle: Bundle, held: Iterable[tuple[str, tuple[str, ...], str, Any]], tree: Tree) -> Iterator[Stated]:
    for path, place, key, value in held:
        if isinstance(value, str) and value.strip() and len(value) <= 200 and _is_id(path, bundle, place, key):
            yield Stated(value.strip(), Location(path, pointer=pointer(place), role="record", at=_at(snapshot, tree)))


def _is_id(path: str, bundle: Bundle, place: tuple[str, ...], key: str) -> bool:
    """`campaign_id`, `campaign`, `campaign: {id: …}`; in a run spec or a record named for the campaign also a plain `id` at the top."""
    words = key_words(key)
    if _ID_KEY.match(words):
        return True
    nested = len(place) == 2 and key_words(place[0]) == "campaign" and words in ("id", "name", "slug")
    named = re.search(r"(?:campaign|run[-_]?spec|bundle)[^/]*\Z", path, re.IGNORECASE) is not None
    return nested or (len(place) == 1 and words == "id" and named and path in (*bundle.part("plan"), *_root_files(bundle)))


def paths_of(snapshot: Snapshot, bundle: Bundle, tree: Tree | None = None) -> tuple[Stated, ...]:
    """The evidence paths that the bundle's own plan declares, with their places."""
    tree = tree or snapshot.head
    own = {*bundle.part("plan"), *_root_files(bundle)}
    return tuple(
        Stated(value.strip().removeprefix("./").rstrip("/"), Location(path, pointer=pointer(place), role="record", at=_at(snapshot, tree)))
        for path, place, key, value in _fields(snapshot, bundle, tree, own=True)
        if isinstance(value, str) and "/" in value and path in own and _PATH_KEY.match(key_words(key))
    )


def _root_files(bundle: Bundle) -> tuple[str, ...]:
    return tuple(path for path in bundle.files if "/" not in bundle.relative(path))


_Field = tuple[tuple[str, ...], str, Any]
_RECORD_WORDS = ("campaign", "issue", "track", "evidence", "bundle", '"id"', "id:")
_RECORD_KEY = re.compile(
    r"campaign|issue|track|evidence|bundle|(?:^|_)(?:id|name|slug|number|no|url|ref|link|path|dir|directory|folder|root)(?:_|\Z)"
)
_NESTED = ("campaign", "metadata", "meta", "tracking", "issue", "tracking_issue")


def _fields(snapshot: Snapshot, bundle: Bundle, tree: Tree, *, own: bool = False) -> Iterator[tuple[str, tuple[str, ...], str, Any]]:
    """(path, place, key, value) of the first two levels of the bundle's documents, plan and root first; with `own` of these only."""
    first = (*_root_files(bundle), *bundle.part("plan"))
    for path in [path for path in dict.fromkeys(first if own else (*first, *bundle.files)) if is_document(path)][:RECORD_LIMIT]:
        yield from ((path, *field) for field in _fields_of(snapshot, path, tree))


def _fields_of(snapshot: Snapshot, path: str, tree: Tree) -> tuple[_Field, ...]:
    """The fields of one document that may say to which campaign it belongs; kept by object id."""

    def make() -> tuple[_Field, ...]:
        doc = document(snapshot, path, tree)
        held = doc.value if doc is not None and isinstance(doc.value, dict) and mentions(doc.text, *_RECORD_WORDS) else {}
        return tuple(field for field in _first_levels(held) if isinstance(field[2], (str, Number)) and _RECORD_KEY.search(key_words(field[1])))

    entry = tree.files.get(path)
    return snapshot.cache.by_blob("campaign fields", entry.oid, 1024, make) if entry is not None and entry.is_file else ()


def _first_levels(held: dict[str, Any]) -> Iterator[_Field]:
    for key, value in held.items():
        yield (key,), key, value
        if isinstance(value, dict) and key_words(key) in _NESTED:
            yield from (((key, inner), inner if key_words(key) != "issue" else "issue_" + inner, deeper) for inner, deeper in value.items())


def read_bundle(snapshot: Snapshot, bundle: Bundle) -> None:
    """Takes what a bundle's documents say of their campaign, while they are parsed."""
    for _ in _fields(snapshot, bundle, snapshot.head):
        pass


def _issue_number(value: Any, repository: str | None) -> str | None:
    if type(value) is Number:
        return value.text if value.is_integer_literal and 0 < value < 1e9 else None
    if not isinstance(value, str):
        return None
    match = _CITED.match(value.strip()) or _URL.search(value)
    return match["number"].lstrip("0") or None if match and _ours(match["repo"], repository) else None


def _ours(named: str | None, repository: str | None) -> bool:
    """True unless another repository is named."""
    return named is None or repository is None or named.casefold() == repository.casefold()


def _at(snapshot: Snapshot, tree: Tree) -> str | None:
    return tree.commit if tree is not snapshot.head else None


# ---------------------------------------------------------------- what a text means


def names(text: str, word: str) -> bool:
    """True when `word` (an id or a path) stands in `text` as a whole: `h3-29` is not in `h3-293`."""
    start = text.find(word)
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(word) : start + len(word) + 2]
        if not (before and (before.isalnum() or before in "_-")) and not re.match(r"[\w-]|\.\w", after, re.ASCII):
            return True
        start = text.find(word, start + 1)
    return False


def named_bundles(snapshot: Snapshot, text: str, tree: Tree | None = None) -> tuple[Bundle, ...]:
    """The bundles of `tree` (default head) that `text` names by path or by an id that is no everyday word."""
    return tuple(b for b in bundles_of(snapshot, tree or snapshot.head) if names(text, b.path) or (re.search(r"[-_\d]", b.id) and names(text, b.id)))


def trees(snapshot: Snapshot, *, bases: bool = False) -> tuple[Tree, ...]:
    """Head, and the heads of the linked pulls; with `bases` also the base tip and the merge base. Each once."""
    more = (snapshot.base, snapshot.merge_base) if bases else ()
    return tuple({id(tree): tree for tree in (snapshot.head, *snapshot.linked.values(), *more) if tree is not None}.values())


def bundles_of_issue(snapshot: Snapshot, issue: Issue) -> tuple[tuple[Bundle, Tree], ...]:
    """The bundles that an issue is about: those whose own record names it, else those it names and no other issue's record claims."""
    return snapshot.memo(("bundles of issue", issue.number), lambda: _bundles_of_issue(snapshot, issue))


def _bundles_of_issue(snapshot: Snapshot, issue: Issue) -> tuple[tuple[Bundle, Tree], ...]:
    held = [(bundle, tree) for tree in trees(snapshot) for bundle in bundles_of(snapshot, tree)]
    said = {id(bundle): {stated.value for stated in issues_of(snapshot, bundle, tree)} for bundle, tree in held}
    own = [(bundle, tree) for bundle, tree in held if str(issue.number) in said[id(bundle)]]
    text = f"{issue.title}\n{issue.body}"
    named = [(bundle, tree) for bundle, tree in held if not said[id(bundle)] and bundle in named_bundles(snapshot, text, tree)]
    return tuple(own + named)


def bundles_of_conversation(snapshot: Snapshot) -> tuple[Bundle, ...]:
    """The bundles of head that the review's pull and issue are about: the issue's, those the pull's text names, else those in scope."""
    found = [bundle for bundle, tree in bundles_of_issue(snapshot, snapshot.issue) if tree is snapshot.head] if snapshot.issue else []
    text = f"{snapshot.pull.title}\n{snapshot.pull.body}" if snapshot.pull else ""
    found += [bundle for bundle in named_bundles(snapshot, text) if bundle not in found and bundle in bundles(snapshot)]
    return tuple(found) or (bundles(snapshot) if snapshot.base is not None else ())


def bundle_of_issue(snapshot: Snapshot) -> str | None:
    """The path of the one bundle that the issue is about, for roots; None where there is none or several."""
    paths = {bundle.path for bundle, _ in bundles_of_issue(snapshot, snapshot.issue)} if snapshot.issue else set()
    if len(paths) != 1 and snapshot.base is not None:
        paths = {bundle.path for bundle in bundles(snapshot)}
    return paths.pop() if len(paths) == 1 else None
