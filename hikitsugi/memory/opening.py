"""Opens the memory at an address: SQLite in a file, or PostgreSQL."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from sqlalchemy import URL, event, make_url, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.redaction import Redactor
from hikitsugi.memory.failures import explained, place_of
from hikitsugi.memory.migration import migrate
from hikitsugi.memory.store import SqlMemory

_DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}
_BUSY_TIMEOUT_SECONDS = "10"


def _utc_now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def open_memory(
    url: str, now: Callable[[], datetime] = _utc_now, redact: Redactor | None = None
) -> AsyncGenerator[SqlMemory]:
    """The memory at an address, brought to the newest schema; `now` only stamps records."""
    address = _read(url)
    with explained(place_of(address)):
        await migrate(address)
    engine = _engine(address)
    try:
        yield SqlMemory(engine, now, redact)
    finally:
        await engine.dispose()


async def answers(url: str) -> None:
    """Return when the database answers; raise what it says otherwise."""
    engine = _engine(_read(url))
    try:
        async with engine.connect() as connection:
            await connection.execute(text("SELECT 1"))
    finally:
        await engine.dispose()


def _read(url: str) -> URL:
    try:
        address = make_url(url)
    except (ArgumentError, ValueError):
        raise _unreadable() from None
    if address.drivername not in _DRIVERS or address.database in {None, "", ":memory:"}:
        raise _unreadable()
    address = address.set(drivername=_DRIVERS[address.drivername])
    if address.get_backend_name() == "sqlite":
        return address.set(query={"timeout": _BUSY_TIMEOUT_SECONDS} | dict(address.query))
    # libpq's name for it, usual in DATABASE_URL; asyncpg calls it ssl.
    return address.set(query={{"sslmode": "ssl"}.get(key, key): value for key, value in address.query.items()})


def _unreadable() -> WillNeverWork:
    return WillNeverWork(
        "memory.url is no address of a database: write sqlite+aiosqlite:///FILE or "
        "postgresql+asyncpg://USER:PASSWORD@HOST/DATABASE."
    )


def _engine(address: URL) -> AsyncEngine:
    engine = create_async_engine(address, hide_parameters=True, pool_reset_on_return=None)
    if address.get_backend_name() == "sqlite":
        event.listen(engine.sync_engine, "connect", _set_up_sqlite)
    return engine


def _set_up_sqlite(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.execute("PRAGMA foreign_keys=ON")
    # What is forgotten is overwritten, not only given free.
    cursor.execute("PRAGMA secure_delete=ON")
    cursor.close()
