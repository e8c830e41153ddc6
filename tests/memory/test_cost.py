"""The price of a step does not depend on how long the conversation has become."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import Engine, event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from hikitsugi.memory.opening import open_memory
from hikitsugi.memory.store import SqlMemory
from tests.memory.examples import opening, replied, said

_LENGTHS = (100, 3000)


async def _make(memory: SqlMemory, length: int) -> str:
    conversation = f"of {length}"
    await memory.open_conversation(opening(conversation, *["x"] * length))
    return conversation


async def _step(memory: SqlMemory, conversation: str, sequence: int) -> None:
    await memory.append_reply(conversation, sequence, replied("x"))
    await memory.append_reply(conversation, sequence, replied("again"))
    await memory.append(conversation, sequence + 1, said("x"))
    await memory.append(conversation, sequence + 1, said("again"))
    await memory.find_turn(conversation, sequence)


@contextmanager
def _statements() -> Generator[list[str]]:
    heard: list[str] = []

    def hear(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        heard.append(statement)

    event.listen(Engine, "before_cursor_execute", hear)
    try:
        yield heard
    finally:
        event.remove(Engine, "before_cursor_execute", hear)


@pytest.mark.lesson("C22")
async def test_a_step_takes_the_same_statements_at_any_length(memory: SqlMemory):
    heard: list[list[str]] = []
    for length in _LENGTHS:
        conversation = await _make(memory, length)
        with _statements() as statements:
            await _step(memory, conversation, length)
        heard.append(statements)
    assert heard[0] == heard[1]
    assert len(heard[0]) <= 9


@asynccontextmanager
async def _single_connection(url: str) -> AsyncGenerator[AsyncEngine]:
    engine = create_async_engine(url, pool_size=1, max_overflow=0)
    yield engine
    await engine.dispose()


async def _count_work(engine: AsyncEngine, memory: SqlMemory, length: int) -> int:
    """How many instructions SQLite's virtual machine needs for a step."""
    conversation = await _make(memory, length)
    instructions = 0

    def count() -> int:
        nonlocal instructions
        instructions += 1
        return 0

    async with engine.connect() as connection:
        driver: Any = (await connection.get_raw_connection()).driver_connection
        await driver.set_progress_handler(count, 1)
    await _step(memory, conversation, length)
    async with engine.connect() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        await driver.set_progress_handler(None, 1)
    return instructions


@pytest.mark.lesson("C22")
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_step_takes_the_same_work_at_any_length(url: str):
    async with open_memory(url), _single_connection(url) as engine:
        memory = SqlMemory(engine, lambda: datetime.now(UTC))
        await _count_work(engine, memory, 10)
        short, long = [await _count_work(engine, memory, length) for length in _LENGTHS]
    assert short > 0
    assert long <= 1.1 * short
