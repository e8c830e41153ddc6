"""The life of one issue, pull request or merge request."""

import asyncio
from contextlib import suppress
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.assignment import Answer, Claim, Report
from hikitsugi.domain.commands import Command, Word
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.labels import Wish
from hikitsugi.domain.lease import Lease
from hikitsugi.domain.life import BUDGET, Life, Order
from hikitsugi.domain.session import Ending, Handover, Session
from hikitsugi.domain.states import State
from hikitsugi.domain.status import Status
from hikitsugi.messages import budget as budget_texts
from hikitsugi.messages import commands as command_texts
from hikitsugi.messages import comments, operators, plans
from workflows import limits
from workflows.assigned_work import AssignedWork
from workflows.caretaker import Caretaker
from workflows.comment_log import CommentLog
from workflows.compression import Compression
from workflows.display import Display
from workflows.gate import Gate
from workflows.intake import Intake
from workflows.living_comment import LivingComment
from workflows.patience import Patience
from workflows.planning_steps import PlanningSteps
from workflows.purse import Purse
from workflows.reasons import reason_of
from workflows.session_story import SessionStory
from workflows.signals import comments_in, facts_in, order_in
from workflows.steps import Steps
from workflows.timers import is_long

DRAINING = "Draining"
"""The type of a refusal that asks the caller to come again in a moment."""


@workflow.defn
class IssueWorkflow:
    """Works on an issue, talks with its people, rests, and goes on when it is called again."""

    @workflow.init
    def __init__(self, carried: Life | None = None) -> None:
        self.life = carried or Life()
        self.is_called = carried is None or carried.session is not None or carried.called_again
        self.is_asked_for = self.is_draining = False
        self.life.called_again = self.life.called_again and self.life.stop is not None
        self.issue = IssueAddress.parse(workflow.info().workflow_id)
        self.log = CommentLog(self.issue, self.life)
        patience = Patience(self.life)
        self.display = Display(self.issue, self.life, patience)
        self.gate = Gate(self.life, self.display, is_long, self.renew)
        patience.is_held = lambda: self.gate.is_closed
        self.steps = Steps(self.issue, self.life, patience, self.gate.passage)
        self.intake = Intake(self.life, self.steps, self.display, self.log, self.obey)
        self.living = LivingComment(self.issue, self.life, self.display)
        self.display.changed, self.display.obey = self.living.changed, self.grant
        self.caretaker = Caretaker(self.life, self.steps, self.display, self.grant)
        self.purse = Purse(self.life, self.steps, self.gate, self.status)
        planning = PlanningSteps(self.issue, self.life, patience, self.gate.passage)
        compression = Compression(self.issue, self.life, patience, self.gate.passage)
        self.story = SessionStory(
            self.issue, self.life, self.steps, planning, self.display, self.gate, self.purse, compression, self.renew
        )
        self.assigned = AssignedWork(self.issue, self.life, self.display, patience, is_long, self.renew)

    @workflow.run
    async def run(self, carried: Life | None = None) -> None:
        """Rest until somebody calls, work until it is over, hand over, and rest again."""
        beside = (self.intake.listen(), self.caretaker.tend(), self.living.keep())
        self.beside = [asyncio.create_task(task) for task in beside]
        wanted = self.life.assignment is not None or await self.somebody_calls()
        if self.life.assignment:
            await self.assigned.serve()
            await self.let_handlers_finish()
        elif wanted:
            await self.hand_over(await self.session_to_its_end())
            await self.renew()

    async def renew(self) -> None:
        """Go on in a fresh run, once nothing is half done beside the story and all that waits can be carried."""
        await self.let_handlers_finish()
        if not self.life.stop:
            self.life.called_again = self.is_called
        # What was added to the memo since the run began would be lost otherwise.
        workflow.continue_as_new(self.life, memo=workflow.memo())

    async def let_handlers_finish(self) -> None:
        """Leave nothing half done beside the story, and begin nothing new."""
        self.is_draining = True
        await workflow.wait_condition(lambda: self.is_calm() and workflow.all_handlers_finished())

    def is_calm(self) -> bool:
        """Whether nothing is under way beside the story, and what is left can be carried."""
        is_busy = self.intake.is_busy or self.caretaker.is_busy or self.living.is_busy
        return not is_busy and self.life.is_light

    async def somebody_calls(self) -> bool:
        """Rest; False when the context has expired before anybody wrote."""
        has_news = bool(self.life.pending or self.life.facts)
        if self.life.is_new and has_news and not (self.life.is_labelled_for_work or self.is_asked_for):
            self.is_called = False
        while not self.is_called:
            until = self.life.rests_until or workflow.now() + self.life.policy.context_expiry
            self.life.rests_until = until
            self.display.rest(until, self.life.state)
            if not await self.story.happens_before(until, self.is_wanted):
                if not self.life.pending:
                    return False
                await workflow.wait_condition(lambda: not self.life.pending)
            await self.story.renew_if_long()
            await self.pass_or_withdraw()
            self.life.forget_thanks()
            self.is_called = self.is_called or self.life.somebody_writes
        self.life.rests_until = None
        return True

    async def pass_or_withdraw(self) -> None:
        """Wait at the gate; a stop that comes before the session began withdraws the call for it."""
        try:
            await self.gate.passage()
        except asyncio.CancelledError:
            if not self.life.stop:
                raise
            self.life.stop = self.life.hold = None
            self.is_called = self.life.take_call()
        except ActivityError as error:
            # A forge that refuses the label is asked again: this story has no other end.
            self.life.note_trouble(reason_of(error))
            self.display.refresh()
            await workflow.sleep(limits.INTAKE_PAUSE)

    def is_wanted(self) -> bool:
        """Whether somebody calls, writes or pauses."""
        return self.is_called or self.life.somebody_writes or self.story.is_interrupted()

    async def session_to_its_end(self) -> Ending:
        """Live through a session, whatever ends it."""
        story = asyncio.create_task(self.story.play())
        await workflow.wait_condition(lambda: story.done() or self.life.stop is not None)
        if not story.done():
            story.cancel()
        try:
            return await story
        except (asyncio.CancelledError, ActivityError) as error:
            # A step whose worker died is not cut off as cancelled but as timed out.
            if self.life.stop:
                return Ending.STOPPED
            if not isinstance(error, ActivityError):
                raise
            self.life.error = reason_of(error)
            return Ending.FAILED

    async def hand_over(self, ending: Ending) -> None:
        """Save the work, say how it ended, keep the summary; a forge that refuses does not undo the ending."""
        self.gate.stand_open()
        self.is_called = self.life.take_call()
        order, self.life.stop = self.life.stop, None
        if ending is not Ending.COMPLETED and not order:
            self.life.pass_over()
        if ending is not Ending.COMPLETED:
            self.life.hold = self.life.before_pause = None
        now, error = workflow.now(), self.life.error or ""
        left = Handover(session=self.life.sessions, ending=ending, ended_at=now, summary=error)
        if self.life.session:
            left = await self.say_farewell(self.life.session, left, order)
        elif order:
            with suppress(ActivityError):
                await self.display.show(State(ending))
        elif self.life.handover and ending is Ending.STOPPED:
            return  # Somebody called on a closed issue, which stays as it was.
        self.log.ending(ending)
        await self.living.catch_up()
        self.life.close_session(left)
        self.display.index()

    async def say_farewell(self, session: Session, left: Handover, order: Order | None) -> Handover:
        """The last effects of a session on the outside, each for itself; what it leaves to the next one."""
        ending, kept = left.ending, False
        self.life.rests_until = workflow.now() + self.life.policy.context_expiry
        with suppress(ActivityError):
            kept = ending is not Ending.COMPLETED and await self.steps.keep_work(workflow.now())
        with suppress(ActivityError):
            left = await self.steps.hand_over(ending, workflow.now())
        at = f"{workflow.now():%Y-%m-%d %H:%M:%S} UTC"
        with suppress(ActivityError):
            text = comments.farewell(self.life, ending, order, left.summary, at, kept=kept)
            await self.steps.post_comment(ending, text)
        self.display.rest(self.life.rests_until, State(ending))
        with suppress(ActivityError):
            await self.display.show(State(ending))
        return left

    @property
    def language(self) -> operators.Language:
        """The language people on this issue read."""
        return self.life.policy.language

    @workflow.signal(description="One comment or a list of them: {id, author, body}; id and author may be left out")
    def comment(self, said: Any) -> None:
        """Keep what was said until the next checkpoint."""
        for comment in comments_in(said):
            at = comment.created_at or workflow.now()
            if self.life.receive(comment.model_copy(update={"created_at": at})):
                self.log.detected(comment)

    @workflow.signal(description="Hold before the next step; optionally a reason")
    def pause(self, why: Any = None) -> None:
        """Close the gate."""
        self.life.pause_by(order_in(why))
        self.living.pause_is_asked()

    @workflow.signal(description="Go on at the very same step")
    def resume(self, why: Any = None) -> None:
        """Open the gate."""
        self.life.hold = None

    @workflow.signal(description="End the session now and save what is there; optionally a reason")
    def stop(self, why: Any = None) -> None:
        """End the session, if one is under way."""
        if self.is_called:
            self.life.end_by(order_in(why))

    @workflow.signal(description="Labels, state or assignees of the issue changed")
    def issue_changed(self, seen: Any = None) -> None:
        """A closed issue is stopped; one that was reopened or labelled again is called up."""
        facts = facts_in(seen)
        if self.life.assignment:
            if facts.state != "open":
                self.assigned.close()
            return
        if self.life.loses_bot(facts):
            self.stop({"by": "forge", "reason": operators.is_unassigned(self.language)})
        if self.life.calls_again(facts) or (self.life.is_new and facts.for_work):
            self.call()
        elif facts.state != "open":
            self.stop({"by": "forge", "reason": operators.is_closed(self.language), "closing": True})
        else:
            self.caretaker.look_at(facts)

    def call(self) -> None:
        """Somebody wants a session; while one is being stopped, the next."""
        self.is_called = self.is_asked_for = True
        self.life.called_again = self.life.stop is not None

    @workflow.update(description="An external agent asks for the issue")
    async def claim(self, wanted: Claim) -> Answer:
        """Give the issue to an agent; one that the built-in agent works on is not given away."""
        if (self.is_called or self.life.session) and self.life.assignment is None:
            return Answer(refusal="the built-in agent works on it")
        self.is_called = True
        return await self.assigned.claim(wanted)

    @claim.validator
    def may_be_claimed(self, wanted: Claim) -> None:
        """A run that is about to be renewed takes nothing new."""
        self.refuse_while_draining()

    @workflow.update(description="An external agent reports on its lease")
    async def report(self, report: Report) -> Answer:
        """Take in what an agent says."""
        return await self.assigned.report(report)

    @report.validator
    def may_be_reported(self, report: Report) -> None:
        """A run that is about to be renewed takes nothing new."""
        self.refuse_while_draining()

    def refuse_while_draining(self) -> None:
        """Whoever asks is to ask again."""
        if self.is_draining:
            raise ApplicationError("the run is about to be renewed; ask again", type=DRAINING)

    def grant(self, wish: Wish) -> bool:
        """What somebody asked for by a label; False when there is nothing to grant."""
        if wish is Wish.STOP and not self.is_called:
            return False
        order = {"by": "label", "reason": ""}
        {Wish.PAUSE: self.pause, Wish.RESUME: self.resume, Wish.STOP: self.stop}[wish](order)
        return True

    def obey(self, command: Command, comment: Comment) -> str | None:
        """What somebody asked for by a command; the answer, if it needs one."""
        order = {"by": comment.author, "reason": command.text}
        match command.word:
            case Word.PAUSE:
                self.pause(order)
                self.life.tells_hold = self.life.session is None
                return None if self.life.session else command_texts.rests_paused(self.language, self.life.mention)
            case Word.RESUME if self.life.hold and self.life.hold.by == BUDGET:
                return budget_texts.awaits(self.language, self.life.mention)
            case Word.BUDGET:
                return self.purse.grant(command.text)
            case Word.RESUME if self.life.hold:
                self.resume(order)
            case Word.STOP if self.is_called:
                self.life.end_by(order_in(order), by_comment=True)
            case Word.RETRY if self.can_be_called:
                self.call()
            case Word.APPROVE | Word.REVISE if self.life.can_be_steered(command.word):
                self.life.steer(command.word, comment)
            case Word.STATUS:
                return command_texts.status(self.language, self.status())
            case word:
                return self.cannot(word)
        return None

    @property
    def can_be_called(self) -> bool:
        """Whether no session is under way, or one that is being stopped, and nothing speaks against another."""
        return not self.life.is_known_closed and (self.life.stop is not None or not self.is_called)

    def cannot(self, word: Word | None) -> str:
        """The answer to a command that is unknown or has no meaning at the moment."""
        if word is None:
            return command_texts.not_understood(self.language, self.life.mention)
        if word is Word.RETRY and self.life.is_known_closed:
            return comments.reopen(self.language)
        return command_texts.not_now(self.language, word, self.life.mention)

    @workflow.query
    def status(self) -> Status:
        """Where the issue stands."""
        return self.life.status(self.issue, self.display.waiting_for)

    @workflow.query
    def lease(self) -> Lease | None:
        """Which agent has the issue."""
        return self.life.assignment.lease if self.life.assignment else None

    @workflow.query
    def author(self) -> str | None:
        """Which agent's work waits for a review."""
        return self.life.assignment.author if self.life.assignment else None

    @workflow.query
    def plan(self) -> str:
        """The plan as Markdown."""
        if self.life.session and self.life.session.plan.actions:
            return plans.checklist(self.language, self.life.session.plan)
        return operators.no_plan(self.language)
