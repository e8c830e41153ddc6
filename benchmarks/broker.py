"""What an assignment costs: ours beside the specification's design, and beside a bare loop on the same server."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

import httpx2
import uvicorn
from fastapi import FastAPI
from redis import Redis
from temporalio.client import Client

from benchmarks.bare_claim import bare_claims
from benchmarks.our_broker import TEXT, Ours, our_broker
from benchmarks.specified_broker import specified_broker
from hikitsugi.app.embedded_temporal import embedded_temporal
from hikitsugi.app.embedded_valkey import embedded_valkey
from hikitsugi.app.temporal import plugin, register_search_attributes
from hikitsugi.serving import listening, serving

SHORT = [(0.02, 1000, agents) for agents in (1, 16, 128)]
LONG = [(delay, issues, agents) for delay in (0, 0.02, 0.1) for issues in (10, 1000, 10_000) for agents in (1, 16, 128)]
FOR_SECONDS = 4.0
_WOKEN = 50


class Rate(NamedTuple):
    """How many in how long, how long each took, and how long health took beside."""

    seconds: float
    took: list[float]
    health: list[float]

    @property
    def per_second(self) -> float:
        """Assignments a second."""
        return len(self.took) / self.seconds

    def __str__(self) -> str:
        health = f"{_at(self.health, 99):7.0f}" if self.health else f"{'':7}"
        return f"{self.per_second:6.1f} | {_at(self.took, 50):7.0f} | {_at(self.took, 99):7.0f} | {health}"


def _at(took: Sequence[float], percent: int) -> float:
    """A percentile in milliseconds."""
    if len(took) < 2:
        return took[0] * 1000 if took else float("nan")
    return quantiles(took, n=100, method="inclusive")[percent - 1] * 1000


async def measure() -> None:
    """Print rates with 1, 16 and 128 agents, the time from available to answered, and what waiting costs."""
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
            bare_client = await Client.connect(temporal.address)
            await register_search_attributes(client)
            print("forge ms | issues | agents | design    |    a/s |  p50 ms |  p99 ms | healthz p99 ms")
            for case in cases:
                await _compare(client, bare_client, redis_url, *case)
            await _wait(client, redis_url)


async def _compare(client: Client, bare: Client, redis_url: str, delay: float, issues: int, agents: int) -> None:
    """Three lines: the specification's design, ours, and the limit that Temporal sets."""
    case = f"{delay * 1000:8.0f} | {issues:6} | {agents:6}"
    with Redis.from_url(redis_url) as blocking:
        blocking.flushall()
        blocking.set("open_issues", json.dumps([{"number": n, "body": TEXT} for n in range(1, issues + 1)]))
        specified = await _assignments(specified_broker(blocking, delay), agents, issues)
    print(f"{case} | specified | {specified}", flush=True)
    async with our_broker(client, redis_url, delay, issues) as ours:
        mine = await _assignments(ours.app, agents, issues)
    calls = ours.forge.calls / len(mine.took)
    print(f"{case} | ours      | {mine} | {calls:.1f} forge calls", flush=True)
    began = time.perf_counter()
    took = await bare_claims(bare, delay, agents, issues, FOR_SECONDS)
    limit = Rate(time.perf_counter() - began, took, [])
    print(
        f"{case} | bare loop | {limit} | ours: {mine.per_second / limit.per_second:.2f} of it, "
        f"{mine.per_second / specified.per_second:.1f} x specified",
        flush=True,
    )


async def _assignments(app: FastAPI, agents: int, issues: int) -> Rate:
    with listening("127.0.0.1", 0) as door:
        async with serving(uvicorn.Config(app, log_config=None, access_log=False), door) as address:
            numbers = (agents, issues, FOR_SECONDS)
            crowd = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "benchmarks.asking_crowd", address, *map(str, numbers)),
                stdout=asyncio.subprocess.PIPE,
            )
            told, _ = await crowd.communicate()
    return Rate(**json.loads(told))


async def _wait(client: Client, redis_url: str) -> None:
    """From the moment an issue is available to the answer of one who waits for it, and what the waiting costs."""
    print("\nwaiting | from available to answered, forge 20 ms: p50 ms |  p99 ms | CPU while all wait")
    for agents in (1, 16, 128):
        async with our_broker(client, redis_url, 0.02, 0) as ours:
            with listening("127.0.0.1", 0) as door:
                async with serving(uvicorn.Config(ours.app, log_config=None, access_log=False), door) as address:
                    took, share = await _woken(address, ours, agents)
        print(f"{agents:7} | {'':36} {median(took) * 1000:7.0f} | {_at(took, 99):7.0f} | {share:6.2%}", flush=True)


async def _woken(address: str, ours: Ours, agents: int) -> tuple[list[float], float]:
    """One issue after the other; whoever was answered is replaced by another who waits."""
    names, took = count(), list[float]()
    limits = httpx2.Limits(max_connections=agents)
    async with httpx2.AsyncClient(base_url=address, timeout=300, limits=limits) as http:

        def asks() -> asyncio.Future[httpx2.Response]:
            body = {"agent_id": f"waiting-{next(names)}", "timeout_seconds": 200}
            return asyncio.ensure_future(http.post("/api/v1/request-task", json=body))

        waiting = {asks() for _ in range(agents)}
        await _all_wait(ours, agents)
        share = await _cpu_share(FOR_SECONDS)
        for number in range(1, _WOKEN + 1):
            await _all_wait(ours, agents)
            began = time.perf_counter()
            await ours.put(number)
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            took.append(time.perf_counter() - began)
            assert {each.result().status_code for each in done} == {200}
            waiting |= {asks() for _ in done}
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    return took, share


async def _all_wait(ours: Ours, agents: int) -> None:
    while len(ours.room) < agents:  # noqa: ASYNC110 - the room has no event for it
        await asyncio.sleep(0.01)


async def _cpu_share(seconds: float) -> float:
    began = time.process_time()
    await asyncio.sleep(seconds)
    return (time.process_time() - began) / seconds
