"""Between domain values and rows, in both directions."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Opening, Reply, Transcript, Turn, Usage
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.ports import ToolRun
from hikitsugi.domain.tools import Intent, ToolOutcome
from hikitsugi.memory.tables import ModelCall

NewRow = dict[str, Any]
Stored = Row[*tuple[Any, ...]]

MODEL_CALL = (
    ModelCall.model,
    ModelCall.stop_reason,
    ModelCall.cost_usd,
    ModelCall.price_version,
    ModelCall.input_tokens,
    ModelCall.cache_read_tokens,
    ModelCall.cache_write_tokens,
    ModelCall.output_tokens,
)


def of_opening(opening: Opening) -> NewRow:
    """The row of a conversation, without its turns."""
    return {
        "id": opening.id,
        "issue": str(opening.issue),
        **opening.issue.model_dump(mode="json"),
        "session": opening.session,
        "purpose": f"{opening.purpose}:{opening.subject}" if opening.subject else opening.purpose,
        "system": opening.system,
        "tools": [tool.model_dump() for tool in opening.tools],
        "opening_turns": len(opening.turns),
        "opened_at": opening.opened_at,
    }


def of_opening_turns(opening: Opening) -> list[NewRow]:
    """The rows of the turns a conversation starts with, numbered from 0."""
    return [of_turn(opening.id, sequence, turn, opening.opened_at) for sequence, turn in enumerate(opening.turns)]


def of_turn(conversation: str, sequence: int, turn: Turn, at: datetime) -> NewRow:
    """The row of a turn."""
    return {
        "conversation": conversation,
        "sequence": sequence,
        "role": turn.role,
        "content": turn.content,
        "created_at": at,
    }


def of_model_call(conversation: str, sequence: int, reply: Reply, at: datetime) -> NewRow:
    """The row that stands beside a reply's turn."""
    return {
        "conversation": conversation,
        "sequence": sequence,
        "model": reply.model,
        "stop_reason": reply.stop_reason,
        **reply.usage.model_dump(),
        "cost_usd": reply.cost_usd,
        "price_version": reply.price_version,
        "at": at,
    }


def of_comments(issue: IssueAddress, conversation: str, ids: Collection[str], at: datetime) -> list[NewRow]:
    """The rows of comments, in one order everywhere so that two writers never wait for each other in a circle."""
    return [
        {"issue": str(issue), "comment": comment, "conversation": conversation, "at": at}
        for comment in sorted(set(ids))
    ]


def of_kept(issue: IssueAddress, comments: Collection[Comment], at: datetime) -> list[NewRow]:
    """The rows of comments that no forge has."""
    kept = {comment.id: comment for comment in comments}
    return [
        {"issue": str(issue), "comment": id_, "content": kept[id_].model_dump(mode="json"), "at": at}
        for id_ in sorted(kept)
    ]


def of_intent(conversation: str, intent: Intent, at: datetime) -> NewRow:
    """The row of a tool run that begins."""
    return {
        "conversation": conversation,
        "call": intent.call.id,
        "name": intent.call.name,
        "intent": intent.model_dump(),
        "begun_at": at,
    }


def of_outcome(outcome: ToolOutcome, at: datetime) -> NewRow:
    """What the end of a tool run adds to its row."""
    return {"outcome": outcome.model_dump(), "is_error": outcome.is_error, "finished_at": at}


def to_turn(stored: Stored) -> Turn:
    """A turn from its role and content."""
    return Turn(role=stored.role, content=stored.content)


def to_reply(stored: Stored) -> Reply:
    """A reply from its turn and its model call."""
    return Reply(
        turn=to_turn(stored),
        stop_reason=stored.stop_reason,
        model=stored.model,
        usage=Usage.model_validate(stored, from_attributes=True),
        cost_usd=stored.cost_usd,
        price_version=stored.price_version,
    )


def to_transcript(stored: Stored, turns: Sequence[Stored]) -> Transcript:
    """A conversation from its opening and its turns."""
    return Transcript(
        system=stored.system,
        tools=stored.tools,
        turns=tuple(to_turn(turn) for turn in turns),
        purpose=purpose_in(stored)[0],
    )


def purpose_in(stored: Stored) -> tuple[str, str]:
    """What a conversation was for, and the action it was about."""
    purpose, _, subject = stored.purpose.partition(":")
    return purpose, subject


def to_tool_run(stored: Stored) -> ToolRun:
    """A tool run from its two halves."""
    outcome = None if stored.outcome is None else ToolOutcome.model_validate(stored.outcome)
    return ToolRun(intent=Intent.model_validate(stored.intent), outcome=outcome)
