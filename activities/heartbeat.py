"""Signs of life of every activity, so that a dead worker and a cancellation are noticed soon."""

import asyncio
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

from temporalio import activity
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

_EVERY_SECONDS = 1.0
_carried: ContextVar[list[Any]] = ContextVar("carried")


def carry(details: Any) -> None:
    """Let this heartbeat and all later ones of the activity carry its progress; the next attempt starts from it."""
    _carried.get()[:] = [details]
    activity.heartbeat(details)


def carries_progress() -> bool:
    """Whether the activity would lose its place if it were not tried again by Temporal itself."""
    return bool(_carried.get([]))


class Heartbeat(Interceptor):
    """Beats in the background of every activity."""

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        """Stand around every activity."""
        return _Beating(next)


class _Beating(ActivityInboundInterceptor):
    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
        carried: list[Any] = list(activity.info().heartbeat_details)
        _carried.set(carried)
        pulse = asyncio.create_task(_beat(carried))
        try:
            return await super().execute_activity(input)
        finally:
            pulse.cancel()
            with suppress(asyncio.CancelledError):
                await pulse


async def _beat(carried: list[Any]) -> None:
    while True:
        await asyncio.sleep(_EVERY_SECONDS)
        activity.heartbeat(*carried)
