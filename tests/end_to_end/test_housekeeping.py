"""Housekeeping of a running product: what a host no longer needs goes, what an issue under way needs stays."""

from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.app.running import Role, running
from hikitsugi.app.schedules import housekeeping_id
from hikitsugi.domain.states import State
from tests.end_to_end.stage import Stage, stage
from workflows.housekeeping_workflow import Housekeeping, HousekeepingWorkflow, Tidied


@pytest.mark.lesson("C20")
async def test_the_workspace_of_an_issue_under_way_stays_and_a_completed_one_goes_with_its_mirror(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with stage(time, tmp_path) as s:
        settings = s.configure()
        host = settings.workspace.model_copy(update={"host": s.issue.repository.replace("/", "-")})
        s.configure(workspace={**host.model_dump(mode="json"), "keep_hours": 0})
        async with running(s.configure(), {Role.WORKER, Role.WATCHER}):
            s.opens_issue()
            await s.comes_to("awaiting-response", results=1)
            assert await _swept(s, 1) == ()
            assert (await s.status()).state is State.AWAITING_RESPONSE
            s.says("ありがとう")
            await s.comes_to("completed")
            told = await _swept(s, 2)
            assert [line.rpartition(" ")[0] for line in told] == ["removed the workspace", "removed the mirror"]
            s.says("README に使い方を書いてください。")
            await s.comes_to("awaiting-response", results=2)
            assert "receipt" in (s.checked_out() / "README.md").read_text()


async def _swept(s: Stage, number: int) -> tuple[str, ...]:
    """Let the product's own schedule for its host run once, by its own rules."""
    queue = f"{s.configure().temporal.task_queue}-workspace-{s.configure().workspace.host}"
    schedule = await s.client.get_schedule_handle(housekeeping_id(queue)).describe()
    assert schedule.schedule.spec.intervals[0].every == timedelta(hours=6)
    told: Tidied = await s.client.execute_workflow(
        HousekeepingWorkflow.run,
        Housekeeping(host=queue, keep=timedelta()),
        id=f"{queue}-{number}",
        task_queue=s.configure().temporal.task_queue,
    )
    return told.swept
