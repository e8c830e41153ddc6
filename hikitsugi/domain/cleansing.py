"""What may be kept of texts, records and turns: the same without secrets, and always the same for the same input."""

from typing import cast

from pydantic import JsonValue

from hikitsugi.domain.conversation import Block, Opening, Reply, Turn
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.tools import Intent, ToolCall

_SIGNED = frozenset({"thinking", "redacted_thinking"})


def cleansed(value: JsonValue, redact: Redactor) -> JsonValue:
    """A value with every text in it redacted, keys included."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(key): cleansed(inner, redact) for key, inner in value.items()}
    if isinstance(value, list):
        return [cleansed(inner, redact) for inner in value]
    return value


def cleansed_turn(turn: Turn, redact: Redactor) -> Turn:
    """A turn without secrets that the model's provider still accepts.

    Thinking is signed together with everything before it: it is kept to the letter or not at all. It goes where it
    holds a secret, and where a block before it in the same turn had to be changed.
    """
    kept: list[Block] = []
    is_changed = False
    for block in turn.content:
        is_signed = block.get("type") in _SIGNED
        clean = cast("Block", cleansed(block, redact)) if not is_signed or _tells(block, redact) else block
        if not is_signed or not (is_changed or clean != block):
            kept.append(clean)
        is_changed = is_changed or clean != block
    return turn if not is_changed else turn.model_copy(update={"content": tuple(kept)})


def _tells(thinking: Block, redact: Redactor) -> bool:
    """Whether a thought holds a secret; its signature is nobody's words."""
    text = str(thinking.get("thinking", ""))
    return redact(text) != text


def cleansed_reply(reply: Reply, redact: Redactor) -> Reply:
    """A reply without secrets."""
    return reply.model_copy(update={"turn": cleansed_turn(reply.turn, redact)})


def cleansed_opening(opening: Opening, redact: Redactor) -> Opening:
    """What a conversation starts from, without secrets."""
    turns = tuple(cleansed_turn(turn, redact) for turn in opening.turns)
    return opening.model_copy(update={"system": redact(opening.system), "turns": turns})


def cleansed_intent(intent: Intent, redact: Redactor) -> Intent:
    """What a call is about to do, without secrets."""
    given = cast("dict[str, JsonValue]", cleansed(intent.call.input, redact))
    return intent.model_copy(update={"call": intent.call.model_copy(update={"input": given})})


def withheld_calls(reply: Reply, clean: Reply) -> list[ToolCall]:
    """The calls of a reply, without secrets, that had to be changed; what is only told to people stays good."""
    asked = {call.id: call for call in reply.turn.tool_calls}
    return [call for call in clean.turn.tool_calls if call.name != "submit" and call != asked.get(call.id)]
