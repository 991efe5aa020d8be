"""Turns deliveries into what they want: pure functions from bytes to small values.

docs.github.com/webhooks/webhook-events-and-payloads. gidgethub's own reading of a delivery trips over a non-ASCII signature and over a missing
event header, and its dispatch stops at the first failing handler; so only its router is used, as a table.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from gidgethub.routing import Router

from bot.github import pick

Json = dict[str, Any]
SIGNATURE = "x-hub-signature-256"
EVENT = "x-github-event"
DELIVERY = "x-github-delivery"
_ID = re.compile(r"[\w.-]{1,100}\Z", re.ASCII)
_NAME = re.compile(r"[a-z0-9_]{1,60}\Z")
_DIGEST = re.compile(r"sha256=[0-9a-f]{64}\Z")


class BadDelivery(Exception):
    """A delivery that cannot be taken: the HTTP status to answer, and one sentence for GitHub's page of deliveries."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(status, sentence)
        self.status, self.sentence = status, sentence


@dataclass(frozen=True)
class Event:
    """One delivery, read. `name` is the event (`pull_request`), `payload` GitHub's JSON object."""

    delivery: str
    name: str
    payload: Json

    # What gidgethub's router reads.
    @property
    def event(self) -> str:
        return self.name

    @property
    def data(self) -> Json:
        return {"action": self.action}

    @property
    def action(self) -> str:
        """ "" for an event without one."""
        return pick.text(self.payload, "action")


# ---------------------------------------------------------------- wishes


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is wanted. `repository_id` stays when a repository is renamed, `full_name` (`owner/name`) is today's name."""

    installation: int
    repository_id: int
    full_name: str


@dataclass(frozen=True, slots=True)
class ReviewPull(Place):
    """Review this pull. `reason` is the action (`opened`, `synchronize`, `edited`, …); `at` is the pull's `updated_at` (ISO 8601), "" if untold.

    `changes` names what an `edited` changed (`title`, `body`, `base`); Enterprise Server omits it, then it is empty.
    """

    number: int
    head: str
    reason: str
    base_ref: str = ""
    draft: bool = False
    at: str = ""
    sender: str = ""
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClosePull(Place):
    """The pull was closed or merged: what runs for it can stop."""

    number: int
    merged: bool
    at: str = ""


@dataclass(frozen=True, slots=True)
class ReviewIssue(Place):
    """Look at this issue: it was opened, edited, reopened, labelled, or closed (`reason` is the action)."""

    number: int
    reason: str
    at: str = ""
    sender: str = ""
    changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command(Place):
    """Somebody wrote (or edited) a comment that may hold commands; `bot.review.commands` reads `body`.

    `before` is the text before an edit: None for a new comment, "" where GitHub does not tell. `association` as GitHub prints it.
    """

    number: int
    on_pull: bool
    comment_id: int
    login: str
    association: str
    body: str
    before: str | None = None
    at: str = ""


@dataclass(frozen=True, slots=True)
class Rerun(Place):
    """Somebody pressed *Re-run*. `numbers` are the pulls that GitHub names; for a fork's head it names none: look `head` up.

    `check_run_id` and `external_id` are the run's, None and "" for a whole suite. `head_ref` is the branch, "" if untold (a merge group's
    begins with `gh-readonly-queue/`).
    """

    head: str
    numbers: tuple[int, ...]
    check_run_id: int | None = None
    external_id: str = ""
    head_ref: str = ""
    sender: str = ""


@dataclass(frozen=True, slots=True)
class ReviewGroup(Place):
    """Check a merge group: `head` is the commit that would become `base_ref`'s tip, `base` what it stands on."""

    head: str
    head_ref: str
    base: str
    base_ref: str


@dataclass(frozen=True, slots=True)
class Installation:
    """The app was put on an account, taken off, suspended, or its repositories changed. `action` as GitHub names it."""

    installation: int
    action: str
    account: str
    added: tuple[tuple[int, str], ...] = ()
    removed: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing is wanted, and why."""

    why: str


Wish = ReviewPull | ClosePull | ReviewIssue | Command | Rerun | ReviewGroup | Installation | Nothing

# ---------------------------------------------------------------- bytes → event


def verify(secrets: Sequence[bytes], body: bytes, signature: str | None) -> bool:
    """Whether `signature` (`X-Hub-Signature-256`) was made of these bytes with one of the secrets. Takes the same time for every answer.

    docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
    """
    given = (signature or "").encode("utf-8", "surrogateescape")
    matches = [hmac.compare_digest(b"sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest().encode(), given) for secret in secrets if secret]
    return any(matches)


def looks_signed(signature: str | None) -> bool:
    """Whether it has the form of a signature at all: what has not need not be read."""
    return _DIGEST.match(signature or "") is not None


def event_of(headers: Mapping[str, str], body: bytes) -> Event:
    """The event in a verified body. `headers` has lower-case names. Raises `BadDelivery`."""
    name, delivery = headers.get(EVENT, ""), headers.get(DELIVERY, "")
    if not _NAME.match(name):
        raise BadDelivery(400, "there is no usable X-GitHub-Event header.")
    if not _ID.match(delivery):
        raise BadDelivery(400, "there is no usable X-GitHub-Delivery header.")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise BadDelivery(415, "set the webhook's content type to application/json.")
    return Event(delivery, name, _object(body))


def _object(body: bytes) -> Json:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadDelivery(400, "the body is not JSON.") from error
    if not isinstance(found, dict):
        raise BadDelivery(400, "the body is not a JSON object.")
    return found


# ---------------------------------------------------------------- event → wishes

Reading = Callable[[Event], Wish]
_TABLE = Router()


def _on(name: str, *actions: str) -> Callable[[Reading], Reading]:
    def register(reading: Reading) -> Reading:
        for action in actions:
            _TABLE.add(cast(Any, reading), name, action=action)
        return reading

    return register


def wishes(event: Event, me: str = "") -> tuple[Wish, ...]:
    """What the delivery wants; never empty. `me` is the bot's own login (`assay[bot]`): what it did itself wants nothing."""
    if me and pick.text(event.payload, "sender", "login").lower() == me.lower():
        return (Nothing("it is the bot's own doing"),)
    readings = _TABLE.fetch(cast(Any, event))
    if not readings:
        return (Nothing(f"{event.name}{f' {event.action}' if event.action else ''} is not listened to"),)
    try:
        return tuple(cast(Reading, reading)(event) for reading in readings)
    except _Lacking as lacking:
        return (Nothing(f"{event.name} lacks {lacking}"),)


@_on("pull_request", "opened", "synchronize", "reopened", "edited", "ready_for_review", "converted_to_draft")
def _pull(event: Event) -> Wish:
    pull = event.payload.get("pull_request")
    return ReviewPull(
        *_place(event),
        number=_need(pull, "number"),
        head=_sha(pull, "head", "sha"),
        reason=event.action,
        base_ref=pick.text(pull, "base", "ref"),
        draft=pick.true(pull, "draft"),
        at=pick.text(pull, "updated_at"),
        sender=pick.text(event.payload, "sender", "login"),
        changes=_changes(event),
    )


@_on("pull_request", "closed")
def _closed(event: Event) -> Wish:
    pull = event.payload.get("pull_request")
    return ClosePull(*_place(event), _need(pull, "number"), pick.true(pull, "merged"), pick.text(pull, "updated_at"))


@_on("issues", "opened", "edited", "reopened", "closed", "labeled", "unlabeled")
def _issue(event: Event) -> Wish:
    issue = event.payload.get("issue")
    sender = pick.text(event.payload, "sender", "login")
    return ReviewIssue(*_place(event), _need(issue, "number"), event.action, pick.text(issue, "updated_at"), sender, _changes(event))


@_on("issue_comment", "created", "edited")
def _comment(event: Event) -> Wish:
    issue, comment = event.payload.get("issue"), event.payload.get("comment")
    if pick.text(comment, "user", "type") == "Bot" or pick.text(event.payload, "sender", "type") == "Bot":
        return Nothing("a bot's comment commands nothing")
    return Command(
        *_place(event),
        number=_need(issue, "number"),
        on_pull=pick.anything(issue, "pull_request") is not None,
        comment_id=_need(comment, "id"),
        login=pick.text(comment, "user", "login"),
        association=pick.text(comment, "author_association") or "NONE",
        body=pick.text(comment, "body"),
        before=pick.text(event.payload, "changes", "body", "from") if event.action == "edited" else None,
        at=pick.text(comment, "updated_at"),
    )


@_on("check_run", "rerequested", "requested_action")
def _run(event: Event) -> Wish:
    run = event.payload.get("check_run")
    if event.action == "requested_action" and pick.text(event.payload, "requested_action", "identifier") != "rerun":
        return Nothing("the button is not one of ours")
    return Rerun(
        *_place(event),
        head=_sha(run, "head_sha"),
        numbers=_numbers(pick.anything(run, "pull_requests")),
        check_run_id=_need(run, "id"),
        external_id=pick.text(run, "external_id"),
        head_ref=pick.text(run, "check_suite", "head_branch"),
        sender=pick.text(event.payload, "sender", "login"),
    )


@_on("check_suite", "rerequested")
def _suite(event: Event) -> Wish:
    suite = event.payload.get("check_suite")
    sender = pick.text(event.payload, "sender", "login")
    return Rerun(
        *_place(event), _sha(suite, "head_sha"), _numbers(pick.anything(suite, "pull_requests")), None, "", pick.text(suite, "head_branch"), sender
    )


@_on("merge_group", "checks_requested")
def _group(event: Event) -> Wish:
    group = event.payload.get("merge_group")
    base_ref = pick.text(group, "base_ref").removeprefix("refs/heads/")
    head_ref = pick.text(group, "head_ref").removeprefix("refs/heads/")
    return ReviewGroup(*_place(event), _sha(group, "head_sha"), head_ref, _sha(group, "base_sha"), base_ref)


@_on("installation", "created", "deleted", "suspend", "unsuspend", "new_permissions_accepted")
@_on("installation_repositories", "added", "removed")
def _installation(event: Event) -> Wish:
    payload = event.payload
    added = payload.get("repositories_added") or (payload.get("repositories") if event.action == "created" else None)
    account = pick.text(payload, "installation", "account", "login")
    found = _need(payload, "installation", "id")
    return Installation(found, event.action, account, _repositories(added), _repositories(payload.get("repositories_removed")))


def events() -> tuple[str, ...]:
    """The events that are listened to, in order of the alphabet."""
    return tuple(sorted(_TABLE._deep_routes))


# ---------------------------------------------------------------- looking into payloads


class _Lacking(Exception):
    """The payload has not what its event promises."""


def _need(held: Any, *keys: str) -> int:
    found = pick.anything(held, *keys)
    if not isinstance(found, int) or isinstance(found, bool):
        raise _Lacking(".".join(keys))
    return found


def _sha(held: Any, *keys: str) -> str:
    found = pick.text(held, *keys).lower()
    if not re.fullmatch(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", found):
        raise _Lacking(".".join(keys))
    return found


def _place(event: Event) -> tuple[int, int, str]:
    name = pick.text(event.payload, "repository", "full_name")
    if not name:
        raise _Lacking("repository.full_name")
    return _need(event.payload, "installation", "id"), _need(event.payload, "repository", "id"), name


def _changes(event: Event) -> tuple[str, ...]:
    found = event.payload.get("changes")
    return tuple(sorted(key for key in found if isinstance(key, str))) if isinstance(found, Mapping) else ()


def _numbers(pulls: Any) -> tuple[int, ...]:
    return tuple(_need(pull, "number") for pull in pulls if isinstance(pull, Mapping)) if isinstance(pulls, list) else ()


def _repositories(held: Any) -> tuple[tuple[int, str], ...]:
    return tuple((_need(one, "id"), pick.text(one, "full_name")) for one in held if isinstance(one, Mapping)) if isinstance(held, list) else ()
