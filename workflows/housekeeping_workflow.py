"""Forgets what has expired; run by a Temporal Schedule."""

from datetime import timedelta

from temporalio import workflow

from activities.housekeeping_activities import ForgetExpired, HousekeepingActivities
from hikitsugi.domain.value import Value
from hikitsugi.messages import operators
from workflows import limits
from workflows.patience import execute


class Housekeeping(Value):
    """How long things are kept."""

    expiry: timedelta = timedelta(days=90)


class Tidied(Value):
    """What housekeeping did."""

    sessions_forgotten: int


@workflow.defn
class HousekeepingWorkflow:
    """One round through the house."""

    @workflow.run
    async def run(self, rules: Housekeeping) -> Tidied:
        """Forget what has expired, and tell how much that was."""
        request = ForgetExpired(now=workflow.now(), expiry=rules.expiry)
        step = HousekeepingActivities.forget_expired
        forgotten = await execute(step, request, limits.STORE, "forget expired contexts", None)
        workflow.set_current_details(operators.tidied(forgotten))
        return Tidied(sessions_forgotten=forgotten)
