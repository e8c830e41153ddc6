"""What the dashboard shows and orders, by way of Temporal."""

from typing import Any

from temporalio.client import Client, WorkflowExecution
from temporalio.service import RPCError, RPCStatusCode

from hikitsugi.broker.dashboard import Line
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.status import Status
from workflows.display import AGENT, COST_USD, STATE
from workflows.issue_workflow import IssueWorkflow

_MOST = 500


class TemporalOverview:
    """The workflows of the issues, as their index and their queries tell."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def lines(self) -> list[Line]:
        """The issues, newest first."""
        query = "WorkflowType = 'IssueWorkflow' AND ExecutionStatus = 'Running'"
        try:
            return [await _line(found) async for found in self._client.list_workflows(query, limit=_MOST)]
        except RPCError as error:
            raise _away() from error

    async def status(self, issue: IssueAddress) -> tuple[Status, str] | None:
        """How one stands, and its plan."""
        handle = self._client.get_workflow_handle_for(IssueWorkflow.run, str(issue))
        try:
            return await handle.query(IssueWorkflow.status), await handle.query(IssueWorkflow.plan)
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise _away() from error

    async def order(self, issue: IssueAddress, order: str) -> None:
        """Signal its workflow; one that has ended needs no order."""
        try:
            await self._client.get_workflow_handle(str(issue)).signal(order, {"by": "dashboard", "reason": ""})
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
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
