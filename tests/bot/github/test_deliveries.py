"""Webhooks that did not arrive are found by what stays the same in a redelivery, and sent again."""

from pathlib import Path

from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.github.deliveries import redeliver, undelivered
from tests.bot.github.scene import scene


async def test_t47_a_missed_webhook_is_found_and_sent_again(tmp_path: Path) -> None:
    answers = [500, 202, 202, 500, 500, 202]

    async def hook(_: web.Request) -> web.Response:
        return web.Response(status=answers.pop(0))

    app = web.Application()
    app.router.add_post("/webhook", hook)
    async with scene(tmp_path, contract=True) as at, TestServer(app) as server:
        url = str(server.make_url("/webhook"))
        first = await at.twin.deliver("pull_request", action="opened", pull=at.pull, to=url)
        await at.twin.redeliver(first, url)
        await at.twin.deliver("pull_request", action="edited", pull=at.pull, to=url)
        missed = await at.twin.deliver("pull_request", action="synchronize", pull=at.pull, to=url)
        again = await at.twin.redeliver(missed, url)
        nobody = await at.twin.deliver("pull_request", action="closed", pull=at.pull, to="http://127.0.0.1:1/webhook")
        assert await undelivered(at.github.app, "2020-01-01T00:00:00Z") == (again.id, nobody.id)
        assert await undelivered(at.github.app, "2999-01-01T00:00:00Z") == ()
        at.twin.courier.to = url
        await redeliver(at.github.app, again.id)
        for task in list(at.twin.tasks):
            await task
        assert await undelivered(at.github.app, "2020-01-01T00:00:00Z") == (nobody.id,)
        assert (at.twin.violations, at.twin.unknown) == ([], [])
