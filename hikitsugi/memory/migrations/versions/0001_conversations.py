"""Conversations, their turns and model calls, comments taken in, tool runs."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the first tables."""
    make_conversations()
    make_messages()
    make_model_calls()
    make_comments_taken_in()
    make_tool_runs()
    make_files_seen()


def in_conversation(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["conversation"], ["conversations.id"], name=f"fk_{table}_conversations", ondelete="CASCADE"
    )


def make_conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("issue", sa.Text, nullable=False),
        sa.Column("forge", sa.Text, nullable=False),
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("session", sa.Integer, nullable=False),
        sa.Column("purpose", sa.Text, nullable=False),
        sa.Column("system", sa.Text, nullable=False),
        sa.Column("tools", sa.Text, nullable=False),
        sa.Column("opening_turns", sa.Integer, nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
    )
    op.create_index("ix_conversations_issue", "conversations", ["issue"])


def make_messages() -> None:
    op.create_table(
        "messages",
        sa.Column("conversation", sa.Text, nullable=False),
        sa.Column("sequence", sa.Integer, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("conversation", "sequence", name="pk_messages"),
        in_conversation("messages"),
    )


def make_model_calls() -> None:
    op.create_table(
        "model_calls",
        sa.Column("conversation", sa.Text, nullable=False),
        sa.Column("sequence", sa.Integer, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("stop_reason", sa.Text, nullable=False),
        sa.Column("input_tokens", sa.Integer, nullable=False),
        sa.Column("cache_read_tokens", sa.Integer, nullable=False),
        sa.Column("cache_write_tokens", sa.Integer, nullable=False),
        sa.Column("output_tokens", sa.Integer, nullable=False),
        sa.Column("cost_usd", sa.Text),
        sa.Column("price_version", sa.Text),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("conversation", "sequence", name="pk_model_calls"),
        sa.ForeignKeyConstraint(
            ["conversation", "sequence"],
            ["messages.conversation", "messages.sequence"],
            name="fk_model_calls_messages",
            ondelete="CASCADE",
        ),
    )


def make_comments_taken_in() -> None:
    op.create_table(
        "comments_taken_in",
        sa.Column("issue", sa.Text, nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("conversation", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("issue", "comment", name="pk_comments_taken_in"),
        in_conversation("comments_taken_in"),
    )
    op.create_index("ix_comments_taken_in_conversation", "comments_taken_in", ["conversation"])


def make_tool_runs() -> None:
    op.create_table(
        "tool_runs",
        sa.Column("conversation", sa.Text, nullable=False),
        sa.Column("call", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("intent", sa.Text, nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcome", sa.Text),
        sa.Column("is_error", sa.Boolean),
        sa.Column("finished_at", sa.DateTime(timezone=True)),
        sa.PrimaryKeyConstraint("conversation", "call", name="pk_tool_runs"),
        in_conversation("tool_runs"),
    )


def make_files_seen() -> None:
    op.create_table(
        "files_seen",
        sa.Column("conversation", sa.Text, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("conversation", "path", name="pk_files_seen"),
        in_conversation("files_seen"),
    )
