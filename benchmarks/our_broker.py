"""Our broker with its worker, on a board with some issues and before a forge that takes its time."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import NamedTuple
from uuid import uuid4

from fastapi import FastAPI
from temporalio.client import Client
from temporalio.worker import Worker

from activities.assignment_activities import AssignmentActivities
from activities.failures import FailureTranslation
from activities.heartbeat import Heartbeat
from benchmarks.slow_forge import SlowForge
from hikitsugi.app.broker_role import open_redis
from hikitsugi.app.leases import TemporalOffice
from hikitsugi.app.temporal import WORKFLOWS
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
from hikitsugi.domain.assignment import Terms
from hikitsugi.domain.issue import Base
from hikitsugi.domain.policy import LabelNames
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.selection import Card, Rules

TEXT = "## 成果物\n\n- a file\n\n" + "What should be done, and why. " * 30
_BASE = Base(branch="main", commit="a" * 40)


class Ours(NamedTuple):
    """What is measured, and ways to look at it."""

    app: FastAPI
    room: WaitingRoom
    forge: SlowForge
    board: RedisBoard
    home: RepositoryAddress

    async def put(self, number: int) -> None:
        """One more issue becomes available."""
        await self.board.put(_card(self.home, number))


class _NoBell:
    async def ring(self, home: RepositoryAddress) -> None:
        pass


@asynccontextmanager
async def our_broker(client: Client, redis_url: str, forge_seconds: float, issues: int) -> AsyncGenerator[Ours]:
    """The product's parts but for the watcher."""
    home, queue = RepositoryAddress(forge="github", repository=f"octo/{uuid4().hex[:8]}"), f"bench-{uuid4().hex[:8]}"
    forge, room = SlowForge(forge_seconds), WaitingRoom()
    async with open_redis(redis_url) as redis:
        await redis.flushall()  # pyright: ignore[reportUnknownMemberType] - left open there
        board = RedisBoard(redis, ["CODER"])
        await board.fill(home, _BASE, [_card(home, n) for n in range(1, issues + 1)])
        briefing = Briefing(board, {"github": forge}, {"github": ["author"]}, Rules(), "en", {})
        metrics = Metrics(lambda: len(room))
        desk = Desk(TemporalOffice(client, queue), board, room, briefing, _NoBell(), Terms(), metrics)
        app = application({})
        pace = Pace(time.monotonic)
        app.include_router(task_routes(desk, Agents({}, LabelNames()), pace, [home], ["CODER"]))
        leases = AssignmentActivities({"github": forge}, board, Redactor())
        async with (
            wake_calls(redis, room.ring, room.ring_all),
            Worker(
                client,
                task_queue=queue,
                workflows=WORKFLOWS,
                activities=[leases.prepare_assignment],
                interceptors=[FailureTranslation(Redactor()), Heartbeat()],
                max_cached_workflows=500,
            ),
        ):
            yield Ours(app, room, forge, board, home)


def _card(home: RepositoryAddress, number: int) -> Card:
    return Card(
        address=IssueAddress(forge=home.forge, repository=home.repository, number=number),
        title="Do it",
        body=TEXT,
        url="http://forge.example/1",
        author="alice",
        labels=(),
        role="CODER",
        branch=f"feature/issue-{number}",
        rank=number,
    )
