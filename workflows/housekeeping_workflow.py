"""Forgets what has expired and removes what hosts no longer need; run by Temporal Schedules."""

from datetime import timedelta

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.housekeeping_activities import (
    ForgetExpired,
    HousekeepingActivities,
    SweepingActivities,
    SweepWorkspaces,
)
from hikitsugi.domain.value import Value
from hikitsugi.messages import operators
from workflows import limits
from workflows.patience import execute, is_without_checkout


class Housekeeping(Value):
    """How long things are kept."""

    expiry: timedelta = timedelta(days=90)
    keep: timedelta = timedelta(hours=24)
    host: str | None = None
    """The task queue of the host to sweep; without one, the memory that all hosts share is tidied."""


class Tidied(Value):
    """What housekeeping did."""

    sessions_forgotten: int = 0
    host: str | None = None
    host_is_gone: bool = False
    swept: tuple[str, ...] = ()


@workflow.defn
class HousekeepingWorkflow:
    """One round through the house, or through the workspaces of one host."""

    @workflow.run
    async def run(self, rules: Housekeeping) -> Tidied:
        """Tidy up, and tell what was done."""
        return await self.sweep(rules.host, rules.keep) if rules.host else await self.forget(rules.expiry)

    async def forget(self, expiry: timedelta) -> Tidied:
        """Forget what has expired."""
        request = ForgetExpired(now=workflow.now(), expiry=expiry)
        step = HousekeepingActivities.forget_expired
        forgotten = await execute(step, request, limits.STORE, "forget expired contexts", None)
        workflow.set_current_details(operators.tidied(forgotten))
        return Tidied(sessions_forgotten=forgotten)

    async def sweep(self, host: str, keep: timedelta) -> Tidied:
        """Remove stale workspaces and mirrors from a host; one that is gone is let go."""
        request = SweepWorkspaces(now=workflow.now(), keep=keep)
        try:
            swept = await execute(SweepingActivities.sweep_workspaces, request, limits.GIT, f"sweep {host}", host)
        except ActivityError as error:
            if not is_without_checkout(error):
                raise
            await execute(SweepingActivities.dismiss_host, host, limits.STORE, f"dismiss {host}", None)
            workflow.set_current_details(operators.is_gone(host))
            return Tidied(host=host, host_is_gone=True)
        workflow.set_current_details(operators.swept(host, swept.count, swept.told))
        return Tidied(host=host, swept=swept.told)
