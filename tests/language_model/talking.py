"""A model to talk to: the real client, and a scripted server behind it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from pydantic import SecretStr

from hikitsugi.domain.conversation import Block, Reply, Transcript, Turn
from hikitsugi.domain.tools import ToolSpec
from hikitsugi.language_model.client import AnthropicModel
from hikitsugi.language_model.prices import PriceList
from hikitsugi.language_model.scripted import Script, ScriptedModel, serve

KEY = "sk-ant-made-up-key-0123456789"
READ = ToolSpec(name="read", description="Read a file.", input_schema={"type": "object", "properties": {}})
RUN = ToolSpec(name="run", description="Run a command.", input_schema={"type": "object", "properties": {}})
LONG_SYSTEM = "You work on issues of a repository. " * 60


def client(
    base_url: str, key: str = KEY, model: str = "claude-opus-5-5", silence: timedelta = timedelta(seconds=20)
) -> AnthropicModel:
    """The real client."""
    return AnthropicModel(
        base_url=base_url, api_key=SecretStr(key), model=model, max_tokens=1000, prices=PriceList(), silence=silence
    )


@asynccontextmanager
async def talking(
    script: Script, *, silence: timedelta = timedelta(seconds=20)
) -> AsyncGenerator[tuple[AnthropicModel, ScriptedModel]]:
    """The client and the model it talks to."""
    scripted = ScriptedModel(script, api_key=KEY)
    async with serve(scripted) as base_url, client(base_url, silence=silence) as model:
        yield model, scripted


def asked(*turns: Turn, system: str = "You work.", tools: tuple[ToolSpec, ...] = (READ, RUN)) -> Transcript:
    """A conversation so far; a short one when no turns are given."""
    return Transcript(system=system, tools=tools, turns=turns or (Turn.of_text("user", "hello"),))


def results(reply: Reply, *texts: str) -> Turn:
    """The user's turn that answers every tool call of a reply."""
    answers: list[Block] = [
        {"type": "tool_result", "tool_use_id": call.id, "content": text}
        for call, text in zip(reply.turn.tool_calls, texts, strict=True)
    ]
    return Turn(role="user", content=tuple(answers))
