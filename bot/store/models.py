"""The tables of the service: what is wanted of each conversation, what was done about it, and who is at work.

Times are Unix seconds by the database's clock (`bot.store.database.now`). GitHub stays the truth about what is posted: a lost database costs a
second look at each conversation, never a second post.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)

metadata = MetaData()
# GitHub's ids are beyond 32 bits (rust-lang/triagebot#1907). SQLite numbers rows by itself only where the type is INTEGER.
Id = BigInteger().with_variant(Integer, "sqlite")

deliveries = Table(
    "deliveries",
    metadata,
    Column("id", Text, primary_key=True, comment="X-GitHub-Delivery; a redelivery keeps it"),
    Column("event", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("at", Float, nullable=False, index=True),
)

conversations = Table(
    "conversations",
    metadata,
    Column("key", Text, primary_key=True, comment="repository id, # and number; @ and commit for what has no number"),
    Column("kind", Text, nullable=False, comment="pull, issue, group or head"),
    Column("installation", Id, nullable=False),
    Column("repository", Id, nullable=False),
    Column("full_name", Text, nullable=False),
    Column("number", Integer, nullable=False, comment="0 for groups and heads"),
    Column("head", Text, nullable=False, server_default=""),
    Column("base", Text, nullable=False, server_default=""),
    Column("reason", Text, nullable=False, server_default=""),
    Column("at", Text, nullable=False, server_default="", comment="GitHub's updated_at of the newest that was told"),
    Column("closed", Boolean, nullable=False, server_default=text("false")),
    Column("wanted", Integer, nullable=False, comment="counts the versions that were asked for"),
    Column("woken", Integer, nullable=False, server_default="0", comment="the newest version that some wake-up will see"),
    Column("begun", Integer, nullable=False, server_default="0", comment="the newest version that a wake-up has seen; below `woken`, one waits"),
    Column("done", Integer, nullable=False, server_default="0", comment="the version that was carried out"),
    Column("settle", Boolean, nullable=False, server_default=text("true"), comment="whether the newest may wait for more"),
    Column("first_at", Float, nullable=False, comment="when the first version that is not carried out came in"),
    Column("changed_at", Float, nullable=False),
    Column("starts", Integer, nullable=False, server_default="0", comment="attempts that began and did not come to an end of any kind"),
    Index("conversations_to_wake", "key", sqlite_where=text("woken < wanted"), postgresql_where=text("woken < wanted")),
    Index("conversations_of_repository", "repository", "number"),
)

commands = Table(
    "commands",
    metadata,
    Column("seq", Id, primary_key=True, autoincrement=True, comment="the order in which they run"),
    Column("conversation", Text, nullable=False),
    Column("comment", Id, nullable=False),
    Column("login", Text, nullable=False),
    Column("association", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("before", Text),
    Column("at", Float, nullable=False),
    Column("done_at", Float),
    Index("commands_waiting", "conversation", "seq", sqlite_where=text("done_at IS NULL"), postgresql_where=text("done_at IS NULL")),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=True),
    Column("conversation", Text, nullable=False, index=True),
    Column("version", Integer, nullable=False),
    Column("head", Text, nullable=False),
    Column("base", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("at", Float, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("posted_at", Float),
    Column("report", LargeBinary, nullable=False, comment="compressed JSON"),
)

ledgers = Table(
    "ledgers",
    metadata,
    Column("conversation", Text, primary_key=True),
    Column("ledger", JSON, nullable=False, comment="all of `bot.review.ledger` but its stories"),
    Column("at", Float, nullable=False),
)

stories = Table(
    "stories",
    metadata,
    Column("conversation", Text, nullable=False),
    Column("number", Integer, nullable=False, comment="n of Fn"),
    Column("state", Text, nullable=False),
    Column("severity", Text, nullable=False),
    Column("override", JSON(none_as_null=True), comment="a waiver, dispute or withdrawal: who, why, until when"),
    Column("story", JSON, nullable=False),
    PrimaryKeyConstraint("conversation", "number"),
)

commits = Table(
    "commits",
    metadata,
    Column("repository", Text, nullable=False, comment="owner/name in lower case"),
    Column("sha", Text, nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("repository", "sha"),
    comment="revisions that GitHub has resolved, reachable from a branch, a tag or an open pull; only positive answers are kept",
)

writes = Table(
    "writes",
    metadata,
    Column("id", Text, primary_key=True, comment="the job's write that was begun; where it did not end, it is looked for before it is done again"),
    Column("at", Float, nullable=False, index=True),
)

turns = Table(
    "turns",
    metadata,
    Column("installation", Id, primary_key=True, autoincrement=False),
    Column("at", Float, nullable=False, comment="when its newest content write begins"),
)

executors = Table(
    "executors",
    metadata,
    Column("id", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("place", Text, nullable=False, comment="machine and process namespace; '' where that cannot be told"),
    Column("process", Text, nullable=False, comment="pid and start time in that namespace"),
    Column("started", Float, nullable=False),
    Column("beat", Float, nullable=False),
    Column("taken_by", Text, comment="who takes its jobs over; from then on it may write nothing"),
)

installations = Table(
    "installations",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("account", Text, nullable=False),
    Column("active", Boolean, nullable=False),
)

repositories = Table(
    "repositories",
    metadata,
    Column("id", Id, primary_key=True, autoincrement=False),
    Column("installation", Id, nullable=False, index=True),
    Column("full_name", Text, nullable=False),
    Column("active", Boolean, nullable=False),
    Column("swept_at", Float),
    Column("backlog", JSON, nullable=False, comment="number → head of the pulls that were open before the app came"),
)
