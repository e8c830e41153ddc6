"""What planned work counts and remembers beside its plan, and the rules that decide by it."""

from datetime import datetime, timedelta

from pydantic import BaseModel

from hikitsugi.domain.outcome import Outcome
from hikitsugi.domain.phase_replies import ReplanKind
from hikitsugi.domain.plan import TurnRef
from hikitsugi.domain.policy import PlanningPolicy
from hikitsugi.domain.value import Sparse

SURE = 0.8
LIKELY = 0.5
DOUBTFUL = 0.3
MAX_MISFITS = 2
MAX_CLARIFICATIONS = 2
_SAME_REPLAN = 2


class Planning(Sparse, BaseModel):
    """One pass of planned work; replies are named by their turns, their texts lie in the memory."""

    request: TurnRef | None = None
    """The conversation that holds what is asked for, and how many turns of it do."""
    told: list[TurnRef] = []
    """Turns that gave comments to the model since."""
    brief: TurnRef | None = None
    plan: TurnRef | None = None
    reflection: TurnRef | None = None
    verdict: TurnRef | None = None
    replan: TurnRef | None = None
    acted: int = 0
    """Actions ended since the last reflection."""
    has_failed: bool = False
    """Whether an action failed since the last reflection."""
    is_steered: bool = False
    """Whether people wrote since the last reflection."""
    revision_asked: bool = False
    """Whether somebody asked for another plan."""
    actions: int = 0
    revisions: int = 0
    rounds: int = 0
    clarifications: int = 0
    replans: list[ReplanKind] = []
    keeps_done: bool = False
    """Whether the next plan keeps the ticks of this one."""
    is_unanswered: bool = False
    """Whether questions were asked and nobody answered in time."""
    awaits_since: datetime | None = None
    """Set while an answer or an approval is waited for."""
    is_reminded: bool = False
    is_approved: bool = False
    concluded: bool = False
    """Whether verification found the goal reached."""

    @property
    def is_waiting(self) -> bool:
        """Whether an answer or an approval is waited for."""
        return self.awaits_since is not None

    def wait_longer(self, paused: timedelta) -> None:
        """A pause does not count as waiting."""
        if self.awaits_since:
            self.awaits_since += paused

    def note_comments(self, turn: TurnRef) -> None:
        """People wrote, and the model was told in this turn."""
        self.told = [*self.told, turn]
        self.is_steered = True

    def note_action(self, *, failed: bool) -> None:
        """An action has ended."""
        self.acted += 1
        self.has_failed = self.has_failed or failed

    def calls_for_reflection(self, policy: PlanningPolicy) -> bool:
        """After a failed action, after a comment, and every so many actions."""
        return self.has_failed or self.is_steered or self.acted >= policy.reflection_interval

    def reflected(self) -> None:
        """Begin to count anew."""
        self.acted, self.has_failed, self.is_steered = 0, False, False

    def may_revise(self, policy: PlanningPolicy) -> bool:
        """Whether another revision is allowed; beyond that the plan stays as it is."""
        return self.revisions < policy.limits.revisions

    def revised(self) -> None:
        """A revision was made or tried; what led to it is dealt with."""
        self.revisions += 1
        self.revision_asked = False
        self.reflected()

    def may_add_work(self, policy: PlanningPolicy) -> bool:
        """Whether verification may ask for another round of work."""
        return self.rounds < policy.limits.verification_rounds

    def may_replan(self, policy: PlanningPolicy) -> bool:
        """Whether another replan is allowed."""
        return len(self.replans) < policy.limits.replans

    def replan_by(self, outcome: Outcome, policy: PlanningPolicy) -> ReplanKind:
        """What follows from a decision: sure ones are obeyed, unsure ones put to people, wild ones ignored."""
        kind = outcome.replan
        if kind is ReplanKind.NONE or outcome.confidence < DOUBTFUL or not self.may_replan(policy):
            return ReplanKind.NONE
        if kind is ReplanKind.CLARIFY or outcome.confidence < LIKELY:
            return ReplanKind.CLARIFY if self.may_ask() else ReplanKind.NONE
        return kind if self.replans.count(kind) < _SAME_REPLAN else ReplanKind.NONE

    def begin_replan(self, kind: ReplanKind, decision: TurnRef) -> None:
        """Go back by a decision; partial replans keep what is ticked, deeper ones do not."""
        if kind is ReplanKind.NONE:
            return
        self.replans = [*self.replans, kind]
        self.replan, self.rounds = decision, 0
        self.keeps_done = kind is ReplanKind.PARTIAL
        self.reflected()

    def may_ask(self) -> bool:
        """Whether another question is allowed."""
        return self.clarifications < MAX_CLARIFICATIONS
