"""The broker's HTTP application, served beside the other roles."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn
from redis.asyncio import Redis
from temporalio.client import Client

from hikitsugi.app.settings_sections import BrokerSettings
from hikitsugi.broker.application import application
from hikitsugi.domain.errors import WillNeverWork


@asynccontextmanager
async def serve_broker(settings: BrokerSettings, client: Client, redis_url: str) -> AsyncGenerator[str]:
    """Serve until the block ends, and give the address."""
    with _listening(settings) as listening:
        async with Redis.from_url(redis_url) as redis:  # pyright: ignore[reportUnknownMemberType] - untyped there

            async def ask_temporal() -> None:
                await client.service_client.check_health()

            async def ask_redis() -> None:
                await redis.ping()  # pyright: ignore[reportUnknownMemberType] - untyped there

            app = application({"temporal": ask_temporal, "redis": ask_redis})
            server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            try:
                host, port = listening.getsockname()[:2]
                yield f"http://{host}:{port}"
            finally:
                server.should_exit = True
                await serving


def _listening(settings: BrokerSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        raise WillNeverWork(
            f"The broker cannot listen on {settings.host}:{settings.port} ({error.strerror}); "
            "set broker.port to a free port or to 0."
        ) from error
    return listening
