"""Signs of life while an activity waits for something slow."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from temporalio import activity

_EVERY_SECONDS = 1.0


@asynccontextmanager
async def beating(details: Callable[[], Any] = lambda: None) -> AsyncGenerator[None]:
    """Heartbeat in the background, so that a dead worker and a cancellation are noticed soon."""
    pulse = asyncio.create_task(_beat(details))
    try:
        yield
    finally:
        pulse.cancel()
        with suppress(asyncio.CancelledError):
            await pulse


async def _beat(details: Callable[[], Any]) -> None:
    while True:
        activity.heartbeat(details())
        await asyncio.sleep(_EVERY_SECONDS)
