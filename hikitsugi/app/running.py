"""The running product: servers, connection, roles, until somebody ends it."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from temporalio.client import Client
from temporalio.runtime import Runtime
from temporalio.worker import Interceptor

from hikitsugi.app.broker_role import open_door, open_redis, serve_broker
from hikitsugi.app.embedded_temporal import embedded_temporal
from hikitsugi.app.embedded_valkey import watched_valkey
from hikitsugi.app.roles import watcher_role, worker_role
from hikitsugi.app.run_file import RunFacts, read_run_file, remove_run_file, write_run_file
from hikitsugi.app.settings import Settings
from hikitsugi.app.telemetry import make_runtime
from hikitsugi.app.temporal import check_key, connect, register_search_attributes
from hikitsugi.app.wiring import open_forges, parts
from hikitsugi.board.board import RedisBoard
from hikitsugi.board.doorbell import Doorbell
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.ports import Forge
from hikitsugi.domain.redaction import Redactor


class Role(StrEnum):
    """What a process of the product can do."""

    WORKER = "worker"
    WATCHER = "watcher"
    BROKER = "broker"


@dataclass
class Servers:
    """Where the servers are, and what tells that an embedded one has gone."""

    temporal: str
    redis: str
    ui: str | None = None
    gone: list[Callable[[], Awaitable[str]]] = field(default_factory=list[Callable[[], Awaitable[str]]])


@asynccontextmanager
async def running(
    settings: Settings,
    roles: Collection[Role],
    demo: Mapping[str, str] | None = None,
    interceptors: Sequence[Interceptor] = (),
) -> AsyncGenerator[tuple[RunFacts, Servers]]:
    """Run the roles until the block ends; `demo` facts are told to others beside the addresses."""
    owner = read_run_file(settings.data_folder)
    helping = set(roles) != set(Role) and owner is not None and owner.pid != os.getpid()
    runtime, metrics = make_runtime(0 if helping else settings.telemetry.metrics_port)
    async with AsyncExitStack() as stack:
        door = stack.enter_context(open_door(settings.broker)) if Role.BROKER in roles else None
        servers = await _servers(stack, settings, owner if helping else None, runtime)
        redact = Redactor(settings.secrets())
        client = await connect(settings.temporal, servers.temporal, runtime, interceptors, redact)
        await check_key(client)
        await register_search_attributes(client)
        broker = await _roles(stack, settings, roles, client, servers, door)
        facts = RunFacts(
            pid=os.getpid(),
            temporal=servers.temporal,
            ui=servers.ui,
            redis=without_password(servers.redis),
            broker=broker,
            metrics=metrics,
            **(demo or {}),
        )
        if not helping:
            write_run_file(settings.data_folder, facts)
            stack.callback(remove_run_file, settings.data_folder)
        yield facts, servers


async def _servers(stack: AsyncExitStack, settings: Settings, others: RunFacts | None, runtime: Runtime) -> Servers:
    """Those of the settings, those of a worker that runs already, or embedded ones of our own."""
    redis = settings.redis.url.get_secret_value() if settings.redis.url else others and others.redis
    temporal = settings.temporal.address or (others and others.temporal)
    servers = Servers(temporal=temporal or "", redis=redis or "", ui=others.ui if others else None)
    if not temporal:
        ours = embedded_temporal(settings.data_folder, namespace=settings.temporal.namespace, runtime=runtime)
        embedded = await stack.enter_async_context(ours)
        servers.temporal, servers.ui = embedded.address, embedded.ui
        servers.gone.append(embedded.gone)
    if not redis:
        valkey = await stack.enter_async_context(watched_valkey(settings.data_folder))
        servers.redis = valkey.url
        servers.gone.append(valkey.gone)
    return servers


async def _roles(
    stack: AsyncExitStack,
    settings: Settings,
    roles: Collection[Role],
    client: Client,
    servers: Servers,
    door: socket.socket | None,
) -> str | None:
    """Start the roles; the broker's address, if it is among them."""
    redis = await stack.enter_async_context(open_redis(servers.redis))
    doorbell, board = Doorbell(redis), RedisBoard(redis, settings.broker.roles)
    forges: Mapping[str, Forge] | None = None
    if roles != {Role.BROKER}:
        opened = await stack.enter_async_context(parts(settings))
        forges = opened.forges
        if Role.WORKER in roles:
            await stack.enter_async_context(worker_role(opened, client, board))
        if Role.WATCHER in roles:
            await stack.enter_async_context(watcher_role(opened, client, doorbell, board))
    if door:
        forges = forges or await stack.enter_async_context(open_forges(settings))
        return await stack.enter_async_context(serve_broker(settings, client, redis, doorbell, forges, door))
    return None


def without_password(url: str) -> str:
    """An address that may be shown."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


async def until_told_to_end(servers: Servers) -> None:
    """Wait for SIGTERM or SIGINT; an embedded server that ends by itself is a failure."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    waits = [asyncio.ensure_future(told.wait()), *(asyncio.ensure_future(gone()) for gone in servers.gone)]
    done, others = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for other in others:
        other.cancel()
    if not told.is_set():
        raise WillNeverWork(str(done.pop().result()))
