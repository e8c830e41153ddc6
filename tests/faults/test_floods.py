"""Hundreds of comments at once while the worker is killed: all are taken in, once, and in order."""

import asyncio
import re
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment

from hikitsugi.devforge.kinds import KindName
from tests.end_to_end.stage import Stage, stage, until

MAINTAINER = "kenji"
UNLIMITED = 10**9
"""Every comment is acknowledged by a call of its own, and GitHub allows 5,000 in an hour."""

EVENTS_OF_A_RUN = 2000
"""Far below Temporal's 51,200, and of them 10,000 signals."""


@pytest.mark.req("CH-12", "TW-08", "BY-08")
@pytest.mark.lesson("C1", "C2", "C5")
async def test_five_hundred_comments_at_once_survive_a_kill(time: WorkflowEnvironment, tmp_path: Path):
    await _flooded(time, tmp_path, "github", 500)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", ["github", "gitlab"])
@pytest.mark.req("CH-12", "TW-08", "BY-08")
async def test_five_hundred_comments_at_once_survive_several_kills(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName
):
    await _flooded(time, tmp_path, kind, 500, again=(0.1, 0.5))


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.req("CH-12", "TW-08", "TW-05")
async def test_ten_thousand_comments_on_one_issue_survive_a_kill(time: WorkflowEnvironment, tmp_path: Path):
    await _flooded(time, tmp_path, "github", 10_000)


async def _flooded(
    time: WorkflowEnvironment, folder: Path, kind: KindName, comments: int, again: Sequence[float] = ()
) -> None:
    """Flood an issue that awaits a reply; kill the worker in the middle, and again when shares are taken in."""
    async with stage(time, folder, kind=kind, call_limit=UNLIMITED) as s:
        s.configure(comment_handling={"max_comment_count": 2 * comments})
        s.opens_issue()
        async with _worker(s) as worker:
            await s.comes_to("awaiting-response", results=1)
            _says(s, range(comments // 2))
            worker.kill()
            _says(s, range(comments // 2, comments))
        for share in again:
            async with _worker(s) as worker:
                await until(lambda share=share: _has_taken_in(s, int(comments * share)))
                worker.kill()
        async with _worker(s):
            await until(lambda: _has_taken_in(s, comments), patience=1500)
            await s.comes_to("awaiting-response")
            assert _told(s) == list(range(comments))
            assert (await s.status()).comments_pending == 0
            await _check(s, comments)


async def _check(s: Stage, comments: int) -> None:
    """What the flood left behind: one session, every comment acknowledged once, and no limit of Temporal near."""
    assert (await s.status()).session == 1
    said = [comment for comment in s.forge.comments(s.repository, 1) if comment.author.login == MAINTAINER]
    assert [len(comment.reactions) for comment in said] == [1] * comments
    assert len(s.forge.pulls(s.repository)) == 1
    events = await _events(s)
    assert sum(events.values()) < EVENTS_OF_A_RUN
    assert events[EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED] < comments / 2


def _says(s: Stage, numbers: range) -> None:
    for number in numbers:
        s.says(f"flood-{number}: one more thing.", author=MAINTAINER)


def _told(s: Stage) -> list[int]:
    """Which comments the model was given in the end, in its order."""
    last = s.model.requests[-1].body
    return [int(number) for text in last.texts for number in re.findall(r"flood-(\d+):", text)]


async def _has_taken_in(s: Stage, comments: int) -> bool:
    try:
        return (await s.status()).comments_processed >= comments
    except RPCError:
        # Nobody answers while the killed worker's successor is still starting.
        return False


async def _events(s: Stage) -> Counter[int]:
    """The kinds of events in the newest run."""
    history = await s.workflow.fetch_history()
    return Counter(event.event_type for event in history.events)


@asynccontextmanager
async def _worker(s: Stage) -> AsyncGenerator[asyncio.subprocess.Process]:
    """The product as a process, until the block ends or the test kills it."""
    command = [sys.executable, "-m", "tests.faults.killed_worker", str(s.config)]
    with (s.folder / "worker.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
