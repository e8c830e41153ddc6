"""What has expired is forgotten by itself, once, and the operator can read how much it was."""

from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from temporalio.client import ScheduleActionExecutionStartWorkflow
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from activities.housekeeping_activities import HousekeepingActivities, SweepingActivities
from hikitsugi.app.household import TemporalHousehold
from hikitsugi.app.schedules import housekeeping_id, schedule_housekeeping
from hikitsugi.domain.records import Task
from hikitsugi.memory.opening import open_memory
from tests.memory.examples import ISSUE
from tests.memory.test_records import NOON, context
from tests.workflows.fakes import FakeWorkshop
from tests.workflows.house import until
from workflows.housekeeping_workflow import Housekeeping, HousekeepingWorkflow, Tidied


@pytest.mark.req("CI-09")
async def test_a_schedule_that_is_made_twice_forgets_expired_sessions_by_the_workflows_clock(
    time: WorkflowEnvironment, tmp_path: Path
):
    queue = f"tidy-{uuid4().hex[:8]}"
    async with open_memory(f"sqlite+aiosqlite:///{tmp_path / 'memory.db'}") as memory:
        steps = HousekeepingActivities(memory.records, TemporalHousehold(time.client))
        await memory.records.begin_task(Task(key="k1", issue=ISSUE, session=1, started_at=NOON))
        await memory.records.keep_context(context())
        async with Worker(
            time.client, task_queue=queue, workflows=[HousekeepingWorkflow], activities=[steps.forget_expired]
        ):
            await schedule_housekeeping(time.client, queue, Housekeeping(expiry=timedelta(days=36500)))
            await schedule_housekeeping(time.client, queue, Housekeeping(expiry=timedelta(days=90)))
            schedule = time.client.get_schedule_handle(housekeeping_id(queue))
            await schedule.trigger()
            assert await _ended(time, queue) == Tidied(sessions_forgotten=1)
            await schedule.delete()
        assert await memory.records.tasks(ISSUE) == []


async def test_a_workflow_under_an_id_that_is_no_issues_does_not_keep_anybody_from_tidying(time: WorkflowEnvironment):
    household, queue = TemporalHousehold(time.client), f"tidy-{uuid4().hex[:8]}"
    issue = ISSUE.model_copy(update={"repository": f"owner/{queue}"})
    started = [
        await time.client.start_workflow("IssueWorkflow", id=id_, task_queue=queue) for id_ in (str(issue), queue)
    ]

    async def is_seen() -> bool:
        return issue in await household.under_way()

    await until(is_seen)
    for workflow in started:
        await workflow.terminate()


async def test_a_host_is_let_go_once_and_kept_again_when_it_comes_back(time: WorkflowEnvironment):
    queue, household = f"tidy-{uuid4().hex[:8]}", TemporalHousehold(time.client)
    rules = Housekeeping(host=f"{queue}-workspace-gone")
    schedule = time.client.get_schedule_handle(housekeeping_id(f"{queue}-workspace-gone"))
    for _ in range(2):
        await schedule_housekeeping(time.client, queue, rules)
        await schedule.describe()
        await household.dismiss(f"{queue}-workspace-gone")
        await household.dismiss(f"{queue}-workspace-gone")
        with pytest.raises(RPCError, match="not found"):
            await schedule.describe()


@pytest.mark.long
async def test_a_host_that_does_not_answer_is_let_go(time: WorkflowEnvironment):
    queue = f"tidy-{uuid4().hex[:8]}"
    sweeping = SweepingActivities(FakeWorkshop(), TemporalHousehold(time.client))
    rules = Housekeeping(host=f"{queue}-workspace-gone")
    async with Worker(
        time.client, task_queue=queue, workflows=[HousekeepingWorkflow], activities=[sweeping.dismiss_host]
    ):
        told = await time.client.execute_workflow(
            HousekeepingWorkflow.run, rules, id=f"{queue}-round", task_queue=queue
        )
    assert told == Tidied(host=rules.host, host_is_gone=True)


async def _ended(time: WorkflowEnvironment, queue: str) -> Tidied:
    found: list[str] = []

    async def begun() -> bool:
        recent = (await time.client.get_schedule_handle(housekeeping_id(queue)).describe()).info.recent_actions
        begun_by_it = [action.action for action in recent]
        found.extend(each.workflow_id for each in begun_by_it if isinstance(each, ScheduleActionExecutionStartWorkflow))
        return bool(found)

    await until(begun)
    return await time.client.get_workflow_handle(found[0], result_type=Tidied).result()
