"""A bell for each repository: whoever hears of news rings, and its watcher looks at once."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from hikitsugi.domain.address import RepositoryAddress
from hikitsugi.domain.errors import TryAgainLater

_log = logging.getLogger(__name__)

_CHANNEL = "hikitsugi:ring"
_DELIVERED = "hikitsugi:delivered:"
_REMEMBERED = timedelta(days=1)
_RECONNECT_SECONDS = 5.0


class Doorbell:
    """One listener for all repositories of a process; without Redis it is silent, and polling finds the news."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._bells: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def ring(self, home: RepositoryAddress) -> None:
        """Tell the repository's watcher that there is news."""
        try:
            await self._redis.publish(_CHANNEL, str(home))
        except RedisError as error:
            raise TryAgainLater("Redis does not answer; check redis.url") from error

    async def is_new(self, delivery: str) -> bool:
        """Whether a delivery comes for the first time; it is remembered for a day."""
        try:
            return bool(await self._redis.set(f"{_DELIVERED}{delivery}", 1, nx=True, ex=_REMEMBERED))
        except RedisError as error:
            raise TryAgainLater("Redis does not answer; check redis.url") from error

    async def forget(self, delivery: str) -> None:
        """Let a delivery count as new again, because it rang nobody."""
        try:
            await self._redis.delete(f"{_DELIVERED}{delivery}")
        except RedisError as error:
            raise TryAgainLater("Redis does not answer; check redis.url") from error

    async def rung(self, home: RepositoryAddress) -> None:
        """Wait until somebody rings; a ring since the last time counts."""
        bell = self._bells[str(home)]
        await bell.wait()
        bell.clear()

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator["Doorbell"]:
        """Hear rings until the block ends."""
        listener = asyncio.create_task(self._listen())
        try:
            yield self
        finally:
            listener.cancel()
            with suppress(asyncio.CancelledError):
                await listener

    async def _listen(self) -> None:
        """Hear rings; what keeps us from it is told once, until it changes."""
        trouble = ""
        while True:
            try:
                async for message in self._messages():
                    trouble = ""
                    if message["type"] == "message":
                        self._bells[message["data"].decode()].set()
            except RedisError as error:
                if str(error) != trouble:
                    trouble = str(error)
                    _log.warning("no rings can be heard, polling goes on alone: %s", trouble)
                await asyncio.sleep(_RECONNECT_SECONDS)

    async def _messages(self) -> AsyncGenerator[dict[str, Any]]:
        """What Redis tells, first of all that it listens for us."""
        async with self._redis.pubsub() as rings:
            await rings.subscribe(_CHANNEL)
            async for message in rings.listen():
                yield message
