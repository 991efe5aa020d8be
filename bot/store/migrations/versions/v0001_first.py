"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "commands",
        sa.Column("seq", Id, autoincrement=True, nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("comment", Id, nullable=False),
        sa.Column("login", sa.Text(), nullable=False),
        sa.Column("association", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("before", sa.Text()),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("done_at", sa.Float()),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index(
        "commands_waiting",
        "commands",
        ["conversation", "seq"],
        unique=False,
        sqlite_where=sa.text("done_at IS NULL"),
        postgresql_where=sa.text("done_at IS NULL"),
    )
    op.create_table(
        "commits",
        sa.Column("repository", sa.Text(), nullable=False),
        sa.Column("sha", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("repository", "sha"),
    )
    op.create_table(
        "conversations",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("installation", Id, nullable=False),
        sa.Column("repository", Id, nullable=False),
        sa.Column("full_name", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("head", sa.Text(), server_default="", nullable=False),
        sa.Column("base", sa.Text(), server_default="", nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("at", sa.Text(), server_default="", nullable=False),
        sa.Column("closed", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("woken", sa.Integer(), server_default="0", nullable=False),
        sa.Column("begun", sa.Integer(), server_default="0", nullable=False),
        sa.Column("done", sa.Integer(), server_default="0", nullable=False),
        sa.Column("settle", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("first_at", sa.Float(), nullable=False),
        sa.Column("changed_at", sa.Float(), nullable=False),
        sa.Column("starts", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index("conversations_of_repository", "conversations", ["repository", "number"], unique=False)
    op.create_index(
        "conversations_to_wake",
        "conversations",
        ["key"],
        unique=False,
        sqlite_where=sa.text("woken < wanted"),
        postgresql_where=sa.text("woken < wanted"),
    )
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_deliveries_at"), "deliveries", ["at"], unique=False)
    op.create_table(
        "executors",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("process", sa.Text(), nullable=False),
        sa.Column("started", sa.Float(), nullable=False),
        sa.Column("beat", sa.Float(), nullable=False),
        sa.Column("taken_by", sa.Text()),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "installations",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "repositories",
        sa.Column("id", Id, autoincrement=False, nullable=False),
        sa.Column("installation", Id, nullable=False),
        sa.Column("full_name", sa.Text(), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("swept_at", sa.Float()),
        sa.Column("backlog", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_repositories_installation"), "repositories", ["installation"], unique=False)
    op.create_table(
        "runs",
        sa.Column("id", Id, autoincrement=True, nullable=False),
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("base", sa.Text(), nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("posted_at", sa.Float()),
        sa.Column("report", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_runs_conversation"), "runs", ["conversation"], unique=False)
    op.create_table("writes", sa.Column("id", sa.Text(), nullable=False), sa.Column("at", sa.Float(), nullable=False), sa.PrimaryKeyConstraint("id"))
    op.create_index(op.f("ix_writes_at"), "writes", ["at"], unique=False)
    op.create_table(
        "ledgers",
        sa.Column("conversation", sa.Text(), primary_key=True),
        sa.Column("ledger", sa.JSON(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
    )
    op.create_table(
        "stories",
        sa.Column("conversation", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("override", sa.JSON(none_as_null=True)),
        sa.Column("story", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("conversation", "number"),
    )
    op.create_table(
        "turns",
        sa.Column("installation", Id, autoincrement=False, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("installation"),
    )
