"""Steps with the model: each turn is stored under its number before anybody relies on it."""

from temporalio import activity

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Turn, Usage
from hikitsugi.domain.outcome import Outcome
from hikitsugi.domain.phase_replies import REPLIES, Misfit, PhaseReply, parsed
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.ports import LanguageModel, Memory, Records
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.value import Value

_LONGEST_COMMENT = 500


class Think(Value):
    """Let the model say the next turn of a conversation."""

    conversation: str
    sequence: int
    phase: Phase | None = None
    issue: IssueAddress | None = None
    session: int = 0
    number: int = 0
    """Which call of the issue's this is; a phase's result is kept under it."""


class Thought(Value):
    """What the story needs to know of a reply."""

    tools: tuple[str, ...]
    """The calls it makes, in a few words each."""
    stop_reason: str
    usage: Usage
    cost_usd: float | None
    comment: str = ""
    """What the model wants people to know of this step, if it is short."""
    outcome: Outcome | None = None
    """The facts of a phase's reply, if it fits its form."""
    problem: str | None = None
    """Why a phase's reply does not fit."""


class ThinkingActivities:
    """The model, and the store that makes each of its replies count once."""

    def __init__(self, model: LanguageModel, memory: Memory, redact: Redactor, records: Records | None = None) -> None:
        self._records = records
        self._model = model
        self._memory = memory
        self._redact = redact

    @activity.defn
    async def think(self, request: Think) -> Thought:
        """The stored reply if there is one; otherwise ask the model and store it."""
        reply = await self._memory.find_reply(request.conversation, request.sequence)
        if reply is None:
            transcript = await self._memory.read_conversation(request.conversation)
            fresh = await self._model.reply(transcript)
            reply = await self._memory.append_reply(request.conversation, request.sequence, fresh)
        thought = Thought(
            tools=tuple(self._redact(call.label) for call in reply.turn.tool_calls),
            stop_reason=reply.stop_reason,
            usage=reply.usage,
            cost_usd=None if reply.cost_usd is None else float(reply.cost_usd),
        )
        return thought.model_copy(update=await self._understood(request, reply.turn))

    async def _understood(self, request: Think, turn: Turn) -> dict[str, object]:
        """What a reply means in its phase; text beside tool calls is only a comment."""
        phase = request.phase
        if turn.tool_calls or phase is None or phase not in REPLIES:
            return {"comment": self._short(turn.text) if phase else ""}
        try:
            reply = parsed(phase, turn.text)
        except Misfit as misfit:
            return {"problem": self._redact(str(misfit))}
        await self._keep(request, phase, reply)
        outcome = Outcome.of(reply)
        titles = [each.model_copy(update={"title": self._redact(each.title)}) for each in outcome.actions]
        cleansed = outcome.model_copy(update={"actions": tuple(titles)})
        return {"outcome": cleansed, "comment": self._short(reply.comment)}

    async def _keep(self, request: Think, phase: Phase, reply: PhaseReply) -> None:
        """Let later sessions know what a phase came to."""
        if self._records and request.issue:
            result = reply.model_dump(mode="json")
            await self._records.record_phase(request.issue, request.session, phase, request.number, result)

    def _short(self, text: str) -> str:
        said = self._redact(text.strip())
        return said if len(said) <= _LONGEST_COMMENT else ""
