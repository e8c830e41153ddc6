"""The tables: conversations with turns, model calls and tool runs, comments taken in; sessions and what they left."""

from datetime import datetime
from decimal import Decimal
from typing import Any, ClassVar

from sqlalchemy import BigInteger, ForeignKey, ForeignKeyConstraint, MetaData, Text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from hikitsugi.memory.columns import ExactDecimal, ExactJson, UtcDateTime

_NAMES = {
    "pk": "pk_%(table_name)s",
    "fk": "fk_%(table_name)s_%(referred_table_name)s",
    "ix": "ix_%(table_name)s_%(column_0_name)s",
}


class Table(DeclarativeBase):
    """What all tables share: names of constraints that migrations can rely on, and exact column types."""

    metadata = MetaData(naming_convention=_NAMES)
    type_annotation_map: ClassVar = {str: Text, datetime: UtcDateTime, Decimal: ExactDecimal}


def _in_conversation() -> ForeignKey:
    return ForeignKey("conversations.id", ondelete="CASCADE")


class StoredConversation(Table):
    """What a conversation started from; `opening_turns` is how many turns it was opened with."""

    __tablename__ = "conversations"

    id: Mapped[str] = mapped_column(primary_key=True)
    issue: Mapped[str] = mapped_column(index=True)
    forge: Mapped[str]
    repository: Mapped[str]
    kind: Mapped[str]
    number: Mapped[int]
    session: Mapped[int]
    purpose: Mapped[str]
    system: Mapped[Any] = mapped_column(ExactJson)
    tools: Mapped[Any] = mapped_column(ExactJson)
    opening_turns: Mapped[int]
    opened_at: Mapped[datetime]


class Message(Table):
    """One turn of a conversation, its content as it crossed the wire."""

    __tablename__ = "messages"

    conversation: Mapped[str] = mapped_column(_in_conversation(), primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True)
    role: Mapped[str]
    content: Mapped[Any] = mapped_column(ExactJson)
    created_at: Mapped[datetime]


class ModelCall(Table):
    """What the reply stored under the same number used and cost."""

    __tablename__ = "model_calls"
    __table_args__ = (
        ForeignKeyConstraint(
            ["conversation", "sequence"], ["messages.conversation", "messages.sequence"], ondelete="CASCADE"
        ),
    )

    conversation: Mapped[str] = mapped_column(primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True)
    model: Mapped[str]
    stop_reason: Mapped[str]
    input_tokens: Mapped[int]
    cache_read_tokens: Mapped[int]
    cache_write_tokens: Mapped[int]
    output_tokens: Mapped[int]
    cost_usd: Mapped[Decimal | None]
    price_version: Mapped[str | None]
    at: Mapped[datetime]


class CommentTakenIn(Table):
    """A comment that the model was given, in any conversation of the issue."""

    __tablename__ = "comments_taken_in"

    issue: Mapped[str] = mapped_column(primary_key=True)
    comment: Mapped[str] = mapped_column(primary_key=True)
    conversation: Mapped[str] = mapped_column(_in_conversation(), index=True)
    at: Mapped[datetime]


class KeptComment(Table):
    """A comment that no forge has, because somebody sent it directly."""

    __tablename__ = "kept_comments"

    issue: Mapped[str] = mapped_column(primary_key=True)
    comment: Mapped[str] = mapped_column(primary_key=True)
    content: Mapped[Any] = mapped_column(ExactJson)
    at: Mapped[datetime]


class StoredToolRun(Table):
    """A tool call of the model; without an outcome it was cut off or is under way."""

    __tablename__ = "tool_runs"

    conversation: Mapped[str] = mapped_column(_in_conversation(), primary_key=True)
    call: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    intent: Mapped[Any] = mapped_column(ExactJson)
    begun_at: Mapped[datetime]
    outcome: Mapped[Any | None] = mapped_column(ExactJson)
    is_error: Mapped[bool | None]
    finished_at: Mapped[datetime | None]


class FileSeen(Table):
    """The content of a file as the model last saw it in a conversation."""

    __tablename__ = "files_seen"

    conversation: Mapped[str] = mapped_column(_in_conversation(), primary_key=True)
    path: Mapped[str] = mapped_column(primary_key=True)
    sha256: Mapped[str]


class StoredTask(Table):
    """One session on an issue, under the issue's full key."""

    __tablename__ = "tasks"

    key: Mapped[str] = mapped_column(primary_key=True)
    issue: Mapped[str] = mapped_column(index=True)
    source: Mapped[str]
    owner: Mapped[str]
    repository: Mapped[str]
    type: Mapped[str]
    number: Mapped[int]
    session: Mapped[int]
    status: Mapped[str]
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime | None] = mapped_column(index=True)
    model: Mapped[str | None]
    llm_calls: Mapped[int]
    input_tokens: Mapped[int] = mapped_column(BigInteger)
    output_tokens: Mapped[int] = mapped_column(BigInteger)
    cost_usd: Mapped[Decimal | None]


class StoredSummary(Table):
    """A summary made within a session."""

    __tablename__ = "summaries"

    issue: Mapped[str] = mapped_column(primary_key=True)
    session: Mapped[int] = mapped_column(primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True)
    text: Mapped[Any] = mapped_column(ExactJson)
    at: Mapped[datetime]


class StoredPhaseResult(Table):
    """What a phase of planned work came to."""

    __tablename__ = "phase_results"

    issue: Mapped[str] = mapped_column(primary_key=True)
    session: Mapped[int] = mapped_column(primary_key=True)
    phase: Mapped[str] = mapped_column(primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True)
    result: Mapped[Any] = mapped_column(ExactJson)
    at: Mapped[datetime]


class StoredFailedCall(Table):
    """Why an attempt at calling the model failed."""

    __tablename__ = "failed_calls"

    conversation: Mapped[str] = mapped_column(_in_conversation(), primary_key=True)
    sequence: Mapped[int] = mapped_column(primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    message: Mapped[str]
    at: Mapped[datetime]


class StoredContext(Table):
    """What a session left behind; the body is read with care, because a damaged one must not stop anybody."""

    __tablename__ = "contexts"

    id: Mapped[str] = mapped_column(primary_key=True)
    issue: Mapped[str] = mapped_column(index=True)
    session: Mapped[int]
    status: Mapped[str]
    ended_at: Mapped[datetime]
    body: Mapped[str]
