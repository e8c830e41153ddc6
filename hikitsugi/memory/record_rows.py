"""Between the records of sessions and rows, and the questions that read them."""

import json
from typing import Any

from sqlalchemy import Select, func, select

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Usage
from hikitsugi.domain.handover import Context
from hikitsugi.domain.records import FailedCall, PhaseResult, RecordedCall, RecordedRun, Task, Use
from hikitsugi.domain.tools import Intent, ToolOutcome
from hikitsugi.memory.rows import MODEL_CALL, NewRow, Stored, purpose_in, to_turn
from hikitsugi.memory.tables import (
    Message,
    ModelCall,
    StoredConversation,
    StoredPhaseResult,
    StoredTask,
    StoredToolRun,
)

TOOL_RUN = (StoredToolRun.intent, StoredToolRun.outcome, StoredToolRun.begun_at, StoredToolRun.finished_at)


def of_task(task: Task) -> NewRow:
    """The row of a session, under the full key of its issue."""
    owner, _, repository = task.issue.repository.rpartition("/")
    return {
        "key": task.key,
        "issue": str(task.issue),
        "source": task.issue.forge,
        "owner": owner,
        "repository": repository,
        "type": task.issue.kind.value,
        "number": task.issue.number,
        "session": task.session,
        "status": task.status,
        "started_at": task.started_at,
        "ended_at": task.ended_at,
        **task.use.model_dump(),
    }


def of_context(context: Context) -> NewRow:
    """The row of what a session left behind; escaped, because no database takes every character as text."""
    return {
        "id": context.id,
        "issue": str(context.issue),
        "session": context.session,
        "status": context.ending.value,
        "ended_at": context.ended_at,
        "body": json.dumps(context.model_dump(mode="json")),
    }


def tasks_of(issue: IssueAddress) -> Select[*tuple[Any, ...]]:
    """The sessions of an issue, oldest first."""
    return (
        select(*StoredTask.__table__.columns)
        .where(StoredTask.issue == str(issue))
        .order_by(StoredTask.started_at, StoredTask.session)
    )


def phase_results_of(issue: IssueAddress) -> Select[*tuple[Any, ...]]:
    """The results of an issue's phases, oldest first."""
    stored = StoredPhaseResult
    columns = (stored.session, stored.phase, stored.sequence, stored.result, stored.at)
    ordered = (stored.session, stored.at, stored.sequence)
    return select(*columns).where(stored.issue == str(issue)).order_by(*ordered)


def calls_in(issue: IssueAddress, session: int) -> Select[*tuple[Any, ...]]:
    """The model calls of a session, oldest first and numbered, also those that can no longer be read."""
    ordered = (ModelCall.at, StoredConversation.opened_at, ModelCall.sequence)
    return (
        select(
            func.row_number().over(order_by=ordered).label("number"),
            StoredConversation.purpose,
            ModelCall.conversation,
            ModelCall.sequence,
            Message.role,
            Message.content,
            ModelCall.at,
            *MODEL_CALL,
        )
        .join(ModelCall, ModelCall.conversation == StoredConversation.id)
        .join(Message, (Message.conversation == ModelCall.conversation) & (Message.sequence == ModelCall.sequence))
        .where(StoredConversation.issue == str(issue), StoredConversation.session == session)
        .order_by(*ordered)
    )


def runs_of(issue: IssueAddress) -> Select[*tuple[Any, ...]]:
    """The tool runs of an issue with their sessions and phases, oldest first."""
    return (
        select(StoredConversation.session, StoredConversation.purpose, *TOOL_RUN)
        .join(StoredToolRun, StoredToolRun.conversation == StoredConversation.id)
        .where(StoredConversation.issue == str(issue))
        .order_by(StoredToolRun.begun_at, StoredToolRun.call)
    )


def to_failed_call(stored: Stored) -> FailedCall:
    """Why a call of the model failed."""
    return FailedCall(phase=purpose_in(stored)[0], message=stored.message, at=stored.at)


def to_task(issue: IssueAddress, stored: Stored) -> Task:
    """A session from its row."""
    use = Use.model_validate(stored, from_attributes=True)
    times = {"started_at": stored.started_at, "ended_at": stored.ended_at}
    return Task(key=stored.key, issue=issue, session=stored.session, status=stored.status, use=use, **times)


def to_phase_result(stored: Stored) -> PhaseResult:
    """What a phase came to."""
    return PhaseResult.model_validate(stored, from_attributes=True)


def to_summary(stored: Stored) -> str:
    """The text of a summary made within a session."""
    if not isinstance(stored.text, str):
        raise TypeError("a summary is no text")
    return stored.text


def to_context(stored: Stored) -> Context:
    """What a session left behind."""
    return Context.model_validate(json.loads(stored.body))


def to_call(stored: Stored) -> RecordedCall:
    """A call of the model from its turn and its use."""
    turn = to_turn(stored)
    phase, subject = purpose_in(stored)
    return RecordedCall(
        number=stored.number,
        phase=phase,
        subject=subject,
        conversation=stored.conversation,
        sequence=stored.sequence,
        text=turn.text,
        tools=tuple(call.label for call in turn.tool_calls),
        stop_reason=stored.stop_reason,
        model=stored.model,
        usage=Usage.model_validate(stored, from_attributes=True),
        cost_usd=stored.cost_usd,
        price_version=stored.price_version,
        at=stored.at,
    )


def to_run(stored: Stored) -> RecordedRun:
    """A tool run with the session it happened in."""
    phase, subject = purpose_in(stored)
    return RecordedRun(
        session=stored.session,
        phase=phase,
        subject=subject,
        intent=Intent.model_validate(stored.intent),
        outcome=None if stored.outcome is None else ToolOutcome.model_validate(stored.outcome),
        begun_at=stored.begun_at,
        finished_at=stored.finished_at,
    )
