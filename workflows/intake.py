"""Hears what people write the moment it comes, whatever else is going on."""

from collections.abc import Callable

from temporalio import workflow
from temporalio.exceptions import ActivityError

from hikitsugi.domain.closing import closes
from hikitsugi.domain.commands import Command, Word, command_in
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.life import Life
from hikitsugi.domain.waiting import Waiting
from hikitsugi.messages import commands as command_texts
from workflows import limits
from workflows.comment_log import CommentLog
from workflows.display import Display
from workflows.reasons import reason_of
from workflows.steps import Steps

EDITED_COMMANDS = "edited-commands"
_TELLS_HOLD = "tells-pauses-at-rest"
"""Runs from before comments were answered that a pause holds back go on without."""

Obey = Callable[[Command, Comment], str | None]


class Intake:
    """Runs beside the story: acknowledges accepted comments, obeys commands, keeps the rest for the model."""

    def __init__(self, life: Life, steps: Steps, display: Display, log: CommentLog, obey: Obey) -> None:
        self._life = life
        self._steps = steps
        self._display = display
        self._log = log
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
                self._note(reason_of(error))
                self.is_busy = False
                await workflow.sleep(limits.INTAKE_PAUSE)
            finally:
                self.is_busy = False

    async def _hear(self) -> None:
        """Ask who counts; a comment leaves the pending ones only when that is known."""
        if self._life.session is None:
            await self._ask_for_the_rules()
        asked = self._life.next_pending
        counting = {waiting.version: waiting for waiting in await self._steps.hear(asked)}
        self._note(None)
        accepted = [(comment, self._command(comment)) for comment in asked if comment.version in counting]
        self._life.hear(asked, [])
        self._log.left_aside(comment for comment in asked if comment.version not in counting)
        replies = [(comment, self._taken(comment, command, counting[comment.version])) for comment, command in accepted]
        for comment, reply in replies:
            if reply:
                await self._reply(comment, reply)
        said = [comment for comment, command in accepted if not command]
        if said and self._is_held_back():
            self._life.tells_hold = True
            await self._reply(said[-1], command_texts.is_paused(self._life.policy.language, self._life.mention))

    def _taken(self, comment: Comment, command: Command | None, waiting: Waiting) -> str | None:
        """Obey a command, or keep the comment for the model; the answer, if it needs one."""
        if command:
            return self._obeyed(command, comment)
        self._life.hear((), [self._weighed(comment, waiting)])
        return None

    def _is_held_back(self) -> bool:
        """Whether a pause between two sessions holds back what was said, and nobody was told so."""
        is_untold = self._life.session is None and self._life.hold is not None and not self._life.tells_hold
        return is_untold and self._life.somebody_writes and workflow.patched(_TELLS_HOLD)

    async def _ask_for_the_rules(self) -> None:
        """At rest, the rules in force now decide who counts; a session keeps those it began with."""
        called = await self._steps.take_up()
        if self._life.session is None:
            self._life.follow(called)

    def _weighed(self, comment: Comment, waiting: Waiting) -> Waiting:
        """Say of a comment whether it closes the conversation; of a typed one, while its text is at hand."""
        closing = comment.closing
        if closing is None:
            closing = not comment.is_cut and closes(comment.body, self._life.policy.completion_keywords)
        return waiting.model_copy(update={"closing": closing})

    def _command(self, comment: Comment) -> Command | None:
        called = self._life.called
        return command_in(comment.body, called.bot if called else None)

    def _obeyed(self, command: Command, comment: Comment) -> str | None:
        """Obey at once, before anything is answered; an edit that asks for the same gives no command again."""
        self._log.command(command.word, comment)
        if command.word and not self._is_new(command.word, comment):
            return None
        return self._obey(command, comment)

    def _is_new(self, word: Word, comment: Comment) -> bool:
        """Whether it was not obeyed before; another amount or other words for the model are another order."""
        order = f"{word} {comment.wording or comment.at}" if word in {Word.BUDGET, Word.REVISE} else word
        edited = comment.edited and workflow.patched(EDITED_COMMANDS)
        return self._life.is_new_command(comment.id, order, edited=edited)

    async def _reply(self, comment: Comment, reply: str) -> None:
        """Answer; a forge that refuses the answer does not undo the command."""
        try:
            await self._steps.reply(comment, reply)
        except ActivityError as error:
            self._note(reason_of(error))

    def _note(self, trouble: str | None) -> None:
        """Tell that people cannot be heard or answered, or that they can be again."""
        if trouble:
            self._life.note_trouble(trouble)
        else:
            self._life.trouble = None
        self._display.refresh()
