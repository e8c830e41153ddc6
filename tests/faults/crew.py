"""A worker that can be killed at any moment, and replaced at once."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from hikitsugi.app import die_with_parent


class Crew:
    """Workers one after the other, forked from a process that has loaded all they need."""

    def __init__(self, stable: asyncio.subprocess.Process) -> None:
        self._stable = stable

    async def begin(self) -> None:
        """Put a worker to work."""
        await self._order("begin")

    async def kill(self) -> None:
        """End the worker as kill -9 does; it must not have ended by itself before."""
        assert await self._order("kill") == -signal.SIGKILL

    async def end(self) -> None:
        """Let the worker end in peace."""
        assert await self._order("end") == 0

    async def _order(self, order: str) -> int:
        assert self._stable.stdin
        assert self._stable.stdout
        self._stable.stdin.write(f"{order}\n".encode())
        return int(await self._stable.stdout.readline())


@asynccontextmanager
async def crew(config: Path, log: Path, *how: str) -> AsyncGenerator[Crew]:
    """Have workers ready until the block ends."""
    tied = [sys.executable, "-I", "-S", die_with_parent.__file__, str(os.getpid())]
    command = [*tied, sys.executable, "-m", "tests.faults.stable", str(config), *how]
    with log.open("ab") as output:
        stable = await asyncio.create_subprocess_exec(
            *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=output
        )
    try:
        yield Crew(stable)
    finally:
        if stable.returncode is None:
            stable.kill()
        await stable.communicate()
