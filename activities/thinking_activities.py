"""Steps with the model: each turn is stored under its number before anybody relies on it."""

from temporalio import activity

from hikitsugi.domain.conversation import Usage
from hikitsugi.domain.ports import LanguageModel, Memory
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.value import Value


class Think(Value):
    """Let the model say the next turn of a conversation."""

    conversation: str
    sequence: int


class Thought(Value):
    """What the story needs to know of a reply."""

    tools: tuple[str, ...]
    """The calls it makes, in a few words each."""
    stop_reason: str
    usage: Usage
    cost_usd: float | None


class ThinkingActivities:
    """The model, and the store that makes each of its replies count once."""

    def __init__(self, model: LanguageModel, memory: Memory, redact: Redactor) -> None:
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
        return Thought(
            tools=tuple(self._redact(call.label) for call in reply.turn.tool_calls),
            stop_reason=reply.stop_reason,
            usage=reply.usage,
            cost_usd=None if reply.cost_usd is None else float(reply.cost_usd),
        )
