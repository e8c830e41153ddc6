"""Migrations make exactly the tables that the code declares, once, and for us alone."""

import asyncio
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import create_async_engine

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.memory.opening import open_memory
from hikitsugi.memory.store import SqlMemory
from hikitsugi.memory.tables import Table
from tests.memory.examples import opening


def _differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
    return list(compare_metadata(context, Table.metadata))


@pytest.mark.usefixtures("memory")
async def test_the_migrated_schema_is_the_declared_one(url: str):
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        assert await connection.run_sync(_differences) == []
    await engine.dispose()


async def test_opening_again_keeps_what_is_there(url: str):
    async with open_memory(url) as memory:
        await memory.open_conversation(opening())
    async with open_memory(url) as memory:
        assert (await memory.read_conversation("c1")).turns == opening().turns


async def _come_up(address: str) -> int:
    async with open_memory(address) as memory:
        return await memory.open_conversation(opening())


def _come_up_alone(address: str) -> int:
    return asyncio.run(_come_up(address))


async def test_many_openings_of_several_memories_in_one_process_all_come_up(url: str, tmp_path: Path):
    addresses = [url, *(f"sqlite:///{tmp_path}/other-{number}.db" for number in range(3))] * 3
    assert await asyncio.gather(*map(_come_up, addresses)) == [1] * len(addresses)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_openings_in_several_threads_all_come_up(url: str, tmp_path: Path):
    addresses = [url, f"sqlite:///{tmp_path}/other.db"] * 2
    with ThreadPoolExecutor(len(addresses)) as threads:
        assert list(threads.map(_come_up_alone, addresses)) == [1] * len(addresses)


async def test_a_database_of_a_newer_version_is_refused_and_kept(url: str):
    async with open_memory(url):
        pass
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(WillNeverWork, match="was made by a newer Hikitsugi"):
        async with open_memory(url):
            pass
    async with engine.begin() as connection:
        assert (await connection.execute(text("SELECT version_num FROM alembic_version"))).scalar_one() == "9999"
    await engine.dispose()


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_sqlite_runs_with_a_write_ahead_log_in_a_private_file(memory: SqlMemory, file: Path):
    await memory.open_conversation(opening())
    connection = sqlite3.connect(file)
    mode = connection.execute("PRAGMA journal_mode").fetchone()[0]
    connection.close()
    assert mode == "wal"
    for name in ("memory.db", "memory.db-wal", "memory.db-shm"):
        assert stat.S_IMODE(file.with_name(name).stat().st_mode) == 0o600


async def test_folders_on_the_way_are_made(tmp_path: Path):
    async with open_memory(f"sqlite:///{tmp_path}/new 100%/deep/memory.db") as memory:
        await memory.open_conversation(opening())
    assert (tmp_path / "new 100%/deep/memory.db").exists()
