"""What pause closes and resume opens."""

import asyncio
from collections.abc import Callable

from temporalio import workflow

from hikitsugi.domain.life import BUDGET, Life, Order
from hikitsugi.domain.states import State
from hikitsugi.messages import operators
from workflows.display import Display
from workflows.patience import Passage


class Gate:
    """Stands before every step of a session; a closed gate holds it for as long as it takes."""

    def __init__(self, life: Life, display: Display, is_long: Callable[[], bool], renew: Passage) -> None:
        self._life = life
        self._display = display
        self._is_long = is_long
        self._renew = renew
        self._stands_open = False

    def stand_open(self) -> None:
        """The session is over: nothing holds its last steps any more."""
        self._stands_open = True

    @property
    def is_closed(self) -> bool:
        """Whether somebody paused the issue, or the end of a pause is not shown yet."""
        is_held = self._life.hold is not None or self._life.before_pause is not None
        return is_held and not self._stands_open

    async def passage(self, *, at_checkpoint: bool = False) -> None:
        """Go through, after waiting where it is closed; a session that was stopped goes no further.

        Planned work can go on in a fresh run from a checkpoint only.
        """
        if self._stands_open:
            return
        may_renew = at_checkpoint or not self._life.is_planned
        while self.is_closed:
            self._life.before_pause = self._life.before_pause or self._life.state
            if self._life.hold:
                await self._stay_closed(may_renew=may_renew)
            self._leave_if_stopped()
            await self._display.show(self._life.before_pause)
            self._life.before_pause = None
        self._leave_if_stopped()

    async def _stay_closed(self, *, may_renew: bool) -> None:
        """Wait until it is opened; a run that grows long meanwhile is renewed, and the next one waits here again."""
        waited_for = self._display.comes_next
        while (order := self._life.hold) and not self._life.stop:
            self._display.wait_for_people(self._opened_by(order))
            if self._life.state is not State.PAUSED:
                await self._display.show(State.PAUSED)
            await workflow.wait_condition(
                lambda order=order: not self._is_held_by(order) or (may_renew and self._is_long())
            )
            if may_renew and self._is_long():
                await self._renew()
        self._display.wait_for(waited_for)

    def _opened_by(self, order: Order) -> str:
        """What opens the gate again."""
        language, mention = self._life.policy.language, self._life.mention
        if order.by == BUDGET:
            return operators.awaits_budget(language, mention)
        return operators.awaits_resume(language, order, mention)

    def _is_held_by(self, order: Order) -> bool:
        return self._life.hold is order and self._life.stop is None

    def _leave_if_stopped(self) -> None:
        if self._life.stop:
            raise asyncio.CancelledError
