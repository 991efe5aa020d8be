"""Pulls and issues as GitHub's REST API gives them, with null bodies, deleted accounts and deleted forks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rules.core.model import Comment, Issue, Pull, Snapshot, User

GHOST = User("ghost", False)
_NUMBER = re.compile(r"(?<![\w/#&])#(\d{1,9})\b")
_LINK = re.compile(r"github\.com/[\w.-]{1,100}/[\w.-]{1,100}/(?:issues|pull)/(\d{1,9})\b")


class Unusable(ValueError):
    """The object is no pull or issue; one sentence that says what is missing."""


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a conversation: `pull:title`, `pull:body`, `issue:title`, `issue:body` or `issue:comment:<id>`."""

    path: str
    text: str


def read_pull(raw: Any) -> Pull:
    """A REST pull object (docs.github.com/rest/pulls/pulls). Raises `Unusable`."""
    raw = _object(raw, "the pull")
    return Pull(
        number=_number(raw, "the pull"),
        title=_str(raw.get("title")),
        body=_str(raw.get("body")),
        user=_user(raw.get("user")),
        draft=bool(raw.get("draft")),
        state=_str(raw.get("state")) or "open",
        head_sha=_str(_get(raw, "head", "sha")).lower(),
        base_sha=_str(_get(raw, "base", "sha")).lower(),
        base_repository=_str(_get(raw, "base", "repo", "full_name")) or None,
        head_repository=_str(_get(raw, "head", "repo", "full_name")) or None,
        labels=_labels(raw),
    )


def read_issue(raw: Any) -> Issue:
    """A REST issue object with `comments` (a list, oldest first) and `linked_pulls`. Raises `Unusable`."""
    raw = _object(raw, "the issue")
    comments, linked = raw.get("comments"), raw.get("linked_pulls")
    return Issue(
        number=_number(raw, "the issue"),
        title=_str(raw.get("title")),
        body=_str(raw.get("body")),
        user=_user(raw.get("user")),
        state=_str(raw.get("state")) or "open",
        labels=_labels(raw),
        comments=tuple(_comment(c, i) for i, c in enumerate(comments) if isinstance(c, Mapping)) if isinstance(comments, list) else (),
        linked_pulls=tuple(read_pull(p) for p in linked if isinstance(p, Mapping)) if isinstance(linked, list) else (),
    )


def texts(snapshot: Snapshot) -> tuple[Text, ...]:
    """The titles and bodies that the author answers for (comments are dated records and are not among them)."""
    made = []
    for name, held in (("pull", snapshot.pull), ("issue", snapshot.issue)):
        if held is not None:
            made += [Text(f"{name}:title", held.title), Text(f"{name}:body", _lines(held.body))]
    return tuple(text for text in made if text.text.strip())


def bodies(snapshot: Snapshot) -> tuple[Text, ...]:
    """The bodies of the pull and of the issue."""
    return tuple(text for text in texts(snapshot) if text.path.endswith(":body"))


def cited_numbers(text: str) -> tuple[int, ...]:
    """The `#n` and links to issues or pulls in `text`, each once, in order."""
    found = [(m.start(), int(m[1])) for pattern in (_NUMBER, _LINK) for m in pattern.finditer(text)]
    return tuple(dict.fromkeys(number for _, number in sorted(found)))


def claim_root(path: str, sentence: str) -> str:
    """The root that every finding about one sentence of a text shares."""
    return f"claim:{path}#{' '.join(sentence.split()).casefold()}"


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _comment(raw: Mapping[str, Any], index: int) -> Comment:
    id = raw.get("id")
    return Comment(
        id=id if isinstance(id, int) else index,
        user=_user(raw.get("user")),
        association=_str(raw.get("author_association")) or "NONE",
        body=_lines(_str(raw.get("body"))),
        created_at=_str(raw.get("created_at")),
    )


def _user(raw: Any) -> User:
    if not isinstance(raw, Mapping) or not isinstance(raw.get("login"), str):
        return GHOST
    return User(raw["login"], raw.get("type") == "Bot" or raw["login"].endswith("[bot]"))


def _labels(raw: Mapping[str, Any]) -> tuple[str, ...]:
    held = raw.get("labels")
    names = [item.get("name") if isinstance(item, Mapping) else item for item in held] if isinstance(held, list) else []
    return tuple(name for name in names if isinstance(name, str))


def _object(raw: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(raw, Mapping):
        raise Unusable(f"{what} is not a JSON object; give GitHub's REST object.")
    return raw


def _number(raw: Mapping[str, Any], what: str) -> int:
    number = raw.get("number")
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise Unusable(f"{what} has no `number`; give GitHub's REST object.")
    return number


def _get(raw: Any, *keys: str) -> Any:
    for key in keys:
        raw = raw.get(key) if isinstance(raw, Mapping) else None
    return raw


def _str(value: Any) -> str:
    return value if isinstance(value, str) else ""
