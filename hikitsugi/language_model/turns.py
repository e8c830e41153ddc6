"""Turns of a conversation as messages on the wire."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from pydantic import JsonValue

from hikitsugi.domain.conversation import Block, Turn

Message = dict[str, JsonValue]


def as_messages(turns: Sequence[Turn]) -> list[Message]:
    """One message per change of speaker; what a turn says is sent as it was stored."""
    spoken = ((turn.role, block) for turn in turns for block in turn.content if not _is_blank(block))
    return [
        {"role": role, "content": _in_order(block for _, block in blocks)}
        for role, blocks in groupby(spoken, key=lambda said: said[0])
    ]


def _is_blank(block: Block) -> bool:
    # The model may return an empty text block, and its API refuses to take one back.
    return block["type"] == "text" and not str(block["text"]).strip()


def _in_order(blocks: Iterable[Block]) -> list[JsonValue]:
    # The API wants the answers to tool calls before anything else in the message.
    ordered = sorted(blocks, key=lambda block: block["type"] != "tool_result")
    return [*ordered]
