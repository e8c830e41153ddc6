"""What can be seen of the issues' workflows."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from temporalio.client import Client, WorkflowExecution, WorkflowExecutionStatus, WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from hikitsugi.cli.connection import no_workflow, said_plainly
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.states import State
from hikitsugi.domain.status import Status
from hikitsugi.domain.value import Value
from workflows.display import COST_USD, REPOSITORY, STATE
from workflows.issue_workflow import IssueWorkflow

_PATIENCE = timedelta(seconds=10)
_EVERY = timedelta(seconds=1)
_FIRST_TASK = (0.1, 0.3, 1.0)
"""After how many seconds each a run that has just begun is asked again: before its first task it cannot answer."""
_GOES_ON = (WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.CONTINUED_AS_NEW)


@dataclass(frozen=True)
class View:
    """One look at an issue's workflow; `trouble` is why it is not a newer one."""

    status: Status
    title: str
    url: str
    has_ended: bool
    trouble: str = ""


class ListedIssue(Value):
    """A line of `list`, as the index of Temporal tells it."""

    issue: str
    state: str | None
    repository: str | None
    title: str
    url: str
    cost_usd: float | None
    running_since: datetime


async def look(client: Client, issue: IssueAddress) -> View:
    """How an issue stands now."""
    workflow = client.get_workflow_handle_for(IssueWorkflow.run, str(issue))
    with said_plainly(no_workflow(issue)):
        found = await workflow.describe(rpc_timeout=_PATIENCE)
        status = await _status(workflow)
        memo: dict[str, Any] = dict(await found.memo())
    return View(status, str(memo.get("title", "")), str(memo.get("url", "")), has_ended=found.status not in _GOES_ON)


async def _status(workflow: WorkflowHandle[IssueWorkflow, None]) -> Status:
    for wait in _FIRST_TASK:
        try:
            return await workflow.query(IssueWorkflow.status, rpc_timeout=_PATIENCE)
        except RPCError as error:
            if error.status is not RPCStatusCode.FAILED_PRECONDITION:
                raise
        await asyncio.sleep(wait)
    return await workflow.query(IssueWorkflow.status, rpc_timeout=_PATIENCE)


async def follow(client: Client, issue: IssueAddress) -> AsyncGenerator[View]:
    """How an issue stands, again and again until its workflow ends; a worker that is away is waited for."""
    view = await look(client, issue)
    yield view
    while not view.has_ended:
        await asyncio.sleep(_EVERY.total_seconds())
        try:
            view = await look(client, issue)
        except TryAgainLater as error:
            view = replace(view, trouble=str(error))
        yield view


async def listed(client: Client, state: State | None) -> list[ListedIssue]:
    """The issues whose workflows run, newest first."""
    query = "WorkflowType = 'IssueWorkflow' AND ExecutionStatus = 'Running'"
    if state:
        query += f" AND {STATE.name} = '{state.value}'"
    with said_plainly("Temporal cannot list workflows"):
        return [await _line(found) async for found in client.list_workflows(query)]


async def _line(found: WorkflowExecution) -> ListedIssue:
    memo: dict[str, Any] = dict(await found.memo())
    attributes = found.typed_search_attributes
    return ListedIssue(
        issue=found.id,
        state=attributes.get(STATE),
        repository=attributes.get(REPOSITORY),
        title=str(memo.get("title", "")),
        url=str(memo.get("url", "")),
        cost_usd=attributes.get(COST_USD),
        running_since=found.start_time,
    )
