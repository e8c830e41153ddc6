"""The limit that the product's steps are compared with: a loop of two empty activities a turn."""

from datetime import timedelta

from temporalio import activity, workflow


@activity.defn
async def nothing(turn: int) -> int:
    """Do nothing."""
    return turn


@workflow.defn
class BareLoop:
    """Two empty activities a turn, and no more."""

    @workflow.run
    async def run(self, turns: int) -> None:
        """Go round."""
        for turn in range(turns):
            for _ in range(2):
                await workflow.execute_activity(nothing, turn, start_to_close_timeout=timedelta(minutes=1))
