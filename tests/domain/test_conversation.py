"""Turns as they cross the wire."""

from hikitsugi.domain.conversation import Turn, Usage
from hikitsugi.domain.tools import ToolCall

MIXED = Turn.model_validate(
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "secret musings", "signature": "s1"},
            {"type": "text", "text": "I read "},
            {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.py"}},
            {"type": "text", "text": "two files."},
            {"type": "tool_use", "id": "t2", "name": "read", "input": {"path": "b.py"}},
        ],
    }
)


def test_a_turn_of_text_says_that_text():
    turn = Turn.of_text("user", "Please fix it.")
    assert (turn.role, turn.text, turn.tool_calls) == ("user", "Please fix it.", ())
    assert turn.content == ({"type": "text", "text": "Please fix it."},)


def test_the_text_of_a_turn_is_its_text_blocks_alone():
    assert MIXED.text == "I read two files."


def test_the_tool_calls_of_a_turn_come_in_order():
    assert MIXED.tool_calls == (
        ToolCall(id="t1", name="read", input={"path": "a.py"}),
        ToolCall(id="t2", name="read", input={"path": "b.py"}),
    )


def test_a_turn_travels_without_losing_a_block_or_a_field():
    assert Turn.model_validate_json(MIXED.model_dump_json()) == MIXED
    assert MIXED.content[0]["signature"] == "s1"


def test_the_context_is_everything_that_was_sent_and_said():
    usage = Usage(input_tokens=1, cache_read_tokens=20, cache_write_tokens=300, output_tokens=4000)
    assert usage.context_tokens == 4321
