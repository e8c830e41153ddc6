"""How a session takes its leave: what is there is saved, its end is told, and a summary is kept for the next one."""

from contextlib import suppress

from temporalio import workflow
from temporalio.exceptions import ActivityError

from hikitsugi.domain.life import Life, Order
from hikitsugi.domain.session import Ending, Handover
from hikitsugi.domain.states import State
from hikitsugi.messages import comments
from workflows.comment_log import CommentLog
from workflows.display import Display
from workflows.living_comment import LivingComment
from workflows.steps import Steps


class Farewell:
    """The last effects of a session, each for itself: a forge that refuses one does not undo the ending."""

    def __init__(self, life: Life, steps: Steps, display: Display, living: LivingComment, log: CommentLog) -> None:
        self._life = life
        self._steps = steps
        self._display = display
        self._living = living
        self._log = log

    async def say(self, ending: Ending) -> None:
        """End the session, whatever became of it."""
        order, self._life.stop = self._life.stop, None
        if ending is not Ending.COMPLETED and not order:
            self._life.pass_over()
        if ending is not Ending.COMPLETED:
            self._life.hold = self._life.before_pause = None
        now, error = workflow.now(), self._life.error or ""
        left = Handover(session=self._life.sessions, ending=ending, ended_at=now, summary=error)
        if self._life.session:
            left = await self._hand_over(left, order)
        elif order:
            with suppress(ActivityError):
                await self._display.show(State(ending))
        elif self._life.handover and ending is Ending.STOPPED:
            return  # Somebody called on a closed issue, which stays as it was.
        # A forge that refused the label is told the end in the living comment all the same.
        self._life.state = State(ending)
        self._log.ending(ending)
        await self._living.catch_up()
        self._life.close_session(left)
        self._display.index()

    async def _hand_over(self, left: Handover, order: Order | None) -> Handover:
        """Save, summarise and tell; what is left to the next session."""
        ending, kept = left.ending, False
        self._life.rests_until = workflow.now() + self._life.policy.context_expiry
        with suppress(ActivityError):
            kept = ending is not Ending.COMPLETED and await self._steps.keep_work(workflow.now())
        with suppress(ActivityError):
            left = await self._steps.hand_over(ending, workflow.now())
        at = f"{workflow.now():%Y-%m-%d %H:%M:%S} UTC"
        with suppress(ActivityError):
            text = comments.farewell(self._life, ending, order, left.summary, at, kept=kept)
            await self._steps.post_comment(ending, text)
        self._display.rest(self._life.rests_until, State(ending))
        with suppress(ActivityError):
            await self._display.show(State(ending))
        return left
