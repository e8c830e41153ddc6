"""Steps of planned work: opening the conversation of a phase, sending replies back, asking people."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from temporalio import activity

from activities.reading import reply_in, submission_at
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Opening, Turn
from hikitsugi.domain.phase_replies import (
    Brief,
    PhaseReply,
    PlannedAction,
    PlanReply,
    ReplanDecision,
    Revision,
    Verdict,
)
from hikitsugi.domain.phases import Phase, tools_of
from hikitsugi.domain.plan import Action, Plan, TurnRef
from hikitsugi.domain.policy import Language
from hikitsugi.domain.ports import Forge, Memory
from hikitsugi.domain.redaction import Redactor
from hikitsugi.domain.value import Value
from hikitsugi.domain.verification import Verified
from hikitsugi.messages import phase_prompts, plans

SystemPrompt = Callable[[Phase, Language, str], str]


class Shown(Value):
    """An earlier phase's reply that a conversation starts from."""

    phase: Phase
    turn: TurnRef


class OpenPhase(Value):
    """Begin the conversation of a phase from what is known so far."""

    issue: IssueAddress
    session: int
    conversation: str
    phase: Phase
    language: Language
    request: TurnRef
    """The conversation that holds what is asked for, and how many turns of it do."""
    told: tuple[TurnRef, ...] = ()
    shown: tuple[Shown, ...] = ()
    plan: Plan = Plan()
    action: str | None = None
    verified: Verified | None = None
    is_unanswered: bool = False
    at: datetime


class SendBack(Value):
    """Tell the model what is wrong with its last reply."""

    conversation: str
    sequence: int
    problem: str


class AskPeople(Value):
    """Post the questions of a reply on the issue."""

    issue: IssueAddress
    key: str
    language: Language
    phase: Phase
    turn: TurnRef
    wait: timedelta


class ProposePlan(Value):
    """Post a plan on the issue for approval."""

    issue: IssueAddress
    key: str
    language: Language
    turn: TurnRef
    plan: Plan
    bot: str | None = None
    """The name to mention where commands with a slash do not work."""
    expiry: timedelta | None = None
    """How long an approval is waited for."""


class PlanningActivities:
    """The store of phases, and what is asked of people between them."""

    def __init__(
        self, memory: Memory, forges: Mapping[str, Forge], system_prompt: SystemPrompt, redact: Redactor
    ) -> None:
        self._memory = memory
        self._forges = forges
        self._system_prompt = system_prompt
        self._redact = redact

    @activity.defn
    async def open_phase(self, request: OpenPhase) -> int:
        """Store the opening; the number of the next turn."""
        base = await self._memory.read_conversation(request.request.conversation)
        told = [await self._memory.find_turn(ref.conversation, ref.sequence) for ref in request.told]
        briefing = Turn.of_text("user", await self._briefing(request))
        opening = Opening(
            id=request.conversation,
            issue=request.issue,
            session=request.session,
            purpose=request.phase,
            subject=request.action or "",
            system=self._system_prompt(request.phase, request.language, request.issue.repository),
            tools=tuple(tool for tool in base.tools if tool.name in tools_of(request.phase)),
            turns=(*base.turns[: request.request.sequence], *(turn for turn in told if turn), briefing),
            opened_at=request.at,
        )
        return await self._memory.open_conversation(opening)

    async def _briefing(self, request: OpenPhase) -> str:
        sections = [phase_prompts.earlier_reply(shown.phase, await self._text(shown.turn)) for shown in request.shown]
        if request.is_unanswered:
            sections.append(phase_prompts.unanswered())
        if request.plan.actions:
            results = [await submission_at(self._memory, action.result) for action in request.plan.actions]
            sections.append(phase_prompts.outline(request.plan, results))
        if request.verified:
            sections.append(phase_prompts.evidence(request.verified))
        if request.action:
            action = request.plan.find(request.action)
            sections.append(phase_prompts.action(action, await self._planned(action)))
        return "\n\n".join([*sections, phase_prompts.task(request.phase)])

    async def _text(self, ref: TurnRef) -> str:
        turn = await self._memory.find_turn(ref.conversation, ref.sequence)
        return turn.text if turn else ""

    async def _planned(self, action: Action) -> PlannedAction | None:
        """The action in full, from the reply that planned it."""
        for phase in (Phase.PLANNING, Phase.REVISION, Phase.VERIFICATION):
            reply = await reply_in(self._memory, phase, action.source)
            actions = reply.actions if isinstance(reply, PlanReply | Revision | Verdict) else []
            for each in actions:
                if each.id == action.id:
                    return each
        return None

    @activity.defn
    async def send_back(self, request: SendBack) -> None:
        """Store why the last reply does not fit."""
        turn = Turn.of_text("user", phase_prompts.does_not_fit(request.problem))
        await self._memory.append(request.conversation, request.sequence, turn)

    @activity.defn
    async def ask_people(self, request: AskPeople) -> bool:
        """Post the questions once; whether an earlier attempt may still arrive late."""
        reply = await reply_in(self._memory, request.phase, request.turn)
        return await self._post(request.issue, request.key, _questions(request, reply))

    @activity.defn
    async def propose_plan(self, request: ProposePlan) -> bool:
        """Post the plan once; whether an earlier attempt may still arrive late."""
        reply = await reply_in(self._memory, Phase.PLANNING, request.turn)
        plan = reply if isinstance(reply, PlanReply) else None
        body = plans.proposal(request.language, plan, request.plan, request.bot, request.expiry)
        return await self._post(request.issue, request.key, body)

    async def _post(self, issue: IssueAddress, key: str, body: str) -> bool:
        await self._forges[issue.forge].post_comment(issue, self._redact(body), key)
        return activity.info().attempt > 1


def _questions(request: AskPeople, reply: PhaseReply | None) -> str:
    match reply:
        case Brief():
            assumed = [f"{each.about}: {each.assumed}" for each in reply.assumptions]
            return plans.questions(request.language, reply.questions, assumed, request.wait)
        case ReplanDecision():
            asked = reply.questions or [plans.shall_i_replan(request.language, reply.reasoning)]
            return plans.questions(request.language, asked, [], request.wait)
        case _:
            return plans.questions(request.language, [], [], request.wait)
