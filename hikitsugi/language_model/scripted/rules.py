"""The rules the real API enforces beyond the shape of a request; each breach is answered with its sentence."""

from collections.abc import Iterator

from hikitsugi.language_model.scripted.prefix import Prefix
from hikitsugi.language_model.scripted.request import Message, Prompt, Text, Thinking, ToolResult, ToolUse

_EACH_CALL = "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
_EACH_RESULT = "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
_ALIEN = "Invalid signature in thinking block. The block is bound to a different conversation"


def breach(prompt: Prompt) -> str | None:
    """The first rule the prompt breaks, as the API words it."""
    checks = (_roles, _tools, _contents, _pairing, _signatures)
    return next((problem for check in checks for problem in check(prompt)), None)


def _roles(prompt: Prompt) -> Iterator[str]:
    if prompt.messages[0].role != "user":
        yield 'messages: first message must use the "user" role'
    if prompt.messages[-1].role != "user":
        yield ("This model does not support assistant message prefill. The conversation must end with a user message.")


def _tools(prompt: Prompt) -> Iterator[str]:
    names = [tool.name for tool in prompt.tools]
    if len(names) != len(set(names)):
        yield "tools: Tool names must be unique."
    for index, tool in enumerate(prompt.tools):
        if tool.input_schema.get("type") != "object":
            yield f"tools.{index}.custom.input_schema.type: Input should be 'object'"
    if prompt.tool_choice and prompt.tool_choice.get("type") in {"any", "tool"}:
        yield "tool_choice: forced tool use is not supported by this model; use auto or none"


def _contents(prompt: Prompt) -> Iterator[str]:
    for index, message in enumerate(prompt.messages):
        if not message.content:
            yield f"messages.{index}: all messages must have non-empty content"
        for block in message.content:
            if isinstance(block, Text) and not block.text.strip():
                yield "messages: text content blocks must be non-empty"
            if isinstance(block, (Thinking, ToolUse)) and message.role == "user":
                yield f"messages.{index}: `{block.type}` blocks can only be in `assistant` messages"
            if isinstance(block, ToolResult) and message.role == "assistant":
                yield f"messages.{index}: `tool_result` blocks can only be in `user` messages"


def _pairing(prompt: Prompt) -> Iterator[str]:
    known: set[str] = set()
    asked: set[str] = set()
    for index, message in enumerate(prompt.messages):
        answered = [block.tool_use_id for block in message.content if isinstance(block, ToolResult)]
        if missing := asked - _leading_results(message):
            yield (
                f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(sorted(missing))}. {_EACH_CALL}"
            )
        if strangers := set(answered) - asked:
            yield (
                f"messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{', '.join(sorted(strangers))}. {_EACH_RESULT}"
            )
        if len(answered) != len(set(answered)):
            yield f"messages.{index}: each tool_use must have a single result"
        calls = [block.id for block in message.content if isinstance(block, ToolUse)]
        asked = set(calls)
        if len(calls) != len(asked) or asked & known:
            yield f"messages.{index}: `tool_use` ids must be unique"
        known |= asked


def _leading_results(message: Message) -> set[str]:
    leading: set[str] = set()
    for block in message.content:
        if not isinstance(block, ToolResult):
            break
        leading.add(block.tool_use_id)
    return leading


def _signatures(prompt: Prompt) -> Iterator[str]:
    prefix = Prefix(prompt)
    for index, message in enumerate(prompt.messages):
        for place, block in enumerate(message.content):
            if isinstance(block, Thinking) and block.signature != prefix.sign(block.thinking):
                yield f"messages.{index}.content.{place}: {_ALIEN}"
            prefix.add(message.role, block)
