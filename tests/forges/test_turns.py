"""Whose turn it is."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from hikitsugi.forges.turns import Turns


class Queue:
    """Those who wait, by name; each keeps its place until it is told to go."""

    def __init__(self, places: int) -> None:
        self.turns = Turns(places)
        self.at_work: list[str] = []
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, asyncio.Event] = {}

    async def joined_by(self, *names: str) -> None:
        """The first letter is the lane."""
        for name in names:
            self._ends[name] = asyncio.Event()
            self._tasks[name] = asyncio.create_task(self._work(name))
        await self._settled()

    async def goes(self, name: str) -> None:
        self._ends[name].set()
        await self._tasks[name]
        await self._settled()

    async def gives_up(self, name: str) -> None:
        self._tasks[name].cancel()
        await asyncio.wait([self._tasks[name]])
        await self._settled()

    async def all_go(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _work(self, name: str) -> None:
        async with self.turns.turn(name[0]):
            self.at_work.append(name)
            try:
                await self._ends[name].wait()
            finally:
                self.at_work.remove(name)

    async def _settled(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)


@asynccontextmanager
async def queue(places: int) -> AsyncGenerator[Queue]:
    opened = Queue(places)
    yield opened
    await opened.all_go()


async def test_one_lane_takes_half_of_the_places_at_most():
    async with queue(4) as waiting:
        await waiting.joined_by("a1", "a2", "a3", "a4", "a5")
        assert waiting.at_work == ["a1", "a2"]
        await waiting.joined_by("b1", "c1", "c2")
        assert waiting.at_work == ["a1", "a2", "b1", "c1"]
        await waiting.goes("a2")
        assert waiting.at_work == ["a1", "b1", "c1", "a3"]


async def test_the_lanes_come_in_turn():
    async with queue(2) as waiting:
        await waiting.joined_by("x1", "y1", "a1", "a2", "a3", "b1", "c1")
        order: list[str] = []
        for name in ("x1", "a1", "b1", "c1", "a2"):
            await waiting.goes(name)
            order.append(waiting.at_work[-1])
        assert order == ["a1", "b1", "c1", "a2", "a3"]


async def test_a_single_place_is_given_too():
    async with queue(1) as waiting:
        await waiting.joined_by("a1", "b1")
        await waiting.goes("a1")
        assert waiting.at_work == ["b1"]


@pytest.mark.parametrize("leaver", ["a1", "b1"])
async def test_who_gives_up_leaves_the_place_to_the_next(leaver: str):
    async with queue(2) as waiting:
        await waiting.joined_by("x1", "a1", "b1", "c1")
        await waiting.gives_up(leaver)
        await waiting.goes("x1")
        assert waiting.at_work == {"a1": ["b1", "c1"], "b1": ["a1", "c1"]}[leaver]


async def test_who_gives_up_at_the_moment_of_its_turn_leaves_the_place_to_the_next():
    turns = Turns(1)

    async def take(name: str, order: list[str]) -> None:
        async with turns.turn(name):
            order.append(name)

    order: list[str] = []
    async with turns.turn("x"):
        late, last = asyncio.create_task(take("a", order)), asyncio.create_task(take("b", order))
        await asyncio.sleep(0)
    late.cancel()  # its turn was given just now, before it could take it
    await asyncio.wait([late, last])
    assert order == ["b"]
