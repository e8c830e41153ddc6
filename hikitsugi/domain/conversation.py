"""A conversation with the model: append-only turns under an id, each turn under a sequence number."""

from datetime import datetime
from decimal import Decimal
from typing import Literal

from pydantic import JsonValue

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.tools import ToolCall, ToolSpec
from hikitsugi.domain.value import Value

Block = dict[str, JsonValue]


class Turn(Value):
    """One turn, its content blocks exactly as they cross the wire."""

    role: Literal["user", "assistant"]
    content: tuple[Block, ...]

    @classmethod
    def of_text(cls, role: Literal["user", "assistant"], text: str) -> "Turn":
        """A turn of one text block."""
        return cls(role=role, content=({"type": "text", "text": text},))

    @property
    def text(self) -> str:
        """The text blocks, joined."""
        return "".join(str(block["text"]) for block in self.content if block["type"] == "text")

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in this turn, in order."""
        return tuple(ToolCall.model_validate(block) for block in self.content if block["type"] == "tool_use")


class Usage(Value):
    """What one model call used, as reported; `input_tokens` is the uncached remainder."""

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0

    @property
    def context_tokens(self) -> int:
        """How long the conversation now is."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens + self.output_tokens


class Reply(Value):
    """A model's whole answer; `cost_usd` is None when the model's price is unknown."""

    turn: Turn
    stop_reason: str
    model: str
    usage: Usage = Usage()
    cost_usd: Decimal | None = None
    price_version: str | None = None


class Opening(Value):
    """What a conversation starts from and keeps unchanged until its end."""

    id: str
    issue: IssueAddress
    session: int
    purpose: str
    system: str
    tools: tuple[ToolSpec, ...] = ()
    turns: tuple[Turn, ...]
    comments: tuple[str, ...] = ()
    """The versions of the comments among the turns."""
    opened_at: datetime


class Transcript(Value):
    """A conversation as the next model call needs it."""

    system: str
    tools: tuple[ToolSpec, ...]
    turns: tuple[Turn, ...]
    purpose: str = ""
    """What it is held for; a phase of planned work wants replies in its form."""
