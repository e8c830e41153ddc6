"""Runs one command to its end within its limits; its group never outlives it."""

import asyncio
import os
import time
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from hikitsugi.workspace.output import Output
from hikitsugi.workspace.processes import capture, end_group, kill_group
from hikitsugi.workspace.resident import exceeds

_LOOK_EVERY = 0.25
_LAST_WORDS = 1.0
_REMOVAL = timedelta(seconds=20)
_CHUNK = 65536


@dataclass(frozen=True)
class Launch:
    """A command with everything it needs to be started."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    removal: Sequence[str] = ()
    """What removes the command where ending its process group does not."""


@dataclass(frozen=True)
class Bounds:
    """How long a command may take and how much memory all of its processes may hold."""

    seconds: float
    memory_bytes: int


@dataclass(frozen=True)
class Ended:
    """How a command ended; `cut` says why it was ended by us."""

    code: int
    seconds: float
    cut: str | None = None


async def run(launch: Launch, bounds: Bounds, output: Output) -> Ended:
    """Start, watch, and end with all that was started; cancelling kills as well."""
    started = time.monotonic()
    async with _heard(output) as writing:
        process = await asyncio.create_subprocess_exec(
            *launch.argv,
            env=launch.env,
            cwd=launch.cwd,
            stdin=DEVNULL,
            stdout=writing,
            stderr=writing,
            start_new_session=True,
        )
        try:
            cut = await _watch(process, bounds, started)
        finally:
            kill_group(process)
            await end_group(process)
            if launch.removal:
                await asyncio.shield(_remove(launch))
    return Ended(process.returncode or 0, time.monotonic() - started, cut)


async def _remove(launch: Launch) -> None:
    with suppress(TimeoutError):
        await capture(launch.removal, env=launch.env, within=_REMOVAL, most=_CHUNK)


async def _watch(process: Process, bounds: Bounds, started: float) -> str | None:
    ending = asyncio.ensure_future(process.wait())
    try:
        while not (await asyncio.wait({ending}, timeout=_LOOK_EVERY))[0]:
            if time.monotonic() - started > bounds.seconds:
                return f"it took longer than {bounds.seconds:g} seconds"
            if exceeds(process.pid, bounds.memory_bytes):
                return f"it used more than {bounds.memory_bytes >> 20} MB of memory"
        return None
    finally:
        ending.cancel()


@asynccontextmanager
async def _heard(output: Output) -> AsyncGenerator[int]:
    """A pipe whose other end feeds the output; closing waits a little for the last words."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    loop = asyncio.get_running_loop()
    silent = asyncio.Event()

    def listen() -> None:
        if chunk := os.read(reading, _CHUNK):
            output.take(chunk)
        else:
            loop.remove_reader(reading)
            silent.set()

    loop.add_reader(reading, listen)
    try:
        yield writing
    finally:
        os.close(writing)
        with suppress(TimeoutError):
            await asyncio.wait_for(silent.wait(), _LAST_WORDS)
        loop.remove_reader(reading)
        os.close(reading)
