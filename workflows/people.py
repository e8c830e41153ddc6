"""What planned work wants from people: answers and approvals, asked for and really waited for."""

from collections.abc import Awaitable, Callable
from datetime import datetime

from temporalio import workflow

from hikitsugi.domain.life import Life, Order
from hikitsugi.domain.planning import Planning
from hikitsugi.domain.policy import Language, PlanningPolicy
from hikitsugi.domain.session import Session
from hikitsugi.domain.states import State
from hikitsugi.messages import operators, plans
from workflows.display import Display
from workflows.planning_steps import PlanningSteps
from workflows.steps import Steps


class People:
    """Asks on the issue and waits for as long as the rules say; the wait survives pauses and fresh runs."""

    def __init__(
        self,
        life: Life,
        steps: Steps,
        planning_steps: PlanningSteps,
        display: Display,
        hears_before: Callable[[datetime], Awaitable[bool]],
        take_in: Callable[[], Awaitable[bool]],
    ) -> None:
        self._life = life
        self._steps = steps
        self._planning_steps = planning_steps
        self._display = display
        self._hears_before = hears_before
        self._take_in = take_in

    async def ask(self) -> None:
        """Put the questions of the last reply."""
        session = self._session
        if session.phase is None:
            raise RuntimeError("questions belong to a phase")
        wait = self._policy.question_timeout
        await self._planning_steps.ask_people(session.phase, session.talk.turn(), wait)
        self._planning.clarifications += 1
        await self._wait(operators.awaits_answer(self._language, workflow.now() + wait))

    async def answer(self) -> bool:
        """Whether somebody answers in time; then the model is told."""
        until = self._since + self._policy.question_timeout
        self._display.wait_for_people(operators.awaits_answer(self._language, until))
        while not self._life.heard:
            if not await self._hears_before(until):
                break
            until = self._since + self._policy.question_timeout
        await self._go_on()
        self._planning.is_unanswered = not await self._take_in()
        return not self._planning.is_unanswered

    @property
    def must_approve(self) -> bool:
        """Whether the plan has to be approved before it is carried out."""
        called, facts = self._life.called, self._life.facts
        labels = (*(called.labels if called else ()), *((facts.labels or ()) if facts else ()))
        return self._policy.wants_approval(labels, self._life.policy.labels.approval)

    async def propose(self) -> None:
        """Post the plan for approval."""
        await self._planning_steps.propose_plan(self._session.plan, self._session.talk.turn(), self._life.mention)
        self._planning.is_approved = self._planning.is_reminded = False
        expires = workflow.now() + self._policy.approval_expiry
        await self._wait(operators.awaits_approval(self._language, expires))

    async def approve(self) -> bool:
        """Whether the plan is approved; False when somebody wants another, as the model is told.

        Without a word the session ends.
        """
        while not (self._planning.is_approved or self._life.heard):
            expires = self._since + self._policy.approval_expiry
            self._display.wait_for_people(operators.awaits_approval(self._language, expires))
            remind = expires if self._planning.is_reminded else self._since + self._policy.approval_reminder
            if await self._hears_before(min(remind, expires)):
                continue
            if remind >= expires:
                await self._expire()
            else:
                await self._steps.post_comment(
                    f"reminder-{self._session.talk.id}", plans.reminder(self._language, expires, self._life.mention)
                )
                self._planning.is_reminded = True
        is_approved = self._planning.is_approved
        await self._go_on()
        if not is_approved:
            await self._take_in()
        return is_approved

    async def _expire(self) -> None:
        """End the session as a stop does; a comment calls it up again."""
        self._life.end_by(Order(by="hikitsugi", reason=plans.expired(self._language)))
        await workflow.wait_condition(lambda: False)

    async def _wait(self, what: str) -> None:
        self._planning.awaits_since = workflow.now()
        self._display.wait_for(what)
        await self._display.show(State.AWAITING_RESPONSE)

    async def _go_on(self) -> None:
        self._planning.awaits_since, self._planning.is_approved = None, False
        await self._display.show(State.PROCESSING)

    @property
    def _since(self) -> datetime:
        return self._planning.awaits_since or workflow.now()

    @property
    def _session(self) -> Session:
        return self._life.current

    @property
    def _planning(self) -> Planning:
        return self._session.planning

    @property
    def _policy(self) -> PlanningPolicy:
        return self._life.policy.planning

    @property
    def _language(self) -> Language:
        return self._life.policy.language
