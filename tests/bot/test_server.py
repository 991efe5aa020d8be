"""The server over real connections: what it takes, what it refuses, and that nothing is lost on the way."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.server import PAYLOAD_LIMIT, application, serving
from tests.twin import PullHandle, Twin
from tests.twin.corpus import examples, folder
from tests.twin.deliveries import headers_for, sign
from tests.twin.server import SECRET
from tests.twin_tests.stage import stage

WRONG = "sha256=" + "0" * 64


@dataclass
class Kept:
    """What was ingested. `fail` makes it break, `wait` makes it slow."""

    taken: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    fail: bool = False
    wait: float = 0.0

    async def ingest(self, delivery: str, event: str, payload: dict[str, Any]) -> None:
        await asyncio.sleep(self.wait)
        if self.fail:
            raise RuntimeError("database: disk full, parameters: {'body': 'private'}")
        self.taken.append(delivery)
        self.events.append(event)


@dataclass
class Scene:
    twin: Twin
    pull: PullHandle
    url: str
    kept: Kept
    session: aiohttp.ClientSession

    @property
    def hook(self) -> str:
        return self.url + "/webhook"

    async def post(self, body: bytes, **changes: str | None) -> tuple[int, str]:
        """Post bytes signed as GitHub does; a header that is None is left out."""
        own = headers_for(self.twin.world, "pull_request", "guid-1", body)
        given = {
            key: value for key, value in {**own, **{name.replace("_", "-"): value for name, value in changes.items()}}.items() if value is not None
        }
        async with self.session.post(self.hook, data=body, headers=given) as answer:
            return answer.status, await answer.text()

    async def metric(self, name: str) -> float:
        async with self.session.get(self.url + "/metrics") as answer:
            lines = (await answer.text()).splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


@asynccontextmanager
async def scene(folder: Path, **how: Any) -> AsyncIterator[Scene]:
    kept = Kept()
    app = application([SECRET.encode()], kept.ingest, **how)
    async with stage(folder) as on, aiohttp.ClientSession() as session, serving(app, "127.0.0.1", 0) as url:
        yield Scene(on.twin, on.pull, url, kept, session)


async def test_a_signed_delivery_is_kept_before_it_is_acknowledged(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        delivery = await at.twin.deliver("pull_request", action="opened", pull=at.pull, to=at.hook)
        assert (delivery.status_code, at.kept.taken, at.kept.events) == (202, [delivery.guid], ["pull_request"])
        assert await at.metric('assay_deliveries_total{event="pull_request",outcome="taken"}') == 1


@pytest.mark.parametrize("secrets", [(), (b"",), (b"x", b"")])
def test_t45_it_refuses_to_start_without_a_secret(secrets: tuple[bytes, ...]) -> None:
    with pytest.raises(ValueError, match="secret"):
        application(secrets, Kept().ingest)


@pytest.mark.parametrize("signature", [None, "", WRONG, "sha256=xyz", "sha1=" + "0" * 40, "sha256=" + "é" * 32, "sha256=\x80", WRONG.upper()])
async def test_a_bad_signature(tmp_path: Path, signature: str | None) -> None:
    async with scene(tmp_path) as at:
        status, _ = await at.post(b'{"action": "opened"}', X_Hub_Signature_256=signature)
        assert status == 401 and at.kept.taken == []


async def test_a_signature_in_bytes_that_are_no_text(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(at.url.rpartition(":")[2]))
        writer.write(b"POST /webhook HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: sha256=\xff\xfe\xc3\x28\r\nContent-Length: 2\r\n\r\n{}")
        assert b" 401 " in await reader.readline()
        writer.close()


async def test_headers_and_bodies_that_are_none(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        body = b'{"action": "opened"}'
        assert (await at.post(body, X_GitHub_Event=None))[0] == 400
        assert (await at.post(body, X_GitHub_Delivery=None))[0] == 400
        assert (await at.post(body[:-4]))[0] == 400
        assert (await at.post(body[:-4], X_Hub_Signature_256=sign(SECRET, body)))[0] == 401
        assert (await at.post(b"[" * 100_000))[0] == 400
        assert (await at.post(b""))[0] == 400
        form = await at.twin.deliver("pull_request", action="opened", pull=at.pull, to=at.hook, form=True)
        assert form.status_code == 415 and "application/json" in form.answer
        assert at.kept.taken == []


async def test_a_body_that_ends_too_early(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        _, writer = await asyncio.open_connection("127.0.0.1", int(at.url.rpartition(":")[2]))
        head = f"POST /webhook HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: {WRONG}\r\nContent-Length: 1000\r\n\r\n"
        writer.write(head.encode() + b'{"action":')
        await writer.drain()
        writer.close()
        await asyncio.sleep(0.05)
        assert (await at.twin.deliver("pull_request", action="opened", pull=at.pull, to=at.hook)).ok


@pytest.mark.parametrize("announced", [True, False])
async def test_26_megabytes(tmp_path: Path, announced: bool) -> None:
    async with scene(tmp_path) as at:
        body = b'{"action": "' + b"x" * (26 * 1024 * 1024) + b'"}'
        headers = headers_for(at.twin.world, "pull_request", "guid-1", body)

        async def pieces() -> AsyncIterator[bytes]:
            for start in range(0, len(body), 1024 * 1024):
                yield body[start : start + 1024 * 1024]

        try:
            async with at.session.post(at.hook, data=body if announced else pieces(), headers=headers) as answer:
                assert answer.status == 413
        except aiohttp.ClientOSError:
            pass  # it answered and closed while we were still sending
        assert at.kept.taken == [] and await at.metric('assay_deliveries_total{event="unknown",outcome="refused 413"}') == 1


async def test_25_megabytes_are_taken_and_others_are_answered_meanwhile(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        payload = at.twin.payload("pull_request", action="opened", pull=at.pull)
        payload["pull_request"]["body"] = "x" * (PAYLOAD_LIMIT - 100_000)
        large = asyncio.ensure_future(at.twin.deliver("pull_request", payload, to=at.hook, guid="large"))
        small = await at.twin.deliver("pull_request", action="opened", pull=at.pull, to=at.hook, guid="small")
        assert small.ok and (await large).ok and sorted(at.kept.taken) == ["large", "small"]


async def test_events_that_want_nothing_are_acknowledged(tmp_path: Path) -> None:
    async with scene(tmp_path, me="assay[bot]") as at:
        assert (await at.twin.deliver("ping", to=at.hook)).status_code == 202
        assert (await at.twin.deliver("made_up", {"action": "x"}, to=at.hook)).status_code == 202
        own = at.twin.payload("pull_request", action="edited", pull=at.pull)
        own["sender"] = {"login": "assay[bot]", "type": "Bot"}
        assert (await at.twin.deliver("pull_request", own, to=at.hook)).status_code == 202
        assert at.kept.taken == []


async def test_t13_a_redelivery_is_taken_once(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        first = await at.twin.deliver("pull_request", action="opened", pull=at.pull, to=at.hook)
        again = await at.twin.redeliver(first, at.hook)
        assert again.guid == first.guid and again.status_code == 202 and at.kept.taken == [first.guid]


async def test_t15_the_same_delivery_twice_at_once(tmp_path: Path) -> None:
    async with scene(tmp_path) as at:
        at.kept.wait = 0.05
        both = [at.twin.deliver("pull_request", action="opened", pull=at.pull, to=at.hook, guid="same") for _ in range(5)]
        assert [one.status_code for one in await asyncio.gather(*both)] == [202] * 5 and at.kept.taken == ["same"]


async def test_t14_what_could_not_be_kept_is_not_acknowledged_and_can_come_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with scene(tmp_path) as at:
        at.kept.fail = True
        both = [at.twin.deliver("pull_request", action="opened", pull=at.pull, to=at.hook, guid="same") for _ in range(2)]
        assert [one.status_code for one in await asyncio.gather(*both)] == [503, 503]
        at.kept.fail = False
        assert (await at.twin.deliver("pull_request", action="opened", pull=at.pull, to=at.hook, guid="same")).status_code == 202
        assert at.kept.taken == ["same"]
    assert "delivery same (pull_request) could not be kept: RuntimeError" in caplog.text and "private" not in caplog.text


async def test_a_store_that_does_not_answer_is_a_503_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.server.INGEST_SECONDS", 0.05)
    async with scene(tmp_path) as at:
        at.kept.wait = 5
        delivery = await at.twin.deliver("pull_request", action="opened", pull=at.pull, to=at.hook)
        assert delivery.status_code == 503 and delivery.seconds < 2


async def test_a_slow_sender_is_sent_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.server.READ_SECONDS", 0.05)
    async with scene(tmp_path) as at:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(at.url.rpartition(":")[2]))
        writer.write(f"POST /webhook HTTP/1.1\r\nHost: x\r\nX-Hub-Signature-256: {WRONG}\r\nContent-Length: 1000\r\n\r\n{{".encode())
        assert b" 408 " in await reader.readline()
        writer.close()


async def test_health_and_other_addresses(tmp_path: Path) -> None:
    reasons: list[str | None] = [None, "the database does not answer"]

    async def ready() -> str | None:
        return reasons.pop(0)

    async with scene(tmp_path, ready=ready) as at:
        found = []
        for path in ("/healthz", "/readyz", "/readyz", "/webhook", "/nothing"):
            async with at.session.get(at.url + path) as answer:
                found.append(answer.status)
        assert found == [200, 200, 503, 405, 404]


async def test_what_is_being_answered_is_finished_at_the_end(tmp_path: Path) -> None:
    kept = Kept(wait=2)
    async with stage(tmp_path) as on:
        async with serving(application([SECRET.encode()], kept.ingest), "127.0.0.1", 0) as url:
            sending = asyncio.ensure_future(on.twin.deliver("pull_request", action="opened", pull=on.pull, to=url + "/webhook"))
            await asyncio.sleep(1)
        assert (await sending).status_code == 202 and len(kept.taken) == 1
        assert (await on.twin.deliver("pull_request", action="opened", pull=on.pull, to=url + "/webhook")).status_code == 0


async def test_an_address_in_use_is_an_error(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match="in use"):
            async with serving(application([b"x"], Kept().ingest), "127.0.0.1", taken.getsockname()[1]):
                pass


@pytest.mark.skipif(folder() is None, reason="npm's @octokit/webhooks-examples is not installed")
async def test_every_payload_of_the_corpus_is_acknowledged(tmp_path: Path) -> None:
    """GitHub's published examples, where they are installed (`tests/twin/corpus.py`)."""
    async with scene(tmp_path) as at:
        found = [await at.twin.deliver(name, payload, to=at.hook) for name, payload in examples(enterprise=True)]
        assert {one.status_code for one in found} <= {202}
