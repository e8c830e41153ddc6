"""Hears what people write the moment it comes, whatever else is going on."""

from collections.abc import Callable

from temporalio import workflow
from temporalio.exceptions import ActivityError

from hikitsugi.domain.commands import Command, command_in
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.life import Life
from workflows import limits
from workflows.log_lines import tell
from workflows.reasons import reason_of
from workflows.steps import Steps

_AT_ONCE = 100
Obey = Callable[[Command, Comment], str | None]


class Intake:
    """Runs beside the story: acknowledges accepted comments, obeys commands, keeps the rest for the model."""

    def __init__(self, life: Life, steps: Steps, obey: Obey) -> None:
        self._life = life
        self._steps = steps
        self._obey = obey
        self.is_busy = False

    async def listen(self) -> None:
        """Hear everything, for as long as the workflow lives."""
        while True:
            await workflow.wait_condition(lambda: bool(self._life.pending) and not self._steps.is_opening)
            self.is_busy = True
            try:
                await self._hear()
            except ActivityError as error:
                self._life.note_error(reason_of(error))
                self.is_busy = False
                await workflow.sleep(limits.INTAKE_PAUSE)
            finally:
                self.is_busy = False

    async def _hear(self) -> None:
        """Ask who counts; a comment leaves the pending ones only when that is known."""
        if self._life.called is None:
            self._life.called = await self._steps.take_up()
        asked = tuple(self._life.pending[:_AT_ONCE])
        accepted = await self._steps.hear(asked)
        counting = [comment.id for comment in accepted]
        for comment in asked:
            if comment.id not in counting:
                tell(comment.id, "comment left aside")
        commands = [(comment, self._command(comment)) for comment in accepted]
        self._life.hear(asked, [comment for comment, command in commands if command is None])
        replies = [(comment, self._obeyed(command, comment)) for comment, command in commands if command]
        for comment, reply in replies:
            if reply:
                await self._reply(comment, reply)

    def _command(self, comment: Comment) -> Command | None:
        called = self._life.called
        return command_in(comment.body, called.bot if called else None)

    def _obeyed(self, command: Command, comment: Comment) -> str | None:
        """Obey at once, before anything is answered; a command is not given again by mending its spelling."""
        tell(comment.id, f"command {command.word}")
        return None if comment.edited else self._obey(command, comment)

    async def _reply(self, comment: Comment, reply: str) -> None:
        """Answer; a forge that refuses the answer does not undo the command."""
        try:
            await self._steps.reply(comment, reply)
        except ActivityError as error:
            self._life.note_error(reason_of(error))
