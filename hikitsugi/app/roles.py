"""The roles of the product on Temporal: workers for stories and steps, and the watcher."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Worker

from activities.failures import FailureTranslation
from activities.heartbeat import Heartbeat
from activities.tracing import Tracing
from hikitsugi.app.policies import context_expiry
from hikitsugi.app.schedules import schedule_housekeeping
from hikitsugi.app.temporal import BUILD, WORKFLOWS
from hikitsugi.app.watching import watch_exactly
from hikitsugi.app.wiring import Parts, Steps
from hikitsugi.board.doorbell import Doorbell
from hikitsugi.domain.address import RepositoryAddress
from hikitsugi.domain.board import Board
from workflows.housekeeping_workflow import Housekeeping

_log = logging.getLogger(__name__)

_GRACE = timedelta(seconds=5)
_STICKY = timedelta(seconds=2)
_BEAT = timedelta(seconds=2)
_CACHED = 500
_AT_HOST_AT_ONCE = 200
_WATCHED_AT_ONCE = 1000


@asynccontextmanager
async def worker_role(parts: Parts, client: Client, board: Board) -> AsyncGenerator[None]:
    """Tell the stories and take their steps."""
    queue = parts.settings.temporal.task_queue
    if parts.sandbox.kind == "refused":
        _log.warning("no sandbox here, so the agent cannot run commands; install bubblewrap (sandbox.kind: auto)")
    await _have_house_kept(parts, client)
    sweeping = parts.sweeping(client)
    tidying = [parts.housekeeping(client).forget_expired, sweeping.dismiss_host]
    shared = [*parts.shared_steps(), *parts.assignment_steps(board), *tidying]
    at_host = [*parts.host_steps(), sweeping.sweep_workspaces]
    async with (
        parts.checkouts.keeping_spares(),
        _worker(parts, client, queue, shared, stories=True),
        _worker(parts, client, parts.workspace_queue, at_host, at_once=_AT_HOST_AT_ONCE),
    ):
        yield


async def _have_house_kept(parts: Parts, client: Client) -> None:
    """One schedule for what all hosts share, and one for each host."""
    rules = Housekeeping(
        expiry=context_expiry(parts.settings), keep=timedelta(hours=parts.settings.workspace.keep_hours)
    )
    for each in (rules, rules.model_copy(update={"host": parts.workspace_queue})):
        await schedule_housekeeping(client, parts.settings.temporal.task_queue, each)


@asynccontextmanager
async def watcher_role(parts: Parts, client: Client, doorbell: Doorbell, board: Board) -> AsyncGenerator[None]:
    """Watch the configured repositories."""
    steps = parts.watch_steps(client, doorbell, board)
    async with doorbell.listening(), _worker(parts, client, parts.watch_queue, steps, at_once=_WATCHED_AT_ONCE):
        homes = [
            RepositoryAddress(forge=forge.name, repository=repository.name)
            for forge in parts.settings.forges
            for repository in forge.repositories
        ]
        await watch_exactly(client, parts.settings.temporal.task_queue, homes)
        yield


def _worker(
    parts: Parts, client: Client, queue: str, steps: Steps, *, stories: bool = False, at_once: int | None = None
) -> Worker:
    return Worker(
        client,
        task_queue=queue,
        workflows=WORKFLOWS if stories else [],
        activities=steps,
        build_id=BUILD,
        interceptors=[Tracing(parts.tracer), FailureTranslation(parts.redact), Heartbeat()],
        max_cached_workflows=_CACHED if stories else 0,
        max_concurrent_activities=at_once,
        sticky_queue_schedule_to_start_timeout=_STICKY,
        max_heartbeat_throttle_interval=_BEAT,
        graceful_shutdown_timeout=_GRACE,
    )
