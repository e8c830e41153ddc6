"""A shell in which `starter.py` runs as people run it: a real process with a configuration file."""

import asyncio
import fcntl
import os
import struct
import sys
import termios
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from rich.cells import cell_len

STARTER = Path(__file__).parents[2] / "starter.py"
GENEROUS = 60.0
WIDTH = 80


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def is_one_sentence(self) -> bool:
        """Whether a failure was told in one line on standard error and nothing else."""
        return self.out == "" and self.err.count("\n") == 1 and self.err.endswith("\n") and len(self.err) > len("a\n")

    @property
    def widest(self) -> int:
        """The columns that the widest line takes."""
        return max(map(cell_len, self.out.splitlines()))


class Shell:
    """Runs commands in a folder with one configuration."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.config = folder / "the config.yaml"
        self.config.write_text(yaml.safe_dump(settings), encoding="utf-8")
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "COLUMNS": str(WIDTH),
            "HIKITSUGI_CONFIG": str(self.config),
            "PYTHONUTF8": "1",
        }

    async def starter(self, *arguments: str, **environment: str) -> Said:
        """Run a command to its end."""
        process = await self._begin(*arguments, stdout=PIPE, environment=environment)
        async with asyncio.timeout(GENEROUS):
            out, err = await process.communicate()
        assert process.returncode is not None
        return Said(process.returncode, out.decode(), err.decode())

    @asynccontextmanager
    async def piped(self, *arguments: str) -> AsyncGenerator[Process]:
        """A command that goes on, whose lines can be read."""
        process = await self._begin(*arguments, stdout=PIPE, environment={})
        async with _ending(process):
            yield process

    @asynccontextmanager
    async def on_screen(self, *arguments: str) -> AsyncGenerator[tuple[Process, asyncio.StreamReader]]:
        """A command that goes on in a terminal of 80 columns."""
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, WIDTH, 0, 0))
        process = await self._begin(*arguments, stdout=theirs, environment={"TERM": "xterm-256color"})
        os.close(theirs)
        screen = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(screen), os.fdopen(ours, "rb"))
        try:
            async with _ending(process):
                yield process, screen
        finally:
            reading.close()
            await asyncio.sleep(0)

    async def _begin(self, *arguments: str, stdout: int, environment: dict[str, str]) -> Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, str(STARTER), *arguments),
            cwd=self.folder,
            env=self.environment | environment,
            stdout=stdout,
            stderr=PIPE,
        )


@asynccontextmanager
async def _ending(process: Process) -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(GENEROUS):
            yield
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def seen(screen: asyncio.StreamReader, words: str) -> str:
    """Read what comes until the words are there; all that was read."""
    read = b""
    while words.encode() not in read:
        more = await screen.read(4096)
        assert more, f"{words!r} never came: {read.decode(errors='replace')}"
        read += more
    return read.decode(errors="replace")
