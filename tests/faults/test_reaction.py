"""What comes right after kill -9 and a new start: the next reaction is soon, and a stop is a stop."""

import asyncio
from pathlib import Path

import pytest

from tests.end_to_end.stage import until
from tests.faults.conversations import Thread, stops
from tests.faults.crew import crew
from tests.faults.servers import outside
from tests.faults.town import town

SOON = 30.0
"""An activity's silence is noticed after 4 to 10 seconds, a dead worker's sticky queue after 2."""


@pytest.mark.req("BY-08", "TW-08", "PR-02")
async def test_comment_and_stop_right_after_a_kill_are_obeyed_soon(tmp_path: Path):
    is_answered, is_killed = asyncio.Event(), asyncio.Event()

    async def writes_after_the_kill(thread: Thread) -> None:
        await thread.is_answered(1)
        is_answered.set()
        await is_killed.wait()
        async with asyncio.timeout(SOON):
            await thread.is_taken_in(thread.says("ありがとう"))

    conversations = (writes_after_the_kill, stops)
    async with (
        outside(tmp_path) as servers,
        town(tmp_path, conversations, servers.as_settings()) as place,
        crew(place.config, tmp_path / "worker.log") as workers,
        asyncio.TaskGroup() as meanwhile,
    ):
        await workers.begin()
        living = meanwhile.create_task(place.live())
        place.begin(1 / len(conversations))
        await is_answered.wait()
        place.begin()
        await until(place.threads[1].has_comments)
        await workers.kill()
        await workers.begin()
        is_killed.set()
        _, stopped = await living
    assert [comment.text.splitlines()[0] for comment in stopped.comments] == ["/stop", "## ⛔ タスク停止"]
