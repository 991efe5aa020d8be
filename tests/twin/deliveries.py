"""Webhook deliveries: signed, sent, recorded, and sent again under the same GUID."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import aiohttp

from tests.twin.limits import DELIVERY_BYTES, DELIVERY_DAYS, DELIVERY_SECONDS
from tests.twin.state import Json, Refused, World, not_found, stamp


@dataclass(frozen=True)
class Delivery:
    """One attempt. `status` in GitHub's words; `status_code` 0 where no answer came. `seconds` is how long the answer took."""

    id: int
    guid: str
    event: str
    action: str | None
    installation_id: int | None
    repository_id: int | None
    body: bytes
    headers: Mapping[str, str]
    to: str
    at: datetime
    redelivery: bool
    status: str
    status_code: int
    seconds: float
    answer_headers: Mapping[str, str] = field(default_factory=dict)
    answer: str = ""

    @property
    def ok(self) -> bool:
        return self.status == "OK"

    @property
    def payload(self) -> Json:
        found: Json = json.loads(self.body)
        return found


def sign(secret: str, body: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def headers_for(world: World, event: str, guid: str, body: bytes, content_type: str = "application/json") -> dict[str, str]:
    """The headers that GitHub sends."""
    return {
        "Accept": "*/*",
        "Content-Type": content_type,
        "User-Agent": "GitHub-Hookshot/0000000",
        "X-GitHub-Delivery": guid,
        "X-GitHub-Event": event,
        "X-GitHub-Hook-ID": "1",
        "X-GitHub-Hook-Installation-Target-ID": str(world.app.id),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-Hub-Signature-256": sign(world.app.webhook_secret, body),
    }


@dataclass
class Courier:
    """Sends and remembers. `to` is the app's webhook address; None sends only where a test says so."""

    world: World
    session: aiohttp.ClientSession
    to: str | None = None
    sent: list[Delivery] = field(default_factory=list)
    timeout: float = DELIVERY_SECONDS

    async def deliver(
        self,
        event: str,
        payload: Json,
        to: str | None = None,
        *,
        guid: str | None = None,
        headers: Mapping[str, str | None] | None = None,
        form: bool = False,
    ) -> Delivery:
        """Send one event. `headers` overrides (None drops one); `form` sends it form-encoded, which an app must refuse or read."""
        body = json.dumps(payload, separators=(",", ":")).encode()
        if form:
            body = urlencode({"payload": body.decode()}).encode()
        kind = "application/x-www-form-urlencoded" if form else "application/json"
        guid = guid or str(uuid4())
        own = headers_for(self.world, event, guid, body, kind)
        given = {key: value for key, value in {**own, **(headers or {})}.items() if value is not None}
        return await self._send(event, payload, body, given, self._address(to), guid, redelivery=False)

    def _address(self, to: str | None) -> str:
        address = to or self.to
        if address is None:
            raise ValueError("no webhook address: give `to`, or set it for all deliveries")
        return address

    async def redeliver(self, delivery_id: int, to: str | None = None) -> Delivery:
        """Send it again, byte by byte, under the same GUID. Raises `Refused` past three days."""
        old = self.find(delivery_id)
        return await self._send(old.event, old.payload, old.body, old.headers, to or old.to, old.guid, redelivery=True)

    def find(self, delivery_id: int) -> Delivery:
        found = next((one for one in self.sent if one.id == delivery_id), None)
        if found is None:
            raise not_found()
        if found.at < self.world.clock.now() - timedelta(days=DELIVERY_DAYS):
            raise Refused(422, "Deliveries older than three days cannot be redelivered.")
        return found

    async def _send(self, event: str, payload: Json, body: bytes, headers: Mapping[str, str], to: str, guid: str, redelivery: bool) -> Delivery:
        if len(body) > DELIVERY_BYTES:
            raise ValueError(f"GitHub does not deliver payloads above {DELIVERY_BYTES} bytes")
        at, began = self.world.clock.now(), time.perf_counter()
        status, code, answer_headers, answer = await self._post(to, body, headers)
        ids = [payload[key].get("id") if isinstance(payload.get(key), dict) else None for key in ("installation", "repository")]
        delivery = Delivery(
            self.world.next_id(), guid, event, payload.get("action"), ids[0], ids[1], body, headers, to, at, redelivery,
            status, code, time.perf_counter() - began, answer_headers, answer,
        )  # fmt: skip
        self.sent.append(delivery)
        return delivery

    async def _post(self, to: str, body: bytes, headers: Mapping[str, str]) -> tuple[str, int, Mapping[str, str], str]:
        try:
            limit = aiohttp.ClientTimeout(total=self.timeout)
            async with self.session.post(to, data=body, headers=headers, timeout=limit, allow_redirects=False) as answer:
                text = await answer.text(errors="replace")
                word = "OK" if 200 <= answer.status < 300 else f"Invalid HTTP Response: {answer.status}"
                return word, answer.status, dict(answer.headers), text
        except TimeoutError:
            return "timed out", 0, {}, ""
        except aiohttp.ClientError:
            return "failed to connect to host", 0, {}, ""


def summary(one: Delivery) -> Json:
    """A delivery as the list of an app's deliveries prints it."""
    own: dict[str, Any] = {
        "id": one.id,
        "guid": one.guid,
        "delivered_at": stamp(one.at),
        "redelivery": one.redelivery,
        "duration": round(one.seconds, 3),
    }
    result = {"status": one.status, "status_code": one.status_code, "event": one.event, "action": one.action}
    return {**own, **result, "installation_id": one.installation_id, "repository_id": one.repository_id, "throttled_at": None}


def detail(one: Delivery) -> Json:
    return {
        **summary(one),
        "url": one.to,
        "request": {"headers": dict(one.headers), "payload": one.payload},
        "response": {"headers": dict(one.answer_headers), "payload": one.answer},
    }


def failed(one: Delivery) -> bool:
    """What `status=failure` finds: only answers of 400–599, so a time-out is not among them."""
    return 400 <= one.status_code <= 599
