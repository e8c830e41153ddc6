"""Comments that somebody sent directly, past the forge."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make their table."""
    op.create_table(
        "kept_comments",
        sa.Column("issue", sa.Text, nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("issue", "comment", name="pk_kept_comments"),
    )
