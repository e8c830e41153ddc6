"""Watches one repository and sends signals."""

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.watch_activities import Watch, WatchActivities, Watched
from hikitsugi.domain.address import RepositoryAddress
from hikitsugi.messages import operators
from workflows import limits
from workflows.patience import asked_to_wait, execute
from workflows.reasons import reason_of


@workflow.defn
class RepositoryWorkflow:
    """One long step, begun again from its cursor at the end of every shift."""

    @workflow.run
    async def run(self, watched: Watched | None = None) -> None:
        """Watch for a shift, then go on in a fresh run."""
        home = RepositoryAddress.parse(workflow.info().workflow_id)
        watched = watched or Watched()
        workflow.set_current_details(operators.watches(str(home)))
        try:
            watched = await self.watch(Watch(home=home, watched=watched))
            wait, refusal = limits.WATCH_PAUSE, watched.refusal
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            wait, refusal = asked_to_wait(error) or limits.WATCH_PAUSE, reason_of(error)
        if refusal:
            workflow.set_current_details(operators.cannot_watch(str(home), refusal))
            await workflow.sleep(wait, summary=operators.tries_again())
        workflow.continue_as_new(watched.model_copy(update={"refusal": None}))

    async def watch(self, request: Watch) -> Watched:
        """One shift on the watchers' queue."""
        queue = f"{workflow.info().task_queue}-watch"
        return await execute(WatchActivities.watch, request, limits.WATCH, f"watch {request.home}", queue)
