"""Lets designs take turns by tens in one run, so that all of them meet the same machine; and measures each."""

import asyncio
import sqlite3
import time as clock
from collections.abc import Mapping
from pathlib import Path

BLOCK = 10


class Baton:
    """Whoever is about to call the model takes it; after ten turns the next design has it."""

    def __init__(self, turns: Mapping[str, int], stores: Mapping[str, Path]) -> None:
        self._turns = turns
        self._stores = stores
        self._taken = dict.fromkeys(turns, 0)
        self._goes = {name: asyncio.Event() for name in turns}
        self._began = (0.0, 0.0)
        self.seconds: dict[str, list[float]] = {name: [] for name in turns}
        """Per block."""
        self.cpu: dict[str, list[float]] = {name: [] for name in turns}
        """Seconds of this process's processor time per block, which other programs do not disturb."""
        self.stored: dict[str, list[int]] = {name: [] for name in turns}
        """Bytes of the store, before the first and after each block."""

    async def take(self, name: str) -> bool:
        """Begin a turn when it is one's turn; False when that was the last."""
        taken = self._taken[name]
        self._taken[name] += 1
        if taken % BLOCK == 0:
            if taken:
                self.seconds[name].append(clock.perf_counter() - self._began[0])
                self.cpu[name].append(clock.process_time() - self._began[1])
            self.stored[name].append(_size(self._stores.get(name)))
            self._hand_on()
            if taken < self._turns[name]:
                await self._goes[name].wait()
                self._goes[name].clear()
                self._began = clock.perf_counter(), clock.process_time()
        return taken < self._turns[name]

    def _hand_on(self) -> None:
        """To the design with the fewest blocks of those that are not through, once all of them are there."""
        left = [name for name, turns in self._turns.items() if self._taken[name] <= turns]
        if left and all(self._taken.values()):
            self._goes[min(left, key=lambda name: len(self.seconds[name]))].set()

    def per_turn(self, name: str, turns: int) -> tuple[float, float]:
        """Milliseconds a turn over the first so many, and how many of them of processor time."""
        blocks = turns // BLOCK
        return sum(self.seconds[name][:blocks]) / turns * 1000, sum(self.cpu[name][:blocks]) / turns * 1000

    def stored_per_turn(self, name: str, turns: int) -> float:
        """Bytes a turn over the first so many."""
        sizes = self.stored[name]
        return (sizes[turns // BLOCK] - sizes[0]) / turns


def _size(database: Path | None) -> int:
    if database is None:
        return 0
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return database.stat().st_size
