"""Has a loaded worker ready to run at once, however often it is killed: `stable.py CONFIG [careless]`.

It obeys lines: `begin` forks a worker, `kill` ends it with SIGKILL, `end` with SIGTERM; each is answered with a status.
"""

import asyncio
import ctypes
import os
import signal
import sys
from pathlib import Path

from hikitsugi.app.running import Role, running, until_told_to_end
from hikitsugi.app.settings import load_settings
from hikitsugi.app.telemetry import configure_logging
from hikitsugi.cli.ending import ended
from tests.faults.careless import forget_to_look

_PR_SET_PDEATHSIG = 1


async def work(config: str) -> None:
    settings = load_settings(Path(config), {})
    configure_logging("console", "info", settings.secrets())
    async with running(settings, {Role.WORKER, Role.WATCHER}) as (_, servers):
        await until_told_to_end(servers)


def main(config: str, *how: str) -> None:
    if "careless" in how:
        forget_to_look()
    worker = 0
    for order in sys.stdin:
        if order == "begin\n":
            worker = os.fork() or _become_worker(config)
            status = 0
        else:
            os.kill(worker, signal.SIGKILL if order == "kill\n" else signal.SIGTERM)
            status = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
        sys.stdout.write(f"{status}\n")
        sys.stdout.flush()


def _become_worker(config: str) -> int:
    """Go on as the worker, which says nothing on the line that its parent answers on."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    ended(lambda: asyncio.run(work(config)))


if __name__ == "__main__":
    ended(lambda: main(*sys.argv[1:]))
