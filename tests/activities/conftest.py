"""A real store and a small forge for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hikitsugi.memory.opening import open_memory
from hikitsugi.memory.store import SqlMemory
from tests.activities.examples import ISSUE
from tests.workflows.fakes import FakeForge


@pytest.fixture
async def memory(tmp_path: Path) -> AsyncIterator[SqlMemory]:
    async with open_memory(f"sqlite+aiosqlite:///{tmp_path / 'memory.db'}") as memory:
        yield memory


@pytest.fixture
def forge() -> FakeForge:
    return FakeForge(ISSUE)
