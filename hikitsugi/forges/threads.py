"""Blocking clients on a few threads: one client per thread, because none of them may be shared."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, Protocol, TypeVar

from hikitsugi.forges.turns import Turns

THREADS = 8


class Closable(Protocol):
    """A client that holds connections."""

    def close(self) -> None:
        """Give the connections back."""
        ...


C = TypeVar("C", bound=Closable)
R = TypeVar("R")


class ClientThreads(Generic[C]):
    """Runs blocking calls beside the event loop, each with the client of its thread."""

    def __init__(self, name: str, connect: Callable[[], C]) -> None:
        self._connect = connect
        self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix=name)
        self._turns = Turns(THREADS)
        self._here = threading.local()
        self._clients: list[C] = []

    async def run(self, call: Callable[[C], R], lane: str = "") -> R:
        """What the call returns or raises; the calls of one lane leave threads to the others."""
        async with self._turns.turn(lane):
            return await asyncio.get_running_loop().run_in_executor(self._executor, lambda: call(self._client()))

    async def aclose(self) -> None:
        """Wait for running calls, then close the clients."""
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)
        for client in self._clients:
            client.close()

    def _client(self) -> C:
        client: C | None = getattr(self._here, "client", None)
        if client is None:
            client = self._here.client = self._connect()
            self._clients.append(client)
        return client
