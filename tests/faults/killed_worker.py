"""A worker process that kills itself at one point: `killed_worker.py CONFIG [STEP NUMBER before|after]`."""

import asyncio
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from hikitsugi.app.running import Role, running, until_told_to_end
from hikitsugi.app.settings import load_settings
from hikitsugi.cli.ending import ended


class KillAt(Interceptor):
    """Ends the process without a word before or after the n-th run of a step."""

    def __init__(self, step: str, number: int, *, after: bool) -> None:
        self._step, self._number, self._after = step, number, after
        self._runs: Counter[str] = Counter()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        return _Killing(next, self)

    def note(self, step: str, *, after: bool) -> None:
        if not after:
            self._runs[step] += 1
        if step == self._step and self._runs[step] == self._number and after == self._after:
            os.kill(os.getpid(), signal.SIGKILL)


class _Killing(ActivityInboundInterceptor):
    def __init__(self, inner: ActivityInboundInterceptor, point: KillAt) -> None:
        super().__init__(inner)
        self._point = point

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
        step = activity.info().activity_type
        self._point.note(step, after=False)
        result = await super().execute_activity(input)
        self._point.note(step, after=True)
        return result


async def main(config: str, *point: str) -> None:
    interceptors = [KillAt(point[0], int(point[1]), after=point[2] == "after")] if point else []
    settings = load_settings(Path(config), {})
    async with running(settings, {Role.WORKER, Role.WATCHER}, interceptors=interceptors) as (_, servers):
        await until_told_to_end(servers)


if __name__ == "__main__":
    ended(lambda: asyncio.run(main(*sys.argv[1:])))
