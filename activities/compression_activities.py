"""The step that goes on with a conversation in a shorter one, and leaves the long one as it is."""

from collections.abc import Callable, Sequence
from datetime import datetime

from temporalio import activity

from activities.summing_up import summary_of
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Opening, Reply, Transcript, Turn, Usage
from hikitsugi.domain.inheritance import Measure
from hikitsugi.domain.policy import Language
from hikitsugi.domain.ports import LanguageModel, Memory, Records
from hikitsugi.domain.value import Value
from hikitsugi.messages import compression as texts

_RECORD_TOKENS = 60_000
_SUMMARY_TOKENS = 3_000
_PURPOSE = "compression"


class Compress(Value):
    """Go on with a conversation in a new one that starts from a summary of it."""

    issue: IssueAddress
    session: int
    number: int
    """Which compression of the session this is."""
    conversation: str
    opening: int
    """How many of its turns are kept as they are."""
    into: str
    language: Language
    at: datetime


class Compressed(Value):
    """How the new conversation stands; without turns there is none, because no summary could be had."""

    turns: int = 0
    tokens: int = 0
    usage: Usage | None = None
    cost_usd: float | None = None


class CompressionActivities:
    """The store of conversations, and the model that summarises them."""

    def __init__(
        self,
        memory: Memory,
        records: Records,
        model: LanguageModel,
        system_prompt: Callable[[Language], str],
        measure: Measure,
    ) -> None:
        self._memory = memory
        self._records = records
        self._model = model
        self._system_prompt = system_prompt
        self._measure = measure

    @activity.defn
    async def compress(self, request: Compress) -> Compressed:
        """Open the shorter conversation, with what its model knows of files; a summary is paid once."""
        long = await self._memory.read_conversation(request.conversation)
        reply = await self._summary(request, long)
        if reply is None:
            return Compressed()
        cost = None if reply.cost_usd is None else float(reply.cost_usd)
        summary = texts.at_most(reply.turn.text.strip(), _SUMMARY_TOKENS, self._measure)
        if reply.stop_reason != "end_turn" or not summary:
            activity.logger.warning("the conversation stays long, because the summary of it is not whole")
            return Compressed(usage=reply.usage, cost_usd=cost)
        opening = _shorter(request, long, summary)
        turns = await self._memory.open_conversation(opening)
        await self._memory.carry_files(request.conversation, request.into)
        await self._records.record_summary(request.issue, request.session, request.number, summary)
        return Compressed(turns=turns, tokens=self._length(opening), usage=reply.usage, cost_usd=cost)

    async def _summary(self, request: Compress, long: Transcript) -> Reply | None:
        """What the model makes of the conversation, if anything."""
        record = texts.record(long.turns, request.opening, _RECORD_TOKENS, self._measure)
        opening = Opening(
            id=f"{request.into}-{_PURPOSE}",
            issue=request.issue,
            session=request.session,
            purpose=_PURPOSE,
            system=self._system_prompt(request.language),
            turns=(Turn.of_text("user", record),),
            opened_at=request.at,
        )
        return await summary_of(self._memory, self._model, opening)

    def _length(self, opening: Opening) -> int:
        tools = "".join(tool.model_dump_json() for tool in opening.tools)
        return self._measure(opening.system + tools + "".join(turn.text for turn in opening.turns))


def _shorter(request: Compress, long: Transcript, summary: str) -> Opening:
    """The same rules, tools and request, the summary, and to the letter what the model has not answered yet."""
    return Opening(
        id=request.into,
        issue=request.issue,
        session=request.session,
        purpose=long.purpose,
        system=long.system,
        tools=long.tools,
        turns=(
            *long.turns[: request.opening],
            Turn.of_text("user", texts.goes_on_from(summary)),
            *_unanswered(long.turns[request.opening :]),
        ),
        opened_at=request.at,
    )


def _unanswered(turns: Sequence[Turn]) -> list[Turn]:
    """What was said since the model's last turn, without the answers to its calls."""
    last = max((n for n, turn in enumerate(turns) if turn.role == "assistant"), default=-1)
    return [Turn.of_text("user", turn.text) for turn in turns[last + 1 :] if turn.text]
