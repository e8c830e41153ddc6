"""The servers of a town: Temporal and Valkey, outside the worker."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from hikitsugi.app.embedded_valkey import embedded_valkey
from tests.faults.temporal_server import TemporalServer, temporal_server


class Outside(NamedTuple):
    """What lives on when a worker dies."""

    temporal: TemporalServer
    valkey: str

    def as_settings(self) -> dict[str, dict[str, str]]:
        """How the configuration names them; each time with a task queue of its own."""
        temporal = {"address": self.temporal.address, "task_queue": uuid4().hex[:8]}
        return {"temporal": temporal, "redis": {"url": self.valkey}}


@asynccontextmanager
async def outside(folder: Path) -> AsyncGenerator[Outside]:
    """Run both until the block ends."""
    async with temporal_server(folder / "temporal") as temporal, embedded_valkey(folder / "valkey") as valkey:
        yield Outside(temporal, valkey)
