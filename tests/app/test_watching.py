"""The watcher follows the configuration; what an operator asked for is left alone."""

from collections.abc import AsyncGenerator
from contextlib import suppress
from uuid import uuid4

import pytest
from temporalio.client import WorkflowExecutionDescription
from temporalio.service import RPCError
from temporalio.testing import WorkflowEnvironment

from hikitsugi.app.watching import start_watching, watch_exactly
from hikitsugi.domain.address import RepositoryAddress
from tests.workflows.house import until


@pytest.fixture
async def homes(time: WorkflowEnvironment) -> AsyncGenerator[list[RepositoryAddress]]:
    made = [RepositoryAddress(forge="github", repository=f"octo/{uuid4().hex[:8]}") for _ in range(3)]
    yield made
    for home in made:
        with suppress(RPCError):
            await time.client.get_workflow_handle(str(home)).terminate()


@pytest.mark.req("TW-08", "TW-06")
async def test_a_repository_that_the_configuration_no_longer_names_is_no_longer_watched(
    time: WorkflowEnvironment, homes: list[RepositoryAddress]
):
    client, queue = time.client, f"watching-{uuid4().hex[:8]}"
    kept, removed, by_hand = homes
    with time.with_time_skipping_disabled():
        await start_watching(client, queue, by_hand)
        await watch_exactly(client, queue, [kept, removed])

        async def listed() -> bool:
            found = [each.id async for each in client.list_workflows(f"TaskQueue = '{queue}'")]
            return len(found) == len(homes)

        await until(listed)
        await watch_exactly(client, queue, [kept])
    assert await _is_told_to_end(await client.get_workflow_handle(str(removed)).describe())
    for home in (kept, by_hand):
        assert not await _is_told_to_end(await client.get_workflow_handle(str(home)).describe())


async def _is_told_to_end(workflow: WorkflowExecutionDescription) -> bool:
    return workflow.raw_description.workflow_extended_info.cancel_requested
