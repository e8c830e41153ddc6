"""The broker's HTTP application, served beside the other roles."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import uvicorn
from redis.asyncio import Redis
from temporalio.client import Client

from hikitsugi.app.settings import Settings
from hikitsugi.app.settings_sections import BrokerSettings
from hikitsugi.board.doorbell import Doorbell
from hikitsugi.broker.application import application
from hikitsugi.broker.webhooks import Sender, webhook_routes
from hikitsugi.domain.errors import WillNeverWork


@asynccontextmanager
async def open_redis(url: str) -> AsyncGenerator[Redis]:
    """A client of Redis, closed at the end."""
    async with Redis.from_url(url) as redis:
        yield redis


@asynccontextmanager
async def serve_broker(
    settings: Settings, client: Client, redis: Redis, doorbell: Doorbell, door: socket.socket
) -> AsyncGenerator[str]:
    """Serve at the door until the block ends, and give the address."""

    async def ask_temporal() -> None:
        await client.service_client.check_health()

    async def ask_redis() -> None:
        await redis.ping()

    app = application({"temporal": ask_temporal, "redis": ask_redis})
    app.include_router(webhook_routes(_senders(settings), doorbell, lambda: datetime.now(UTC)))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
    serving = asyncio.create_task(server.serve(sockets=[door]))
    try:
        host, port = door.getsockname()[:2]
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        await serving


def _senders(settings: Settings) -> list[Sender]:
    """The forges whose webhooks are let in."""
    return [
        Sender(
            name=forge.name,
            kind=forge.kind,
            secret=forge.webhook_secret,
            repositories=frozenset(repository.name for repository in forge.repositories),
        )
        for forge in settings.forges
        if forge.webhook_secret
    ]


def open_door(settings: BrokerSettings) -> socket.socket:
    """Take the broker's port, before anything else runs that would have to be ended again."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With the protocol named, asyncio sends small packets at once; without it every answer takes 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise WillNeverWork(
            f"The broker cannot listen on {settings.host}:{settings.port} ({error.strerror}); "
            "set broker.port to a free port or to 0."
        ) from error
    return listening
