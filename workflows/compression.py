"""Keeps conversations with the model short: one that has grown too long goes on in a new one."""

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.compression_activities import Compress, Compressed, CompressionActivities
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.life import Life
from workflows import limits
from workflows.ids import new_id
from workflows.patience import Passage, Patience


class Compression:
    """Stands before a model's turn; without a summary the conversation stays, and is left alone for a while."""

    def __init__(self, issue: IssueAddress, life: Life, patience: Patience, passage: Passage) -> None:
        self._issue = issue
        self._life = life
        self._patience = patience
        self._passage = passage

    async def passage(self) -> None:
        """Go on in a shorter conversation if this one is too long."""
        if not self._is_due:
            return
        session = self._life.current
        session.compressions += 1
        shorter = new_id()
        made = await self._compress(shorter)
        if made.usage:
            self._life.spend(made.usage, made.cost_usd)
        if made.turns:
            session.talk = session.talk.continued_in(shorter, made.turns, made.tokens)
        else:
            session.talk.rest()

    @property
    def _is_due(self) -> bool:
        """Whether the conversation is too long; one whose last word is the plan has come to its end."""
        session = self._life.current
        is_over = session.planning.plan == session.talk.turn()
        return session.talk.is_longer_than(self._life.policy.compress_at_tokens) and not is_over

    async def _compress(self, into: str) -> Compressed:
        session = self._life.current
        request = Compress(
            issue=self._issue,
            session=session.number,
            number=session.compressions,
            conversation=session.talk.id,
            opening=session.talk.opening,
            into=into,
            language=self._life.policy.language,
            at=workflow.now(),
        )
        step, summary = CompressionActivities.compress, f"compress {session.talk.context_tokens} tokens"
        try:
            return await self._patience.take(step, request, limits.SUMMARY, summary, passage=self._passage)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            return Compressed()
