"""The way to the workflows, where Temporal itself takes its time."""

import pytest
from temporalio.client import (
    Client,
    Interceptor,
    ListWorkflowsInput,
    OutboundInterceptor,
    WorkflowExecutionAsyncIterator,
)
from temporalio.testing import WorkflowEnvironment

from hikitsugi.app.leases import TemporalOffice
from hikitsugi.domain.address import IssueAddress
from tests.workflows.house import until
from tests.workflows.office import AgentsIssue


class ListedLate(Interceptor):
    """A server whose first list does not tell of an issue yet."""

    def __init__(self, late: IssueAddress) -> None:
        self.late = late
        self.lists = 0

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002 - the SDK's own word
        return _Lists(self, next)


class _Lists(OutboundInterceptor):
    def __init__(self, server: ListedLate, next: OutboundInterceptor) -> None:  # noqa: A002 - the SDK's own word
        super().__init__(next)
        self._server = server

    def list_workflows(self, input: ListWorkflowsInput) -> WorkflowExecutionAsyncIterator:  # noqa: A002 - the SDK's own word
        self._server.lists += 1
        if self._server.lists == 1:
            input.query = f"{input.query} AND WorkflowId != '{self._server.late}'"
        return super().list_workflows(input)


@pytest.mark.req("BR-06", "BR-10")
async def test_a_lease_that_was_given_just_now_is_found_though_it_is_listed_late(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        first = await issue.gets("a1")

        async def is_listed() -> bool:
            return (await time.client.count_workflows(f"TaskQueue = '{issue.queue}'")).count == 1

        await until(is_listed)
        issue.issue = issue.issue.model_copy(update={"number": 2})
        second = await issue.gets("a2")
        config = time.client.config()
        config["interceptors"] = [ListedLate(issue.issue)]
        office = TemporalOffice(Client(**config), issue.queue)
        assert {held.lease_id for held in await office.held()} == {first.id, second.id}
