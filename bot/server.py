"""The web server: takes GitHub's deliveries, says that it lives, and counts. What a delivery wants is somebody else's business (`ingest`)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from bot.github.webhooks import SIGNATURE, BadDelivery, Event, Json, Nothing, event_of, looks_signed, verify, wishes

log = logging.getLogger("assay.server")

# "Webhook payloads are capped at 25 MB" (docs.github.com/webhooks/webhook-events-and-payloads).
PAYLOAD_LIMIT = 25 * 1024 * 1024
# GitHub waits ten seconds for an answer and does not retry by itself (docs.github.com/webhooks/using-webhooks/best-practices-for-using-webhooks).
READ_SECONDS = 8.0
INGEST_SECONDS = 8.0
SHUTDOWN_SECONDS = 20.0
# How long the rest of a refused body is still read, so that its sender sees the answer.
LINGER_SECONDS = 1.0
# Above this a body is hashed and read beside the event loop, and few such bodies are held at a time: their senders are not known yet.
LARGE = 1024 * 1024
LARGE_AT_ONCE = 4
REMEMBERED = 10_000

Ingest = Callable[[str, str, Json], Awaitable[object]]
Ready = Callable[[], Awaitable[str | None]]


async def always_ready() -> str | None:
    """What `ready` answers where nothing can be unready: no reason."""
    return None


class Counts:
    """What `/metrics` shows."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self.deliveries = Counter("assay_deliveries", "Deliveries by event and outcome", ("event", "outcome"), registry=registry)
        self.seconds = Histogram(
            "assay_acknowledge_seconds",
            "From a delivery's headers to its acknowledgement",
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 10),
            registry=registry,
        )


class Deliveries:
    """`POST /webhook`: verify, read, keep, acknowledge; in this order."""

    def __init__(self, secrets: Sequence[bytes], ingest: Ingest, counts: Counts, me: str = "") -> None:
        if not secrets or not all(secrets):
            raise ValueError("without a webhook secret every delivery would be accepted")
        self._secrets, self._ingest, self._counts, self._me = tuple(secrets), ingest, counts, me
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)
        self._taken: OrderedDict[str, None] = OrderedDict()
        self._taking: dict[str, asyncio.Task[object]] = {}

    async def handle(self, request: web.Request) -> web.Response:
        """202 once the delivery is kept (or wants nothing, or is known already); 4xx for what GitHub did not sign so; 503 where it cannot be kept."""
        began, name = time.perf_counter(), "unknown"
        try:
            event = await self._verified(request)
            name = event.name
            outcome = await self._accept(event)
            self._counts.seconds.observe(time.perf_counter() - began)
            status, sentence = (503, "it could not be kept; deliver it again.") if outcome == "failed" else (202, outcome)
        except BadDelivery as bad:
            outcome, status, sentence = f"refused {bad.status}", bad.status, bad.sentence
        self._counts.deliveries.labels(name, outcome).inc()
        return web.json_response({"message": sentence}, status=status)

    async def _verified(self, request: web.Request) -> Event:
        """The event, after its signature. What is not signed in form is not even read."""
        signature = request.headers.get(SIGNATURE)
        if not looks_signed(signature):
            raise BadDelivery(401, "the signature is missing or is none.")
        if (request.content_length or 0) > PAYLOAD_LIMIT:
            raise BadDelivery(413, "the body has more than 25 MB.")
        if (request.content_length or LARGE + 1) <= LARGE:
            return self._read(request.headers, await self._body(request), signature)
        async with self._large:
            return await asyncio.to_thread(self._read, request.headers, await self._body(request), signature)

    async def _body(self, request: web.Request) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(READ_SECONDS):
                async for chunk in request.content.iter_chunked(256 * 1024):
                    body += chunk
                    if len(body) > PAYLOAD_LIMIT:
                        raise BadDelivery(413, "the body has more than 25 MB.")
        except TimeoutError as error:
            raise BadDelivery(408, "the body did not arrive in time.") from error
        except (web.RequestPayloadError, ConnectionError, ValueError) as error:
            raise BadDelivery(400, "the body ended too early.") from error
        return bytes(body)

    def _read(self, headers: Mapping[str, str], body: bytes, signature: str | None) -> Event:
        if not verify(self._secrets, body, signature):
            raise BadDelivery(401, "the signature is not ours.")
        return event_of({name.lower(): value for name, value in headers.items()}, body)

    async def _accept(self, event: Event) -> str:
        """What became of it: `nothing`, `duplicate`, `taken` or `failed`."""
        if all(isinstance(wish, Nothing) for wish in wishes(event, self._me)):
            return "nothing"
        if event.delivery in self._taken:
            return "duplicate"
        known = self._taking.get(event.delivery)
        try:
            await (asyncio.shield(known) if known else self._keep(event))
        except Exception as error:
            # Whatever failed, GitHub must hear that the delivery is not kept; only then can it be delivered again. A database's own words may
            # quote the payload: they are for debugging alone.
            log.error("delivery %s (%s) could not be kept: %s", event.delivery, event.name, type(error).__name__)
            log.debug("delivery %s", event.delivery, exc_info=True)
            return "failed"
        return "duplicate" if known else "taken"

    async def _keep(self, event: Event) -> None:
        """Ingest once, also when the same delivery comes twice at the same time. It counts as taken only afterwards."""

        async def keep() -> object:
            async with asyncio.timeout(INGEST_SECONDS):
                return await self._ingest(event.delivery, event.name, event.payload)

        task = self._taking[event.delivery] = asyncio.ensure_future(keep())
        task.add_done_callback(lambda done: self._kept(event.delivery, done))
        await asyncio.shield(task)

    def _kept(self, delivery: str, done: asyncio.Task[object]) -> None:
        self._taking.pop(delivery, None)
        if done.cancelled() or done.exception() is not None:
            return
        self._taken[delivery] = None
        while len(self._taken) > REMEMBERED:
            self._taken.popitem(last=False)


def application(
    secrets: Sequence[bytes], ingest: Ingest, ready: Ready = always_ready, me: str = "", registry: CollectorRegistry | None = None
) -> web.Application:
    """The server's application. `ready` gives the reason why it is not ready, or None; `me` is the bot's login. Raises `ValueError` without a secret."""
    counts = Counts(registry or CollectorRegistry())
    deliveries = Deliveries(secrets, ingest, counts, me)

    async def healthz(_: web.Request) -> web.Response:
        return web.json_response({"status": "alive"})

    async def readyz(_: web.Request) -> web.Response:
        reason = await ready()
        return web.json_response({"status": "ready"} if reason is None else {"status": "not ready", "reason": reason}, status=503 if reason else 200)

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(body=generate_latest(counts.registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app = web.Application(client_max_size=PAYLOAD_LIMIT)
    app.router.add_post("/webhook", deliveries.handle)
    for path, handler in (("/healthz", healthz), ("/readyz", readyz), ("/metrics", metrics)):
        app.router.add_get(path, handler)
    return app


@asynccontextmanager
async def serving(app: web.Application, host: str, port: int) -> AsyncIterator[str]:
    """Serve for the life of the context; gives the address. At its end nothing new is taken, and what is being answered is finished first."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=SHUTDOWN_SECONDS, lingering_time=LINGER_SECONDS, handle_signals=False)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        bound = runner.addresses[0]
        yield f"http://{bound[0]}:{bound[1]}"
    finally:
        await runner.cleanup()
