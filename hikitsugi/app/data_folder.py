"""The folder that embedded servers keep their state in, and the right to run a server in it."""

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from hikitsugi.domain.errors import WillNeverWork

DEMO_SIGN = "demo"
"""The file that marks a data folder as the demo's."""

NEEDED_BYTES = 16 * 1024 * 1024


class Holder(BaseModel):
    """Who runs a server in a data folder, and the server's own process."""

    pid: int
    since: str
    server: int | None = None


class Claim:
    """The exclusive right to run one kind of server in a data folder; it ends with the process, however that ends."""

    def __init__(self, folder: Path, descriptor: int, left_over: int | None) -> None:
        self.folder = folder
        self.left_over = left_over
        self._descriptor = descriptor
        self._since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        self.record(None)

    def record(self, server: int | None) -> None:
        """Write down who we are and which process is our server."""
        text = Holder(pid=os.getpid(), since=self._since, server=server).model_dump_json().encode()
        os.pwrite(self._descriptor, text, 0)
        os.ftruncate(self._descriptor, len(text))


@contextmanager
def claimed(data_folder: Path, server: str) -> Generator[Claim]:
    """Claim a server's place in the data folder, which is made if it is not there."""
    with said_clearly(data_folder):
        folder = _made(data_folder)
        descriptor = os.open(folder / f"{server.lower()}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(descriptor, folder, server)
            last = _holder(descriptor)
            claim = Claim(folder, descriptor, last.server if last else None)
        except BaseException:
            os.close(descriptor)
            raise
    try:
        yield claim
    finally:
        os.close(descriptor)


@contextmanager
def said_clearly(data_folder: Path) -> Generator[None]:
    """Turn what the operating system refuses into a sentence about the data folder."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise WillNeverWork(_full(data_folder)) from error
        raise WillNeverWork(
            f"The data folder {data_folder} cannot be used ({error.strerror}); "
            "make it writable or set data_folder to another folder."
        ) from error


def _made(data_folder: Path) -> Path:
    data_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if shutil.disk_usage(data_folder).free < NEEDED_BYTES:
        raise WillNeverWork(_full(data_folder))
    return data_folder.resolve()


def _full(data_folder: Path) -> str:
    return f"The disk of the data folder {data_folder} is full; free some space or set data_folder to another disk."


def _lock(descriptor: int, folder: Path, server: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = _holder(descriptor)
        who = f"process {holder.pid} since {holder.since}" if holder else "another process"
        raise WillNeverWork(
            f"The embedded {server} of {folder} is already run by {who}; stop it or set data_folder to another folder."
        ) from None


def _holder(descriptor: int) -> Holder | None:
    try:
        return Holder.model_validate(json.loads(os.pread(descriptor, 4096, 0)))
    except (ValueError, ValidationError):
        return None
