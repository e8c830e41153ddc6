"""What a model turn costs beside the model: time against a bare loop, and history against its number of turns."""

import tempfile
import time as clock
from pathlib import Path

from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from benchmarks.bare_loop import BareLoop, nothing
from hikitsugi.domain.policy import Policy
from tests.conftest import time_skipping_server
from tests.workflows.house import house

TURNS = (10, 100, 300)


async def measure() -> None:
    """Print time and history per turn at several lengths."""
    print("turns | ours ms/turn | bare loop ms/turn | ratio | events/turn | history bytes/turn")
    async with time_skipping_server() as time:
        for turns in TURNS:
            ours, events, size = await _ours(time, turns)
            bare = await _bare(time, turns)
            print(
                f"{turns:5} | {ours:12.1f} | {bare:17.1f} | {ours / bare:5.2f} | {events:11.1f} | {size:10.0f}",
                flush=True,
            )


async def _ours(time: WorkflowEnvironment, turns: int) -> tuple[float, float, float]:
    with tempfile.TemporaryDirectory() as folder:
        async with house(time, rounds=turns, policy=Policy(max_iterations=turns + 10)).open(Path(folder)) as h:
            began = clock.perf_counter()
            first = await h.start()
            await h.comes_to("awaiting-response")
            taken = (clock.perf_counter() - began) * 1000 / turns
            events, size = await h.size(str(first.first_execution_run_id))
    return taken, events / turns, size / turns


async def _bare(time: WorkflowEnvironment, turns: int) -> float:
    queue = f"bare-{turns}"
    async with Worker(time.client, task_queue=queue, workflows=[BareLoop], activities=[nothing]):
        began = clock.perf_counter()
        await time.client.execute_workflow(BareLoop.run, turns, id=queue, task_queue=queue)
        return (clock.perf_counter() - began) * 1000 / turns
