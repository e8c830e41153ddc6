"""Looks after the labels: what people ask for by moving one is obeyed, the rest is put right."""

from collections.abc import Callable

from temporalio import workflow
from temporalio.exceptions import ActivityError

from hikitsugi.domain.labels import Wish, wish_in
from hikitsugi.domain.life import IssueFacts, Life
from workflows import limits
from workflows.display import Display
from workflows.reasons import reason_of
from workflows.steps import Steps


class Caretaker:
    """Runs beside the story; before acting it reads the labels anew, because news of them may be old."""

    def __init__(self, life: Life, steps: Steps, display: Display, obey: Callable[[Wish], bool]) -> None:
        self._life = life
        self._steps = steps
        self._display = display
        self._obey = obey
        self.is_busy = False

    def look_at(self, facts: IssueFacts) -> None:
        """Take alarm when the labels are not what we show."""
        if facts.labels is not None and not self._life.is_new:
            wish = wish_in(facts.labels, self._life.state, self._life.policy.labels)
            self._life.is_alarmed = self._life.is_alarmed or wish is not Wish.NOTHING

    async def tend(self) -> None:
        """Look after the labels for as long as the workflow lives."""
        while True:
            await workflow.wait_condition(lambda: self._life.is_alarmed and not self._display.is_changing)
            self._life.is_alarmed, self.is_busy = False, True
            try:
                await self._put_in_order()
                self._life.trouble = None
                self._display.refresh()
            except ActivityError as error:
                self._life.note_trouble(reason_of(error))
                self._display.refresh()
                self._life.is_alarmed, self.is_busy = True, False
                await workflow.sleep(limits.INTAKE_PAUSE)
            finally:
                self.is_busy = False

    async def _put_in_order(self) -> None:
        now = await self._steps.take_up()
        if self._display.is_changing or not now.is_open:
            return
        wish = wish_in(now.labels, self._life.state, self._life.policy.labels)
        if wish is Wish.NOTHING:
            return
        if wish is Wish.PUT_RIGHT or not self._obey(wish):
            await self._display.show(self._life.state)
