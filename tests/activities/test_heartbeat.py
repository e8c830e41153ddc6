"""Signs of life, and the progress they carry to the next attempt."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from temporalio import activity
from temporalio.testing import ActivityEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput

from activities.heartbeat import Heartbeat, carry

GENEROUS = 30.0


class Doing(ActivityInboundInterceptor):
    """An activity made of one function."""

    def __init__(self, work: Callable[[], Awaitable[Any]]) -> None:
        self._work = work

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
        return await self._work()


class Pulse:
    """What the server hears of an activity."""

    def __init__(self) -> None:
        self.beats: list[tuple[Any, ...]] = []
        self._beaten = asyncio.Event()

    def __call__(self, *details: Any) -> None:
        self.beats.append(details)
        self._beaten.set()

    async def hears(self, number: int) -> None:
        async with asyncio.timeout(GENEROUS):
            while len(self.beats) < number:
                self._beaten.clear()
                await self._beaten.wait()


async def attempt(work: Callable[[], Awaitable[Any]], pulse: Pulse, *details: Any) -> Any:
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, heartbeat_details=list(details))
    environment.on_heartbeat = pulse

    async def beating() -> Any:
        around = Heartbeat().intercept_activity(Doing(work))
        return await around.execute_activity(ExecuteActivityInput(fn=beating, args=(), executor=None, headers={}))

    return await environment.run(beating)


@pytest.mark.req("TW-04")
async def test_an_activity_beats_at_once_and_goes_on_until_it_ends():
    pulse = Pulse()

    async def work() -> str:
        await pulse.hears(2)
        return "done"

    assert await attempt(work, pulse) == "done"
    assert pulse.beats == [(), ()]


@pytest.mark.req("TW-08")
@pytest.mark.lesson("C1")
async def test_what_an_attempt_carried_is_beaten_by_it_and_by_the_next_until_there_is_news():
    first, second = Pulse(), Pulse()

    async def work() -> None:
        carry({"cursor": 1})
        await first.hears(2)

    async def next_work() -> Any:
        await second.hears(1)
        found = activity.info().heartbeat_details
        carry({"cursor": 2})
        return found

    await attempt(work, first)
    assert first.beats[0] == ({"cursor": 1},)
    assert set(map(repr, first.beats)) == {repr(({"cursor": 1},))}
    assert await attempt(next_work, second, *first.beats[-1]) == [{"cursor": 1}]
    assert second.beats == [({"cursor": 1},), ({"cursor": 2},)]


@pytest.mark.req("TW-04")
async def test_the_beating_ends_with_a_failure_too():
    pulse = Pulse()

    async def work() -> None:
        await pulse.hears(1)
        raise LookupError

    before = asyncio.all_tasks()
    with pytest.raises(LookupError):
        await attempt(work, pulse)
    assert asyncio.all_tasks() <= before
