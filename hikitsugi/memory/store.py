"""The memory in SQL: every fact is written once, the first writer wins, and appending costs the same at any length."""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Opening, Reply, Transcript, Turn
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.ports import ToolRun
from hikitsugi.domain.tools import Intent, ToolOutcome
from hikitsugi.memory import rows
from hikitsugi.memory.failures import explained, place_of
from hikitsugi.memory.tables import (
    CommentTakenIn,
    FileSeen,
    Message,
    ModelCall,
    StoredConversation,
    StoredToolRun,
    Table,
)


class SqlMemory:
    """The `Memory` port on SQLite or PostgreSQL."""

    def __init__(self, engine: AsyncEngine, now: Callable[[], datetime]) -> None:
        self._engine = engine
        self._now = now
        self._place = place_of(engine.url)
        self._insert = postgresql.insert if engine.dialect.name == "postgresql" else sqlite.insert

    async def open_conversation(self, opening: Opening) -> int:
        """Store an opening with its comments as taken in, unless its id is known; the number of its turns."""
        taken = rows.of_comments(opening.issue, opening.id, opening.comments, self._now())
        async with self._transaction() as connection:
            if await self._is_new(connection, StoredConversation, rows.of_opening(opening)):
                await self._store(connection, Message, rows.of_opening_turns(opening))
                await self._store(connection, CommentTakenIn, taken)
                return len(opening.turns)
            known = select(StoredConversation.opening_turns).where(StoredConversation.id == opening.id)
            return (await connection.execute(known)).scalar_one()

    async def read_conversation(self, conversation: str) -> Transcript:
        """System text, tools and all turns."""
        opening = select(StoredConversation.system, StoredConversation.tools).where(
            StoredConversation.id == conversation
        )
        turns = (
            select(Message.role, Message.content).where(Message.conversation == conversation).order_by(Message.sequence)
        )
        async with self._transaction() as connection:
            stored = (await connection.execute(opening)).one_or_none()
            if stored is None:
                raise self._unknown(conversation)
            return rows.to_transcript(stored, (await connection.execute(turns)).all())

    async def append(self, conversation: str, sequence: int, turn: Turn) -> Turn:
        """Store a turn under its number, unless one is there; the turn that is stored."""
        async with self._writing_in(conversation) as connection:
            return await self._append(connection, conversation, sequence, turn) or turn

    async def append_reply(self, conversation: str, sequence: int, reply: Reply) -> Reply:
        """Store a model's reply under its number, unless one is there; the reply that is stored."""
        async with self._writing_in(conversation) as connection:
            if await self._append(connection, conversation, sequence, reply.turn) is None:
                call = rows.of_model_call(conversation, sequence, reply, self._now())
                await self._store(connection, ModelCall, [call])
                return reply
            stored = await self._find_reply(connection, conversation, sequence)
        if stored is None:
            message = f"Turn {sequence} of conversation {conversation} is no reply of a model; use the next number."
            raise WillNeverWork(message)
        return stored

    async def find_turn(self, conversation: str, sequence: int) -> Turn | None:
        """The turn stored under a number, if any."""
        async with self._transaction() as connection:
            return await self._find_turn(connection, conversation, sequence)

    async def find_reply(self, conversation: str, sequence: int) -> Reply | None:
        """The model's reply stored under a number, if any."""
        async with self._transaction() as connection:
            return await self._find_reply(connection, conversation, sequence)

    async def comments_taken_in(self, issue: IssueAddress) -> frozenset[str]:
        """The versions of the comments the model was given in any conversation of the issue."""
        taken = select(CommentTakenIn.comment).where(CommentTakenIn.issue == str(issue))
        async with self._transaction() as connection:
            return frozenset((await connection.execute(taken)).scalars())

    async def take_in_comments(self, issue: IssueAddress, conversation: str, versions: Collection[str]) -> None:
        """Remember that the model was given these versions of comments."""
        taken = rows.of_comments(issue, conversation, versions, self._now())
        async with self._writing_in(conversation) as connection:
            await self._store(connection, CommentTakenIn, taken)

    async def find_tool_run(self, conversation: str, call_id: str) -> ToolRun | None:
        """What is known of a tool call, if it was ever begun."""
        async with self._transaction() as connection:
            return await self._find_tool_run(connection, conversation, call_id)

    async def begin_tool_run(self, conversation: str, intent: Intent) -> None:
        """Record what a call is about to do."""
        async with self._writing_in(conversation) as connection:
            await self._store(connection, StoredToolRun, [rows.of_intent(conversation, intent, self._now())])

    async def finish_tool_run(self, conversation: str, call_id: str, outcome: ToolOutcome) -> None:
        """Record what came of it, unless that is known already."""
        finish = (
            update(StoredToolRun)
            .where(StoredToolRun.conversation == conversation, StoredToolRun.call == call_id)
            .where(StoredToolRun.outcome.is_(None))
            .values(rows.of_outcome(outcome, self._now()))
        )
        async with self._transaction() as connection:
            if (await connection.execute(finish)).rowcount:
                await self._see(connection, conversation, outcome)
            elif await self._find_tool_run(connection, conversation, call_id) is None:
                message = (
                    f"Tool call {call_id} of conversation {conversation} was never begun; record its intent first."
                )
                raise WillNeverWork(message)

    async def files_seen(self, conversation: str) -> dict[str, str]:
        """Path to content hash of every file the model has read or written in this conversation."""
        seen = select(FileSeen.path, FileSeen.sha256).where(FileSeen.conversation == conversation)
        async with self._transaction() as connection:
            return {row.path: row.sha256 for row in await connection.execute(seen)}

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[AsyncConnection]:
        with explained(self._place):
            async with self._engine.begin() as connection:
                yield connection

    @asynccontextmanager
    async def _writing_in(self, conversation: str) -> AsyncGenerator[AsyncConnection]:
        """A transaction in which a broken reference can only mean that the conversation is unknown."""
        async with self._transaction() as connection:
            try:
                yield connection
            except IntegrityError as error:
                raise self._unknown(conversation) from error

    async def _is_new(self, connection: AsyncConnection, table: type[Table], row: Mapping[str, Any]) -> bool:
        """Store a row, unless one is there under its key; whether there was none."""
        return (await connection.execute(self._insert(table).on_conflict_do_nothing(), row)).rowcount > 0

    async def _store(self, connection: AsyncConnection, table: type[Table], new: Sequence[Mapping[str, Any]]) -> None:
        """Store those rows whose keys are not there yet."""
        if new:
            await connection.execute(self._insert(table).on_conflict_do_nothing(), new)

    async def _append(self, connection: AsyncConnection, conversation: str, sequence: int, turn: Turn) -> Turn | None:
        """Store a turn; the one that was there before, if any."""
        if await self._is_new(connection, Message, rows.of_turn(conversation, sequence, turn, self._now())):
            return None
        return await self._find_turn(connection, conversation, sequence)

    async def _find_turn(self, connection: AsyncConnection, conversation: str, sequence: int) -> Turn | None:
        turn = select(Message.role, Message.content).where(
            Message.conversation == conversation, Message.sequence == sequence
        )
        stored = (await connection.execute(turn)).one_or_none()
        return None if stored is None else rows.to_turn(stored)

    async def _find_reply(self, connection: AsyncConnection, conversation: str, sequence: int) -> Reply | None:
        reply = (
            select(Message.role, Message.content, *rows.MODEL_CALL)
            .join(
                ModelCall, (ModelCall.conversation == Message.conversation) & (ModelCall.sequence == Message.sequence)
            )
            .where(Message.conversation == conversation, Message.sequence == sequence)
        )
        stored = (await connection.execute(reply)).one_or_none()
        return None if stored is None else rows.to_reply(stored)

    async def _find_tool_run(self, connection: AsyncConnection, conversation: str, call_id: str) -> ToolRun | None:
        run = select(StoredToolRun.intent, StoredToolRun.outcome).where(
            StoredToolRun.conversation == conversation, StoredToolRun.call == call_id
        )
        stored = (await connection.execute(run)).one_or_none()
        return None if stored is None else rows.to_tool_run(stored)

    async def _see(self, connection: AsyncConnection, conversation: str, outcome: ToolOutcome) -> None:
        if outcome.path is None or outcome.sha256 is None:
            return
        seen = self._insert(FileSeen).values(conversation=conversation, path=outcome.path, sha256=outcome.sha256)
        newest = seen.on_conflict_do_update(index_elements=["conversation", "path"], set_={"sha256": outcome.sha256})
        await connection.execute(newest)

    def _unknown(self, conversation: str) -> WillNeverWork:
        return WillNeverWork(f"Conversation {conversation} is not in the memory {self._place}; open it first.")
