"""What `assay doctor` says about the service: settings, data folder, database, and whether GitHub knows the app."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Literal

from bot.settings import PREFIX, Settings, SettingsError, read_settings

# These are of use without a service too.
_SHARED = {f"{PREFIX}GITHUB_API_URL", f"{PREFIX}GITHUB_URL", f"{PREFIX}LOG_LEVEL"}
Line = tuple[Literal["ok", "note", "bad"], str]


def service_lines() -> Iterator[Line]:
    """(state, sentence) for each thing that `assay serve` needs; one note where no setting of the service is there."""
    if not any(name.startswith(PREFIX) and name not in _SHARED for name in os.environ):
        yield "note", "no service is configured here (ASSAY_APP_ID, ASSAY_PRIVATE_KEY, ASSAY_WEBHOOK_SECRET)"
        return
    try:
        settings = read_settings()
    except SettingsError as error:
        yield "bad", str(error)
        return
    yield "ok", f"the service's settings can be used (app {settings.app_id}, {len(settings.webhook_secrets)} webhook secret(s), mode {settings.mode})"
    yield _folder(settings)
    yield _database(settings)
    yield asyncio.run(_app(settings))


def _folder(settings: Settings) -> Line:
    folder = settings.data_dir
    existing = next(one for one in (folder, *folder.parents) if one.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        return "bad", f"ASSAY_DATA_DIR: {folder} cannot be written"
    return "ok", f"mirrors and data go to {folder}"


def _database(settings: Settings) -> Line:
    """Looked at, never created or changed."""
    import sqlalchemy as sa

    from bot.store.database import Database, storage_url

    url = storage_url(settings.database)
    kind = "SQLite" if url.get_backend_name() == "sqlite" else "PostgreSQL"
    if kind == "SQLite" and not os.path.exists(str(url.database)):
        return "note", f"the database is SQLite in {url.database}; it will be made when the service starts"
    try:
        database = Database(settings.database)
        with database.read() as connection:
            connection.execute(sa.text("SELECT 1"))
        database.close()
    except (sa.exc.SQLAlchemyError, OSError) as error:
        return "bad", f"ASSAY_DATABASE_URL: the database does not answer ({type(error).__name__})"
    return "ok", f"the database ({kind}) answers"


async def _app(settings: Settings) -> Line:
    from bot.github import reads
    from bot.github.auth import open_github
    from bot.github.errors import Forbidden, GitHubError, NotFound

    async with open_github(settings.github_api_url, settings.app_id, settings.private_key.get_secret_value()) as github:
        try:
            me = await reads.me(github.app)
        except (Forbidden, NotFound):
            return "bad", f"{settings.github_api_url} does not know app {settings.app_id} with this key (ASSAY_APP_ID, ASSAY_PRIVATE_KEY)"
        except GitHubError as error:
            return "note", f"{settings.github_api_url}: {error}"
    return "ok", f"{settings.github_api_url} knows the app; it will write as {me.login}"
