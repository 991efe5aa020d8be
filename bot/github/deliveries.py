"""Finds webhooks that never arrived and has them sent again: GitHub never does so by itself.

docs.github.com/rest/apps/webhooks; the list reaches back three days. Both need the app's own client.
"""

from __future__ import annotations

from bot.github import pick
from bot.github.client import Client


async def undelivered(app: Client, since: str) -> tuple[int, ...]:
    """One delivery id for each event since `since` (ISO 8601, UTC) of which no attempt was answered well, oldest first.

    The filter `status=failure` knows only answers of 400–599, no time-outs; so all are read, and grouped by what stays the same in a redelivery.
    """
    newest: dict[str, int] = {}
    arrived: set[str] = set()
    async for one in app.getiter("/app/hook/deliveries"):
        if pick.text(one, "delivered_at") < since:
            break
        guid = pick.text(one, "guid")
        newest.setdefault(guid, pick.number(one, "id"))
        if pick.text(one, "status") == "OK":
            arrived.add(guid)
    return tuple(id for guid, id in reversed(newest.items()) if guid not in arrived)


async def redeliver(app: Client, delivery_id: int) -> None:
    """Ask for one more attempt. Raises `Refused` past three days."""
    await app.post(f"/app/hook/deliveries/{delivery_id}/attempts")
