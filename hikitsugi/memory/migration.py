"""Brings a database to the newest schema; of several processes that start at once, one does it."""

import asyncio
import fcntl
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import URL, Connection, NullPool
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.memory.failures import damaged, place_of

_MIGRATIONS = Path(__file__).parent / "migrations"
_POSTGRES_LOCK = 0x68696B69
_PATIENCE_SECONDS = 60
_POLL_SECONDS = 0.05
_ALEMBIC = Lock()
"""Alembic keeps what it works on in globals, so a process migrates one database at a time."""


async def migrate(address: URL) -> None:
    """Apply what is missing in one transaction, so that a process killed in the middle leaves the old schema."""
    migrate_backend = _migrate_sqlite if address.get_backend_name() == "sqlite" else _migrate_postgres
    await migrate_backend(address)


async def _migrate_sqlite(address: URL) -> None:
    file = Path(place_of(address))
    file.parent.mkdir(parents=True, exist_ok=True)
    async with _lock_beside(file) as lock:
        _make_private(file, lock)
        async with _connection(address) as connection:
            await connection.exec_driver_sql("PRAGMA journal_mode=WAL")
            await connection.exec_driver_sql("BEGIN IMMEDIATE")
            await _upgrade(connection, address)
        if lock.tell() == 0:
            lock.write(b"A database was made beside this file.\n")


async def _migrate_postgres(address: URL) -> None:
    async with _connection(address) as connection:
        await connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{_PATIENCE_SECONDS}s'")
        await connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_POSTGRES_LOCK})")
        await _upgrade(connection, address)


@asynccontextmanager
async def _connection(address: URL) -> AsyncGenerator[AsyncConnection]:
    # A bare connection: SQLite's foreign keys are off on it, as rebuilding a table in a migration needs.
    engine = create_async_engine(address, poolclass=NullPool, hide_parameters=True)
    async with engine.begin() as connection:
        yield connection


async def _upgrade(connection: AsyncConnection, address: URL) -> None:
    await _granted(lambda: _ALEMBIC.acquire(blocking=False), "Another memory is being prepared")
    try:
        await connection.run_sync(_upgrade_to_head)
    except CommandError as error:
        message = f"The memory {place_of(address)} was made by a newer Hikitsugi; start that version."
        raise WillNeverWork(message) from error
    finally:
        _ALEMBIC.release()


def _upgrade_to_head(connection: Connection) -> None:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    command.upgrade(config, "head")


@asynccontextmanager
async def _lock_beside(file: Path) -> AsyncGenerator[BinaryIO]:
    path = file.with_name(f"{file.name}.lock")
    with path.open("ab+") as lock:
        await _granted(lambda: _is_locked(lock), f"Another process holds {path}")
        yield lock


def _is_locked(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def _granted(take: Callable[[], bool], otherwise: str) -> None:
    """Wait until a lock can be taken, but not for ever."""
    for _ in range(int(_PATIENCE_SECONDS / _POLL_SECONDS)):
        if take():
            return
        await asyncio.sleep(_POLL_SECONDS)
    raise TryAgainLater(f"{otherwise}; wait until that is done, or end it.")


def _make_private(file: Path, lock: BinaryIO) -> None:
    """Make the file for us alone; SQLite would take one that lost everything for a new database, so refuse that."""
    held_a_database = lock.seek(0, os.SEEK_END) > 0
    if held_a_database and file.exists() and file.stat().st_size == 0:
        raise damaged(str(file), "it is empty but was not before")
    file.touch(mode=0o600)
