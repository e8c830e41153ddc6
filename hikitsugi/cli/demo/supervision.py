"""Keeps the demo's worker alive, however often somebody kills it."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from hikitsugi.app import die_with_parent
from hikitsugi.app.run_file import RunFacts, read_run_file
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.policy import Language
from hikitsugi.messages import demo

_LOOK_EVERY = 0.1
_TIME_TO_START = 120.0
_TIME_TO_END = 20.0
_KEPT_ENVIRONMENT = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL")


class SupervisedWorker:
    """The worker process; one that dies is started again on the same data."""

    def __init__(self, folder: Path, config: Path, facts: Mapping[str, str], language: Language) -> None:
        self.log = folder / "worker.log"
        self._folder = folder
        self._language: Language = language
        ours = [sys.executable, "-I", "-S", die_with_parent.__file__, str(os.getpid())]
        self._command = [*ours, sys.executable, "-m", "hikitsugi.cli.demo.worker", str(config), json.dumps(facts)]
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> RunFacts:
        """Start the process; what it tells about itself once it is up."""
        with self.log.open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ},
                start_new_session=True,
            )
        with suppress(TimeoutError):
            async with asyncio.timeout(_TIME_TO_START):
                return await self._up(self._process)
        raise self._failure()

    async def _up(self, process: asyncio.subprocess.Process) -> RunFacts:
        """Wait until it is up; one that is killed on the way is started again."""
        while process.returncode is None:
            facts = read_run_file(self._folder)
            if facts and facts.pid == process.pid:
                return facts
            await asyncio.sleep(_LOOK_EVERY)
        if process.returncode < 0:
            return await self.start()
        raise self._failure()

    def _failure(self) -> WillNeverWork:
        lines = [line.strip() for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        return WillNeverWork(demo.worker_fails(self._language, str(self.log), lines[-1] if lines else ""))

    async def keep_alive(self, say: Callable[[str], None]) -> None:
        """Start it again whenever it dies."""
        while self._process is not None:
            await self._process.wait()
            say(demo.worker_died(self._language))
            facts = await self.start()
            say(demo.worker_is_back(self._language, facts.pid))

    async def end(self) -> None:
        """End it, with its embedded servers."""
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), _TIME_TO_END)
        except TimeoutError:
            process.kill()
            await process.wait()
