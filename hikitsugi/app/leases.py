"""Claims and reports of agents, on their way to the workflows of the issues."""

# The client leaves the types of updates open.
# pyright: reportUnknownMemberType=false

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

from temporalio.client import (
    Client,
    WithStartWorkflowOperation,
    WorkflowQueryFailedError,
    WorkflowQueryRejectedError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import (
    Priority,
    QueryRejectCondition,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from hikitsugi.app.deliveries import fairness_key
from hikitsugi.app.temporal import is_missing
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.assignment import LOST, Answer, Assignment, Claim, Report
from hikitsugi.domain.board import Held
from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.life import Life
from hikitsugi.domain.states import State
from workflows.display import AGENT, COST_USD, REPOSITORY, STATE
from workflows.issue_workflow import DRAINING, IssueWorkflow

_log = logging.getLogger(__name__)
_PATIENCE = timedelta(seconds=25)
_SHORT_PATIENCE = timedelta(seconds=5)
_LISTED_WITHIN = timedelta(seconds=2)
_ATTEMPTS = 6
_FIRST_PAUSE = 0.05
_PASSING = (RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.NOT_FOUND)
"""What is said of a run that is just ending, and by a server that has just been started."""


_IS_STUCK = "in failed state"
"""What is said of a run whose last step cannot be taken."""


class Stuck(TryAgainLater):
    """A story that cannot go on until somebody mends it, while others can."""


class TemporalOffice:
    """Asks the workflows, which alone decide; one that is about to be renewed is asked again."""

    def __init__(self, client: Client, task_queue: str) -> None:
        self._client = client
        self._task_queue = task_queue

    async def claim(self, issue: IssueAddress, claim: Claim) -> Answer:
        """Ask for an issue; its workflow comes to life if there is none."""
        return await _patiently(lambda: self._claim(issue, claim))

    async def _claim(self, issue: IssueAddress, claim: Claim) -> Answer:
        start = WithStartWorkflowOperation(
            IssueWorkflow.run,
            Life(state=State.AVAILABLE, assignment=Assignment()),
            id=str(issue),
            task_queue=self._task_queue,
            id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
            memo={"title": claim.title, "url": claim.url},
            search_attributes=_found_by(issue, claim),
            priority=Priority(fairness_key=fairness_key(issue.home)),
        )
        try:
            return await self._client.execute_update_with_start_workflow(
                "claim", claim, result_type=Answer, start_workflow_operation=start, rpc_timeout=_PATIENCE
            )
        except RPCError:
            # The operation keeps the same error, and complains of it when nobody asks.
            with suppress(RPCError):
                await start.workflow_handle()
            raise

    async def report(self, issue: IssueAddress, report: Report) -> Answer:
        """Tell what an agent says of its lease; an issue without a workflow has none."""
        return await _patiently(lambda: self._report(issue, report))

    async def _report(self, issue: IssueAddress, report: Report) -> Answer:
        handle = self._client.get_workflow_handle_for(IssueWorkflow.run, str(issue))
        try:
            return await handle.execute_update("report", report, result_type=Answer, rpc_timeout=_PATIENCE)
        except RPCError as error:
            if is_missing(error):
                return Answer(refusal=LOST)
            raise

    async def held(self) -> list[Held]:
        """All leases there are, as their workflows tell; what was given just now takes a moment to be listed."""
        if await self._in_progress():
            await asyncio.sleep(_LISTED_WITHIN.total_seconds())
        leases = await asyncio.gather(*map(self._held_if_told, await self._in_progress()))
        return [held for held in leases if held]

    async def _in_progress(self) -> list[IssueAddress]:
        """The issues that agents have, as far as Temporal lists them by now."""
        running = f"WorkflowType = 'IssueWorkflow' AND ExecutionStatus = 'Running' AND TaskQueue = '{self._task_queue}'"
        query = f"{running} AND {STATE.name} = '{State.IN_PROGRESS}'"
        try:
            return [IssueAddress.parse(each.id) async for each in self._client.list_workflows(query)]
        except RPCError as error:
            raise _away() from error

    async def _held_if_told(self, issue: IssueAddress) -> Held | None:
        """One story that cannot be told keeps nobody else from being asked."""
        try:
            return await self.held_of(issue)
        except Stuck:
            _log.warning("%s cannot tell who has it; look at it in the Web UI", issue)
            return None

    async def held_of(self, issue: IssueAddress) -> Held | None:
        """The lease of an issue, as its workflow tells; none where there is no workflow, or where it was ended."""
        handle = self._client.get_workflow_handle_for(IssueWorkflow.run, str(issue))
        try:
            lease = await handle.query(
                IssueWorkflow.lease, reject_condition=QueryRejectCondition.NOT_OPEN, rpc_timeout=_SHORT_PATIENCE
            )
        except WorkflowQueryRejectedError:
            return None
        except RPCError as error:
            if is_missing(error):
                return None
            if _IS_STUCK in str(error):
                raise Stuck(str(issue)) from error
            raise _away() from error
        except WorkflowQueryFailedError as error:
            raise Stuck(str(issue)) from error
        if lease is None:
            return None
        return Held(
            lease_id=lease.id,
            agent_id=lease.agent,
            issue=issue,
            branch_name=lease.branch,
            lease_expires_at=lease.expires_at,
        )

    async def must_answer(self) -> None:
        """TryAgainLater when Temporal is away."""
        try:
            await self._client.service_client.check_health(timeout=_SHORT_PATIENCE)
        except RPCError as error:
            raise _away() from error

    async def author(self, issue: IssueAddress) -> str | None:
        """Whose work on an issue waits for a review; None where that is not known."""
        handle = self._client.get_workflow_handle_for(IssueWorkflow.run, str(issue))
        try:
            return await handle.query(IssueWorkflow.author, rpc_timeout=_SHORT_PATIENCE)
        except RPCError as error:
            if is_missing(error):
                return None
            raise _away() from error
        except WorkflowQueryFailedError as error:
            raise _away() from error


def _found_by(issue: IssueAddress, claim: Claim) -> TypedSearchAttributes:
    """What the workflow would tell of itself first; told with its start, it costs no step of its own."""
    return TypedSearchAttributes(
        [
            SearchAttributePair(STATE, State.IN_PROGRESS.value),
            SearchAttributePair(REPOSITORY, issue.repository),
            SearchAttributePair(AGENT, claim.agent),
            SearchAttributePair(COST_USD, 0.0),
        ]
    )


async def _patiently(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    pause = _FIRST_PAUSE
    for _ in range(_ATTEMPTS):
        try:
            return await ask()
        except WorkflowUpdateRPCTimeoutOrCancelledError as error:
            raise _away() from error
        except WorkflowUpdateFailedError as error:
            if not isinstance(error.cause, ApplicationError) or error.cause.type != DRAINING:
                raise _away() from error
        except RPCError as error:
            if error.status not in _PASSING:
                raise _away() from error
        await asyncio.sleep(pause)
        pause *= 2
    raise _away()


def _away() -> TryAgainLater:
    return TryAgainLater("Temporal does not answer; check temporal.address and that a worker runs")
