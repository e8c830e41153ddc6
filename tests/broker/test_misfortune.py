"""What is away, lost or ended, and what agents see of it."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

import asyncio
from pathlib import Path

import httpx2
import pytest
from redis.asyncio import Redis
from temporalio.testing import WorkflowEnvironment

from hikitsugi.app.running import Role
from tests.broker.cable import cable
from tests.broker.counter import Counter, counter, made_open
from tests.workflows.house import until

LEASE = "Z2l0aHViOm8vci9pc3N1ZXMvMQ.1.0123456789abcdef"


async def test_an_emptied_redis_is_filled_again_and_nobody_gets_a_second_copy(broker: Counter):
    first, second = broker.opens(), broker.opens()
    task = await broker.gets("keeper")
    async with Redis.from_url(broker.redis_url) as redis:
        await redis.flushall()
    following = await broker.gets("newcomer", timeout=60)
    assert (task["issue_id"], following["issue_id"]) == (first, second)
    assert (await broker.gets("keeper"))["lease_id"] == task["lease_id"]
    held = (await broker.http.get("/api/v1/tasks")).json()
    assert {each["agent_id"] for each in held} == {"keeper", "newcomer"}


async def test_an_agent_that_hangs_up_while_it_waits_is_given_nothing(broker: Counter):
    with pytest.raises(httpx2.TimeoutException):
        await broker.http.post("/api/v1/request-task", json={"agent_id": "impatient"}, timeout=0.5)

    async def nobody_waits() -> bool:
        return "hikitsugi_broker_waiting_agents 0.0" in (await broker.http.get("/metrics")).text

    await until(nobody_waits)
    number = broker.opens()
    assert (await broker.gets("patient"))["issue_id"] == number


@pytest.mark.lesson("B1", "B12")
async def test_the_end_of_the_broker_answers_those_who_wait(time: WorkflowEnvironment, tmp_path: Path):
    async with counter(time, tmp_path, serves=False) as broker, httpx2.AsyncClient(timeout=120) as agents:
        async with made_open(broker):
            address = f"{broker.http.base_url}/api/v1/request-task"
            asked = [agents.post(address, json={"agent_id": f"w{n}"}) for n in range(5)]
            waiting = [asyncio.ensure_future(each) for each in asked]

            async def all_wait() -> bool:
                return "hikitsugi_broker_waiting_agents 5.0" in (await broker.http.get("/metrics")).text

            await until(all_wait)
        assert {(await each).status_code for each in waiting} == {204}


@pytest.mark.req("OP-07")
async def test_metrics_tell_what_happened(broker: Counter):
    broker.opens()
    task = await broker.gets("counted")
    await broker.reports("counted", task, "release")
    told = (await broker.http.get("/metrics")).text
    assert 'hikitsugi_broker_tasks_total{type="development"}' in told
    assert 'hikitsugi_broker_reports_total{report="released"}' in told
    assert 'route="/api/v1/request-task"' in told
    assert task["lease_id"] not in told


async def test_while_temporal_is_away_agents_are_asked_to_come_again(time: WorkflowEnvironment, tmp_path: Path):
    address = time.client.service_client.config.target_host
    async with cable(address) as line, counter(time, tmp_path, serves=False) as broker:
        broker.keys["temporal"] |= {"address": f"127.0.0.1:{line.port}"}
        async with made_open(broker, {Role.BROKER}):
            assert (await broker.asks("a1", timeout=0)).status_code == 204
            await line.cut()
            report = f"/api/v1/tasks/{LEASE}/complete"
            answers = [
                await broker.asks("a1", timeout=0),
                await broker.http.post(report, json={"agent_id": "a1"}, timeout=60),
                *[await broker.http.get(path, timeout=60) for path in ("/api/v1/tasks", "/readyz", "/")],
            ]
            assert [answer.status_code for answer in answers] == [503] * len(answers)
            assert all(int(answer.headers["retry-after"]) > 0 for answer in answers)
            assert (await broker.http.get("/healthz")).status_code == 200
            await line.mend()

            async def is_back() -> bool:
                return (await broker.http.post(report, json={"agent_id": "a1"}, timeout=60)).status_code == 409

            await until(is_back)


async def test_without_redis_agents_are_asked_to_come_again(time: WorkflowEnvironment, tmp_path: Path):
    async with counter(time, tmp_path, serves=False) as broker:
        broker.keys["redis"] = {"url": "redis://127.0.0.1:1/0"}
        async with made_open(broker):
            answers = [
                await broker.asks("a1"),
                await broker.http.get("/api/v1/tasks"),
                await broker.http.get("/readyz"),
            ]
            assert {answer.status_code for answer in answers} == {503}
            assert all(int(answer.headers["retry-after"]) > 0 for answer in answers)
            assert (await broker.http.get("/healthz")).status_code == 200
