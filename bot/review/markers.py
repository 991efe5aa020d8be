"""Hidden signed markers: what the bot posted, told by the post itself, and by nobody else.

People with write access can edit a bot's comment. So a marker carries an HMAC over its kind, its conversation and its content, and counts only in
what the bot itself wrote. One that is copied from an older post has a lower serial, and loses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bot.review.ledger import Ledger

Kind = Literal["review", "inline", "check"]
MARKER_LIMIT = 20_000


@dataclass(frozen=True, slots=True)
class Marker:
    """What a posted text says of itself.

    kind     `review`: `ledger` is set. `inline`: a comment about F`number`, about the finding `fingerprint`. `check`: `digest` of the annotations
    """

    kind: Kind
    conversation: str
    ledger: Ledger | None = None
    number: int = 0
    fingerprint: str = ""
    state: str = ""
    digest: str = ""


def signed(marker: Marker, key: bytes) -> str:
    """The marker as an HTML comment of at most `MARKER_LIMIT` bytes. A ledger that is too long loses words first, then its oldest ended stories."""
    raise NotImplementedError


def read(body: str, key: bytes, conversation: str) -> Marker | None:
    """The first genuine marker of this conversation in `body`; None where there is none. Never raises."""
    raise NotImplementedError


def mark_of(text: str) -> str:
    """The part of a signed marker that is in no other post: by it a write that GitHub stored without saying so is found again."""
    raise NotImplementedError


def without(body: str) -> str:
    """`body` without its markers, for a look at the words."""
    raise NotImplementedError


__all__ = ["Kind", "Marker", "mark_of", "read", "signed", "without"]
