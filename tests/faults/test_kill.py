"""Kill -9 at any point of the story: the end is the same as without."""

import asyncio
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from temporalio.testing import WorkflowEnvironment

from tests.end_to_end.stage import GENEROUS, Stage, stage


class Point(NamedTuple):
    """Before or after the n-th run of a step."""

    step: str
    number: int
    when: str

    def __str__(self) -> str:
        return f"{self.when} {self.step} {self.number}"


ONCE = ("take_up", "open_conversation", "prepare_workspace", "publish", "open_change_request", "post_result")
STEPS = [
    *((step, 1) for step in ONCE),
    *((step, number) for step in ("think", "use_tools") for number in (1, 2, 3, 4)),
    *(("show_state", number) for number in (1, 2)),
]
POINTS = [
    *(Point(step, number, when) for step, number in STEPS for when in ("before", "after")),
    Point("watch", 1, "before"),
]
SEED = 20261116
SAMPLE = random.Random(SEED).sample(POINTS, 2)  # noqa: S311 - the same points at every run


class End(NamedTuple):
    """What an outsider sees in the end."""

    comments: list[str]
    pulls: list[tuple[str, str]]
    labels: set[str]
    tree: str
    paid: int


@pytest.mark.req("BY-08", "TW-08", "CH-12", "PL-07")
@pytest.mark.lesson("C15", "P1", "P4", "P10")
async def test_a_sample_of_kills_changes_nothing(time: WorkflowEnvironment, tmp_path: Path):
    undisturbed = await _played(time, tmp_path / "undisturbed", [])
    assert undisturbed.paid == 4
    assert await _played(time, tmp_path / "killed", SAMPLE) == undisturbed


@pytest.mark.long
@pytest.mark.req("BY-08")
@pytest.mark.parametrize("point", POINTS, ids=str)
async def test_a_kill_at_every_point_changes_nothing(time: WorkflowEnvironment, tmp_path: Path, point: Point):
    undisturbed = await _played(time, tmp_path / "undisturbed", [])
    assert await _played(time, tmp_path / "killed", [point]) == undisturbed


async def _played(time: WorkflowEnvironment, folder: Path, points: Sequence[Point]) -> End:
    """Play the story to its first result, with a kill at each of the points that come."""
    async with stage(time, folder) as s:
        s.opens_issue()
        for point in points:
            worker = await _start(s, point)
            died = asyncio.ensure_future(worker.wait())
            finished = asyncio.ensure_future(s.comes_to("awaiting-response"))
            await asyncio.wait([died, finished], return_when=asyncio.FIRST_COMPLETED, timeout=GENEROUS)
            finished.cancel()
            await _end(worker)
        worker = await _start(s, None)
        await s.comes_to("awaiting-response")
        await _end(worker)
        return _seen(s)


async def _start(s: Stage, point: Point | None) -> asyncio.subprocess.Process:
    at = [point.step, str(point.number), point.when] if point else []
    command = [sys.executable, "-m", "tests.faults.killed_worker", str(s.config), *at]
    with (s.folder / "worker.log").open("ab") as log:
        return await asyncio.create_subprocess_exec(*command, stdout=log, stderr=subprocess.STDOUT)


async def _end(worker: asyncio.subprocess.Process) -> None:
    if worker.returncode is None:
        worker.terminate()
    await worker.wait()


def _seen(s: Stage) -> End:
    return End(
        comments=[_without_chance(s, comment.body) for comment in s.forge.comments(s.repository, 1)],
        pulls=[(pull.title, _without_chance(s, pull.body)) for pull in s.forge.pulls(s.repository)],
        labels=s.labels,
        tree=s.tree(),
        paid=s.model.paid,
    )


def _without_chance(s: Stage, text: str) -> str:
    """What differs between any two runs: addresses, commit hashes and keys."""
    without_address = re.sub(r"http://\S+", "ADDRESS", text).replace(s.repository, "REPOSITORY")
    return re.sub(r"<!-- .* -->|`[0-9a-f]{8}`", "", without_address)
