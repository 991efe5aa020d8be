"""What Alembic runs: the versions of the schema, over the connection that `bot.store.database` hands it."""

from __future__ import annotations

from alembic import context

from bot.store.models import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True, transactional_ddl=False)
context.run_migrations()
