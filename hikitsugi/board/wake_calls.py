"""Hears on Redis that a shelf has something new, or that a lock was released."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from hikitsugi.board.keys import CHANNEL

_log = logging.getLogger(__name__)
_RECONNECT_SECONDS = 1.0


@asynccontextmanager
async def wake_calls(redis: Redis, ring: Callable[[str], None], ring_all: Callable[[], None]) -> AsyncGenerator[None]:
    """Pass every call on until the block ends; after a gap everybody is woken."""
    listener = asyncio.create_task(_listen(redis, ring, ring_all))
    try:
        yield
    finally:
        listener.cancel()
        with suppress(asyncio.CancelledError):
            await listener


async def _listen(redis: Redis, ring: Callable[[str], None], ring_all: Callable[[], None]) -> None:
    while True:
        try:
            async with redis.pubsub() as calls:
                await calls.subscribe(CHANNEL)
                ring_all()
                async for message in calls.listen():
                    heard: dict[str, Any] = message
                    if heard["type"] == "message":
                        ring(heard["data"].decode())
        except (RedisError, OSError) as error:
            _log.warning("nobody can be woken until Redis is back: %s", error)
            await asyncio.sleep(_RECONNECT_SECONDS)
