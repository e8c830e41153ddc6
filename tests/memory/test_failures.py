"""A database that is damaged, locked, full or away is told from one another in a sentence."""

import sqlite3
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from hikitsugi.domain.errors import HikitsugiError, TryAgainLater, WillNeverWork
from hikitsugi.memory.opening import open_memory
from hikitsugi.memory.store import SqlMemory
from tests.memory.examples import opening, replied, said
from tests.memory.postgres import PostgresServer


async def _refusal(url: str) -> HikitsugiError:
    with pytest.raises(HikitsugiError) as refusal:
        async with open_memory(url):
            pass
    return refusal.value


@asynccontextmanager
async def _filled(file: Path) -> AsyncGenerator[SqlMemory]:
    async with open_memory(f"sqlite:///{file}") as memory:
        await memory.open_conversation(opening())
        for sequence in range(1, 40):
            await memory.append_reply("c1", sequence, replied("x" * 3000))
        yield memory


@pytest.mark.lesson("P3")
async def test_a_truncated_file_is_named_and_left_as_it_is(file: Path):
    async with _filled(file):
        pass
    whole = _content(file)
    for size in (len(whole) // 2, 5000, 100, 17, 0):
        left = _put(file, whole[:size])
        refusal = await _refusal(f"sqlite:///{file}")
        assert isinstance(refusal, WillNeverWork)
        assert f"The memory {file} is damaged" in str(refusal)
        assert _content(file) == left


@pytest.mark.lesson("P3")
async def test_a_file_that_is_no_database_is_named_and_left_as_it_is(file: Path):
    left = _put(file, b'{"conversations": []}' * 500)
    refusal = await _refusal(f"sqlite:///{file}")
    assert isinstance(refusal, WillNeverWork)
    assert f"The memory {file} is damaged (file is not a database)" in str(refusal)
    assert _content(file) == left


@pytest.mark.lesson("P3")
async def test_a_file_that_is_damaged_while_in_use_is_named(file: Path):
    async with _filled(file):
        pass
    page = 4096
    whole = _content(file)
    async with open_memory(f"sqlite:///{file}") as memory:
        _put(file, whole[: 2 * page] + b"\xaa" * (len(whole) - 2 * page))
        with pytest.raises(WillNeverWork, match="is damaged"):
            await memory.append("c1", 40, said("x"))


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_a_damaged_record_is_told_without_a_traceback(memory: SqlMemory, file: Path):
    await memory.open_conversation(opening())
    with _sqlite(file) as connection:
        connection.execute("UPDATE messages SET content = '[{'")
    with pytest.raises(WillNeverWork, match="A record does not fit the memory"):
        await memory.read_conversation("c1")


async def test_a_locked_file_is_tried_again_and_nothing_is_lost(file: Path):
    async with open_memory(f"sqlite:///{file}?timeout=0.1") as memory:
        await memory.open_conversation(opening())
        with _sqlite(file) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            with pytest.raises(TryAgainLater, match="database is locked"):
                await memory.append("c1", 1, said("x"))
            assert await memory.find_turn("c1", 0) == opening().turns[0]
        assert await memory.append("c1", 1, said("x")) == said("x")


async def test_a_full_disk_is_tried_again_and_nothing_is_half_written(file: Path):
    async with _filled(file):
        pass
    engine = create_async_engine(f"sqlite+aiosqlite:///{file}", pool_size=1, max_overflow=0)
    async with engine.connect() as connection:
        await connection.execute(text("PRAGMA max_page_count = 1"))
    memory = SqlMemory(engine, lambda: datetime.now(UTC))
    with pytest.raises(TryAgainLater, match="database or disk is full"):
        await memory.append_reply("c1", 40, replied("x" * 100_000))
    assert await memory.find_turn("c1", 40) is None
    await engine.dispose()


async def test_a_folder_in_the_files_place_is_refused(tmp_path: Path):
    refusal = await _refusal(f"sqlite:///{tmp_path}")
    assert isinstance(refusal, WillNeverWork)
    assert str(tmp_path) in str(refusal)


@pytest.mark.parametrize(
    "url", ["", "memory.db", "sqlite://", "sqlite:///:memory:", "mysql://user:hunter2@host/x", "postgresql://h:x/y"]
)
async def test_an_address_of_no_database_we_know_is_refused_without_repeating_it(url: str):
    refusal = await _refusal(url)
    assert isinstance(refusal, WillNeverWork)
    assert "memory.url is no address of a database" in str(refusal)
    assert "hunter2" not in str(refusal)


async def test_a_server_that_is_away_is_tried_again_and_its_password_kept(tmp_path: Path):
    refusal = await _refusal(f"postgresql://me:hunter2@/db?host={tmp_path}&password=hunter2")
    assert isinstance(refusal, TryAgainLater)
    assert "postgresql+asyncpg://me:***@/db cannot be used right now" in str(refusal)
    assert "hunter2" not in str(refusal)


async def test_a_name_that_is_not_found_is_tried_again():
    assert isinstance(await _refusal("postgresql://me@nowhere.invalid/db"), TryAgainLater)


async def test_an_unknown_database_or_user_is_refused(postgres: PostgresServer):
    for url in (postgres.url("nowhere"), postgres.url("postgres", user="nobody_we_know")):
        refusal = await _refusal(url)
        assert isinstance(refusal, WillNeverWork)
        assert "does not exist" in str(refusal)


async def test_a_server_that_cuts_its_connections_is_tried_again_and_nothing_is_lost(postgres: PostgresServer):
    url = await postgres.new_database()
    async with open_memory(url) as memory:
        await memory.open_conversation(opening())
        await postgres.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'memory_%'",
        )
        with pytest.raises(TryAgainLater, match="cannot be used right now"):
            await memory.append("c1", 1, said("x"))
        assert await memory.append("c1", 1, said("x")) == said("x")
        assert (await memory.read_conversation("c1")).turns == (*opening().turns, said("x"))


def _content(file: Path) -> bytes:
    return file.read_bytes()


def _put(file: Path, content: bytes) -> bytes:
    file.write_bytes(content)
    return content


@contextmanager
def _sqlite(file: Path) -> Generator[sqlite3.Connection]:
    connection = sqlite3.connect(file)
    try:
        with connection:
            yield connection
    finally:
        connection.close()
