"""Whatever crossed the wire comes back to the letter."""

import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue
from sqlalchemy import select
from sqlalchemy.ext.asyncio import create_async_engine

from hikitsugi.domain.conversation import Block, Turn
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.tools import Intent, ToolCall, ToolOutcome, ToolSpec
from hikitsugi.memory.opening import open_memory
from hikitsugi.memory.store import SqlMemory
from hikitsugi.memory.tables import Message, ModelCall, StoredConversation, StoredToolRun
from tests.memory.examples import intent, opening, outcome, replied

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
_JSON: st.SearchStrategy[JsonValue] = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
_BLOCKS = st.dictionaries(st.text(), _JSON, max_size=5)
_THINKING: Block = {"type": "thinking", "thinking": "考え\u2028中 🤔\x00\x1f", "signature": "EqQB+/=", "a": 1, "A": 1.0}
_ODD: Block = {"type": "text", "text": "\ud83d alone", "z": -0.0, "y": 2**70, "x": 1e400, "": [[], {}], "\x00": None}

_on_one_database = settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def _letters(value: object) -> str:
    return json.dumps(value)


@given(blocks=st.lists(_BLOCKS, max_size=3), system=st.text(), schema=_BLOCKS)
@example(blocks=[_THINKING, _ODD], system="\x00 引き継ぎ \ud800", schema={"b": 1, "a": 2})
@_on_one_database
async def test_turns_system_text_and_tools_keep_every_character_and_the_order_of_keys(
    memory: SqlMemory, blocks: list[Block], system: str, schema: Block
):
    turn = Turn(role="assistant", content=tuple(blocks))
    tool = ToolSpec(name="t", description=system, input_schema=schema)
    start = opening(uuid4().hex).model_copy(update={"turns": (turn,), "system": system, "tools": (tool,)})
    await memory.open_conversation(start)
    await memory.append(start.id, 1, turn)

    transcript = await memory.read_conversation(start.id)

    assert transcript.system == system
    assert _letters(transcript.tools[0].input_schema) == _letters(schema)
    assert [_letters(stored.content) for stored in transcript.turns] == [_letters(turn.content)] * 2


@given(asked=_BLOCKS, text=st.text())
@_on_one_database
async def test_intents_and_outcomes_keep_every_character(memory: SqlMemory, asked: Block, text: str):
    conversation = uuid4().hex
    await memory.open_conversation(opening(conversation))
    wanted = Intent(call=ToolCall(id="toolu_1", name="run", input=asked))
    told = ToolOutcome(text=text, is_error=True)
    await memory.begin_tool_run(conversation, wanted)
    await memory.finish_tool_run(conversation, "toolu_1", told)

    run = await memory.find_tool_run(conversation, "toolu_1")

    assert run is not None
    assert _letters(run.intent.call.input) == _letters(asked)
    assert run.outcome == told


@given(cost=st.decimals(allow_nan=False, allow_infinity=False, places=9))
@_on_one_database
async def test_costs_keep_every_digit(memory: SqlMemory, cost: Decimal):
    conversation = uuid4().hex
    await memory.open_conversation(opening(conversation))
    await memory.append_reply(conversation, 1, replied("x", cost=str(cost)))
    stored = await memory.find_reply(conversation, 1)
    assert stored is not None
    assert str(stored.cost_usd) == str(cost)


async def test_records_are_stamped_in_utc_by_the_clock_they_are_given(url: str):
    tokyo = datetime(2026, 1, 1, 9, 0, tzinfo=timezone(timedelta(hours=9)))
    start = opening().model_copy(update={"opened_at": tokyo + timedelta(days=1)})
    async with open_memory(url, now=lambda: tokyo) as memory:
        await memory.open_conversation(start)
        await memory.append_reply("c1", 1, replied("x"))
        await memory.begin_tool_run("c1", intent())
        await memory.finish_tool_run("c1", "toolu_1", outcome())

    new_year, next_day = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    stamps = await _read_stamps(url)

    assert stamps == [next_day, next_day, new_year, new_year, new_year, new_year]
    assert all(stamp.utcoffset() == timedelta(0) for stamp in stamps)


async def _read_stamps(url: str) -> list[datetime]:
    columns = [
        select(StoredConversation.opened_at),
        select(Message.created_at).order_by(Message.sequence),
        select(ModelCall.at),
        select(StoredToolRun.begun_at),
        select(StoredToolRun.finished_at),
    ]
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        stamps = [stamp for column in columns for stamp in (await connection.execute(column)).scalars() if stamp]
    await engine.dispose()
    return stamps


async def test_a_time_without_a_zone_is_refused(memory: SqlMemory):
    start = opening().model_copy(update={"opened_at": datetime(2026, 1, 1)})  # noqa: DTZ001 - the fault under test
    with pytest.raises(WillNeverWork, match="has no time zone"):
        await memory.open_conversation(start)
