"""What pause closes and resume opens."""

import asyncio

from temporalio import workflow

from hikitsugi.domain.life import Life
from hikitsugi.domain.states import State
from hikitsugi.messages import operators
from workflows.display import Display


class Gate:
    """Stands before every step of a session; a closed gate holds it for as long as it takes."""

    def __init__(self, life: Life, display: Display) -> None:
        self._life = life
        self._display = display

    @property
    def is_closed(self) -> bool:
        """Whether somebody paused the issue."""
        return self._life.hold is not None

    async def passage(self) -> None:
        """Go through, after waiting where it is closed; a session that was stopped goes no further."""
        while order := self._life.hold:
            state, waited_for = self._life.state, self._display.waiting_for
            self._display.wait_for(operators.awaits_resume(self._life.policy.language, order.by, order.reason))
            await self._display.show(State.PAUSED)
            await workflow.wait_condition(lambda: not self.is_closed or self._life.stop is not None)
            self._leave_if_stopped()
            self._display.wait_for(waited_for)
            await self._display.show(state)
        self._leave_if_stopped()

    def _leave_if_stopped(self) -> None:
        if self._life.stop:
            raise asyncio.CancelledError
