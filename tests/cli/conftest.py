"""A house and a shell beside it."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.testing import WorkflowEnvironment

from hikitsugi.domain.policy import Policy
from tests.cli.shell import Shell
from tests.workflows.house import House, house


def address_of(time: WorkflowEnvironment) -> str:
    return time.client.service_client.config.target_host


def settings_for(time: WorkflowEnvironment, home: House) -> dict[str, Any]:
    return {
        "language": "en",
        "forges": [{"token": "a-forge-token", "repositories": [home.issue.repository]}],
        "temporal": {"address": address_of(time), "task_queue": home.task_queue},
    }


@pytest_asyncio.fixture
async def home(time: WorkflowEnvironment, tmp_path: Path) -> AsyncGenerator[House]:
    """A house whose model speaks English and whose worker runs."""
    async with house(time, rounds=1, policy=Policy(language="en")).open(tmp_path) as opened:
        yield opened


@pytest.fixture
def shell(time: WorkflowEnvironment, home: House, tmp_path: Path) -> Shell:
    """A shell whose configuration points at the house."""
    return Shell(tmp_path, **settings_for(time, home))
