"""Steps with the model: each turn is stored under its number before anybody relies on it."""

from datetime import timedelta

from temporalio import activity

from activities.brevity import ShortAddress, ShortUsage
from activities.failures import LONG_WAIT
from hikitsugi.domain.conversation import Reply, Transcript, Usage
from hikitsugi.domain.errors import Away, HikitsugiError, TryAgainLater
from hikitsugi.domain.outcome import Outcome
from hikitsugi.domain.phase_replies import REPLIES, Misfit, PhaseReply, parsed
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.ports import LanguageModel, Memory, Records
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.value import Sparse, Value

_LASTS_FROM = 5
"""From this attempt on a failure of the model is no moment's weakness, and people should see it."""
_NOTHING = timedelta()


class PhaseKey(Sparse, Value):
    """Names the result of a phase of one session of an issue."""

    issue: ShortAddress
    session: int
    number: int
    """Which call of the issue's it comes from."""


class Think(Sparse, Value):
    """Let the model say the next turn of a conversation."""

    conversation: str
    sequence: int
    phase: Phase | None = None
    keep_as: PhaseKey | None = None
    """Under which a phase's result is kept."""


class Thought(Sparse, Value):
    """What the story needs to know of a reply."""

    tools: tuple[str, ...] = ()
    """The calls it makes, in a few words each."""
    usage: ShortUsage = Usage()
    cost_usd: float | None = None
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
        transcript, reply = await self._memory.read_conversation(request.conversation), None
        if len(transcript.turns) > request.sequence:
            reply = await self._memory.find_reply(request.conversation, request.sequence)
        if reply is None:
            fresh = await self._reply(request, transcript)
            reply = await self._memory.append_reply(request.conversation, request.sequence, fresh)
        thought = Thought(
            tools=tuple(self._redact(call.label) for call in reply.turn.tool_calls),
            usage=reply.usage,
            cost_usd=None if reply.cost_usd is None else float(reply.cost_usd),
        )
        if reply.turn.tool_calls or request.phase is None or request.phase not in REPLIES:
            return thought
        return thought.model_copy(update=await self._understood(request, request.phase, reply.turn.text))

    async def _reply(self, request: Think, transcript: Transcript) -> Reply:
        """Ask the model; a failure is put on record before it is tried again; one that lasts becomes a wait."""
        attempt = activity.info().attempt
        try:
            return await self._model.reply(transcript)
        except HikitsugiError as error:
            if self._records:
                await self._records.record_failed_call(request.conversation, request.sequence, attempt, str(error))
            if isinstance(error, TryAgainLater) and attempt >= _LASTS_FROM and (error.after or _NOTHING) < LONG_WAIT:
                raise Away(str(error)) from error
            raise

    async def _understood(self, request: Think, phase: Phase, text: str) -> dict[str, object]:
        """What a reply means in its phase, or why it does not fit."""
        try:
            reply = parsed(phase, text)
        except Misfit as misfit:
            return {"problem": self._redact(str(misfit))}
        await self._keep(request, phase, reply)
        outcome = Outcome.of(reply)
        titles = [each.model_copy(update={"title": self._redact(each.title)}) for each in outcome.actions]
        cleansed = outcome.model_copy(update={"actions": tuple(titles)})
        return {"outcome": cleansed}

    async def _keep(self, request: Think, phase: Phase, reply: PhaseReply) -> None:
        """Let later sessions know what a phase came to."""
        if self._records and (key := request.keep_as):
            result = reply.model_dump(mode="json")
            await self._records.record_phase(key.issue, key.session, phase, key.number, result)
