"""One stretch of work on an issue, and what is handed from one to the next."""

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.policy import Policy
from hikitsugi.domain.value import Value


class Ending(StrEnum):
    """How a session can end."""

    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"


class Handover(Value):
    """What a session leaves to the next one."""

    session: int
    ending: Ending
    ended_at: datetime
    summary: str
    id: str = ""
    """Under which the store keeps the whole."""


class Called(Value):
    """The issue as it stood when a session opened, in small facts, and the rules that hold for it."""

    policy: Policy
    title: str
    author: str
    url: str
    is_open: bool
    labels: tuple[str, ...] = ()
    bot: str | None = None


class Session(BaseModel):
    """Where the work stands; small enough to travel through continue-as-new at any moment."""

    number: int
    key: str
    branch: str
    conversation: str
    sequence: int = 0
    iterations: int = 0
    passes: int = 0
    submitted: int | None = None
    """The turn in which the model last submitted."""
    workspace_queue: str | None = None
    moves: int = 0
    """How often the checkout had to be prepared anew elsewhere; what was not pushed before is lost then."""
    awaits_until: datetime | None = None
    """Set while the result is told and an answer is waited for."""
    answer_at: IssueAddress | None = None
    """Where the last comment of this pass was written, if not on the issue itself."""
    comments_answered: int = 0
    """How many comments of this session were answered; closing comments do not count."""

    def key_of(self, effect: str) -> str:
        """Names one outside effect of this session, the same at every attempt."""
        return f"{self.key}:{effect}"

    def begin_anew(self, conversation: str) -> None:
        """Leave a conversation that cannot be continued."""
        self.conversation, self.sequence, self.submitted = conversation, 0, None

    def next_pass(self) -> None:
        """Begin another round of work in the same conversation."""
        self.passes += 1
        self.iterations, self.answer_at = 0, None
