"""Histories stay small, grow by the step, and replay."""

from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Replayer

from hikitsugi.app.temporal import WORKFLOWS, plugin
from hikitsugi.domain.policy import Policy
from tests.workflows.house import house

HISTORIES = Path(__file__).parent.parent / "histories"


@pytest.mark.req("TW-09")
@pytest.mark.parametrize("recorded", sorted(HISTORIES.glob("*.json")), ids=lambda path: path.stem)
async def test_recorded_histories_replay(recorded: Path):
    history = WorkflowHistory.from_json("github:octo/repo/issues/1", recorded.read_text())  # noqa: ASYNC240
    await Replayer(workflows=WORKFLOWS, plugins=[plugin()]).replay_workflow(history)


@pytest.mark.req("TW-05")
async def test_a_session_grows_by_the_same_number_of_events_and_bytes_with_every_step(
    time: WorkflowEnvironment, tmp_path: Path
):
    sizes: dict[int, tuple[int, int]] = {}
    for steps in (10, 30, 50):
        folder = tmp_path / str(steps)
        folder.mkdir()
        async with house(time, rounds=steps, policy=Policy(max_iterations=200)).open(folder) as h:
            first = await h.start()
            await h.comes_to("awaiting-response")
            sizes[steps] = await h.size(str(first.first_execution_run_id))
    early = [(b - a) / 20 for a, b in zip(sizes[10], sizes[30], strict=True)]
    late = [(b - a) / 20 for a, b in zip(sizes[30], sizes[50], strict=True)]
    for before, after in zip(early, late, strict=True):
        assert after <= before * 1.15
    assert late[0] <= 13
    assert late[1] <= 1_600
