"""Servers that run beside the worker: started from the installed packages, watched, and ended with it."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Protocol, TypeVar

from hikitsugi.app import die_with_parent
from hikitsugi.app.data_folder import Claim, claimed, said_clearly
from hikitsugi.domain.errors import WillNeverWork

HOST = "127.0.0.1"
_TIME_TO_START = 120.0
_TIME_TO_END = 10.0
_ATTEMPTS = 5
_LOOK_EVERY = 0.05


class Server(Protocol):
    """One way to run a server, with its ports chosen."""

    @property
    def command(self) -> list[str]:
        """The program and its arguments."""
        ...

    async def serves(self, child: "Child") -> bool:
        """Whether it is this child that answers by now."""
        ...


AnyServer = TypeVar("AnyServer", bound=Server)


class Child:
    """A server's process and the file its output goes to."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, log: Path) -> None:
        self.name = name
        self.process = process
        self.log = log

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs."""
        return self.process.returncode is None

    async def gone(self) -> str:
        """Wait until the server has ended by itself; the sentence to say then."""
        await self.process.wait()
        return f"The embedded {self.name} ended: {self.last_words()} (see {self.log})"

    def last_words(self) -> str:
        """The last line it wrote."""
        lines = self.words().split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "it wrote nothing")

    def words(self) -> str:
        """All it wrote since it was started."""
        return self.log.read_text(errors="replace")

    async def end(self) -> None:
        """Ask it to end, and insist if it does not."""
        with suppress(ProcessLookupError):
            self.process.terminate()
        try:
            await asyncio.wait_for(self.process.wait(), _TIME_TO_END)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()


@asynccontextmanager
async def embedded(
    name: str, data_folder: Path, choose: Callable[[Path], AnyServer]
) -> AsyncGenerator[tuple[AnyServer, Child]]:
    """Run the server that `choose` describes for a folder until the block ends."""
    with claimed(data_folder, name) as claim:
        if claim.left_over:
            await _end_left_over(claim.left_over, claim.folder)
        server, child = await _started(name, claim, choose)
        try:
            yield server, child
        finally:
            await child.end()
            claim.record(None)


async def _started(
    name: str, claim: Claim, choose: Callable[[Path], AnyServer], attempts: int = _ATTEMPTS
) -> tuple[AnyServer, Child]:
    """Start it, with other ports if somebody took the chosen ones in the meantime."""
    server = choose(claim.folder)
    with said_clearly(claim.folder):
        child = await _spawn(name, server.command, claim.folder)
        claim.record(child.process.pid)
    if await _came_up(server, child):
        return server, child
    if attempts > 1 and "address already in use" in child.words().lower():
        return await _started(name, claim, choose, attempts - 1)
    raise WillNeverWork(f"The embedded {name} did not start: {child.last_words()} (see {child.log})")


async def _came_up(server: Server, child: Child) -> bool:
    async def settled() -> bool:
        return not child.is_alive or await server.serves(child)

    async with AsyncExitStack() as otherwise:
        otherwise.push_async_callback(child.end)
        if await _comes_true(settled, _TIME_TO_START) and child.is_alive:
            otherwise.pop_all()
            return True
    return False


async def _spawn(name: str, command: list[str], folder: Path) -> Child:
    log = folder / f"{name.lower()}.log"
    if log.exists():
        log.replace(log.with_suffix(".log.old"))
    launcher = [sys.executable, "-I", "-S", die_with_parent.__file__, str(os.getpid())]
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *launcher,
            *command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            # Neither our secrets nor an operator's TEMPORAL_* belong there.
            env={name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ},
            # Ctrl-C in the terminal is for us; we end the servers after their last use.
            start_new_session=True,
            umask=0o077,
        )
    return Child(name, process, log)


async def _end_left_over(pid: int, folder: Path) -> None:
    """End a server that outlived its worker; a number that means another process by now is left alone."""

    async def gone() -> bool:
        return not _belongs(pid, folder)

    for request in (signal.SIGTERM, signal.SIGKILL):
        if await gone():
            return
        with suppress(ProcessLookupError):
            os.kill(pid, request)
        await _comes_true(gone, _TIME_TO_END)


async def _comes_true(condition: Callable[[], Awaitable[bool]], limit: float) -> bool:
    """Whether something that only looking can tell happens within a time in seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(limit):
            while not await condition():  # noqa: ASYNC110  another process has no event to give us
                await asyncio.sleep(_LOOK_EVERY)
            return True
    return False


def _belongs(pid: int, folder: Path) -> bool:
    """Whether a process was started with our folder among its arguments."""
    if sys.platform == "linux":
        with suppress(OSError):
            return str(folder).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
        return False
    listing = subprocess.run(  # noqa: S603  nothing but a number goes in
        ["/bin/ps", "-o", "command=", "-p", str(pid)], capture_output=True, check=False
    )
    return str(folder).encode() in listing.stdout


def packaged_program(package: str, program: str) -> str:
    """The path of a program that an installed package brought along."""
    try:
        found = [Path(str(file.locate())) for file in files(package) or [] if file.name == program]
    except PackageNotFoundError:
        found = []
    if not found or not os.access(found[0], os.X_OK):
        raise WillNeverWork(f"The program {program} of the package {package} is missing; install the project again.")
    return str(found[0].resolve())


def free_port(usual: int = 0) -> int:
    """The usual port if nobody has it, otherwise any that is free."""
    with socket.socket() as candidate:
        # As the servers do: connections that linger from the last run do not matter.
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind((HOST, usual))
        except OSError:
            candidate.bind((HOST, 0))
        return candidate.getsockname()[1]
