"""The records of whole sessions in SQL: what was planned, tried, checked and left behind, and how it is forgotten."""

from collections.abc import Collection, Mapping
from datetime import datetime

from pydantic import JsonValue
from sqlalchemy import ColumnElement, Select, delete, exists, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.cleansing import cleansed
from hikitsugi.domain.handover import Context
from hikitsugi.domain.records import RUNNING, FailedCall, PhaseResult, RecordedCall, RecordedRun, Task
from hikitsugi.domain.session import Ending
from hikitsugi.memory import record_rows as rows
from hikitsugi.memory.tables import (
    CommentTakenIn,
    KeptComment,
    StoredContext,
    StoredConversation,
    StoredFailedCall,
    StoredPhaseResult,
    StoredSummary,
    StoredTask,
    StoredToolRun,
)
from hikitsugi.memory.transactions import Transactions

_INHERITED = (Ending.COMPLETED, Ending.STOPPED)
_OF_SESSIONS: tuple[type[StoredSummary | StoredPhaseResult | StoredContext | StoredConversation], ...] = (
    StoredSummary,
    StoredPhaseResult,
    StoredContext,
    StoredConversation,
)


class SqlRecords(Transactions):
    """The `Records` port on SQLite or PostgreSQL."""

    async def begin_task(self, task: Task) -> None:
        """Record that a session runs; an earlier one of the issue whose end nobody recorded did not get through."""
        abandoned = (
            update(StoredTask)
            .where(StoredTask.issue == str(task.issue), StoredTask.session < task.session)
            .where(StoredTask.status == RUNNING)
            .values(status=Ending.FAILED.value, ended_at=task.started_at)
        )
        async with self._transaction() as connection:
            await self._store(connection, StoredTask, [rows.of_task(task)])
            await connection.execute(abandoned)

    async def tasks(self, issue: IssueAddress) -> list[Task]:
        """The sessions of the issue with what they used, oldest first; here as below, a damaged one is left out."""
        return await self._legible(f"sessions of {issue}", rows.tasks_of(issue), lambda row: rows.to_task(issue, row))

    async def record_phase(
        self, issue: IssueAddress, session: int, phase: str, sequence: int, result: Mapping[str, JsonValue]
    ) -> None:
        """Keep what a phase of planned work came to, unless something is kept under its number."""
        key = {"issue": str(issue), "session": session, "phase": phase, "sequence": sequence}
        row = {**key, "result": cleansed(dict(result), self._redact), "at": self._now()}
        async with self._transaction() as connection:
            await self._store(connection, StoredPhaseResult, [row])

    async def phase_results(self, issue: IssueAddress) -> list[PhaseResult]:
        """The results of all phases of all sessions of the issue, oldest first."""
        return await self._legible(f"results of {issue}", rows.phase_results_of(issue), rows.to_phase_result)

    async def record_summary(self, issue: IssueAddress, session: int, sequence: int, text: str) -> None:
        """Keep a summary made within a session, unless one is kept under its number."""
        row = {"issue": str(issue), "session": session, "sequence": sequence, "text": self._redact(text)}
        async with self._transaction() as connection:
            await self._store(connection, StoredSummary, [{**row, "at": self._now()}])

    async def summaries(self, issue: IssueAddress, session: int) -> list[str]:
        """The summaries made within a session, oldest first."""
        made = select(StoredSummary.text).where(StoredSummary.issue == str(issue), StoredSummary.session == session)
        return await self._legible(f"summaries of {issue}", made.order_by(StoredSummary.sequence), rows.to_summary)

    async def model_calls(self, issue: IssueAddress, session: int) -> list[RecordedCall]:
        """The calls of the model in a session, oldest first."""
        return await self._legible(f"model calls of {issue}", rows.calls_in(issue, session), rows.to_call)

    async def tool_runs(self, issue: IssueAddress) -> list[RecordedRun]:
        """The tool runs of all sessions of the issue, oldest first."""
        return await self._legible(f"tool runs of {issue}", rows.runs_of(issue), rows.to_run)

    async def failed_runs(self, issue: IssueAddress, session: int) -> list[RecordedRun]:
        """The tool runs of a session that ended in an error, oldest first."""
        failed = rows.runs_of(issue).where(StoredConversation.session == session, StoredToolRun.is_error.is_(True))
        return await self._legible(f"tool runs of {issue}", failed, rows.to_run)

    async def record_failed_call(self, conversation: str, sequence: int, attempt: int, message: str) -> None:
        """Keep why the model could not be called for a turn, unless something is kept for this attempt."""
        key = {"conversation": conversation, "sequence": sequence, "attempt": attempt}
        async with self._transaction() as connection:
            row = {**key, "message": self._redact(message), "at": self._now()}
            await self._store(connection, StoredFailedCall, [row])

    async def failed_calls(self, issue: IssueAddress, session: int) -> list[FailedCall]:
        """The failed calls of the model in a session, oldest first."""
        failed = (
            select(StoredConversation.purpose, StoredFailedCall.message, StoredFailedCall.at)
            .join(StoredFailedCall, StoredFailedCall.conversation == StoredConversation.id)
            .where(StoredConversation.issue == str(issue), StoredConversation.session == session)
            .order_by(StoredFailedCall.at)
        )
        return await self._legible(f"failed calls of {issue}", failed, rows.to_failed_call)

    async def conversations(self, issue: IssueAddress) -> list[str]:
        """The ids of the conversations about the issue, oldest first."""
        held = select(StoredConversation.id).where(StoredConversation.issue == str(issue))
        async with self._transaction() as connection:
            return list((await connection.execute(held.order_by(StoredConversation.opened_at))).scalars())

    async def keep_context(self, context: Context) -> Context:
        """Keep what a session leaves behind and close its task, unless that was done; the context that is kept."""
        clean = Context.model_validate(cleansed(context.model_dump(mode="json"), self._redact))
        close = (
            update(StoredTask)
            .where(StoredTask.key == context.id, StoredTask.status == RUNNING)
            .values(status=context.ending.value, ended_at=context.ended_at, **context.use.model_dump())
        )
        async with self._transaction() as connection:
            is_new = await self._is_new(connection, StoredContext, rows.of_context(clean))
            await connection.execute(close)
        return clean if is_new else await self.read_context(context.issue, context.id) or clean

    async def find_context(self, issue: IssueAddress, since: datetime) -> Context | None:
        """The newest context of a completed or stopped session that ended no earlier; None if it is unreadable."""
        newest = (
            select(StoredContext.body)
            .where(StoredContext.issue == str(issue), StoredContext.ended_at >= since)
            .where(StoredContext.status.in_([ending.value for ending in _INHERITED]))
            .order_by(StoredContext.ended_at.desc(), StoredContext.session.desc())
            .limit(1)
        )
        return await self._context(issue, newest)

    async def read_context(self, issue: IssueAddress, context_id: str) -> Context | None:
        """The context under an id; None where it is not there, unreadable or another issue's."""
        wanted = select(StoredContext.body).where(StoredContext.id == context_id, StoredContext.issue == str(issue))
        return await self._context(issue, wanted)

    async def _context(self, issue: IssueAddress, wanted: Select[str]) -> Context | None:
        found = await self._legible(f"contexts of {issue}", wanted, rows.to_context)
        return next((context for context in found if context.issue == issue and context.summary.strip()), None)

    async def forget(self, issue: IssueAddress) -> int:
        """Remove everything of the issue; how many sessions there were."""
        async with self._transaction() as connection:
            for table in (*_OF_SESSIONS, CommentTakenIn, KeptComment):
                await connection.execute(delete(table).where(table.issue == str(issue)))
            forgotten = await connection.execute(delete(StoredTask).where(StoredTask.issue == str(issue)))
        await self._empty_log()
        return forgotten.rowcount

    async def expire(self, before: datetime, under_way: Collection[IssueAddress]) -> int:
        """Remove everything of sessions that ended before a time, or began before it and never came to an end."""
        old = func.coalesce(StoredTask.ended_at, StoredTask.started_at) < before
        living = frozenset(map(str, under_way))
        async with self._transaction() as connection:
            columns = (StoredTask.key, StoredTask.issue, StoredTask.session, StoredTask.ended_at)
            found = await connection.execute(select(*columns).where(old))
            expired = [task for task in found.all() if task.ended_at or task.issue not in living]
            for task in expired:
                await self._drop(connection, task.issue, task.session)
                await connection.execute(delete(StoredTask).where(StoredTask.key == task.key))
            await connection.execute(delete(StoredConversation).where(_is_orphaned(before)))
            await connection.execute(delete(KeptComment).where(KeptComment.at < before))
        await self._empty_log()
        return len(expired)

    async def _drop(self, connection: AsyncConnection, issue: str, session: int) -> None:
        for table in _OF_SESSIONS:
            await connection.execute(delete(table).where(table.issue == issue, table.session == session))


def _is_orphaned(before: datetime) -> ColumnElement[bool]:
    """An old conversation of which no session is known."""
    known = exists().where(
        StoredTask.issue == StoredConversation.issue, StoredTask.session == StoredConversation.session
    )
    return (StoredConversation.opened_at < before) & ~known
