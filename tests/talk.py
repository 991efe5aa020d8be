"""Pulls, issues and comments for tests, as values."""

from __future__ import annotations

from rules.core.model import Comment, Issue, Pull, User

HEAD = "a" * 40
OLD = "df3723cd" + "1" * 32


def pull(body: str = "", title: str = "Add", number: int = 7, labels: tuple[str, ...] = ()) -> Pull:
    """A pull whose head is the tests' head."""
    return Pull(number, title, body, User("author", False), False, "open", HEAD, "b" * 40, "acme/evidence", "acme/evidence", labels)


def comment(body: str, login: str = "mkessler", association: str = "MEMBER", is_bot: bool = False, id: int = 1000) -> Comment:
    """A comment, by default of a member who is no author."""
    return Comment(id, User(login, is_bot), association, body, "2026-11-01T00:00:00Z")


def issue(
    body: str = "",
    title: str = "Opt",
    number: int = 320,
    comments: tuple[Comment, ...] = (),
    linked: tuple[Pull, ...] = (),
    labels: tuple[str, ...] = (),
) -> Issue:
    """An issue by `author`."""
    return Issue(number, title, body, User("author", False), "open", labels, comments, linked)
