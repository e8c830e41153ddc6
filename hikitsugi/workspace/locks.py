"""Locks between tasks and processes of one host."""

import asyncio
import fcntl
import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

_LOOK_AGAIN = 0.05


@asynccontextmanager
async def locked(path: Path) -> AsyncGenerator[int]:
    """Hold a lock file; a child that inherits the descriptor keeps the lock when we are killed, until it ends too."""
    while True:
        descriptor = _opened(path)
        try:
            while not _take(descriptor):  # noqa: ASYNC110 - no event crosses processes
                await asyncio.sleep(_LOOK_AGAIN)
            if not _is_still(path, descriptor):
                continue
            os.utime(descriptor)
            yield descriptor
            return
        finally:
            os.close(descriptor)


@contextmanager
def locked_now(path: Path) -> Generator[bool]:
    """Hold a lock file if nobody else does; its holder may remove it."""
    descriptor = _opened(path)
    try:
        yield _take(descriptor) and _is_still(path, descriptor)
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether the file we hold has not been removed and made anew meanwhile."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
