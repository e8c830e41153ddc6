"""The limit that assignments are compared with: update-with-start and one activity that waits for the forge."""

# The client leaves the types of updates open.
# pyright: reportUnknownMemberType=false

import asyncio
import time
from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

from temporalio import activity, workflow
from temporalio.client import Client, WithStartWorkflowOperation
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.worker import Worker


@activity.defn
async def wait_for_forge(seconds: float) -> None:
    """Do nothing for a while."""
    await asyncio.sleep(seconds)


@workflow.defn
class BareClaim:
    """Answers one update and stays."""

    @workflow.run
    async def run(self) -> None:
        """Stay."""
        await workflow.wait_condition(lambda: False)

    @workflow.update
    async def claim(self, seconds: float) -> str:
        """Take one step."""
        await workflow.execute_activity(wait_for_forge, seconds, start_to_close_timeout=timedelta(minutes=1))
        return "yours"


async def bare_claims(client: Client, forge_seconds: float, agents: int, issues: int, until: float) -> list[float]:
    """Claim as many as there are until then, as so many agents; how long each took."""
    queue, numbers, took = f"bare-{uuid4().hex[:8]}", iter(range(issues)), list[float]()
    async with Worker(client, task_queue=queue, workflows=[BareClaim], activities=[wait_for_forge]):
        began = time.perf_counter()

        async def agent() -> None:
            for number in _until(numbers, began + until):
                at = time.perf_counter()
                start = WithStartWorkflowOperation(
                    BareClaim.run,
                    id=f"{queue}-{number}",
                    task_queue=queue,
                    id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                )
                await client.execute_update_with_start_workflow(
                    BareClaim.claim, forge_seconds, start_workflow_operation=start
                )
                took.append(time.perf_counter() - at)

        await asyncio.gather(*(agent() for _ in range(agents)))
    return took


def _until(numbers: Iterator[int], end: float) -> Iterator[int]:
    while time.perf_counter() < end and (number := next(numbers, None)) is not None:
        yield number
