"""Takes a step; a limit of the forge or the model becomes a durable wait that everybody can see."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, TimeoutError, TimeoutType  # noqa: A004

from activities.failures import AWAY, LIMITED, UNPREPARED
from hikitsugi.domain.life import Life
from hikitsugi.messages import operators
from workflows import limits
from workflows.timers import happens_before

A = TypeVar("A")
P = TypeVar("P")
R = TypeVar("R")
Step = Callable[[A, P], Awaitable[R]]
Passage = Callable[[], Awaitable[None]]


class Patience:
    """Tries a step until it is through; Temporal outlives passing faults, we outlive limits."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self.show: Callable[[], None] = lambda: None
        self.is_held: Callable[[], bool] = lambda: False
        """Whether somebody wants to hold the work."""
        self._limits: list[str] = []

    @property
    def limit(self) -> str | None:
        """The limit that came last of those that are waited for."""
        return self._limits[-1] if self._limits else None

    async def take(
        self,
        step: Step[A, P, R],
        request: P,
        limit: limits.Limits,
        summary: str,
        *,
        queue: str | None = None,
        passage: Passage | None = None,
    ) -> R:
        """What the step gives, after whatever it has to wait for."""
        return await self.outlast(lambda: execute(step, request, limit, summary, queue), limit.whose, passage)

    async def outlast(
        self, attempt: Callable[[], Awaitable[R]], whose: operators.Limiter, passage: Passage | None = None
    ) -> R:
        """What an attempt gives once nobody asks to stay away any more."""
        away = 0
        while True:
            if passage:
                await passage()
            try:
                return await attempt()
            except ActivityError as error:
                away += is_away(error)
                wait = min(limits.AWAY_PAUSE * away, limits.LONGEST_AWAY) if is_away(error) else asked_to_wait(error)
                if wait is None:
                    raise
            await self._wait(whose, workflow.now() + wait, passage)

    async def _wait(self, whose: operators.Limiter, until: datetime, passage: Passage | None) -> None:
        """Wait for the end of a limit; a pause meanwhile takes effect at once, and the rest is waited for after it."""
        # A run that waited before this was so waits to the end.
        if passage is None or not workflow.patched("a pause interrupts the wait for a limit"):
            await self._happens_within_limit(whose, until, lambda: False)
            return
        while await self._happens_within_limit(whose, until, self.is_held):
            await passage()

    async def _happens_within_limit(
        self, whose: operators.Limiter, until: datetime, happens: Callable[[], bool]
    ) -> bool:
        limit = operators.awaits_limit(self._life.policy.language, whose, until)
        self._limits.append(limit)
        self.show()
        try:
            has_happened = await happens_before(until, happens, limit)
        except (Exception, asyncio.CancelledError):
            self._lift(limit)
            raise
        self._lift(limit)
        return has_happened

    def _lift(self, limit: str) -> None:
        """A limit is over; `finally` would say so in another workflow's stead when this one leaves the cache."""
        self._limits.remove(limit)
        self.show()


async def execute(step: Step[A, P, R], request: P, limit: limits.Limits, summary: str, queue: str | None) -> R:
    """Take a step once, with its limits."""
    return await workflow.execute_activity_method(
        step,
        request,
        task_queue=queue,
        schedule_to_start_timeout=limits.HOST_SILENT if queue else None,
        start_to_close_timeout=limit.start_to_close,
        schedule_to_close_timeout=limit.with_retries,
        heartbeat_timeout=limit.heartbeat,
        retry_policy=limit.retry,
        cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        summary=summary,
    )


def is_without_checkout(error: ActivityError) -> bool:
    """Whether the host of a checkout is gone, or the checkout from its host."""
    cause = error.cause
    if isinstance(cause, TimeoutError):
        return cause.type is TimeoutType.SCHEDULE_TO_START
    return isinstance(cause, ApplicationError) and cause.type == UNPREPARED


def is_away(error: ActivityError) -> bool:
    """Whether the other side has not answered for long."""
    return isinstance(error.cause, ApplicationError) and error.cause.type == AWAY


def asked_to_wait(error: ActivityError) -> timedelta | None:
    """How long the other side asked us to stay away, if it did."""
    cause = error.cause
    if isinstance(cause, ApplicationError) and cause.type == LIMITED:
        return timedelta(seconds=float(cause.details[0]))
    return None
