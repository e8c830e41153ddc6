"""What a caller sent, checked for its shape, and what a script wants to know about it."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, StringConstraints, TypeAdapter


class _Open(BaseModel):
    """Keeps fields it does not know, so that a block can be told from a changed one."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Text(_Open):
    """A text block."""

    type: Literal["text"]
    text: str


class Thinking(_Open):
    """A signed thinking block."""

    type: Literal["thinking"]
    thinking: str
    signature: str


class ToolUse(_Open):
    """A call the model made."""

    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, JsonValue]


def _as_blocks(content: object) -> object:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


class ToolResult(_Open):
    """What the caller says came of a call."""

    type: Literal["tool_result"]
    tool_use_id: str
    content: Annotated[list[Text], BeforeValidator(_as_blocks)] = Field(default_factory=list[Text])
    is_error: bool = False


Block = Annotated[Text | Thinking | ToolUse | ToolResult, Field(discriminator="type")]


class Message(BaseModel):
    """One message of the conversation."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    role: Literal["user", "assistant"]
    content: Annotated[list[Block], BeforeValidator(_as_blocks)]


class Tool(_Open):
    """A tool the caller offers."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9_-]{1,128}$")]
    description: str = ""
    input_schema: dict[str, JsonValue]


class Thoughts(_Open):
    """How the model shall think; turning it off or fixing its depth is refused, as the real one does."""

    type: Literal["adaptive"]
    display: Literal["summarized", "omitted"] = "omitted"


class OutputFormat(_Open):
    """The schema a final text must follow."""

    type: Literal["json_schema"]
    schema_: dict[str, JsonValue] = Field(alias="schema")


class OutputConfig(_Open):
    """How much effort, and which form."""

    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: OutputFormat | None = None


class Result(BaseModel):
    """A finished tool call as a script sees it: the call and what came of it."""

    tool: str
    input: dict[str, JsonValue]
    text: str
    is_error: bool


_SYSTEM = TypeAdapter[str | list[Text]](str | list[Text])


def _as_text(system: object) -> str:
    given = _SYSTEM.validate_python(system)
    return given if isinstance(given, str) else "\n".join(block.text for block in given)


class Prompt(BaseModel):
    """The part of a request that token counting takes too."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    messages: list[Message] = Field(min_length=1)
    system: Annotated[str, BeforeValidator(_as_text)] = ""
    tools: list[Tool] = Field(default_factory=list[Tool])
    tool_choice: dict[str, JsonValue] | None = None
    thinking: Thoughts | None = None
    output_config: OutputConfig = OutputConfig()
    cache_control: dict[str, JsonValue] | None = None

    @property
    def form(self) -> str:
        """The title of the form that the final text must have; empty when any text will do."""
        wanted = self.output_config.format
        return str(wanted.schema_.get("title", "")) if wanted else ""

    @property
    def turn(self) -> int:
        """How many replies the conversation holds already."""
        return sum(message.role == "assistant" for message in self.messages)

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text of the user's, oldest first."""
        users = (message for message in self.messages if message.role == "user")
        return tuple(block.text for message in users for block in message.content if isinstance(block, Text))

    @property
    def text(self) -> str:
        """The text that is new in this request; empty when it brings tool results alone."""
        return "\n".join(block.text for block in self.messages[-1].content if isinstance(block, Text))

    @property
    def results(self) -> tuple[Result, ...]:
        """The tool results that are new in this request."""
        return self._results_in(self.messages[-1:])

    def results_of(self, tool: str) -> tuple[Result, ...]:
        """Every result of a tool in this conversation, oldest first."""
        return tuple(result for result in self._results_in(self.messages) if result.tool == tool)

    def results_since(self, text: str) -> tuple[Result, ...]:
        """Every result that came after a text of the user's."""
        holding = [n for n, message in enumerate(self.messages) if any(text == _text(b) for b in message.content)]
        return self._results_in(self.messages[holding[-1] + 1 :])

    def _results_in(self, messages: list[Message]) -> tuple[Result, ...]:
        calls = {b.id: b for message in self.messages for b in message.content if isinstance(b, ToolUse)}
        found = (block for message in messages for block in message.content if isinstance(block, ToolResult))
        return tuple(_result(calls[block.tool_use_id], block) for block in found)


class Request(Prompt):
    """A request for a reply."""

    max_tokens: int = Field(gt=0)
    stream: bool = False
    stop_sequences: list[str] = Field(default_factory=list[str])
    metadata: dict[str, JsonValue] | None = None
    service_tier: Literal["auto", "standard_only"] = "auto"


def _text(block: Block) -> str | None:
    return block.text if isinstance(block, Text) else None


def _result(call: ToolUse, result: ToolResult) -> Result:
    text = "".join(block.text for block in result.content)
    return Result(tool=call.name, input=call.input, text=text, is_error=result.is_error)
