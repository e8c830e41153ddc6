"""What Temporal starts by itself: housekeeping."""

from datetime import timedelta

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)

from workflows.housekeeping_workflow import Housekeeping, HousekeepingWorkflow

_EVERY = timedelta(hours=6)


def housekeeping_id(queue: str) -> str:
    """The name of the schedule of the house or of one host, and the beginning of its workflows' ids."""
    return f"{queue}-housekeeping"


async def schedule_housekeeping(client: Client, queue: str, rules: Housekeeping) -> None:
    """Have the house or a host kept; a schedule that is there goes by the new rules from now on."""
    name = housekeeping_id(rules.host or queue)
    schedule = Schedule(
        action=ScheduleActionStartWorkflow(HousekeepingWorkflow.run, rules, id=name, task_queue=queue),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=_EVERY)]),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP),
    )
    try:
        await client.create_schedule(name, schedule)
    except ScheduleAlreadyRunningError:
        await client.get_schedule_handle(name).update(lambda found: _changed(found, schedule))


def _changed(found: ScheduleUpdateInput, wanted: Schedule) -> ScheduleUpdate:
    """Other rules, and whatever an operator did to the schedule otherwise."""
    kept = found.description.schedule
    kept.action = wanted.action
    return ScheduleUpdate(schedule=kept)
