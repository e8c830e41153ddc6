"""An external agent does it: claim, lease, report; this object alone decides who has the issue."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from temporalio import workflow
from temporalio.exceptions import ActivityError

from activities.assignment_activities import AssignmentActivities, Offer, Prepare, Settle
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.assignment import ANOTHERS, BUSY, IN_REVIEW, LOST, Answer, Assignment, Claim, Outcome, Report
from hikitsugi.domain.life import Life
from hikitsugi.messages import assignments
from workflows import limits
from workflows.display import AGENT, STATE, Display
from workflows.patience import Patience, asked_to_wait, execute
from workflows.reasons import reason_of
from workflows.timers import happens_before

_LOST = Answer(refusal=LOST)


class AssignedWork:
    """The issue in the hands of agents, from the first claim until it is closed or forgotten."""

    def __init__(
        self,
        issue: IssueAddress,
        life: Life,
        display: Display,
        patience: Patience,
        is_long: Callable[[], bool],
        renew: Callable[[], Awaitable[None]],
    ) -> None:
        self._issue = issue
        self._life = life
        self._display = display
        self._patience = patience
        self._is_long = is_long
        self._renew = renew
        self._shown: object = None
        self._awaited: datetime | None = None
        self._is_preparing = False

    @property
    def _assignment(self) -> Assignment:
        if self._life.assignment is None:
            raise RuntimeError("the issue is not in the hands of agents")
        return self._life.assignment

    async def serve(self) -> None:
        """Watch over the lease and settle what has ended, until the issue is closed or nobody asks any more."""
        while not self._assignment.is_over:
            self._show()
            await workflow.wait_condition(lambda: not self._assignment.is_being_prepared or self._is_told_otherwise())
            forgotten_at = workflow.now() + self._assignment.terms.context_expiry
            self._awaited = until = self._assignment.next_moment(forgotten_at)
            if not await self._happens_before(until) and until == forgotten_at and self._assignment.lease is None:
                return
            self._obey()
            if self._assignment.settlement:
                await self._settle()
            elif self._assignment.can_be_offered(held=self._life.hold is not None):
                await self._offer()
            elif self._can_be_renewed():
                await self._renew()

    async def _happens_before(self, until: datetime) -> bool:
        """Whether something has to be done before the moment comes."""
        signs = self._assignment.signs
        if await happens_before(until, self._has_to_act, self._display.waiting_for):
            return True
        self._assignment.time_is_up(signs, workflow.now())
        return False

    def _has_to_act(self) -> bool:
        """Whether something is to be done before the awaited moment; one that only moved on is looked at then."""
        is_sooner = self._awaited is None or self._assignment.next_moment(self._awaited) < self._awaited
        return self._is_told_otherwise() or is_sooner or self._can_be_renewed()

    def _is_told_otherwise(self) -> bool:
        """Whether somebody ended, stopped, paused or resumed it."""
        ordered = self._life.stop is not None or (self._life.hold is not None) != self._assignment.is_held
        return ordered or self._assignment.settlement is not None or self._assignment.is_over

    def _can_be_renewed(self) -> bool:
        """Whether the run is long, and nobody waits for branch and labels."""
        return self._is_long() and not self._assignment.is_being_prepared

    def _obey(self) -> None:
        """A stopped issue is taken from its agent and held until somebody resumes it; a paused one is held."""
        stop, self._life.stop = self._life.stop, None
        if stop:
            self._assignment.end(Outcome.RELEASED, workflow.now(), stop.reason)
            self._life.hold = self._life.hold or stop
        if self._life.hold:
            self._assignment.is_held = True
        elif not self._assignment.can_be_offered():
            self._assignment.is_held = False

    async def claim(self, wanted: Claim) -> Answer:
        """Give the issue to an agent, if it can be given and everything can be prepared."""
        self._life.assignment = assignment = self._life.assignment or Assignment()
        await self._is_settled()
        if assignment.is_given_to(wanted.agent):
            return await self._given_before(wanted)
        if refusal := assignment.refusal(held=self._life.hold is not None):
            return Answer(refusal=refusal)
        was_reviewed = assignment.author is not None
        lease = assignment.grant(self._issue, wanted, workflow.uuid4().hex[:16], workflow.now())
        request = Prepare(issue=self._issue, claim=wanted, lease=lease, was_reviewed=was_reviewed)
        step, summary = AssignmentActivities.prepare_assignment, f"prepare for {wanted.agent}"
        self._is_preparing = True
        try:
            await execute(step, request, limits.ASSIGNMENT, summary, None)
        except ActivityError as error:
            return self._went_wrong(error)
        finally:
            self._is_preparing = False
        return self._is_given(wanted)

    async def _given_before(self, wanted: Claim) -> Answer:
        """An agent that was given the issue without hearing of it is told so when it asks anew."""
        await workflow.wait_condition(lambda: not self._assignment.is_being_prepared)
        if not self._assignment.is_given_to(wanted.agent):
            return _LOST
        return Answer(lease=self._assignment.lease, handover=self._handover)

    def _went_wrong(self, error: ActivityError) -> Answer:
        """What cannot be prepared rests for a while, longer each time, so that the others have their turn.

        A limit of the forge is no fault of the issue, which comes back when the limit is over.
        """
        reason, wait = reason_of(error), asked_to_wait(error)
        self._life.note_error(reason)
        outcome = Outcome.RELEASED if wait or reason in (BUSY, IN_REVIEW) else Outcome.FAILED
        self._assignment.end(outcome, workflow.now(), is_told=False, again=reason != IN_REVIEW)
        return Answer(refusal=reason, wait=wait)

    def _is_given(self, wanted: Claim) -> Answer:
        """Somebody may have closed the issue meanwhile: then nobody has it."""
        lease = self._assignment.ready(workflow.now())
        if lease is None:
            return _LOST
        self._life.error, self._life.branch = None, wanted.branch
        self._life.note_work(workflow.now())
        if workflow.memo() != {"title": wanted.title, "url": wanted.url}:
            self._display.remember(wanted.title, wanted.url)
        self._show()
        return Answer(lease=lease, handover=self._handover)

    @property
    def _handover(self) -> str | None:
        """What earlier work left: the built-in agent's summary, and the last words of an external one."""
        last, language = self._assignment.last_words, self._assignment.terms.language
        left = [self._life.inheritance.summary] if self._life.inheritance else []
        return "\n\n".join([*left, assignments.lease_ended(language, last)] if last else left) or None

    async def report(self, report: Report) -> Answer:
        """What an agent says of its lease; one that is lost changes nothing."""
        if self._life.assignment and self._life.assignment.knows(report):
            return Answer(outcome=report.outcome)
        if self._life.assignment and self._life.assignment.is_anothers(report):
            return Answer(refusal=ANOTHERS)
        if not self._is_held_by(report):
            return _LOST
        if report.outcome is Outcome.HEARTBEAT:
            return Answer(lease=self._assignment.renew(workflow.now()), outcome=report.outcome)
        if report.outcome is not Outcome.ASKS_AGAIN:
            return await self._end(report, report.outcome)
        return await self._go_by_evidence(report)

    async def _go_by_evidence(self, report: Report) -> Answer:
        """An agent that asks for more has finished if its work can be seen; else it gets the same task again."""
        self._assignment.renew(workflow.now())
        is_done = await self._has_evidence()
        if not self._is_held_by(report):
            return _LOST
        if is_done:
            return await self._end(report, Outcome.COMPLETED)
        lease = self._assignment.renew(workflow.now())
        return Answer(lease=lease, outcome=report.outcome, handover=self._handover)

    async def _has_evidence(self) -> bool:
        claim, lease = self._assignment.claim, self._assignment.lease
        if claim is None or lease is None:
            return False
        request = Prepare(issue=self._issue, claim=claim, lease=lease)
        step, summary = AssignmentActivities.has_evidence, f"evidence of {lease.agent}"
        try:
            return await execute(step, request, limits.ASSIGNMENT, summary, None)
        except ActivityError as error:
            self._life.note_error(reason_of(error))
            return False

    async def _end(self, report: Report, outcome: Outcome) -> Answer:
        """The lease is over at once; the forge gets a moment to show it."""
        self._assignment.end(outcome, workflow.now(), report.note)
        self._assignment.last_report = report.model_copy(update={"note": ""})
        await self._is_settled()
        return Answer(outcome=outcome)

    async def _is_settled(self) -> bool:
        """Give forge and board a moment; the board offers an issue before the story hears that it does."""
        shown_by = workflow.now() + limits.SETTLED_WITHIN
        return await happens_before(shown_by, lambda: self._assignment.settlement is None, "labels")

    def _is_held_by(self, report: Report) -> bool:
        assignment = self._life.assignment
        return assignment is not None and assignment.holds(report.lease_id, report.agent)

    def close(self) -> None:
        """The issue was closed: whoever has it loses it, and nobody gets it any more."""
        self._assignment.close(workflow.now())

    async def _settle(self) -> None:
        """Show the end of a lease; a forge that refuses does not undo it."""
        # What is still being prepared would be shown after its end.
        await workflow.wait_condition(lambda: not self._is_preparing)
        settlement, claim = self._assignment.settlement, self._assignment.claim
        if settlement is None or claim is None:
            return
        self._show()
        again = self._assignment.can_be_given_again(held=self._life.hold is not None)
        request = Settle(issue=self._issue, claim=claim, settlement=settlement, again=again)
        step, summary = AssignmentActivities.settle_assignment, f"{settlement.outcome}: {settlement.agent}"
        try:
            await self._patience.take(step, request, limits.FORGE, summary)
        except ActivityError as error:
            self._life.note_error(reason_of(error))
            await self._patience.take(AssignmentActivities.clear_board, request, limits.STORE, "board")
        self._assignment.settlement = None

    async def _offer(self) -> None:
        """Let the board give the issue again after a rest."""
        self._assignment.rested()
        request = Offer(issue=self._issue)
        await self._patience.take(AssignmentActivities.offer_again, request, limits.STORE, "offer again")

    def _show(self) -> None:
        """Let status, index and Web UI tell the same."""
        agent = self._assignment.lease.agent if self._assignment.lease else None
        language, hold, error = self._assignment.terms.language, self._life.hold, self._life.error or ""
        if hold and self._assignment.lease is None:
            self._display.wait_for(assignments.awaits_resume(language, hold))
        else:
            self._display.wait_for(assignments.waiting_for(language, self._assignment, error))
        if self._shown != (self._assignment.state, agent):
            self._shown = self._life.state, _ = self._assignment.state, agent
            known = workflow.info().typed_search_attributes
            if (known.get(STATE), known.get(AGENT)) != (self._life.state, agent):
                self._display.index()
