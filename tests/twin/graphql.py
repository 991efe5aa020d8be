"""The little of GraphQL that REST does not tell: review threads and whether they are resolved, and what a pull closes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tests.twin import payloads_talk, pulls
from tests.twin.access import authorise
from tests.twin.http import Answer, Call
from tests.twin.reviews import published
from tests.twin.state import Json, Pull, Refused, Repository, ReviewComment, World, invalid, node_id

TOKEN = re.compile(r'\.\.\.|[{}():,$!\[\]=]|"(?:[^"\\]|\\.)*"|[\w-]+|#[^\n]*')
CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? #(\d{1,9})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Field:
    """One selected field: its name, its arguments' tokens, and what is selected in it."""

    name: str
    arguments: dict[str, str]
    inner: Selection


Selection = dict[str, Field]  # by the key of the answer


async def answer(call: Call) -> Answer:
    """`query { repository(owner:, name:) { pullRequest(number:) { … } } }`; anything else is an error, as an unknown field is."""
    query, variables = call.body.get("query"), call.body.get("variables") or {}
    if not isinstance(query, str):
        raise invalid("Query", "query", "missing_field")
    try:
        selection = parse(query)
        return Answer({"data": {key: _root(call, part, variables) for key, part in selection.items()}})
    except (IndexError, ValueError):
        return Answer({"errors": [{"message": "Parse error on the query"}]})
    except Refused as refused:
        kind = {404: "NOT_FOUND", 403: "FORBIDDEN"}.get(refused.status, "undefinedField")
        return Answer({"data": None, "errors": [{"type": kind, "message": refused.message}]})


def parse(query: str) -> Selection:
    """The selection set of the only operation."""
    tokens = [one for one in TOKEN.findall(query) if one != "," and not one.startswith("#")]
    depth = 0
    for index, one in enumerate(tokens):
        depth += (one == "(") - (one == ")")
        if one == "{" and not depth:
            return _selection(tokens, index + 1)[0]
    raise Refused(400, "Parse error: unexpected end of query")


def _selection(tokens: list[str], index: int) -> tuple[Selection, int]:
    found: Selection = {}
    while index < len(tokens) and tokens[index] != "}":
        key = name = tokens[index]
        index += 1
        if tokens[index] == ":":
            name, index = tokens[index + 1], index + 2
        arguments, index = _arguments(tokens, index)
        inner: Selection = {}
        if tokens[index] == "{":
            inner, index = _selection(tokens, index + 1)
        found[key] = Field(name, arguments, inner)
    if index >= len(tokens):
        raise Refused(400, "Parse error: unexpected end of query")
    return found, index + 1


def _arguments(tokens: list[str], index: int) -> tuple[dict[str, str], int]:
    """`(name: value, other: $variable)` → names to tokens."""
    if tokens[index] != "(":
        return {}, index
    found: dict[str, str] = {}
    index += 1
    while tokens[index] != ")":
        variable = tokens[index + 2] == "$"
        found[tokens[index]] = "$" + tokens[index + 3] if variable else tokens[index + 2]
        index += 4 if variable else 3
    return found, index + 1


def _value(token: str, variables: Json) -> Any:
    if token.startswith("$"):
        return variables.get(token[1:])
    if token in ("null", "true", "false"):
        return {"true": True, "false": False}.get(token)
    return int(token) if token.isdigit() else token.strip('"')


def _root(call: Call, part: Field, variables: Json) -> Any:
    given = {key: _value(token, variables) for key, token in part.arguments.items()}
    name = part.name
    if name == "repository":
        home = call.world.repository(f"{given.get('owner')}/{given.get('name')}")
        authorise(call.who, home, ("pull_requests:read",), write=False)
        return {key: _pull(call, home, one, variables) for key, one in part.inner.items()}
    if name in ("resolveReviewThread", "unresolveReviewThread"):
        raise Refused(403, "Resource not accessible by integration")
    raise Refused(422, f"Field '{name}' doesn't exist on type 'Query'")


def _pull(call: Call, home: Repository, part: Field, variables: Json) -> Any:
    if part.name != "pullRequest":
        raise Refused(422, f"Field '{part.name}' doesn't exist on type 'Repository'")
    pull = pulls.pull_of(home, int(_value(part.arguments.get("number", "0"), variables) or 0))
    return {key: _part(call.world, pull, one, variables) for key, one in part.inner.items()}


def _part(world: World, pull: Pull, part: Field, variables: Json) -> Any:
    given = {key: _value(token, variables) for key, token in part.arguments.items()}
    name = part.name
    if name == "reviewThreads":
        nodes = [_thread(world, pull, first) for first in published(pull) if first.in_reply_to is None]
    elif name == "closingIssuesReferences":
        numbers = dict.fromkeys(int(found) for found in CLOSES.findall(pull.issue.body or ""))
        nodes = [{"number": number} for number in numbers if number in pull.issue.repository.issues]
    else:
        plain = {"id": node_id("PullRequest", pull.id), "number": pull.issue.number, "title": pull.issue.title, "isDraft": pull.draft}
        return project({**plain, "headRefOid": pull.head_sha}, {name: part})[name]
    return project(_connection(nodes, given), part.inner)


def _connection(nodes: list[Json], given: Json) -> Json:
    """A page of nodes; cursors are positions."""
    if not given.get("first") or not 1 <= int(given["first"]) <= 100:
        raise Refused(422, "You must provide a `first` value between 1 and 100 to properly paginate the connection.")
    start = int(given.get("after") or 0)
    end = start + int(given["first"])
    info = {"hasNextPage": end < len(nodes), "endCursor": str(min(end, len(nodes))), "hasPreviousPage": start > 0, "startCursor": str(start)}
    return {"totalCount": len(nodes), "pageInfo": info, "nodes": nodes[start:end]}


def _thread(world: World, pull: Pull, first: ReviewComment) -> Json:
    said = [one for one in pull.comments if first.id in (one.id, one.in_reply_to)]
    comments = [_comment(world, pull, one) for one in said]
    where = {"path": first.path, "line": first.line, "startLine": first.start_line, "originalLine": first.original_line, "diffSide": first.side}
    state = {
        "isResolved": first.id in pull.resolved,
        "isOutdated": first.subject == "line" and first.line is None,
        "subjectType": first.subject.upper(),
    }
    return {"id": node_id("PullRequestReviewThread", first.id), **where, **state, "comments": _connection(comments, {"first": 100})}


def _comment(world: World, pull: Pull, one: ReviewComment) -> Json:
    shown = payloads_talk.review_comment(world, pull, one)
    own = {"id": shown["node_id"], "databaseId": one.id, "fullDatabaseId": str(one.id), "body": one.body, "url": shown["html_url"], "path": one.path}
    return {**own, "author": {"login": one.user.login.removesuffix("[bot]")}, "createdAt": shown["created_at"], "line": one.line}


def project(data: Any, selection: Selection) -> Any:
    """Only what was asked for. Raises `Refused` for a field that is not there."""
    if isinstance(data, list):
        return [project(one, selection) for one in data]
    if not selection or data is None:
        return data
    for one in selection.values():
        if one.name not in data:
            raise Refused(422, f"Field '{one.name}' doesn't exist")
    return {key: project(data[one.name], one.inner) for key, one in selection.items()}
