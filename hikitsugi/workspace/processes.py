"""Starting programs on the host: never through a shell, in a group of their own that dies as a whole."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

_CHUNK = 65536


@dataclass(frozen=True)
class Captured:
    """What a program said and how it ended; `is_cut` when it was ended for saying too much."""

    code: int
    out: bytes
    err: bytes
    is_cut: bool = False


async def capture(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None = None,
    stdin: bytes = b"",
    inherit: Collection[int] = (),
    within: timedelta,
    most: int,
) -> Captured:
    """Run a program to its end; TimeoutError when it takes too long. The whole group dies on timeout and cancel."""
    process = await asyncio.create_subprocess_exec(
        *argv, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env, cwd=cwd, pass_fds=inherit, start_new_session=True
    )
    assert process.stdout is not None  # noqa: S101 - asked for with PIPE
    assert process.stderr is not None  # noqa: S101
    try:
        async with asyncio.timeout(within.total_seconds()):
            out, err, _ = await asyncio.gather(
                _read(process, process.stdout, most), _read(process, process.stderr, most), _feed(process, stdin)
            )
            await process.wait()
    finally:
        await end_group(process)
    return Captured(process.returncode or 0, out[:most], err[:most], is_cut=len(out) > most)


async def end_group(process: Process) -> None:
    """Kill a process with all of its group and wait until it is gone."""
    if process.returncode is None:
        kill_group(process)
    await asyncio.shield(process.wait())


def kill_group(process: Process) -> None:
    """Kill whatever is left of a process's group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


async def _read(process: Process, stream: asyncio.StreamReader, most: int) -> bytes:
    said = bytearray()
    while chunk := await stream.read(_CHUNK):
        if len(said) > most:
            kill_group(process)
        else:
            said += chunk
    return bytes(said)


async def _feed(process: Process, data: bytes) -> None:
    assert process.stdin is not None  # noqa: S101 - asked for with PIPE
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(data)
        await process.stdin.drain()
    process.stdin.close()
    with suppress(BrokenPipeError, ConnectionResetError):
        await process.stdin.wait_closed()
