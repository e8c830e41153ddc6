"""Tasks, summaries, results of phases, contexts."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables of what is known about whole sessions."""
    make_tasks()
    make_summaries()
    make_phase_results()
    make_failed_calls()
    make_contexts()


def make_tasks() -> None:
    op.create_table(
        "tasks",
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("issue", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("session", sa.Integer, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True)),
        sa.Column("model", sa.Text),
        sa.Column("llm_calls", sa.Integer, nullable=False),
        sa.Column("input_tokens", sa.BigInteger, nullable=False),
        sa.Column("output_tokens", sa.BigInteger, nullable=False),
        sa.Column("cost_usd", sa.Text),
        sa.PrimaryKeyConstraint("key", name="pk_tasks"),
    )
    op.create_index("ix_tasks_issue", "tasks", ["issue"])
    op.create_index("ix_tasks_ended_at", "tasks", ["ended_at"])


def make_summaries() -> None:
    op.create_table(
        "summaries",
        sa.Column("issue", sa.Text, nullable=False),
        sa.Column("session", sa.Integer, nullable=False),
        sa.Column("sequence", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("issue", "session", "sequence", name="pk_summaries"),
    )


def make_phase_results() -> None:
    op.create_table(
        "phase_results",
        sa.Column("issue", sa.Text, nullable=False),
        sa.Column("session", sa.Integer, nullable=False),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("sequence", sa.Integer, nullable=False),
        sa.Column("result", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("issue", "session", "phase", "sequence", name="pk_phase_results"),
    )


def make_failed_calls() -> None:
    op.create_table(
        "failed_calls",
        sa.Column("conversation", sa.Text, nullable=False),
        sa.Column("sequence", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("conversation", "sequence", "attempt", name="pk_failed_calls"),
        sa.ForeignKeyConstraint(
            ["conversation"], ["conversations.id"], ondelete="CASCADE", name="fk_failed_calls_conversations"
        ),
    )


def make_contexts() -> None:
    op.create_table(
        "contexts",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("issue", sa.Text, nullable=False),
        sa.Column("session", sa.Integer, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_contexts"),
    )
    op.create_index("ix_contexts_issue", "contexts", ["issue"])
