"""Serves a forge on a loopback address, in the running loop or in a thread of its own."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from hikitsugi.devforge.application import application
from hikitsugi.devforge.courier import Courier
from hikitsugi.devforge.failing import HANG_UP
from hikitsugi.devforge.forge import DevForge
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.serving import listening, serving

LOOPBACK = "127.0.0.1"
_LONGEST_GOODBYE_SECONDS = 2


class _Connection(H11Protocol):
    """A connection that the application can hang up, as faults do."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        app = self.app

        async def with_hang_up(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, "extensions": {HANG_UP: transport.close}}, receive, send)

        self.app = with_hang_up


@asynccontextmanager
async def serve(forge: DevForge, port: int = 0, host: str = LOOPBACK) -> AsyncGenerator[str]:
    """Serve a forge in this event loop; its address is given, and port 0 means any free one."""
    listener = _listen(host, port)
    courier = Courier(forge, f"http://{host}:{listener.getsockname()[1]}")
    config = uvicorn.Config(
        application(forge, courier),
        http=_Connection,
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_LONGEST_GOODBYE_SECONDS,
    )
    try:
        async with serving(config, listener) as address:
            courier.start()
            yield address
    finally:
        await asyncio.to_thread(courier.close)
        listener.close()


@contextmanager
def serve_in_thread(forge: DevForge, port: int = 0) -> Generator[str]:
    """Serve a forge beside code that has no event loop."""
    address: Future[str] = Future()
    ended = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(_serve_until(forge, port, address, ended)), daemon=True)
    thread.start()
    try:
        yield address.result()
    finally:
        ended.set()
        thread.join()


async def _serve_until(forge: DevForge, port: int, address: "Future[str]", ended: threading.Event) -> None:
    try:
        async with serve(forge, port) as base_url:
            address.set_result(base_url)
            await asyncio.to_thread(ended.wait)
    except Exception as failure:  # noqa: BLE001 - whoever started the thread has to hear of it
        with contextlib.suppress(Exception):
            address.set_exception(failure)


def _listen(host: str, port: int) -> socket.socket:
    if host != LOOPBACK:
        raise WillNeverWork(
            f"The development forge is for this machine alone: host {host!r} is refused, use {LOOPBACK}."
        )
    try:
        return listening(host, port)
    except OSError as reason:
        raise WillNeverWork(f"Port {port} of {host} cannot be used by the development forge: {reason}.") from reason
