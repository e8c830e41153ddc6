"""What an issue's workflow goes by: settings, frozen when a session opens and recorded in its history."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Literal

from hikitsugi.domain.budget import Budget
from hikitsugi.domain.states import OF_OUR_WORK, State
from hikitsugi.domain.value import Value

Language = Literal["ja", "en"]


class LabelNames(Value):
    """How the states and the trigger are called on the forge."""

    trigger: tuple[str, ...] = ("task:misc", "task:dogfooding")
    approval: str = "needs-approval"
    processing: str = "processing"
    awaiting_response: str = "awaiting-response"
    completed: str = "completed"
    paused: str = "paused"
    stopped: str = "stopped"
    failed: str = "failed"
    in_progress: str = "in-progress"
    needs_review: str = "needs-review"

    def of(self, state: State) -> str:
        """The label that shows a state."""
        return str(getattr(self, state.name.lower()))

    def shown_by(self, labels: Iterable[str]) -> frozenset[State]:
        """The states that labels show; capital letters make no difference."""
        carried = {label.casefold() for label in labels}
        return frozenset(state for state in OF_OUR_WORK if self.of(state).casefold() in carried)

    def instead_of(self, state: State, labels: Iterable[str]) -> list[str]:
        """Those of the labels that show a state otherwise than by its one label, as they are written."""
        return [label for label in labels if label != self.of(state) and self.shown_by([label])]

    def trigger_in(self, labels: Iterable[str]) -> bool:
        """Whether one of the labels asks for work."""
        return bool({label.casefold() for label in labels} & {label.casefold() for label in self.trigger})

    @property
    def states(self) -> tuple[str, ...]:
        """The labels of all states of our own work."""
        return tuple(self.of(state) for state in OF_OUR_WORK)


class PlanningLimits(Value):
    """How far planned work may go."""

    actions: int = 50
    steps_per_action: int = 30
    revisions: int = 3
    verification_rounds: int = 2
    replans: int = 3


class PlanningPolicy(Value):
    """The rules of planned work; it is off unless the settings switch it on."""

    enabled: bool = False
    approval: Literal["never", "always", "label"] = "never"
    approval_reminder: timedelta = timedelta(hours=24)
    approval_expiry: timedelta = timedelta(hours=72)
    question_timeout: timedelta = timedelta(minutes=30)
    reflection_interval: int = 3
    tells_calls: bool = True
    """Whether every model call is told in the living comment."""
    limits: PlanningLimits = PlanningLimits()

    def wants_approval(self, labels: Iterable[str], approval: str) -> bool:
        """Whether a plan has to be approved before it is carried out."""
        labelled = approval.casefold() in {label.casefold() for label in labels}
        return self.approval == "always" or (self.approval == "label" and labelled)


class InheritanceTerms(Value):
    """What a session may tell the next one."""

    max_tokens: int = 8000
    planning: bool = False
    """Whether the next session works by plan, and then also hears of earlier plans."""
    inherit_plans: bool = True
    inherit_verifications: bool = True
    inherit_reflections: bool = True
    max_previous_plans: int = 3
    reuse_successful_patterns: bool = True


class Policy(Value):
    """The rules of one session."""

    language: Language = "ja"
    labels: LabelNames = LabelNames()
    accept_comments_from: tuple[str, ...] = ("author", "maintainers")
    completion_keywords: tuple[str, ...] = ()
    converses: bool = True
    hears_while_working: bool = True
    check_interval: int = 1
    """At which rounds of work new comments are looked for: at each one, at every second, …"""
    shows_mentions: bool = False
    """Whether commands are shown as `@bot pause`, because the forge takes `/pause` for an order to itself."""
    max_comment_count: int = 10
    reply_timeout: timedelta = timedelta(hours=24)
    max_iterations: int = 100
    budget: Budget = Budget()
    inherits: bool = True
    context_expiry: timedelta = timedelta(days=90)
    planning: PlanningPolicy = PlanningPolicy()
    inheritance: InheritanceTerms = InheritanceTerms()
    compress_at_tokens: int = 80_000
    """How long a conversation with the model may become before it is compressed."""

    def hears_at(self, iteration: int) -> bool:
        """Whether comments are given to the model before this turn of a pass."""
        return self.hears_while_working and iteration % self.check_interval == 0
