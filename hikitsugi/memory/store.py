"""The memory in SQL: every fact is written once, the first writer wins, and appending costs the same at any length."""

from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from datetime import datetime

from sqlalchemy import literal, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.cleansing import cleansed_intent, cleansed_opening, cleansed_reply, cleansed_turn, withheld_calls
from hikitsugi.domain.conversation import Opening, Reply, Transcript, Turn
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.ports import ToolRun
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.tools import Intent, ToolOutcome
from hikitsugi.memory import rows
from hikitsugi.memory.archive import SqlArchive
from hikitsugi.memory.recent import Recent
from hikitsugi.memory.records import SqlRecords
from hikitsugi.memory.tables import (
    CommentTakenIn,
    FileSeen,
    KeptComment,
    Message,
    ModelCall,
    StoredConversation,
    StoredToolRun,
)
from hikitsugi.memory.transactions import Transactions

WITHHELD = ToolOutcome(
    text="Not carried out: the input held what looks like a secret, which is kept nowhere. "
    "Use a placeholder, or read it from the environment when the program runs.",
    is_error=True,
)


class SqlMemory(Transactions):
    """The `Memory` port on SQLite or PostgreSQL; no secret gets into it."""

    def __init__(self, engine: AsyncEngine, now: Callable[[], datetime], redact: Redactor | None = None) -> None:
        super().__init__(engine, now, redact)
        self._read: Recent[Transcript] = Recent()
        self._replied: Recent[tuple[int, Reply]] = Recent()

    @property
    def records(self) -> SqlRecords:
        """The records of whole sessions, in the same database."""
        return SqlRecords(self._engine, self._now, self._redact)

    @property
    def archive(self) -> SqlArchive:
        """All that is held of an issue, from the same database."""
        return SqlArchive(self._engine, self._now, self._redact)

    async def open_conversation(self, opening: Opening) -> int:
        """Store an opening with its comments as taken in, unless its id is known; the number of its turns."""
        opening = cleansed_opening(opening, self._redact)
        taken = rows.of_comments(opening.issue, opening.id, opening.comments, self._now())
        async with self._transaction() as connection:
            if await self._is_new(connection, StoredConversation, rows.of_opening(opening)):
                await self._store(connection, Message, rows.of_opening_turns(opening))
                await self._store(connection, CommentTakenIn, taken)
                return len(opening.turns)
            known = select(StoredConversation.opening_turns).where(StoredConversation.id == opening.id)
            return (await connection.execute(known)).scalar_one()

    async def read_conversation(self, conversation: str) -> Transcript:
        """System text, tools and all turns; those that were read before are not read again."""
        known = self._read.get(conversation)
        first = max(len(known.turns) - 1, 0) if known else 0
        turns = (
            select(Message.role, Message.content)
            .where(Message.conversation == conversation, Message.sequence >= first)
            .order_by(Message.sequence)
        )
        async with self._transaction() as connection:
            known = known or await self._read_opening(connection, conversation)
            found = [rows.to_turn(stored) for stored in (await connection.execute(turns)).all()]
        if known is None or first + len(found) < len(known.turns):
            raise self._unknown(conversation)
        whole = (*known.turns[:first], *found)
        return self._read.keep(conversation, known.model_copy(update={"turns": whole}))

    async def _read_opening(self, connection: AsyncConnection, conversation: str) -> Transcript | None:
        """What a conversation starts from, without its turns."""
        opening = select(StoredConversation.system, StoredConversation.tools, StoredConversation.purpose)
        stored = (await connection.execute(opening.where(StoredConversation.id == conversation))).one_or_none()
        return None if stored is None else rows.to_transcript(stored, ())

    async def append(self, conversation: str, sequence: int, turn: Turn) -> Turn:
        """Store a turn under its number, unless one is there; the turn that is stored."""
        turn = cleansed_turn(turn, self._redact)
        async with self._writing_in(conversation) as connection:
            return await self._append(connection, conversation, sequence, turn) or turn

    async def append_reply(self, conversation: str, sequence: int, reply: Reply) -> Reply:
        """Store a model's reply under its number, unless one is there; the reply that is stored."""
        clean = cleansed_reply(reply, self._redact)
        async with self._writing_in(conversation) as connection:
            if await self._append(connection, conversation, sequence, clean.turn) is None:
                call = rows.of_model_call(conversation, sequence, clean, self._now())
                await self._store(connection, ModelCall, [call])
                await self._withhold(connection, conversation, reply, clean)
                stored: Reply | None = clean
            else:
                stored = await self._find_reply(connection, conversation, sequence)
        if stored is None:
            message = f"Turn {sequence} of conversation {conversation} is no reply of a model; use the next number."
            raise WillNeverWork(message)
        return self._replied.keep(conversation, (sequence, stored))[1]

    async def find_turn(self, conversation: str, sequence: int) -> Turn | None:
        """The turn stored under a number, if any."""
        async with self._transaction() as connection:
            return await self._find_turn(connection, conversation, sequence)

    async def find_reply(self, conversation: str, sequence: int) -> Reply | None:
        """The model's reply stored under a number, if any."""
        number, last = self._replied.get(conversation) or (None, None)
        if number == sequence:
            return last
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

    async def keep_comments(self, issue: IssueAddress, comments: Collection[Comment]) -> None:
        """Keep comments that no forge has, each in its newest text."""
        clean = [comment.model_copy(update={"body": self._redact(comment.body)}) for comment in comments]
        kept = rows.of_kept(issue, clean, self._now())
        insert = self._insert(KeptComment)
        newest = insert.on_conflict_do_update(
            index_elements=["issue", "comment"], set_={"content": insert.excluded.content}
        )
        if kept:
            async with self._transaction() as connection:
                await connection.execute(newest, kept)

    async def kept_comments(self, issue: IssueAddress, ids: Collection[str]) -> dict[str, Comment]:
        """Comments that were kept, by id."""
        kept = select(KeptComment.content).where(KeptComment.issue == str(issue), KeptComment.comment.in_(ids))
        async with self._transaction() as connection:
            found = [Comment.model_validate(content) for content in (await connection.execute(kept)).scalars()]
        return {comment.id: comment for comment in found}

    async def find_tool_run(self, conversation: str, call_id: str) -> ToolRun | None:
        """What is known of a tool call, if it was ever begun."""
        async with self._transaction() as connection:
            return await self._find_tool_run(connection, conversation, call_id)

    async def begin_tool_run(self, conversation: str, intent: Intent) -> ToolRun | None:
        """Record what a call is about to do, unless it was ever begun; what is known of it then."""
        begun = rows.of_intent(conversation, cleansed_intent(intent, self._redact), self._now())
        async with self._writing_in(conversation) as connection:
            if await self._is_new(connection, StoredToolRun, begun):
                return None
            return await self._find_tool_run(connection, conversation, intent.call.id)

    async def finish_tool_run(self, conversation: str, call_id: str, outcome: ToolOutcome) -> None:
        """Record what came of it, unless that is known already."""
        outcome = outcome.model_copy(update={"text": self._redact(outcome.text)})
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

    async def carry_files(self, conversation: str, into: str) -> None:
        """Let another conversation know the files seen in this one, where it knows nothing newer of them."""
        seen = select(literal(into), FileSeen.path, FileSeen.sha256).where(FileSeen.conversation == conversation)
        copy = self._insert(FileSeen).from_select(["conversation", "path", "sha256"], seen).on_conflict_do_nothing()
        async with self._writing_in(into) as connection:
            await connection.execute(copy)

    @asynccontextmanager
    async def _writing_in(self, conversation: str) -> AsyncGenerator[AsyncConnection]:
        """A transaction in which a broken reference can only mean that the conversation is unknown."""
        async with self._transaction() as connection:
            try:
                yield connection
            except IntegrityError as error:
                raise self._unknown(conversation) from error

    async def _append(self, connection: AsyncConnection, conversation: str, sequence: int, turn: Turn) -> Turn | None:
        """Store a turn; the one that was there before, if any."""
        if await self._is_new(connection, Message, rows.of_turn(conversation, sequence, turn, self._now())):
            return None
        return await self._find_turn(connection, conversation, sequence)

    async def _withhold(self, connection: AsyncConnection, conversation: str, reply: Reply, clean: Reply) -> None:
        """Answer the calls whose input had to be changed: carried out, they would do what nobody asked for."""
        for call in withheld_calls(reply, clean):
            begun = rows.of_intent(conversation, Intent(call=call, repeatable=False), self._now())
            await self._store(connection, StoredToolRun, [begun | rows.of_outcome(WITHHELD, self._now())])

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
