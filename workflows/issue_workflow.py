"""The life of one issue, pull request or merge request."""

import asyncio
from typing import Any

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.assignment import Answer, Claim, Report
from hikitsugi.domain.lease import Lease
from hikitsugi.domain.life import Life
from hikitsugi.domain.session import Ending
from hikitsugi.domain.status import Status
from hikitsugi.messages import operators, plans
from workflows import limits
from workflows.assigned_work import AssignedWork
from workflows.caretaker import Caretaker
from workflows.comment_log import CommentLog
from workflows.compression import Compression
from workflows.display import Display
from workflows.farewell import Farewell
from workflows.gate import Gate
from workflows.intake import Intake
from workflows.living_comment import LivingComment
from workflows.orders import Orders
from workflows.patience import Patience
from workflows.planning_steps import PlanningSteps
from workflows.purse import Purse
from workflows.reasons import reason_of
from workflows.session_story import SessionStory
from workflows.signals import comments_in, facts_in, order_in
from workflows.steps import Steps
from workflows.timers import is_long
from workflows.waits import Waits

DRAINING = "Draining"
"""The type of a refusal that asks the caller to come again in a moment."""


@workflow.defn
class IssueWorkflow:
    """Works on an issue, talks with its people, rests, and goes on when it is called again."""

    @workflow.init
    def __init__(self, carried: Life | None = None) -> None:
        self.life = carried or Life()
        is_called = carried is None or carried.session is not None or carried.called_again
        self.life.called_again = self.life.called_again and self.life.stop is not None
        self.is_draining = False
        self.issue = IssueAddress.parse(workflow.info().workflow_id)
        self.log, patience = CommentLog(self.issue, self.life), Patience(self.life)
        self.display = Display(self.issue, self.life, patience)
        self.gate = Gate(self.life, self.display, is_long, self.renew)
        patience.is_held = lambda: self.gate.is_closed
        steps = Steps(self.issue, self.life, patience, self.gate.passage)
        self.living = LivingComment(self.issue, self.life, self.display)
        purse = Purse(self.life, steps, self.gate, self.status)
        self.orders = Orders(self.life, self.living, purse, self.status, is_called=is_called)
        self.display.changed, self.display.obey = self.living.changed, self.orders.grant
        self.intake = Intake(self.life, steps, self.display, self.log, self.orders.obey)
        self.caretaker = Caretaker(self.life, steps, self.display, self.orders.grant)
        planning = PlanningSteps(self.issue, self.life, patience, self.gate.passage)
        compression = Compression(self.issue, self.life, patience, self.gate.passage)
        self.waits = Waits(self.life, steps, self.display, self.gate, self.renew)
        self.story = SessionStory(
            self.issue, self.life, steps, planning, self.display, self.gate, purse, compression, self.waits
        )
        self.farewell = Farewell(self.life, steps, self.display, self.living, self.log)
        self.assigned = AssignedWork(self.issue, self.life, self.display, patience, is_long, self.renew)

    @workflow.run
    async def run(self, carried: Life | None = None) -> None:
        """Rest until somebody calls, work until it is over, hand over, and rest again."""
        beside = (self.intake.listen(), self.caretaker.tend(), self.living.keep())
        self.beside = [asyncio.create_task(task) for task in beside]
        wanted = self.life.assignment is not None or await self.somebody_calls(is_first=carried is None)
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
            self.life.called_again = self.orders.is_called
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

    async def somebody_calls(self, *, is_first: bool) -> bool:
        """Rest; False when the context has expired before anybody wrote."""
        has_news = bool(self.life.pending or self.life.facts)
        if is_first and has_news and not (self.life.is_labelled_for_work or self.orders.is_asked_for):
            self.orders.is_called = False
        while not self.orders.is_called:
            until = self.life.rests_until or workflow.now() + self.life.policy.context_expiry
            self.life.rests_until = until
            self.display.rest(until, self.life.state)
            if not await self.waits.happens_before(until, self.is_wanted):
                if not self.life.pending:
                    return False
                await workflow.wait_condition(lambda: not self.life.pending)
            await self.waits.renew_if_long()
            await self.pass_or_withdraw()
            self.life.forget_thanks()
            self.orders.is_called = self.orders.is_called or self.life.somebody_writes
        self.life.rests_until = None
        return True

    def tell_rest(self) -> None:
        """Say anew what calls for the next session; closed meanwhile, it waits for something else."""
        is_at_rest = self.life.session is None and not (self.orders.is_called or self.gate.is_closed)
        if is_at_rest and self.life.rests_until:
            self.display.rest(self.life.rests_until, self.life.state)

    async def pass_or_withdraw(self) -> None:
        """Wait at the gate; a stop that comes before the session began withdraws the call for it."""
        try:
            await self.gate.passage()
        except asyncio.CancelledError:
            if not self.life.stop:
                raise
            self.life.stop = self.life.hold = None
            self.orders.is_called = self.life.take_call()
        except ActivityError as error:
            # A forge that refuses the label is asked again: this story has no other end.
            self.life.note_trouble(reason_of(error))
            self.display.refresh()
            await workflow.sleep(limits.INTAKE_PAUSE)

    def is_wanted(self) -> bool:
        """Whether somebody calls, writes or pauses."""
        return self.orders.is_called or self.life.somebody_writes or self.waits.is_interrupted()

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
        """Take leave of a session; nothing holds that up, and who calls from now on calls for the next one."""
        self.gate.stand_open()
        self.orders.is_called = self.life.take_call()
        await self.farewell.say(ending)

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
        self.orders.pause(order_in(why))

    @workflow.signal(description="Go on at the very same step")
    def resume(self, why: Any = None) -> None:
        """Open the gate."""
        self.orders.resume()

    @workflow.signal(description="End the session now and save what is there; optionally a reason")
    def stop(self, why: Any = None) -> None:
        """End the session, if one is under way."""
        self.orders.stop(order_in(why))

    @workflow.signal(description="Labels, state or assignees of the issue changed")
    def issue_changed(self, seen: Any = None) -> None:
        """A closed issue is stopped; one that was reopened or labelled again is called up."""
        facts = facts_in(seen)
        if self.life.assignment:
            if facts.state != "open":
                self.assigned.close()
        elif not self.orders.follow(facts):
            self.caretaker.look_at(facts)
        self.tell_rest()

    @workflow.update(description="An external agent asks for the issue")
    async def claim(self, wanted: Claim) -> Answer:
        """Give the issue to an agent; one that the built-in agent works on is not given away."""
        if (self.orders.is_called or self.life.session) and self.life.assignment is None:
            return Answer(refusal="the built-in agent works on it")
        self.orders.is_called = True
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
            return plans.checklist(self.life.policy.language, self.life.session.plan)
        return operators.no_plan(self.life.policy.language)
