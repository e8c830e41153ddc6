"""One comment of a session that is edited in place: phase, plan, model calls, and what comes next."""

import asyncio
from datetime import datetime

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from activities.progress_activities import ProgressActivities, ShowProgress
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.life import BUDGET, Life
from hikitsugi.domain.session import Ending, Session
from hikitsugi.domain.states import State
from hikitsugi.messages import operators
from workflows import limits
from workflows.display import Display
from workflows.patience import asked_to_wait, execute
from workflows.reasons import reason_of
from workflows.timers import time_left

_TELLS_PAUSES = "tells-pauses-at-once"
"""Runs from before pauses were told as soon as they are asked for, and by plain work too, go on without."""
_ENDINGS = frozenset(State(ending) for ending in Ending)


class LivingComment:
    """Runs beside the story; edits are coalesced, the last one is never lost, and none of them can stop the work."""

    def __init__(self, issue: IssueAddress, life: Life, display: Display) -> None:
        self._issue = issue
        self._life = life
        self._display = display
        self._writing = asyncio.Lock()

    @property
    def is_busy(self) -> bool:
        """Whether an edit is under way."""
        return self._writing.locked()

    def changed(self) -> None:
        """Something is to be told, soon."""
        if self._life.session:
            self._life.session.living.is_stale = True

    def pause_is_asked(self) -> None:
        """Somebody wants a pause, which begins after the step under way; a wait it interrupts at once, and says so."""
        if self._life.session and self._life.state is State.PROCESSING and workflow.patched(_TELLS_PAUSES):
            self.changed()

    async def keep(self) -> None:
        """Keep it true for as long as the workflow lives."""
        while True:
            await workflow.wait_condition(self._has_news)
            await self.catch_up()

    async def catch_up(self) -> None:
        """Tell the newest as soon as it is time, if anything is new."""
        waited_for: datetime | None = None
        while self._has_news() and (due := self._life.current.living.due_at) and due != waited_for:
            await workflow.sleep(time_left(due), summary="progress")
            waited_for = due
        async with self._writing:
            if self._has_news():
                await self._tell(self._life.current)

    def _has_news(self) -> bool:
        """Planned work has a plan to tell of from the first; plain work has nothing to tell until it is held."""
        session = self._life.session
        if session is None or not session.living.is_stale:
            return False
        is_begun = self._life.policy.planning.enabled or session.living.comment is not None
        return is_begun or self._display.is_limited or self._is_paused()

    def _is_paused(self) -> bool:
        """Whether somebody holds it, or will after this step; who is to grant a budget was told so in a comment."""
        hold, is_at_work = self._life.hold, self._life.state in {State.PROCESSING, State.PAUSED}
        return hold is not None and hold.by != BUDGET and is_at_work and workflow.patched(_TELLS_PAUSES)

    @property
    def _next(self) -> str:
        """What comes next; plain work is not told turn by turn, and after a session's end the next one has its own."""
        if self._life.state in _ENDINGS:
            return ""
        is_at_work = self._life.state is State.PROCESSING and not self._display.is_limited
        if is_at_work and not self._life.policy.planning.enabled:
            return self._display.with_pause(operators.goes_on(self._life.policy.language))
        return self._display.waiting_for

    async def _tell(self, session: Session) -> None:
        living, pause = session.living, limits.BETWEEN_EDITS
        living.is_stale = False
        try:
            living.comment = await self._show(session)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            living.is_stale, pause = True, asked_to_wait(error) or limits.INTAKE_PAUSE
            workflow.logger.warning("the progress could not be told: %s", reason_of(error))
        living.due_at = workflow.now() + pause

    async def _show(self, session: Session) -> str:
        spending = self._life.spending
        request = ShowProgress(
            issue=self._issue,
            key=session.key_of("progress"),
            comment=session.living.comment,
            language=self._life.policy.language,
            tells_calls=self._life.policy.planning.tells_calls,
            session=session.number,
            state=self._life.state,
            phase=session.phase,
            plan=session.plan.outline(),
            waiting_for=self._next,
            llm_calls=spending.llm_calls,
            cost_usd=spending.cost_usd,
            tokens=spending.tokens,
        )
        return await execute(ProgressActivities.show_progress, request, limits.PROGRESS, "progress", None)
