"""What housekeeping asks of Temporal: which issues are under way, and to let a host go."""

from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from hikitsugi.app.schedules import housekeeping_id
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.states import State
from workflows.display import STATE

_RUNNING = "WorkflowType = 'IssueWorkflow' AND ExecutionStatus = 'Running'"
_AT_REST = frozenset({State.COMPLETED, State.STOPPED, State.FAILED})


class TemporalHousehold:
    """Reads the search attributes of the issues' workflows, and ends schedules."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def under_way(self) -> list[IssueAddress]:
        """The issues whose workflows live and do not rest; one that has not said its state yet counts."""
        living = self._client.list_workflows(_RUNNING)
        ids = [one.id async for one in living if one.typed_search_attributes.get(STATE) not in _AT_REST]
        return [issue for issue in map(_issue, ids) if issue]

    async def dismiss(self, host: str) -> None:
        """End the schedule of a host; its worker makes it again when it comes back."""
        try:
            await self._client.get_schedule_handle(housekeeping_id(host)).delete()
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise


def _issue(workflow_id: str) -> IssueAddress | None:
    """The issue of a workflow; None for one that somebody started under an id that is no issue's."""
    try:
        return IssueAddress.parse(workflow_id)
    except ValueError:
        return None
