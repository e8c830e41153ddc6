"""Locks between tasks and processes of one host."""

import asyncio
import fcntl
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

_LOOK_AGAIN = 0.05


@asynccontextmanager
async def locked(path: Path) -> AsyncGenerator[int]:
    """Hold a lock file; a child that inherits the descriptor keeps the lock when we are killed, until it ends too."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while not _take(descriptor):  # noqa: ASYNC110 - no event crosses processes
            await asyncio.sleep(_LOOK_AGAIN)
        yield descriptor
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
