"""The steps that only planned work takes."""

from datetime import datetime, timedelta

from activities.planning_activities import AskPeople, OpenPhase, PlanningActivities, ProposePlan, SendBack, Shown
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.life import Life
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.plan import Plan, TurnRef
from hikitsugi.domain.session import Session
from workflows import limits
from workflows.patience import A, P, Passage, Patience, R, Step


class PlanningSteps:
    """Opens the conversations of phases, sends replies back, and asks people."""

    def __init__(self, issue: IssueAddress, life: Life, patience: Patience, passage: Passage) -> None:
        self._issue = issue
        self._life = life
        self._patience = patience
        self._passage = passage

    @property
    def _session(self) -> Session:
        return self._life.current

    async def open_phase(self, phase: Phase, now: datetime, action: str | None = None) -> None:
        """Begin the conversation of a phase from what is known so far."""
        session, planning = self._session, self._session.planning
        if planning.request is None:
            raise RuntimeError("nothing was asked for")
        request = OpenPhase(
            issue=self._issue,
            session=session.number,
            conversation=session.talk.id,
            phase=phase,
            language=self._life.policy.language,
            request=planning.request,
            told=tuple(planning.told),
            shown=self._shown_in(phase),
            plan=session.plan,
            action=action,
            verified=session.verified if phase in _SEES_EVIDENCE else None,
            is_unanswered=planning.is_unanswered,
            at=now,
        )
        summary = f"open {phase} {action or ''}".strip()
        session.talk.open(await self._work(PlanningActivities.open_phase, request, limits.STORE, summary))

    def _shown_in(self, phase: Phase) -> tuple[Shown, ...]:
        """Which earlier replies a phase starts from."""
        planning = self._session.planning
        known: dict[Phase, TurnRef | None] = {
            Phase.PRE_PLANNING: planning.brief,
            Phase.PLANNING: planning.plan,
            Phase.REFLECTION: planning.reflection,
            Phase.VERIFICATION: planning.verdict,
            Phase.REPLAN_DECISION: planning.replan,
        }
        return tuple(Shown(phase=each, turn=turn) for each in _STARTS_FROM[phase] if (turn := known[each]))

    async def send_back(self, problem: str) -> None:
        """Tell the model why its last reply cannot be used."""
        talk = self._session.talk
        request = SendBack(conversation=talk.id, sequence=talk.sequence, problem=problem)
        await self._work(PlanningActivities.send_back, request, limits.STORE, "send the reply back")
        talk.sequence += 1

    async def ask_people(self, phase: Phase, turn: TurnRef, wait: timedelta) -> None:
        """Post the questions of a reply on the issue."""
        key = self._session.key_of(f"question-{self._session.passes}-{self._session.planning.clarifications}")
        request = AskPeople(
            issue=self._issue, key=key, language=self._life.policy.language, phase=phase, turn=turn, wait=wait
        )
        late = await self._work(PlanningActivities.ask_people, request, limits.FORGE, "comment: questions")
        self._life.doubtful += [key] if late else []

    async def propose_plan(self, plan: Plan, turn: TurnRef, bot: str | None) -> None:
        """Post the plan for approval."""
        key = self._session.key_of(f"plan-{turn.conversation}-{turn.sequence}")
        request = ProposePlan(
            issue=self._issue,
            key=key,
            language=self._life.policy.language,
            turn=turn,
            plan=plan,
            bot=bot,
            expiry=self._life.policy.planning.approval_expiry,
        )
        late = await self._work(PlanningActivities.propose_plan, request, limits.FORGE, "comment: plan")
        self._life.doubtful += [key] if late else []

    async def _work(self, step: Step[A, P, R], request: P, limit: limits.Limits, summary: str) -> R:
        return await self._patience.take(step, request, limit, summary, passage=self._passage)


_SEES_EVIDENCE = frozenset({Phase.VERIFICATION, Phase.REPLAN_DECISION})
_STARTS_FROM: dict[Phase, tuple[Phase, ...]] = {
    Phase.PRE_PLANNING: (Phase.REPLAN_DECISION,),
    Phase.PLANNING: (Phase.PRE_PLANNING, Phase.REPLAN_DECISION),
    Phase.EXECUTION: (Phase.PRE_PLANNING, Phase.PLANNING),
    Phase.REFLECTION: (Phase.PLANNING,),
    Phase.REVISION: (Phase.PRE_PLANNING, Phase.PLANNING, Phase.REFLECTION),
    Phase.VERIFICATION: (Phase.PLANNING,),
    Phase.REPLAN_DECISION: (Phase.PLANNING, Phase.VERIFICATION),
}
