"""What both halves of the store share: transactions, and rows that are written once."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from hikitsugi.domain.redaction import Redactor
from hikitsugi.memory.failures import explained, place_of
from hikitsugi.memory.tables import Table


class Transactions:
    """A database in which the first writer of a row wins."""

    def __init__(self, engine: AsyncEngine, now: Callable[[], datetime], redact: Redactor | None = None) -> None:
        self._engine = engine
        self._now = now
        self._redact = redact or Redactor()
        self._place = place_of(engine.url)
        self._insert = postgresql.insert if engine.dialect.name == "postgresql" else sqlite.insert

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[AsyncConnection]:
        with explained(self._place):
            async with self._engine.begin() as connection:
                yield connection

    async def _empty_log(self) -> None:
        """Leave nothing of removed rows in SQLite's write-ahead log."""
        if self._engine.dialect.name == "sqlite":
            with explained(self._place):
                async with self._engine.connect() as connection:
                    await connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    async def _is_new(self, connection: AsyncConnection, table: type[Table], row: Mapping[str, Any]) -> bool:
        """Store a row, unless one is there under its key; whether there was none."""
        return (await connection.execute(self._insert(table).on_conflict_do_nothing(), row)).rowcount > 0

    async def _store(self, connection: AsyncConnection, table: type[Table], new: Sequence[Mapping[str, Any]]) -> None:
        """Store those rows whose keys are not there yet."""
        if new:
            await connection.execute(self._insert(table).on_conflict_do_nothing(), new)
