"""Runs commands in a checkout, in the sandbox, a few at a time."""

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path

from hikitsugi.workspace.confinement import Limits, Sandbox
from hikitsugi.workspace.output import Output
from hikitsugi.workspace.ownership import hand_over, sandbox_uid
from hikitsugi.workspace.places import Place
from hikitsugi.workspace.running import Bounds, Ended, run

_AT_ONCE = 8


@dataclass(frozen=True)
class Said:
    """How a command ended, and what it printed."""

    ended: Ended
    text: str


class Shell:
    """Commands of one host; those beyond its share of processors wait for their turn."""

    def __init__(self, sandbox: Sandbox, limits: Limits, at_once: int = _AT_ONCE) -> None:
        self._sandbox = sandbox
        self._limits = limits
        self._turns = asyncio.Semaphore(at_once)

    async def run(self, place: Place, command: str, call: str, seconds: float | None = None) -> Said:
        """Run a command to its end, or to the end of its time; `call` names its log."""
        within = min(seconds or self._limits.timeout_seconds, self._limits.timeout_seconds)
        async with self._turns:
            log = _log_for(place, call)
            output = Output(log)
            try:
                bounds = Bounds(within, self._limits.memory_mb << 20)
                ended = await run(self._sandbox.launch(place, command), bounds, output)
            finally:
                text = output.close(self._sandbox.log_name(log))
        return Said(ended, text)


def _log_for(place: Place, call: str) -> Path:
    if not place.logs.is_dir():
        place.logs.mkdir(mode=0o700)
        hand_over(place.logs, sandbox_uid(place.tree))
    return place.logs / f"{hashlib.sha256(call.encode()).hexdigest()[:12]}.log"
