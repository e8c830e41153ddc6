"""A web server that is one part of a larger process."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import uvicorn


class _Guest(uvicorn.Server):
    """Tells when it is up, and leaves the signals to the process it is a guest in."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def listening(host: str, port: int) -> socket.socket:
    """A socket at that address; OSError when it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends small packets at once; without it every answer takes 40 ms.
    door = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((host, port))
        door.listen()
    except OSError:
        door.close()
        raise
    return door


@asynccontextmanager
async def serving(config: uvicorn.Config, door: socket.socket) -> AsyncGenerator[str]:
    """Serve at the door until the block ends, and give the address."""
    server = _Guest(config)
    task = asyncio.create_task(server.serve(sockets=[door]))
    try:
        await server.is_up.wait()
        host, port = door.getsockname()[:2]
        yield f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    finally:
        server.should_exit = True
        await task
