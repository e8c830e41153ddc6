"""The server starts at once, ends cleanly and knows which replies went out."""

import asyncio
import signal
import socket

import anthropic
import httpx2
import pytest
from anthropic.types import MessageParam

from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.language_model.scripted import Reaction, Request, Script, ScriptedModel, say, serve, think, use
from tests.language_model.talking import KEY, asked, client, talking


async def test_the_port_is_free_again_and_signals_are_left_alone():
    before = signal.getsignal(signal.SIGINT)
    async with serve(ScriptedModel(lambda _: say("hi"))) as base_url:
        assert signal.getsignal(signal.SIGINT) is before
        port = int(base_url.rpartition(":")[2])
    with socket.create_server(("127.0.0.1", port)):
        pass


def slow(arrived: asyncio.Event) -> Script:
    """A script that lets everybody wait, and tells when somebody does."""

    def script(_: Request) -> Reaction:
        arrived.set()
        return say("late").delayed(3600)

    return script


async def test_a_caller_that_leaves_was_not_answered():
    arrived = asyncio.Event()
    async with talking(slow(arrived)) as (model, scripted):
        asking = asyncio.create_task(model.reply(asked()))
        await arrived.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert scripted.paid == 0


async def test_a_server_that_ends_lets_its_callers_try_again():
    arrived = asyncio.Event()
    async with serve(ScriptedModel(slow(arrived), api_key=KEY)) as base_url:
        model = client(base_url)
        asking = asyncio.create_task(model.reply(asked()))
        await arrived.wait()
    with pytest.raises(TryAgainLater):
        await asking
    await model.aclose()


async def test_the_events_are_named_and_in_order():
    async with (
        serve(ScriptedModel(lambda _: think("hm") + say("hi") + use("read", path="a"))) as base_url,
        httpx2.AsyncClient(base_url=base_url, headers={"x-api-key": "scripted"}) as http,
    ):
        body = {"model": "m", "max_tokens": 9, "stream": True, "messages": [{"role": "user", "content": "x"}]}
        answer = await http.post("/v1/messages", json=body)
    names = [line.removeprefix("event: ") for line in answer.text.splitlines() if line.startswith("event: ")]
    block = ["content_block_start", "content_block_delta", "content_block_stop"]
    assert names == ["message_start", "ping", *block, *block, *block, "message_delta", "message_stop"]
    assert answer.headers["content-type"].startswith("text/event-stream")


async def test_whole_and_streamed_replies_are_equal():
    async with (
        serve(ScriptedModel(lambda _: think("hm") + say("hi") + use("read", path="a"))) as base_url,
        anthropic.AsyncAnthropic(base_url=base_url, api_key="scripted", max_retries=0) as model,
    ):
        asking: list[MessageParam] = [{"role": "user", "content": "x"}]
        whole = await model.messages.create(model="claude-opus-5-5", max_tokens=100, messages=asking)
        async with model.messages.stream(model="claude-opus-5-5", max_tokens=100, messages=asking) as stream:
            streamed = await stream.get_final_message()
    assert whole.to_dict(exclude_none=True) == streamed.to_dict(exclude_none=True)
    assert [block.type for block in whole.content] == ["thinking", "text", "tool_use"]


async def test_thoughts_are_shown_only_when_asked_for():
    async with (
        serve(ScriptedModel(lambda _: think("hm"))) as base_url,
        anthropic.AsyncAnthropic(base_url=base_url, api_key="scripted", max_retries=0) as model,
    ):
        shown: list[str] = []
        for display in ("omitted", "summarized"):
            message = await model.messages.create(
                model="claude-opus-5-5",
                max_tokens=100,
                messages=[{"role": "user", "content": "x"}],
                thinking={"type": "adaptive", "display": display},
            )
            shown.append("".join(block.thinking for block in message.content if block.type == "thinking"))
    assert shown == ["", "hm"]
