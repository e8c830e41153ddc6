"""The server refuses what the real one refuses."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import anthropic
import pytest
import pytest_asyncio

from hikitsugi.language_model.scripted import ScriptedModel, say, serve, think

Json = dict[str, Any]
SAY: Json = {"role": "user", "content": "hello"}
CALL: Json = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
CALLS: Json = {"role": "assistant", "content": [CALL, {**CALL, "id": "toolu_2"}]}
ONE: Json = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}
TWO: Json = {**ONE, "tool_use_id": "toolu_2"}
TEXT: Json = {"type": "text", "text": "and"}
TOOL: Json = {"name": "read", "input_schema": {"type": "object"}}


def user(*blocks: Json) -> Json:
    """A user's message."""
    return {"role": "user", "content": list(blocks)}


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def api() -> AsyncGenerator[anthropic.AsyncAnthropic]:
    """A plain client of a server whose script thinks and speaks."""
    async with (
        serve(ScriptedModel(lambda _: think("hm") + say("hi"), api_key="key-of-the-test")) as base_url,
        anthropic.AsyncAnthropic(base_url=base_url, api_key="key-of-the-test", max_retries=0, timeout=20) as client,
    ):
        yield client


async def sent(api: anthropic.AsyncAnthropic, **changes: Any) -> Json:
    """The answer to a small request with some changes; a change to None takes the field out."""
    body = {"model": "claude-opus-5-5", "max_tokens": 100, "messages": [SAY], **changes}
    body = {key: value for key, value in body.items() if value is not None}
    answer = await api.post("/v1/messages", body=body, cast_to=anthropic.types.Message)
    return answer.to_dict(mode="json")


async def test_a_good_request_is_answered(api: anthropic.AsyncAnthropic):
    answer = await sent(api, tools=[TOOL], messages=[SAY, CALLS, user(TWO, ONE, TEXT)])
    assert [block["type"] for block in answer["content"]] == ["thinking", "text"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"temperature": 0.5}, "temperature: Extra inputs are not permitted"),
        ({"top_p": 0.5}, "top_p: Extra inputs are not permitted"),
        ({"top_k": 5}, "top_k: Extra inputs are not permitted"),
        ({"messages": []}, "messages: List should have at least 1 item"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages.0.role: Input should be 'user' or 'assistant'"),
        ({"messages": [{"role": "assistant", "content": "x"}, SAY]}, "first message must use"),
        ({"messages": [SAY, {"role": "assistant", "content": "The"}]}, "prefill"),
        ({"messages": [{"role": "user", "content": ""}]}, "text content blocks must be non-empty"),
        ({"messages": [user()]}, "all messages must have non-empty content"),
        ({"messages": [user({"type": "video"})]}, "messages.0.content.0"),
        ({"tools": [TOOL, TOOL]}, "Tool names must be unique"),
        ({"tools": [{**TOOL, "name": "no spaces"}]}, "tools.0.name"),
        ({"tools": [{"name": "read", "input_schema": {"type": "string"}}]}, "input_schema.type"),
        ({"tools": [TOOL], "tool_choice": {"type": "any"}}, "forced tool use"),
        ({"tools": [TOOL], "tool_choice": {"type": "tool", "name": "read"}}, "forced tool use"),
        ({"thinking": {"type": "disabled"}}, "thinking.type"),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "thinking.type"),
        ({"messages": [SAY, CALLS, SAY]}, "without `tool_result` blocks immediately after: toolu_1, toolu_2"),
        ({"messages": [SAY, CALLS, user(ONE)]}, "immediately after: toolu_2"),
        ({"messages": [SAY, CALLS, user(ONE), user(TWO)]}, "immediately after: toolu_2"),
        ({"messages": [SAY, CALLS, user(TEXT, ONE, TWO)]}, "immediately after: toolu_1, toolu_2"),
        ({"messages": [SAY, CALLS, user(ONE, TEXT, TWO)]}, "immediately after: toolu_2"),
        ({"messages": [SAY, CALLS, user(ONE, TWO, TWO)]}, "single result"),
        ({"messages": [user(ONE)]}, "unexpected `tool_use_id`"),
        ({"messages": [SAY, CALLS, user(ONE, TWO), CALLS, user(ONE, TWO)]}, "ids must be unique"),
        ({"messages": [user(CALL)]}, "can only be in `assistant`"),
        ({"messages": [SAY, {"role": "assistant", "content": [ONE]}, SAY]}, "can only be in `user`"),
        (
            {"messages": [SAY, {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}, SAY]},
            "signature: Field required",
        ),
    ],
)
async def test_a_broken_rule_is_a_bad_request(api: anthropic.AsyncAnthropic, changes: Json, sentence: str):
    with pytest.raises(anthropic.BadRequestError) as refused:
        await sent(api, **changes)
    assert refused.value.type == "invalid_request_error"
    assert sentence in str(refused.value.api_message)


@pytest.mark.parametrize(
    ("changes", "opening", "thought"),
    [
        ({"system": "new"}, SAY, {}),
        ({"tools": [TOOL]}, SAY, {}),
        ({"model": "claude-sonnet-5-5"}, SAY, {}),
        ({}, {"role": "user", "content": "edited"}, {}),
        ({}, SAY, {"thinking": "other"}),
        ({}, SAY, {"signature": "forged"}),
    ],
)
async def test_a_thought_is_bound_to_everything_before_it(
    api: anthropic.AsyncAnthropic, changes: Json, opening: Json, thought: Json
):
    thinking, text = (await sent(api))["content"]
    assert await sent(api, messages=[SAY, {"role": "assistant", "content": [thinking, text]}, SAY])
    said = {"role": "assistant", "content": [{**thinking, **thought}, text]}
    with pytest.raises(anthropic.BadRequestError) as refused:
        await sent(api, messages=[opening, said, SAY], **changes)
    assert refused.value.api_message == (
        "messages.1.content.0: Invalid signature in thinking block. The block is bound to a different conversation"
    )


async def test_where_the_cache_ends_and_how_a_text_is_written_does_not_matter_to_a_thought(
    api: anthropic.AsyncAnthropic,
):
    answer = await sent(api)
    marked = {"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}}
    assert await sent(api, messages=[user(marked), {"role": "assistant", "content": answer["content"]}, SAY])


async def test_a_body_that_is_no_json_is_a_bad_request(api: anthropic.AsyncAnthropic):
    with pytest.raises(anthropic.BadRequestError):
        await api.post("/v1/messages", content=b"{", cast_to=anthropic.types.Message)


async def test_tokens_are_counted_by_the_same_rules(api: anthropic.AsyncAnthropic):
    counted = await api.messages.count_tokens(
        model="claude-opus-5-5", messages=[{"role": "user", "content": "引" * 300}]
    )
    assert 300 < counted.input_tokens < 330
    with pytest.raises(anthropic.BadRequestError):
        await api.messages.count_tokens(model="claude-opus-5-5", messages=[{"role": "assistant", "content": "x"}])


async def test_both_ways_of_sending_the_key_are_understood_and_a_wrong_one_is_not(api: anthropic.AsyncAnthropic):
    old_way = api.with_options(default_headers={"authorization": "", "x-api-key": "key-of-the-test"})
    assert (await sent(old_way))["role"] == "assistant"
    with pytest.raises(anthropic.AuthenticationError) as refused:
        await sent(api.with_options(api_key="wrong"))
    assert json.loads(refused.value.response.text)["error"] == {
        "type": "authentication_error",
        "message": "invalid x-api-key",
    }
