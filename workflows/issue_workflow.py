"""The life of one issue, pull request or merge request."""

import asyncio
from contextlib import suppress
from datetime import datetime
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, is_cancelled_exception

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.closing import closes
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.life import Life, Order
from hikitsugi.domain.session import Ending, Handover, Session
from hikitsugi.domain.states import State
from hikitsugi.domain.status import Status
from hikitsugi.messages import comments, operators
from workflows import limits
from workflows.display import Display
from workflows.gate import Gate
from workflows.patience import Patience
from workflows.plain_work import PlainWork
from workflows.reasons import reason_of
from workflows.signals import comments_in, facts_in, order_in
from workflows.steps import Steps
from workflows.timers import happens_before


@workflow.defn
class IssueWorkflow:
    """Works on an issue, talks with its people, rests, and goes on when it is called again."""

    @workflow.init
    def __init__(self, carried: Life | None = None) -> None:
        self.life = carried or Life()
        self.is_called = carried is None or carried.session is not None
        self.issue = IssueAddress.parse(workflow.info().workflow_id)
        patience = Patience(self.life)
        self.display = Display(self.issue, self.life, patience)
        self.gate = Gate(self.life, self.display)
        self.steps = Steps(self.issue, self.life, patience, self.gate.passage)

    @workflow.run
    async def run(self, carried: Life | None = None) -> None:
        """Rest until somebody calls, work until it is over, hand over, and rest again."""
        if await self.somebody_calls():
            ending = await self.session_to_its_end()
            await self.hand_over(ending)
            workflow.continue_as_new(self.life)

    async def somebody_calls(self) -> bool:
        """Rest; False when the context has expired before anybody wrote."""
        if self.life.is_new and self.life.pending and not self.life.is_labelled_for_work:
            self.is_called = False
        until = workflow.now() + self.life.policy.context_expiry
        while not self.is_called:
            self.display.wait_for(operators.rests(self.language, until))
            if not await self.news_before(until, or_call=True):
                return False
            await self.gate.passage()
            self.is_called = self.is_called or await self.comments_call()
        return True

    async def comments_call(self) -> bool:
        """Whether an accepted person wants something; what was heard stays pending for the session."""
        if self.life.called is None:
            self.life.called = await self.steps.take_up()
        heard = await self.heard()
        self.life.pending = [*heard, *self.life.pending]
        if all(map(self.is_closing, heard)):
            self.life.pending = self.life.pending[len(heard) :]
            return False
        return True

    async def session_to_its_end(self) -> Ending:
        """Live through a session, whatever ends it."""
        story = asyncio.create_task(self.session())
        await workflow.wait_condition(lambda: story.done() or self.life.stop is not None)
        if not story.done():
            story.cancel()
        try:
            return await story
        except (asyncio.CancelledError, ActivityError) as error:
            if self.life.stop and is_cancelled_exception(error):
                return Ending.STOPPED
            if not isinstance(error, ActivityError):
                raise
            self.life.error = reason_of(error)
            return Ending.FAILED

    async def session(self) -> Ending:
        """Work, tell the result, and work again on every answer until the conversation is over."""
        if self.life.session is None and not await self.open_session():
            return Ending.STOPPED
        while True:
            await self.work()
            if await self.conversation_is_over():
                return Ending.COMPLETED

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
        session.sequence = await self.steps.open_conversation(workflow.now())
        return True

    async def work(self) -> None:
        """One pass: work in the checkout, publish it, tell the result."""
        self.life.note_work(workflow.now())
        self.life.current.workspace_queue = await self.steps.prepare_workspace()
        plain = PlainWork(self.life.current, self.steps, self.checkpoint, self.life.policy.max_iterations)
        concluded = await plain.run()
        self.display.wait_for(operators.publishes(self.language))
        published = await self.steps.publish(workflow.now())
        if not published.is_empty:
            self.life.change_request = await self.steps.open_change_request()
        await self.steps.post_result(published, concluded=concluded)
        self.life.note_work(workflow.now())
        await self.display.show(State.AWAITING_RESPONSE)

    async def checkpoint(self) -> None:
        """Between two rounds of work: pause, new comments, then a fresh run if the history is long."""
        await self.gate.passage()
        await self.take_in(await self.heard())
        self.display.wait_for(operators.works(self.language, self.life.current.iterations + 1))
        if workflow.info().get_current_history_length() > limits.RENEW_AFTER_EVENTS:
            workflow.continue_as_new(self.life)

    async def conversation_is_over(self) -> bool:
        """Wait for an answer; True when it closes the conversation, or when none comes in time."""
        if self.life.current.comments_answered >= self.life.policy.max_comment_count:
            return True
        until = workflow.now() + self.life.policy.reply_timeout
        while True:
            self.display.wait_for(operators.awaits_reply(self.language, until))
            if not await self.news_before(until):
                return True
            if self.gate.is_closed:
                await self.gate.passage()
                until = workflow.now() + self.life.policy.reply_timeout
            heard = await self.heard()
            if heard and all(map(self.is_closing, heard)):
                return True
            if heard:
                await self.display.show(State.PROCESSING)
                await self.take_in(heard)
                self.life.current.next_pass()
                return False

    async def heard(self) -> tuple[Comment, ...]:
        """New comments by people who count."""
        return await self.steps.hear(self.life.take_pending()) if self.life.pending else ()

    async def take_in(self, heard: tuple[Comment, ...]) -> None:
        """Give comments to the model."""
        if heard:
            await self.steps.tell_comments(heard)
            self.life.current.comments_answered += len(heard)
            self.life.count_comments(heard, workflow.now())

    async def hand_over(self, ending: Ending) -> None:
        """Save the work, say how it ended, keep the summary; a forge that refuses does not undo the ending."""
        self.is_called, summary = False, self.life.error or ""
        order, self.life.stop, self.life.hold = self.life.stop, None, None
        with suppress(ActivityError):
            if self.life.session:
                summary = await self.say_farewell(self.life.session, ending, order)
        now = workflow.now()
        self.life.close_session(Handover(session=self.life.sessions, ending=ending, ended_at=now, summary=summary))
        self.display.index()

    async def say_farewell(self, session: Session, ending: Ending, order: Order | None) -> str:
        """The last effects of a session on the outside; its final summary."""
        if session.workspace_queue and ending is Ending.STOPPED:
            await self.steps.publish(workflow.now())
        summary = await self.steps.summarise()
        at = f"{workflow.now():%Y-%m-%d %H:%M:%S} UTC"
        await self.steps.post_comment(ending, comments.farewell(self.life, ending, order, summary, at))
        await self.display.show(State(ending))
        return summary

    async def news_before(self, until: datetime, *, or_call: bool = False) -> bool:
        """Whether somebody writes, pauses or (at rest) calls before the time is up."""
        return await happens_before(
            until, lambda: self.has_news or (or_call and self.is_called), self.display.waiting_for
        )

    def is_closing(self, comment: Comment) -> bool:
        """Whether a comment says nothing but that all is well."""
        return closes(comment.body, self.life.policy.completion_keywords)

    @property
    def has_news(self) -> bool:
        """Whether somebody wrote or paused."""
        return bool(self.life.pending) or self.gate.is_closed

    @property
    def language(self) -> operators.Language:
        """The language people on this issue read."""
        return self.life.policy.language

    @workflow.signal(description="One comment or a list of them: {id, author, body}; id and author may be left out")
    def comment(self, said: Any) -> None:
        """Keep what was said until the next checkpoint."""
        for comment in comments_in(said):
            self.life.receive(comment)

    @workflow.signal(description="Hold before the next step; optionally a reason")
    def pause(self, why: Any = None) -> None:
        """Close the gate."""
        self.life.hold = self.life.hold or order_in(why)

    @workflow.signal(description="Go on at the very same step")
    def resume(self, why: Any = None) -> None:
        """Open the gate."""
        self.life.hold = None

    @workflow.signal(description="End the session now and save what is there; optionally a reason")
    def stop(self, why: Any = None) -> None:
        """End the session, if one is under way."""
        if self.is_called:
            self.life.stop = self.life.stop or order_in(why)

    @workflow.signal(description="Labels, state or assignees of the issue changed")
    def issue_changed(self, seen: Any = None) -> None:
        """A closed issue is stopped; one that was reopened or labelled again is called up."""
        facts = facts_in(seen)
        if self.life.calls_again(facts):
            self.is_called = True
        elif facts.state != "open":
            self.stop({"by": "forge", "reason": operators.is_closed(self.language)})

    @workflow.query
    def status(self) -> Status:
        """Where the issue stands."""
        return self.life.status(self.issue, self.display.waiting_for)

    @workflow.query
    def plan(self) -> str:
        """The plan as Markdown."""
        return operators.no_plan(self.language)
