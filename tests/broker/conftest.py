"""One broker for the tests of a file; each test finds an empty queue and leaves one."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio
from redis.asyncio import Redis
from temporalio.testing import WorkflowEnvironment

from hikitsugi.devforge.records import Edit
from tests.broker.counter import Counter, counter
from tests.workflows.house import until


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def counter_of_file(
    time: WorkflowEnvironment, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Counter]:
    async with counter(time, tmp_path_factory.mktemp("counter"), roles=["CODER", "TESTER"]) as broker:
        yield broker


@pytest_asyncio.fixture(loop_scope="session")
async def broker(counter_of_file: Counter) -> AsyncGenerator[Counter]:
    yield counter_of_file
    home = counter_of_file.forge.repository(counter_of_file.repository)
    for issue in home.tracker.issues:
        if issue.is_open:
            home.tracker.edit(issue.number, issue.author, Edit(is_open=False))
    counter_of_file.forge.faults.clear()
    async with Redis.from_url(counter_of_file.redis_url) as redis:

        async def is_empty() -> bool:
            return not await redis.keys("hikitsugi:shelf:*") and not await redis.exists("hikitsugi:leases")

        await until(is_empty)
