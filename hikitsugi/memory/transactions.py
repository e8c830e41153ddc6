"""What both halves of the store share: transactions, and rows that are written once."""

import logging
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import CursorResult, Select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from hikitsugi.domain.redaction import Redactor
from hikitsugi.memory.failures import DAMAGE, explained, place_of
from hikitsugi.memory.rows import Stored
from hikitsugi.memory.tables import Table

V = TypeVar("V")
_log = logging.getLogger(__name__)


class Transactions:
    """A database in which the first writer of a row wins."""

    def __init__(self, engine: AsyncEngine, now: Callable[[], datetime], redact: Redactor | None = None) -> None:
        self._engine = engine
        self._now = now
        self._redact = redact or Redactor()
        self._place = place_of(engine.url)
        self._insert = postgresql.insert if engine.dialect.name == "postgresql" else sqlite.insert
        self.left_out = 0
        """How many damaged rows were left out of what was read."""

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[AsyncConnection]:
        with explained(self._place):
            async with self._engine.begin() as connection:
                yield connection

    async def _legible(self, what: str, wanted: Select[*tuple[Any, ...]], read: Callable[[Stored], V]) -> list[V]:
        """What can be read of the rows; a damaged one is left out, so that it hides none of the others."""
        async with self._transaction() as connection:
            told = list(_each(await connection.execute(wanted), read))
        legible = [each for each in told if each is not None]
        if damaged := len(told) - len(legible):
            _log.warning("%d damaged rows among the %s were left out", damaged, what)
            self.left_out += damaged
        return legible

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


def _each(found: CursorResult[*tuple[Any, ...]], read: Callable[[Stored], V]) -> Iterator[V | None]:
    """What each row says, None for a damaged one; fetched singly, because the columns' types read them too."""
    while True:
        try:
            row = found.fetchone()
            if row is None:
                return
            told = read(row)
        except DAMAGE:
            told = None
        yield told
