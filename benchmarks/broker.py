"""What an assignment costs: ours beside the specification's design, and beside a bare loop on the same server."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import asyncio
import json
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple
from uuid import uuid4

import httpx2
import uvicorn
from fastapi import FastAPI
from redis import Redis as BlockingRedis
from temporalio.client import Client
from temporalio.worker import Worker

from activities.assignment_activities import AssignmentActivities
from benchmarks.slow_forge import SlowForge
from benchmarks.specified_broker import specified_broker
from hikitsugi.app.broker_role import open_redis
from hikitsugi.app.embedded import free_port
from hikitsugi.app.embedded_temporal import embedded_temporal
from hikitsugi.app.embedded_valkey import embedded_valkey
from hikitsugi.app.leases import TemporalOffice
from hikitsugi.app.temporal import WORKFLOWS, plugin, register_search_attributes
from hikitsugi.board.board import RedisBoard
from hikitsugi.board.wake_calls import wake_calls
from hikitsugi.broker.agents import Agents
from hikitsugi.broker.application import application
from hikitsugi.broker.briefing import Briefing
from hikitsugi.broker.desk import Desk
from hikitsugi.broker.metrics import Metrics
from hikitsugi.broker.pace import Pace
from hikitsugi.broker.task_routes import task_routes
from hikitsugi.broker.waiting_room import WaitingRoom
from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.assignment import Claim, Terms
from hikitsugi.domain.issue import Base
from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.selection import Card, Rules

BASE = Base(branch="main", commit="a" * 40)
SHORT = [(0.02, 1000, 1), (0.02, 1000, 16), (0.02, 1000, 128)]
LONG = [(delay, issues, agents) for delay in (0, 0.02, 0.1) for issues in (10, 1000, 10_000) for agents in (1, 16, 128)]
FOR_SECONDS = 5.0


class Rate(NamedTuple):
    """How many in a second, and how long each took."""

    seconds: float
    took: list[float]
    health: list[float]

    def __str__(self) -> str:
        return (
            f"{len(self.took) / self.seconds:6.1f}/s | {_at(self.took, 50):7.0f} | {_at(self.took, 99):7.0f} | "
            f"{_at(self.health, 99):7.0f}"
        )


def _at(took: Sequence[float], percent: int) -> float:
    """A percentile in milliseconds."""
    if len(took) < 2:
        return took[0] * 1000 if took else float("nan")
    return quantiles(took, n=100, method="inclusive")[percent - 1] * 1000


async def measure() -> None:
    """Print rates with 1, 16 and 128 agents, and the time from available to answered."""
    await _measure(SHORT)


async def measure_long() -> None:
    """The same for every latency of the forge and every number of open issues."""
    await _measure(LONG)


async def _measure(cases: Sequence[tuple[float, int, int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            embedded_valkey(Path(folder) / "valkey") as redis_url,
            embedded_temporal(Path(folder) / "temporal") as temporal,
        ):
            client = await Client.connect(temporal.address, plugins=[plugin()])
            await register_search_attributes(client)
            print("design      | forge ms | issues | agents |    rate  |  p50 ms |  p99 ms | health p99 ms")
            for delay, issues, agents in cases:
                await _compare(client, redis_url, delay, issues, agents)
            await _awake(client, redis_url)


async def _compare(client: Client, redis_url: str, delay: float, issues: int, agents: int) -> None:
    """Three lines: the specification's design, ours, and the limit that Temporal sets."""
    case = f"{delay * 1000:8.0f} | {issues:6} | {agents:6}"
    with BlockingRedis.from_url(redis_url) as blocking:
        blocking.flushall()
        blocking.set("open_issues", json.dumps([{"number": n, "body": "## 成果物"} for n in range(1, issues + 1)]))
        specified = await _assignments(specified_broker(blocking, delay), agents, issues)
    print(f"specified   | {case} | {specified}", flush=True)
    async with ours(client, redis_url, delay, issues) as (app, _):
        mine = await _assignments(app, agents, issues)
    print(f"ours        | {case} | {mine}", flush=True)
    bare = await _bare(client, redis_url, delay, agents, issues)
    ratio = (len(mine.took) / mine.seconds) / (len(bare.took) / bare.seconds)
    print(f"bare update | {case} | {bare} | ours reaches {ratio:.2f} of it", flush=True)


@asynccontextmanager
async def ours(
    client: Client, redis_url: str, delay: float, issues: int
) -> AsyncGenerator[tuple[FastAPI, Callable[[int], Awaitable[None]]]]:
    """Our broker on a board with some issues, and a way to put one more there."""
    home, queue = RepositoryAddress(forge="github", repository=f"octo/{uuid4().hex[:8]}"), f"bench-{uuid4().hex[:8]}"
    forge, room = SlowForge(delay), WaitingRoom()
    async with open_redis(redis_url) as redis:
        await redis.flushall()
        board = RedisBoard(redis, ["CODER"])
        await board.fill(home, BASE, [_card(home, n) for n in range(1, issues + 1)])
        briefing = Briefing(board, {"github": forge}, {"github": ["author"]}, Rules(), "en", {})
        desk = Desk(
            TemporalOffice(client, queue), board, room, briefing, _NoBell(), Terms(), Metrics(lambda: len(room))
        )
        app = application({})
        pace = Pace(lambda: time.monotonic() * 1000)
        app.include_router(task_routes(desk, Agents({}, LabelNames()), pace, [home], ["CODER"]))
        leases = AssignmentActivities({"github": forge}, board, Redactor())
        steps = [leases.prepare_assignment, leases.has_evidence, leases.settle_assignment, leases.offer_again]
        async with (
            wake_calls(redis, room.ring, room.ring_all),
            Worker(client, task_queue=queue, workflows=WORKFLOWS, activities=steps, max_cached_workflows=500),
        ):
            yield app, lambda number: board.put(_card(home, number))


class _NoBell:
    async def ring(self, home: RepositoryAddress) -> None:
        pass


def _card(home: RepositoryAddress, number: int) -> Card:
    return Card(
        address=IssueAddress(forge=home.forge, repository=home.repository, number=number),
        title="Do it",
        body="## Deliverables\n- a file",
        url="http://forge.example/1",
        author="alice",
        labels=(),
        role="CODER",
        branch=f"feature/issue-{number}",
        rank=number,
    )


async def _assignments(app: FastAPI, agents: int, issues: int) -> Rate:
    """Agents in a thread of their own, so that a handler that blocks keeps them waiting as it would in life."""
    async with served(app) as address:
        return await asyncio.to_thread(lambda: asyncio.run(_crowd(address, agents, issues)))


@asynccontextmanager
async def served(app: FastAPI) -> AsyncGenerator[str]:
    """The application on a port of its own."""
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_config=None, access_log=False))
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - the server has no event for it
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await serving


async def _crowd(address: str, agents: int, issues: int) -> Rate:
    """Agents with ever new names ask as fast as they are answered, while somebody asks for health."""
    took, health, left = list[float](), list[float](), [issues]
    began = time.perf_counter()
    limits = httpx2.Limits(max_connections=agents + 1)
    async with httpx2.AsyncClient(base_url=address, timeout=300, limits=limits) as http:

        async def agent(number: int) -> None:
            asked = 0
            while left[0] > 0 and time.perf_counter() - began < FOR_SECONDS:
                left[0] -= 1
                asked += 1
                at = time.perf_counter()
                body = {"agent_id": f"agent-{number}-{asked}", "timeout_seconds": 60}
                answer = await http.post("/api/v1/request-task", json=body)
                assert answer.status_code == 200, answer.text
                took.append(time.perf_counter() - at)

        async def nurse() -> None:
            while True:
                at = time.perf_counter()
                await http.get("/healthz")
                health.append(time.perf_counter() - at)
                await asyncio.sleep(0.02)

        beside = asyncio.create_task(nurse())
        await asyncio.gather(*map(agent, range(agents)))
        beside.cancel()
        await asyncio.gather(beside, return_exceptions=True)
    return Rate(time.perf_counter() - began, took, health)


async def _bare(client: Client, redis_url: str, delay: float, agents: int, issues: int) -> Rate:
    """Nothing but update-with-start and its one activity."""
    home, queue = RepositoryAddress(forge="github", repository=f"octo/{uuid4().hex[:8]}"), f"bench-{uuid4().hex[:8]}"
    office, took, numbers = TemporalOffice(client, queue), list[float](), iter(range(1, issues + 1))
    async with open_redis(redis_url) as redis:
        leases = AssignmentActivities({"github": SlowForge(delay / 2)}, RedisBoard(redis, ["CODER"]), Redactor())
        began = time.perf_counter()

        async def agent(name: int) -> None:
            for number in numbers:
                if time.perf_counter() - began > FOR_SECONDS:
                    return
                at = time.perf_counter()
                card = _card(home, number)
                claim = Claim(
                    agent=f"a{name}", title="", url="", branch=card.branch, base="main", base_commit="", shelf=""
                )
                answer = await office.claim(card.address, claim)
                assert answer.lease
                took.append(time.perf_counter() - at)

        async with Worker(client, task_queue=queue, workflows=WORKFLOWS, activities=[leases.prepare_assignment]):
            began = time.perf_counter()
            await asyncio.gather(*map(agent, range(agents)))
    return Rate(time.perf_counter() - began, took, [])


async def _awake(client: Client, redis_url: str) -> None:
    """From the moment an issue is available to the answer of one who waits for it."""
    print("\nfrom available to answered, forge 20 ms | waiting agents |  p50 ms |  p99 ms")
    for agents in (1, 16, 128):
        async with ours(client, redis_url, 0.02, 0) as (app, put):
            took = [await _one_more(app, put, agents, n) for n in range(1, 4)] if agents == 1 else []
            took += await _wake_many(app, put, agents)
        print(f"ours{'':35} | {agents:14} | {_at(took, 50):7.0f} | {_at(took, 99):7.0f}", flush=True)


async def _one_more(app: FastAPI, put: Callable[[int], Awaitable[None]], _: int, number: int) -> float:
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://broker", timeout=300) as http:
        body = {"agent_id": f"single-{number}", "timeout_seconds": 60}
        asked = asyncio.ensure_future(http.post("/api/v1/request-task", json=body))
        await asyncio.sleep(0.2)
        began = time.perf_counter()
        await put(1000 + number)
        assert (await asked).status_code == 200
        return time.perf_counter() - began


async def _wake_many(app: FastAPI, put: Callable[[int], Awaitable[None]], agents: int) -> list[float]:
    """One issue after the other, while all the others go on waiting."""
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://broker", timeout=300) as http:
        bodies = [{"agent_id": f"waiting-{n}", "timeout_seconds": 120} for n in range(agents)]
        waiting = {asyncio.ensure_future(http.post("/api/v1/request-task", json=body)) for body in bodies}
        await asyncio.sleep(1)
        took: list[float] = []
        for number in range(1, min(agents, 50) + 1):
            began = time.perf_counter()
            await put(number)
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            assert {each.result().status_code for each in done} == {200}
            took.append(time.perf_counter() - began)
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return took
