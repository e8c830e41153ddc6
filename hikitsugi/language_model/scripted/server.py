"""The scripted model on a port of this machine."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Generator

import uvicorn

from hikitsugi.language_model.scripted.app import application
from hikitsugi.language_model.scripted.model import ScriptedModel


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Leave signals to the program this server runs inside."""
        yield


@contextlib.asynccontextmanager
async def serve(model: ScriptedModel, port: int = 0) -> AsyncGenerator[str]:
    """Serve the model on loopback for as long as the block lasts; its base URL."""
    listener = socket.create_server(("127.0.0.1", port))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    config = uvicorn.Config(
        application(model), log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=1
    )
    server = _Server(config)
    # The listener takes connections from now on, so nobody has to wait until the server is up.
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
