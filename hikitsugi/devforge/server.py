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

LOOPBACK = "127.0.0.1"
_LONGEST_GOODBYE_SECONDS = 2


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell when the first request can come."""
        await super().startup(sockets)
        self.is_up.set()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave the signals to the process that the forge is a guest in."""
        yield


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
    address = f"http://{host}:{listener.getsockname()[1]}"
    courier = Courier(forge, address)
    config = uvicorn.Config(
        application(forge, courier),
        http=_Connection,
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_LONGEST_GOODBYE_SECONDS,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        await server.is_up.wait()
        courier.start()
        yield address
    finally:
        server.should_exit = True
        await serving
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
    # With the protocol named, asyncio sends small packets at once; without it every answer takes 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as reason:
        listener.close()
        raise WillNeverWork(f"Port {port} of {host} cannot be used by the development forge: {reason}.") from reason
    return listener
