"""One session: work, tell the result, and talk until the conversation is over."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.closing import closes
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.life import Life
from hikitsugi.domain.policy import Language
from hikitsugi.domain.session import Ending, Session
from hikitsugi.domain.states import State
from hikitsugi.messages import comments, operators
from workflows import limits
from workflows.display import Display
from workflows.gate import Gate
from workflows.log_lines import tell
from workflows.plain_work import PlainWork
from workflows.purse import Purse
from workflows.reasons import reason_of
from workflows.steps import Steps
from workflows.timers import happens_before


class SessionStory:
    """A stretch of work on an issue, from being called to its last answer."""

    def __init__(
        self,
        issue: IssueAddress,
        life: Life,
        steps: Steps,
        display: Display,
        gate: Gate,
        purse: Purse,
        renew: Callable[[], Awaitable[None]],
    ) -> None:
        self.issue = issue
        self.life = life
        self.steps = steps
        self.display = display
        self.gate = gate
        self.purse = purse
        self.renew = renew

    async def play(self) -> Ending:
        """Work, tell the result, and work again on every answer until the conversation is over."""
        if self.life.session is None and not await self.open_session():
            return Ending.STOPPED
        while True:
            if self.life.current.awaits_until is None:
                await self.answer()
            if await self.conversation_is_over():
                return Ending.COMPLETED

    async def answer(self) -> None:
        """One pass of work; one that fails on a comment is reported, and the conversation goes on without it."""
        try:
            await self.work()
        except ActivityError as error:
            if self.life.current.passes == 0 or is_cancelled_exception(error):
                raise
            await self.report_failure(reason_of(error))
        await self.display.show(State.AWAITING_RESPONSE)

    async def report_failure(self, reason: str) -> None:
        """Say that a comment could not be worked on, and leave the conversation it broke."""
        session = self.life.current
        self.life.note_error(reason)
        await self.steps.post_comment(f"error-{session.passes}", comments.skipped(self.language, reason))
        session.begin_anew(str(workflow.uuid4()))

    async def open_session(self) -> bool:
        """Read the issue and begin the conversation about it; a closed one is left alone."""
        called = await self.steps.take_up()
        self.display.remember(title=called.title, url=called.url)
        if not called.is_open:
            self.life.called, self.life.error = called, operators.is_closed(called.policy.language)
            return False
        session = Session(
            number=self.life.sessions + 1,
            key=workflow.uuid4().hex[:12],
            branch=f"hikitsugi/issue-{self.issue.number}",
            conversation=str(workflow.uuid4()),
        )
        self.life.open_session(called, session)
        await self.display.show(State.PROCESSING)
        return True

    async def work(self) -> None:
        """One pass: work in the checkout, publish it, tell the result."""
        self.life.note_work(workflow.now())
        if self.life.current.sequence == 0:
            self.life.current.sequence = await self.steps.open_conversation(workflow.now())
        if self.life.current.passes and not await self.take_in(self.life.take_heard()):
            return
        self.life.current.workspace_queue = await self.steps.prepare_workspace()
        plain = PlainWork(self.life.current, self.steps, self.checkpoint, self.life.policy.max_iterations)
        concluded = await plain.run()
        self.display.wait_for(operators.publishes(self.language))
        published = await self.steps.publish(workflow.now())
        if not published.is_empty:
            self.life.change_request = await self.steps.open_change_request()
        await self.steps.post_result(published, concluded=concluded)
        if self.life.current.comments_answered:
            tell(self.life.last_comment_id, "comment answered")
        self.life.note_work(workflow.now())

    async def checkpoint(self) -> None:
        """Between two rounds of work: pause, new comments, the budget, then a fresh run if the history is long."""
        await self.gate.passage()
        await self.hear_people()
        await self.purse.passage(self.hear_people)
        self.display.wait_for(operators.works(self.language, self.life.current.iterations + 1))
        await self.renew_if_long()

    async def hear_people(self) -> None:
        """Give the model what people wrote meanwhile, where that is wanted."""
        if self.life.policy.hears_at(self.life.current.iterations):
            await self.take_in(self.life.take_heard())

    async def conversation_is_over(self) -> bool:
        """Wait for an answer; True when it closes the conversation, or when none comes in time."""
        policy = self.life.policy
        if not policy.converses or self.life.current.comments_answered >= policy.max_comment_count:
            return True
        session = self.life.current
        session.awaits_until = session.awaits_until or workflow.now() + policy.reply_timeout
        while True:
            self.display.wait_for(operators.awaits_reply(self.language, session.awaits_until))
            if not await self.happens_before(session.awaits_until, self.has_news):
                return True
            await self.renew_if_long()
            if self.gate.is_closed:
                await self.gate.passage()
                session.awaits_until = workflow.now() + policy.reply_timeout
            await self.gate.passage()
            if self.life.heard:
                session.awaits_until = None
                return await self.is_answered()

    async def is_answered(self) -> bool:
        """Whether what was heard closes the conversation; otherwise the next pass begins."""
        if all(map(self.is_closing, self.life.heard)):
            last = self.life.take_heard()[-1]
            tell(last.id, "closing comment")
            return True
        await self.display.show(State.PROCESSING)
        self.life.current.next_pass()
        return False

    async def take_in(self, heard: tuple[Comment, ...]) -> bool:
        """Give comments to the model; whether any was still there."""
        self.life.checks += 1
        if not heard:
            return False
        told = await self.steps.tell_comments(heard)
        self.life.current.comments_answered += len(told)
        self.life.count_comments(told, workflow.now())
        self.life.current.answer_at = told[-1].place if told else None
        for comment in told:
            tell(comment.id, "processing comment")
        return bool(told)

    async def renew_if_long(self) -> None:
        """Go on in a fresh run when the history of this one has grown long."""
        if self.is_long():
            await self.renew()

    def is_long(self) -> bool:
        """Whether waking this run would begin to take long."""
        return workflow.info().get_current_history_length() > limits.RENEW_AFTER_EVENTS

    async def happens_before(self, until: datetime, happens: Callable[[], bool]) -> bool:
        """Whether it happens before the time is up; meanwhile late duplicates of our comments are removed."""
        while True:
            if self.is_in_doubt():
                soon = min(until, workflow.now() + limits.RECONCILE_AFTER)
                if await happens_before(soon, happens, self.display.waiting_for):
                    return True
                await self.reconcile()
            elif not await happens_before(until, lambda: happens() or self.is_in_doubt(), self.display.waiting_for):
                return False
            elif happens():
                return True

    def is_in_doubt(self) -> bool:
        """Whether a comment of ours may be there twice."""
        return bool(self.life.doubtful)

    async def reconcile(self) -> None:
        """Take back what we said twice; a forge that refuses that leaves the story as it is."""
        try:
            await self.steps.reconcile()
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            self.life.note_error(reason_of(error))

    def has_news(self) -> bool:
        """Whether somebody wrote, paused or stopped, or it is time for a fresh run."""
        return bool(self.life.heard) or self.gate.is_closed or self.life.stop is not None or self.is_long()

    def is_closing(self, comment: Comment) -> bool:
        """Whether a comment says nothing but that all is well."""
        return not comment.is_cut and closes(comment.body, self.life.policy.completion_keywords)

    @property
    def language(self) -> Language:
        """The language people on this issue read."""
        return self.life.policy.language
