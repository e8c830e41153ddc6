"""Takes a step; a limit of the forge or the model becomes a durable wait that everybody can see."""

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
_PAUSES_AT_LIMITS = "pauses-at-limits"
"""Runs from before a pause could interrupt the wait for a limit wait to its end."""


class Patience:
    """Tries a step until it is through; Temporal outlives passing faults, we outlive limits."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self.show: Callable[[], None] = lambda: None
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
        away = 0
        while True:
            if passage:
                await passage()
            try:
                return await execute(step, request, limit, summary, queue)
            except ActivityError as error:
                away += is_away(error)
                wait = min(limits.AWAY_PAUSE * away, limits.LONGEST_AWAY) if is_away(error) else asked_to_wait(error)
                if wait is None:
                    raise
            await self._wait(limit.whose, workflow.now() + wait, passage)

    async def _wait(self, whose: operators.Limiter, until: datetime, passage: Passage | None) -> None:
        """Stay away until then; a pause meanwhile is lived through at once, and what is left of the wait after it."""
        while await self._is_held_before(until, whose, passage) and passage:
            await passage()

    async def _is_held_before(self, until: datetime, whose: operators.Limiter, passage: Passage | None) -> bool:
        limit = operators.awaits_limit(self._life.policy.language, whose, until)
        self._limits.append(limit)
        self.show()
        try:
            return await happens_before(until, lambda: passage is not None and self._is_held(), limit)
        finally:
            self._limits.remove(limit)
            self.show()

    def _is_held(self) -> bool:
        return self._life.hold is not None and workflow.patched(_PAUSES_AT_LIMITS)


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
