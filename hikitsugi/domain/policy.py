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

    def trigger_in(self, labels: Iterable[str]) -> bool:
        """Whether one of the labels asks for work."""
        return bool({label.casefold() for label in labels} & {label.casefold() for label in self.trigger})

    @property
    def states(self) -> tuple[str, ...]:
        """The labels of all states of our own work."""
        return tuple(self.of(state) for state in OF_OUR_WORK)


class Policy(Value):
    """The rules of one session."""

    language: Language = "ja"
    labels: LabelNames = LabelNames()
    accept_comments_from: tuple[str, ...] = ("author", "maintainers")
    completion_keywords: tuple[str, ...] = ()
    converses: bool = True
    hears_while_working: bool = True
    max_comment_count: int = 10
    reply_timeout: timedelta = timedelta(hours=24)
    max_iterations: int = 100
    budget: Budget = Budget()
    inherits: bool = True
    context_expiry: timedelta = timedelta(days=90)
