"""What the dashboard shows and orders, by way of Temporal."""

from datetime import timedelta
from typing import Any

from temporalio.client import Client, WorkflowExecution, WorkflowQueryFailedError
from temporalio.service import RPCError

from hikitsugi.app.temporal import is_missing
from hikitsugi.broker.dashboard import Line
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.status import Status
from workflows.display import AGENT, COST_USD, STATE
from workflows.issue_workflow import IssueWorkflow

_MOST = 500
_PATIENCE = timedelta(seconds=5)


class TemporalOverview:
    """The workflows of the issues, as their index and their queries tell."""

    def __init__(self, client: Client, task_queue: str) -> None:
        self._client = client
        self._task_queue = task_queue

    async def lines(self) -> list[Line]:
        """The issues, newest first."""
        query = f"WorkflowType = 'IssueWorkflow' AND ExecutionStatus = 'Running' AND TaskQueue = '{self._task_queue}'"
        try:
            return [
                await _line(found)
                async for found in self._client.list_workflows(query, limit=_MOST, rpc_timeout=_PATIENCE)
            ]
        except RPCError as error:
            raise _away() from error

    async def status(self, issue: IssueAddress) -> Status | None:
        """How one stands."""
        handle = self._client.get_workflow_handle_for(IssueWorkflow.run, str(issue))
        try:
            return await handle.query(IssueWorkflow.status, rpc_timeout=_PATIENCE)
        except RPCError as error:
            if is_missing(error):
                return None
            raise _away() from error
        except WorkflowQueryFailedError as error:
            raise _away() from error

    async def order(self, issue: IssueAddress, order: str) -> None:
        """Signal its workflow; one that has ended needs no order."""
        try:
            await self._client.get_workflow_handle(str(issue)).signal(order, {"by": "dashboard", "reason": ""})
        except RPCError as error:
            if not is_missing(error):
                raise _away() from error


async def _line(found: WorkflowExecution) -> Line:
    memo: dict[str, Any] = dict(await found.memo())
    attributes = found.typed_search_attributes
    return Line(
        issue=found.id,
        title=str(memo.get("title", "")),
        url=str(memo.get("url", "")),
        state=attributes.get(STATE) or "",
        agent=attributes.get(AGENT) or "",
        cost_usd=attributes.get(COST_USD),
        since=found.start_time,
    )


def _away() -> TryAgainLater:
    return TryAgainLater("Temporal does not answer; check temporal.address and that a worker runs")
