"""The broker's HTTP application, served beside the other roles."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from time import monotonic

import uvicorn
from fastapi import FastAPI
from redis.asyncio import BlockingConnectionPool, Redis
from temporalio.client import Client

from hikitsugi.app.asked_of_agents import AskedOfAgents
from hikitsugi.app.leases import TemporalOffice
from hikitsugi.app.overview import TemporalOverview
from hikitsugi.app.policies import homes_for_agents, label_names, rules, terms
from hikitsugi.app.settings import Settings
from hikitsugi.app.settings_sections import BrokerSettings
from hikitsugi.app.wiring import memory_url
from hikitsugi.board.board import RedisBoard
from hikitsugi.board.doorbell import Doorbell
from hikitsugi.board.wake_calls import wake_calls
from hikitsugi.broker.agents import Agents, Pass
from hikitsugi.broker.application import application
from hikitsugi.broker.briefing import Briefing
from hikitsugi.broker.dashboard import dashboard
from hikitsugi.broker.desk import Desk
from hikitsugi.broker.guard import Guard
from hikitsugi.broker.metrics import Measured, Metrics
from hikitsugi.broker.pace import Pace
from hikitsugi.broker.task_routes import task_routes
from hikitsugi.broker.waiting_room import WaitingRoom
from hikitsugi.broker.webhooks import Sender, webhook_routes
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.ports import Forge
from hikitsugi.memory.opening import answers
from hikitsugi.serving import listening, serving
from hikitsugi.workspace.checkout import Checkouts
from hikitsugi.workspace.places import default_root

_GOODBYE_SECONDS = 20
_REDIS_CONNECTIONS = 50
_REDIS_SECONDS = 20


@asynccontextmanager
async def open_redis(url: str) -> AsyncGenerator[Redis]:
    """A client of Redis, closed at the end; a crowd waits for its turn rather than being refused."""
    pool = BlockingConnectionPool.from_url(url, max_connections=_REDIS_CONNECTIONS, timeout=_REDIS_SECONDS)
    async with Redis.from_pool(pool) as redis:
        yield redis


@asynccontextmanager
async def serve_broker(
    settings: Settings,
    client: Client,
    redis: Redis,
    doorbell: Doorbell,
    forges: Mapping[str, Forge],
    door: socket.socket,
) -> AsyncGenerator[str]:
    """Serve at the door until the block ends, and give the address; whoever still waits then is answered."""
    room = WaitingRoom()
    async with wake_calls(redis, room.ring, room.ring_all):
        app = _application(settings, client, redis, doorbell, room, forges)
        config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=_GOODBYE_SECONDS)
        async with serving(config, door) as address:
            try:
                yield address
            finally:
                room.close()


def _application(
    settings: Settings,
    client: Client,
    redis: Redis,
    doorbell: Doorbell,
    room: WaitingRoom,
    forges: Mapping[str, Forge],
) -> FastAPI:
    async def ask_temporal() -> None:
        await client.service_client.check_health()

    async def ask_redis() -> None:
        await redis.ping()

    async def ask_store() -> None:
        await answers(memory_url(settings))

    app = application({"temporal": ask_temporal, "redis": ask_redis, "store": ask_store})
    metrics = Metrics(lambda: len(room))
    agents = _agents(settings)
    board = RedisBoard(redis, settings.broker.roles)
    office = TemporalOffice(client, settings.temporal.task_queue)
    accepted = {forge.name: forge.accept_comments_from for forge in settings.forges}
    asked = AskedOfAgents(forges, Checkouts(settings.workspace.root or default_root(settings.data_folder)))
    briefing = Briefing(board, forges, accepted, rules(settings), settings.language, settings.broker.prompts, asked.at)
    desk = Desk(office, board, room, briefing, doorbell, terms(settings), metrics)
    app.include_router(webhook_routes(_senders(settings), doorbell, lambda: datetime.now(UTC)))
    app.include_router(task_routes(desk, agents, Pace(monotonic), homes_for_agents(settings), settings.broker.roles))
    app.include_router(metrics.route())
    overview = TemporalOverview(client, settings.temporal.task_queue)
    app.include_router(dashboard(overview, lambda: board.secret("dashboard"), settings.language))
    app.add_middleware(Guard, agents=agents)
    app.add_middleware(Measured, metrics=metrics)
    return app


def _agents(settings: Settings) -> Agents:
    passes = {
        agent: Pass(sha256=known.sha256.get_secret_value(), roles=known.roles, repositories=known.repositories)
        for agent, known in settings.broker.tokens.items()
    }
    return Agents(passes, label_names(settings), [settings.labels.approval, *settings.broker.roles])


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
    try:
        return listening(settings.host, settings.port)
    except OSError as error:
        raise WillNeverWork(
            f"The broker cannot listen on {settings.host}:{settings.port} ({error.strerror}); "
            "set broker.port to a free port or to 0."
        ) from error
