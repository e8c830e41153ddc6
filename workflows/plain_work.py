"""The whole job in one tool loop: think, use tools, until the model submits."""

from collections.abc import Awaitable, Callable

from hikitsugi.domain.session import Session
from workflows.steps import Steps

MAX_REMINDERS = 3


class PlainWork:
    """One pass over an issue without a plan."""

    def __init__(
        self, session: Session, steps: Steps, checkpoint: Callable[[], Awaitable[object]], max_iterations: int
    ) -> None:
        self._session = session
        self._steps = steps
        self._checkpoint = checkpoint
        self._max_iterations = max_iterations
        self.is_blocked = False
        """Whether the model submitted that it cannot go on."""

    async def run(self) -> bool:
        """Work until the model submits; False when a limit came first."""
        reminders = 0
        while self._session.talk.asked is not None or self._may_go_on(reminders):
            if self._session.talk.asked is None:
                await self._checkpoint()
                await self._steps.think()
            if not self._session.talk.asked:
                reminders += 1
                await self._steps.tell_to_go_on()
            elif await self._uses_tools_to_submit():
                return True
            else:
                reminders = 0
        return False

    async def _uses_tools_to_submit(self) -> bool:
        """Run the tools; what is submitted at a checkout that was lost meanwhile does not count."""
        moves = self._session.moves
        used = await self._steps.use_tools()
        if not used.submitted or self._session.moves > moves:
            return False
        self.is_blocked = used.blocked
        self._session.is_over = used.closes and not used.blocked and self._session.phase is None
        self._session.submitted = self._session.talk.turn(back=2)
        return True

    def _may_go_on(self, reminders: int) -> bool:
        return self._session.talk.iterations < self._max_iterations and reminders <= MAX_REMINDERS
