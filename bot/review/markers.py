"""Hidden signed markers: what the bot posted, told by the post itself, and by nobody else.

People with write access can edit a bot's comment. So a marker carries an HMAC over its kind, its conversation and its content, and counts only in
what the bot itself wrote. One that is copied from an older post has a lower serial, and loses.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from bot.review.ledger import Ledger, Standing, ledger_object, read_ledger

Kind = Literal["review", "inline", "check"]
MARKER_LIMIT = 20_000
# Standard base64 and not its URL form: that has `-`, and two of them end an HTML comment.
_MARKER = re.compile(r"<!-- assay:v1:(review|inline|check):([A-Za-z0-9+/=]{1,30000}):([0-9a-f]{64}) -->")
# A genuine payload is ours; the bound keeps a mistake of ours from filling the memory.
_UNPACKED_LIMIT = 4 * 1024 * 1024


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
    """The marker as an HTML comment of at most `MARKER_LIMIT` bytes. A ledger that is too long loses words first, then ended stories, then the rest."""
    return next(text for text in _ever_shorter(marker, key) if len(text) <= MARKER_LIMIT)


def read(body: str, key: bytes, conversation: str) -> Marker | None:
    """The last genuine marker of this conversation in `body` (it is always at the end); None where there is none. Never raises."""
    found = [one for match in _MARKER.finditer(body) if (one := _opened(match, key, conversation)) is not None]
    return found[-1] if found else None


def mark_of(text: str) -> str:
    """The part of a marked text that is in no other post: by it a write that GitHub stored without saying so is found again."""
    found = _MARKER.findall(text)
    return found[-1][2] if found else ""


def without(body: str) -> str:
    """`body` without its markers and without what GitHub changes by itself: line ends, and space at the end."""
    return _MARKER.sub("", body.replace("\r\n", "\n")).rstrip()


# ---------------------------------------------------------------- packing


def _text(kind: str, conversation: str, content: dict[str, Any], key: bytes) -> str:
    raw = json.dumps(content, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode("utf-8", "replace")
    packed = base64.b64encode(zlib.compress(raw, 9)).decode("ascii")
    return f"<!-- assay:v1:{kind}:{packed}:{_signature(kind, conversation, packed, key)} -->"


def _signature(kind: str, conversation: str, packed: str, key: bytes) -> str:
    return hmac.new(key, json.dumps([kind, conversation, packed]).encode(), hashlib.sha256).hexdigest()


def _content(marker: Marker) -> dict[str, Any]:
    if marker.ledger is not None:
        return {"ledger": ledger_object(marker.ledger)}
    held = {"number": marker.number, "fingerprint": marker.fingerprint, "state": marker.state, "digest": marker.digest}
    return {name: value for name, value in held.items() if value}


def _ever_shorter(marker: Marker, key: bytes) -> Iterator[str]:
    yield _text(marker.kind, marker.conversation, _content(marker), key)
    for ledger in _ever_smaller(marker.ledger) if marker.ledger else ():
        yield _text(marker.kind, marker.conversation, _content(replace(marker, ledger=ledger)), key)


def _ever_smaller(ledger: Ledger) -> Iterator[Ledger]:
    """Without words; then with ended stories left out; then with ever fewer stories. Numbers are never given twice: `last` stays."""
    terse = replace(ledger, standings=tuple(_terse(one) for one in ledger.standings))
    yield terse
    firing = replace(terse, standings=tuple(one for one in terse.standings if one.state.fires))
    yield firing
    kept = len(firing.standings)
    while kept:
        kept = kept * 3 // 4
        yield replace(firing, standings=firing.standings[:kept])


def _terse(standing: Standing) -> Standing:
    points = (replace(one, title="", value="", now="", place="") for one in standing.points[:20])
    override = replace(standing.override, reason=standing.override.reason[:80]) if standing.override else None
    return replace(standing, points=tuple(points), roots=standing.roots[:8], override=override)


def _opened(match: re.Match[str], key: bytes, conversation: str) -> Marker | None:
    kind, packed, signature = match[1], match[2], match[3]
    if not hmac.compare_digest(_signature(kind, conversation, packed, key), signature):
        return None
    try:
        return _marker(kind, conversation, _unpacked(packed))
    except (ValueError, binascii.Error, zlib.error):
        return None


def _unpacked(packed: str) -> dict[str, Any]:
    raw = zlib.decompressobj().decompress(base64.b64decode(packed, validate=True), _UNPACKED_LIMIT)
    found: dict[str, Any] = json.loads(raw)
    return found


def _marker(kind: str, conversation: str, content: dict[str, Any]) -> Marker:
    if kind == "review":
        return Marker("review", conversation, ledger=read_ledger(content.get("ledger")))
    held = {name: content[name] for name in ("number", "fingerprint", "state", "digest") if name in content}
    return Marker("inline" if kind == "inline" else "check", conversation, **held)
