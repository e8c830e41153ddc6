"""Each test of the memory gets an empty database of each kind."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from hikitsugi.memory.opening import open_memory
from hikitsugi.memory.store import SqlMemory
from tests.memory.postgres import PostgresServer, find_binaries, running_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    binaries = find_binaries()
    if binaries is None:
        reason = "PostgreSQL's server binaries (initdb, pg_ctl) are not on this machine"
        if os.environ.get("HIKITSUGI_TEST_ALL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with running_server(binaries) as server:
        yield server


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture(params=["sqlite", "postgresql"])
async def url(request: pytest.FixtureRequest, file: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{file}"
    server: PostgresServer = request.getfixturevalue("postgres")
    return await server.new_database()


@pytest.fixture
async def memory(url: str) -> AsyncIterator[SqlMemory]:
    async with open_memory(url) as memory:
        yield memory
