"""All that the memory holds of an issue, for people who look at it or take it with them."""

from datetime import datetime

from sqlalchemy import exists, or_, select, union

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Transcript, Turn
from hikitsugi.domain.handover import Context
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.value import Value
from hikitsugi.memory import record_rows as rows
from hikitsugi.memory.records import SqlRecords
from hikitsugi.memory.rows import Stored, purpose_in, to_transcript, to_turn
from hikitsugi.memory.tables import (
    CommentTakenIn,
    FileSeen,
    KeptComment,
    Message,
    StoredContext,
    StoredConversation,
    StoredPhaseResult,
    StoredSummary,
    StoredTask,
)

_OF_ISSUES = (
    *(StoredTask, StoredContext, StoredSummary, StoredPhaseResult),
    *(StoredConversation, CommentTakenIn, KeptComment),
)


class HeldConversation(Transcript):
    """A conversation with its place in the story; only its turns, where what it was opened with is damaged."""

    subject: str = ""
    session: int | None = None
    opened_at: datetime | None = None


class TakenIn(Value):
    """A version of a comment that the model was given, where and when."""

    comment: str
    conversation: str
    at: datetime


class SqlArchive(SqlRecords):
    """The records and everything beside them; `left_out` tells how much of it could not be read."""

    async def holds(self, issue: IssueAddress) -> bool:
        """Whether there is anything of the issue, damaged or not."""
        anything = or_(*(exists().where(table.issue == str(issue)) for table in _OF_ISSUES))
        async with self._transaction() as connection:
            return bool((await connection.execute(select(anything))).scalar_one())

    async def sessions(self, issue: IssueAddress) -> list[int]:
        """The numbers of all sessions that left something."""
        tables = (StoredTask, StoredConversation, StoredSummary)
        numbers = union(*(select(table.session).where(table.issue == str(issue)) for table in tables))
        async with self._transaction() as connection:
            return sorted((await connection.execute(numbers)).scalars())

    async def contexts(self, issue: IssueAddress) -> list[Context]:
        """What the sessions left behind, oldest first."""
        left = select(StoredContext.body).where(StoredContext.issue == str(issue))
        ordered = left.order_by(StoredContext.ended_at, StoredContext.session)
        return await self._legible(f"contexts of {issue}", ordered, rows.to_context)

    async def transcripts(self, issue: IssueAddress) -> dict[str, HeldConversation]:
        """The conversations about the issue by id, oldest first, with the turns that can be read."""
        stored = StoredConversation
        openings = (
            select(stored.id, stored.system, stored.tools, stored.purpose, stored.session, stored.opened_at)
            .where(stored.issue == str(issue))
            .order_by(stored.opened_at)
        )
        turns = (
            select(stored.id, Message.role, Message.content)
            .join(Message, Message.conversation == stored.id)
            .where(stored.issue == str(issue))
            .order_by(stored.opened_at, Message.sequence)
        )
        opened = await self._legible(f"conversations of {issue}", openings, lambda row: (row.id, _held(row)))
        said = await self._legible(f"turns of {issue}", turns, lambda row: (row.id, to_turn(row)))
        bare = HeldConversation(system="", tools=(), turns=())
        found = {id_: bare for id_, _ in said} | dict(opened)
        turns_of: dict[str, list[Turn]] = {id_: [] for id_ in found}
        for id_, turn in said:
            turns_of[id_].append(turn)
        return {id_: held.model_copy(update={"turns": tuple(turns_of[id_])}) for id_, held in found.items()}

    async def kept_comments(self, issue: IssueAddress) -> list[Comment]:
        """The comments that no forge has, oldest first."""
        kept = select(KeptComment.content).where(KeptComment.issue == str(issue)).order_by(KeptComment.at)
        return await self._legible(f"comments of {issue}", kept, lambda row: Comment.model_validate(row.content))

    async def comments_taken_in(self, issue: IssueAddress) -> list[TakenIn]:
        """The versions of comments that the model was given, in the order in which it was."""
        taken = CommentTakenIn
        wanted = select(taken.comment, taken.conversation, taken.at).where(taken.issue == str(issue))
        ordered = wanted.order_by(taken.at, taken.comment)
        return await self._legible(
            f"comments of {issue}", ordered, lambda row: TakenIn.model_validate(row, from_attributes=True)
        )

    async def files_seen(self, issue: IssueAddress) -> dict[str, dict[str, str]]:
        """By conversation, the files that the model has read or written and the hashes of their content."""
        wanted = (
            select(FileSeen.conversation, FileSeen.path, FileSeen.sha256)
            .join(StoredConversation, StoredConversation.id == FileSeen.conversation)
            .where(StoredConversation.issue == str(issue))
            .order_by(StoredConversation.opened_at, FileSeen.path)
        )
        seen: dict[str, dict[str, str]] = {}
        async with self._transaction() as connection:
            for row in (await connection.execute(wanted)).all():
                seen.setdefault(row.conversation, {})[row.path] = row.sha256
        return seen


def _held(stored: Stored) -> HeldConversation:
    transcript, subject = to_transcript(stored, ()), purpose_in(stored)[1]
    times = {"session": stored.session, "opened_at": stored.opened_at}
    return HeldConversation.model_validate(transcript.model_dump() | {"subject": subject} | times)
