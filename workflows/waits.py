"""Waiting for people: for as long as the rules say, through pauses and fresh runs."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from hikitsugi.domain.life import Life
from workflows import limits
from workflows.display import Display
from workflows.gate import Gate
from workflows.reasons import reason_of
from workflows.steps import Steps
from workflows.timers import happens_before, is_long


class Waits:
    """A wait ends early when somebody writes, pauses or stops, or when it is time for a fresh run."""

    def __init__(
        self, life: Life, steps: Steps, display: Display, gate: Gate, renew: Callable[[], Awaitable[None]]
    ) -> None:
        self._life = life
        self._steps = steps
        self._display = display
        self._gate = gate
        self._renew = renew

    async def comes_before(self, until: datetime, happens: Callable[[], bool]) -> bool:
        """Whether something happens before the time is up; who wrote in time counts even where that is known late."""
        if await self.happens_before(until, happens):
            return True
        await workflow.wait_condition(lambda: not self._life.pending or self.is_interrupted())
        return happens()

    async def happens_before(self, until: datetime, happens: Callable[[], bool]) -> bool:
        """Whether it happens before the time is up; meanwhile late duplicates of our comments are removed."""
        while True:
            waiting_for = self._display.waiting_for
            if self._is_in_doubt():
                soon = min(until, workflow.now() + limits.RECONCILE_AFTER)
                if await happens_before(soon, happens, waiting_for):
                    return True
                await self._reconcile()
            elif not await happens_before(until, lambda: happens() or self._is_in_doubt(), waiting_for):
                return False
            elif happens():
                return True

    def has_news(self) -> bool:
        """Whether somebody wrote, or the wait is interrupted."""
        return bool(self._life.heard) or self.is_interrupted()

    def is_interrupted(self) -> bool:
        """Whether somebody paused or stopped, or it is time for a fresh run."""
        return self._gate.is_closed or self._life.stop is not None or is_long()

    async def renew_if_long(self) -> None:
        """Go on in a fresh run when the history of this one has grown long."""
        if is_long():
            await self._renew()

    def _is_in_doubt(self) -> bool:
        """Whether a comment of ours may be there twice."""
        return bool(self._life.doubtful)

    async def _reconcile(self) -> None:
        """Take back what we said twice; a forge that refuses that leaves the story as it is."""
        try:
            await self._steps.reconcile()
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            self._life.note_trouble(reason_of(error))
