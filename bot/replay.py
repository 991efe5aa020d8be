"""Takes a recorded delivery once more: for an operator who wants to see again what it did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy.exc import SQLAlchemyError

from bot.github.webhooks import Event, Nothing, wishes
from bot.jobs.ingest import delivery_of
from bot.settings import Settings, SettingsError
from bot.store import inbox
from bot.store.database import open_database

Json = dict[str, Any]


class NotADelivery(Exception):
    """The file is no recorded delivery; one sentence."""


def replay_file(settings: Settings, path: str) -> tuple[str, ...]:
    """Store what the delivery in the file at `path` wants, under a new id; one line for each thing. Raises `NotADelivery`, `SettingsError`."""
    event = event_in(_json(path), path)
    told = tuple(f"{type(wish).__name__}: {wish.why if isinstance(wish, Nothing) else wish}" for wish in wishes(event))
    try:
        database = open_database(settings.database)
        inbox.take(database, [delivery_of(event)])
        database.close()
    except SQLAlchemyError as error:
        raise SettingsError("ASSAY_DATABASE_URL: the database cannot be written.") from error
    return told


def event_in(held: Json, path: str) -> Event:
    """The event of a delivery as GitHub's API tells it (`event`, `request.payload`), or as {"event", "payload"}. Raises `NotADelivery`."""
    request = held.get("request")
    payload = request.get("payload") if isinstance(request, dict) else held.get("payload")
    if isinstance(payload, str):
        payload = _parsed(payload, path)
    name = held.get("event")
    if not isinstance(name, str) or not isinstance(payload, dict):
        raise NotADelivery(f"{path} holds no delivery: expected `event` and `request.payload`, as `gh api /app/hook/deliveries/ID` prints them.")
    return Event(f"replay-{uuid4()}", name, payload)


def _json(path: str) -> Json:
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NotADelivery(f"{path} cannot be read.") from error
    return _parsed(text, path)


def _parsed(text: str, path: str) -> Json:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotADelivery(f"{path} is not JSON.") from error
    if not isinstance(found, dict):
        raise NotADelivery(f"{path} is not a JSON object.")
    return found
