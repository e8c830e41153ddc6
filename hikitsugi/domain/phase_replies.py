"""What the model replies in each phase: flat models, a schema for the API and a check on arrival."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from hikitsugi.domain.phases import Phase
from hikitsugi.domain.plan import EarlierPlan, Sketch

_Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,40}$")]
_Text = Annotated[str, StringConstraints(min_length=1)]
_Confidence = Annotated[float, Field(ge=0, le=1)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class PhaseReply(_Part):
    """What every phase's reply has."""

    comment: str = ""
    """What the people on the issue should know of this step, if anything."""


class Assumption(_Part):
    """Something taken for granted, and how surely."""

    about: _Text
    assumed: _Text
    confidence: _Confidence


class Brief(PhaseReply):
    """Pre-planning: what is wanted, what was found, what is assumed, and what must be asked."""

    goal: _Text
    deliverables: list[str]
    constraints: list[str]
    findings: list[str]
    assumptions: list[Assumption]
    gaps: list[str]
    questions: list[str]
    confidence: _Confidence
    closes: bool = False
    """Whether the newest comment only ended the conversation."""


class PlannedAction(_Part):
    """One action of a plan."""

    id: _Id
    title: _Text
    purpose: str
    expected_outcome: str
    fallback: str
    complexity: Literal["low", "medium", "high"]
    depends_on: list[str]

    @property
    def sketch(self) -> Sketch:
        """The action in a few words."""
        return Sketch.of(self.id, self.title, self.depends_on)


class PlanReply(PhaseReply):
    """Planning: the goal, how success is told, and the actions that lead there."""

    goal: _Text
    success_criteria: Annotated[list[_Text], Field(min_length=1)]
    earlier_plan: EarlierPlan
    reasoning: str
    actions: Annotated[list[PlannedAction], Field(min_length=1)]


class Reflection(PhaseReply):
    """Reflection: how the work goes, and whether the plan still fits."""

    status: Literal["success", "partial", "failure"]
    evaluation: _Text
    issues: list[str]
    root_cause: str
    revise: bool


class Revision(PhaseReply):
    """Revision: every action that is still to be done, old ones and new ones."""

    reason: _Text
    actions: list[PlannedAction]


class Criterion(_Part):
    """Whether one criterion of success is met, and what shows it."""

    criterion: _Text
    met: bool
    evidence: str


class Verdict(PhaseReply):
    """Verification: whether the goal is reached, and what is missing."""

    passed: bool
    criteria: list[Criterion]
    issues: list[str]
    actions: list[PlannedAction]
    confidence: _Confidence
    summary: _Text

    @property
    def told_criteria(self) -> list[str]:
        """Each criterion in a line: whether it is met, and what shows it."""
        return [
            f"{'✅' if one.met else '❌'} {one.criterion}{f': {one.evidence}' if one.evidence else ''}"
            for one in self.criteria
        ]


class ReplanKind(StrEnum):
    """How far back a replan goes."""

    NONE = "none"
    RETRY = "retry"
    PARTIAL = "partial_replan"
    REDECOMPOSE = "task_redecomposition"
    GOAL = "goal_revision"
    CLARIFY = "clarification_request"


class ReplanDecision(PhaseReply):
    """Replan decision: whether to go back, how far, and how surely."""

    kind: ReplanKind
    confidence: _Confidence
    reasoning: _Text
    questions: list[str]


REPLIES: dict[Phase, type[PhaseReply]] = {
    Phase.PRE_PLANNING: Brief,
    Phase.PLANNING: PlanReply,
    Phase.REFLECTION: Reflection,
    Phase.REVISION: Revision,
    Phase.VERIFICATION: Verdict,
    Phase.REPLAN_DECISION: ReplanDecision,
}
"""Execution has no form of its own: it ends with `submit`."""


class Misfit(ValueError):
    """A reply that does not fit; the text tells the model why."""


def parsed(phase: Phase, text: str) -> PhaseReply:
    """A phase's reply, checked."""
    try:
        return REPLIES[phase].model_validate_json(text)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, one['loc'])) or 'reply'}: {one['msg']}" for one in error.errors()[:5]]
        raise Misfit("; ".join(problems)) from None
