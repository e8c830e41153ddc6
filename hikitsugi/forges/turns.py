"""A few places for many who wait, so that the busiest repository does not keep the others waiting."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class Turns:
    """Places given in turn to the lanes that wait; one lane never takes more than half of them."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._most = max(1, places // 2)
        self._taken = Counter[str]()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def turn(self, lane: str) -> AsyncGenerator[None]:
        """Wait for a place, and give it back in the end."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(lane, deque()).append(turn)
        self._give()
        try:
            await turn
            yield
        finally:
            if turn.done() and not turn.cancelled():
                self._free += 1
                self._taken[lane] -= 1
            self._give()

    def _give(self) -> None:
        while self._free and (lane := self._next_lane()) is not None:
            queue = self._waiting.pop(lane)
            turn = queue.popleft()
            if queue:
                self._waiting[lane] = queue  # At the end: the other lanes come first.
            if not turn.cancelled():
                turn.set_result(None)
                self._free -= 1
                self._taken[lane] += 1

    def _next_lane(self) -> str | None:
        return next((lane for lane in self._waiting if self._taken[lane] < self._most), None)
