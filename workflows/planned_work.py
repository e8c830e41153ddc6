"""The job by plan: understand, plan, act, reflect, revise, verify, and decide whether to plan anew."""

from collections.abc import Awaitable, Callable

from temporalio import workflow

from hikitsugi.domain.life import Life
from hikitsugi.domain.outcome import Outcome
from hikitsugi.domain.phase_replies import ReplanKind
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.plan import Action, ActionStatus, Sketch, TurnRef
from hikitsugi.domain.planning import MAX_MISFITS, SURE, Planning
from hikitsugi.domain.policy import PlanningPolicy
from hikitsugi.domain.session import Session
from hikitsugi.domain.status import PlanItem
from hikitsugi.messages import plans
from workflows.ids import new_id
from workflows.people import People
from workflows.plain_work import PlainWork
from workflows.planning_steps import PlanningSteps
from workflows.steps import Steps

Check = Callable[[Outcome], str | None]


class PlannedWork:
    """One pass over an issue; where it stands is all in the session, so that a fresh run goes on in the middle."""

    def __init__(
        self,
        life: Life,
        steps: Steps,
        planning_steps: PlanningSteps,
        people: People,
        checkpoint: Callable[[], Awaitable[bool]],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._life = life
        self._steps = steps
        self._planning_steps = planning_steps
        self._people = people
        self._checkpoint = checkpoint
        self._changed = changed
        self._story: dict[Phase, Callable[[], Awaitable[None]]] = {
            Phase.PRE_PLANNING: self.understand,
            Phase.PLANNING: self.plan,
            Phase.EXECUTION: self.act,
            Phase.REFLECTION: self.reflect,
            Phase.REVISION: self.revise,
            Phase.VERIFICATION: self.verify,
            Phase.REPLAN_DECISION: self.decide,
        }

    async def run(self) -> bool:
        """Go from phase to phase until the work is over; whether verification found the goal reached."""
        if self._session.phase is None:
            self._enter(Phase.PRE_PLANNING)
        while phase := self._session.phase:
            await self._story[phase]()
        return self._planning.concluded

    async def understand(self) -> None:
        """Find out what is wanted and what must be known; what people alone can tell is asked and waited for."""
        if not self._planning.is_waiting:
            outcome = await self._reply()
            self._planning.brief = self._session.talk.turn() if outcome else None
            if outcome and outcome.closes and self._session.passes:
                self._session.is_over = True
                return self._enter(None)
            if outcome is None or not outcome.questions or not self._planning.may_ask():
                return self._enter(Phase.PLANNING)
            await self._people.ask()
        if not await self._people.answer():
            self._enter(Phase.PLANNING)
        return None

    async def plan(self) -> None:
        """Make the plan, and have it approved where that is wanted; without a plan there is no work."""
        if not self._planning.is_waiting:
            if not self._is_planned and not await self._make_plan():
                return self._enter(None)
            if await self._checkpoint():
                return None
            if not self._people.must_approve:
                return self._enter(Phase.EXECUTION)
            await self._people.propose()
        if await self._people.approve():
            self._enter(Phase.EXECUTION)
        return None

    @property
    def _is_planned(self) -> bool:
        """Whether the plan answers all that was said in its conversation."""
        return self._planning.plan == self._session.talk.turn()

    async def _make_plan(self) -> bool:
        outcome = await self._reply(self._planned_wrongly)
        if outcome:
            self._planning.plan, plan = self._session.talk.turn(), self._session.plan
            plan.take_over(self._left_done(outcome))
            plan.replace(outcome.actions, self._planning.plan, keep_done=self._keeps_done(outcome))
            plan.earlier = outcome.earlier_plan
            self._changed()
        return outcome is not None

    def _planned_wrongly(self, outcome: Outcome) -> str | None:
        stays = self._session.plan.finished if self._keeps_done(outcome) else ()
        return self._problem(outcome, (*stays, *(item.id for item in self._left_done(outcome))))

    def _keeps_done(self, outcome: Outcome) -> bool:
        return self._planning.keeps_done or outcome.earlier_plan == "continued"

    def _left_done(self, outcome: Outcome) -> tuple[PlanItem, ...]:
        """What an earlier session has done of the plan that this one continues."""
        left, inherits = self._session.inherited, self._life.policy.inheritance.inherit_plans
        is_first = self._session.passes == 0
        return left.done if left and inherits and is_first and outcome.earlier_plan == "continued" else ()

    async def act(self) -> None:
        """Carry out the next action, and push what it changed."""
        action = self._session.plan.next()
        if action is None or not self._begin(action):
            return self._enter(Phase.VERIFICATION)
        if not self._session.talk.is_open:
            await self._planning_steps.open_phase(Phase.EXECUTION, workflow.now(), action.id)
        work = PlainWork(self._session, self._steps, self._between_turns, self._policy.limits.steps_per_action)
        submitted = await work.run()
        await self._steps.publish(workflow.now(), action)
        if submitted and self._session.has_lost_work:
            return await self._steps.tell_to_go_on(moved=True)
        is_done = submitted and not work.is_blocked
        action.status = ActionStatus.DONE if is_done else ActionStatus.FAILED
        action.result = self._session.talk.turn(back=2) if submitted else None
        self._planning.note_action(failed=not is_done)
        return self._enter(self._after_action())

    async def _between_turns(self) -> bool:
        self._changed()
        return await self._checkpoint()

    def _begin(self, action: Action) -> bool:
        """Whether the action may run; beyond the limit of actions none is begun."""
        if action.status is ActionStatus.TODO:
            if self._planning.actions >= self._policy.limits.actions:
                return False
            self._planning.actions += 1
            action.status = ActionStatus.DOING
            self._changed()
        return True

    def _after_action(self) -> Phase:
        planning = self._planning
        if planning.revision_asked:
            return Phase.REVISION
        is_needed = planning.has_failed or planning.is_steered or self._session.plan.next() is not None
        return Phase.REFLECTION if is_needed and planning.calls_for_reflection(self._policy) else Phase.EXECUTION

    async def reflect(self) -> None:
        """Look at what was done; the plan may have to change."""
        outcome = await self._reply()
        self._planning.reflected()
        self._planning.reflection = self._session.talk.turn() if outcome else None
        wanted = outcome is not None and outcome.revise
        revises = wanted and self._planning.may_revise(self._policy)
        self._enter(Phase.REVISION if revises else Phase.EXECUTION)

    async def revise(self) -> None:
        """Plan the rest anew; a revision that cannot be used leaves the plan as it is."""
        outcome = await self._reply(lambda given: self._problem(given, self._session.plan.finished))
        self._planning.revised()
        if outcome:
            self._session.plan.revise(outcome.actions, self._session.talk.turn())
        self._enter(Phase.EXECUTION)

    async def verify(self) -> None:
        """Run the checks on what was pushed, have the model judge, and let the evidence overrule it."""
        if not self._session.talk.is_open:
            await self._steps.gather_evidence(workflow.now())
        everything = [action.id for action in self._session.plan.actions]
        judged = await self._reply(lambda given: self._problem(given, everything))
        outcome = judged or Outcome()
        self._planning.verdict = self._session.talk.turn() if judged else None
        missing = outcome.actions or self._work_shown_missing()
        if self._planning.revision_asked:
            return self._enter(Phase.REVISION)
        if missing and self._planning.may_add_work(self._policy):
            self._planning.rounds += 1
            self._session.plan.extend(missing, self._session.talk.turn())
            return self._enter(Phase.EXECUTION)
        self._planning.concluded = outcome.passed and not outcome.actions and not self._session.is_refuted
        return self._enter(None if self._planning.concluded else Phase.REPLAN_DECISION)

    def _work_shown_missing(self) -> tuple[Sketch, ...]:
        """Further work that the evidence calls for, whatever the model says; placeholders are held up once."""
        verified, number = self._session.verified, self._planning.rounds + 1
        if verified is None:
            return ()
        titles = plans.work_shown_missing(self._life.policy.language, verified, placeholders=number == 1)
        return tuple(Sketch.of(f"further_{number}_{n}", title, ()) for n, title in enumerate(titles, start=1))

    async def decide(self) -> None:
        """Decide whether planning anew is worth it; a decision that cannot be read means no."""
        if not self._planning.is_waiting:
            if not self._planning.may_replan(self._policy):
                return self._enter(None)
            outcome = await self._reply() or Outcome()
            kind = self._planning.replan_by(outcome, self._policy)
            if kind is not ReplanKind.NONE and outcome.confidence < SURE:
                workflow.logger.warning("[PLAN] %s although only %.1f sure", kind, outcome.confidence)
            if kind is not ReplanKind.CLARIFY:
                return self._go_back(kind, self._session.talk.turn())
            await self._people.ask()
        if not await self._people.answer():
            self._enter(None)
        return None

    def _go_back(self, kind: ReplanKind, decision: TurnRef) -> None:
        self._planning.begin_replan(kind, decision)
        match kind:
            case ReplanKind.RETRY:
                self._session.plan.retry()
                self._enter(Phase.EXECUTION)
            case ReplanKind.PARTIAL | ReplanKind.REDECOMPOSE:
                self._enter(Phase.PLANNING)
            case ReplanKind.GOAL:
                self._enter(Phase.PRE_PLANNING)
            case _:
                self._enter(None)

    async def _reply(self, problem_with: Check = lambda _: None) -> Outcome | None:
        """Hold this phase's conversation until a reply fits; None when it never does."""
        phase = self._session.phase
        if phase and not self._session.talk.is_open:
            await self._planning_steps.open_phase(phase, workflow.now())
        while self._may_go_on():
            await self._checkpoint()
            thought = await self._steps.think()
            self._changed()
            if thought.tools:
                await self._steps.use_tools()
                continue
            outcome = thought.outcome or Outcome()
            problem = thought.problem or problem_with(outcome)
            if problem is None:
                return outcome
            self._session.talk.misfits += 1
            await self._planning_steps.send_back(problem)
        return None

    def _may_go_on(self) -> bool:
        talk = self._session.talk
        return talk.iterations < self._policy.limits.steps_per_action and talk.misfits <= MAX_MISFITS

    def _problem(self, outcome: Outcome, beside: tuple[str, ...] | list[str]) -> str | None:
        return self._session.plan.problem_with(outcome.actions, most=self._policy.limits.actions, beside=beside)

    def _enter(self, phase: Phase | None) -> None:
        self._session.enter(phase, new_id())
        self._changed()

    @property
    def _session(self) -> Session:
        return self._life.current

    @property
    def _planning(self) -> Planning:
        return self._session.planning

    @property
    def _policy(self) -> PlanningPolicy:
        return self._life.policy.planning
