"""What the story needs to know of a phase's reply: small facts that may stand in a history."""

from hikitsugi.domain.phase_replies import (
    Brief,
    PhaseReply,
    PlannedAction,
    PlanReply,
    Reflection,
    ReplanDecision,
    ReplanKind,
    Revision,
    Verdict,
)
from hikitsugi.domain.plan import EarlierPlan, Sketch
from hikitsugi.domain.value import Value


class Outcome(Value):
    """The facts of one reply; those its phase does not know keep their defaults."""

    actions: tuple[Sketch, ...] = ()
    questions: int = 0
    passed: bool = False
    revise: bool = False
    replan: ReplanKind = ReplanKind.NONE
    confidence: float = 1.0
    earlier_plan: EarlierPlan = "none"
    closes: bool = False

    @classmethod
    def of(cls, reply: PhaseReply) -> "Outcome":
        """The facts of a reply."""
        match reply:
            case Brief():
                return cls(questions=len(reply.questions), confidence=reply.confidence, closes=reply.closes)
            case PlanReply() | Revision():
                earlier = reply.earlier_plan if isinstance(reply, PlanReply) else "none"
                return cls(actions=_sketches(reply.actions), earlier_plan=earlier)
            case Reflection():
                return cls(revise=reply.revise)
            case Verdict():
                return cls(passed=reply.passed, actions=_sketches(reply.actions), confidence=reply.confidence)
            case ReplanDecision():
                return cls(replan=reply.kind, confidence=reply.confidence, questions=len(reply.questions))
            case _:
                return cls()


def _sketches(actions: list[PlannedAction]) -> tuple[Sketch, ...]:
    return tuple(action.sketch for action in actions)
