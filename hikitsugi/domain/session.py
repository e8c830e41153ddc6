"""One stretch of work on an issue, and what is handed from one to the next."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.issue import ChangeRequest
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.plan import Plan, TurnRef
from hikitsugi.domain.planning import Planning
from hikitsugi.domain.policy import Policy
from hikitsugi.domain.status import PlanItem
from hikitsugi.domain.value import Sparse, Value
from hikitsugi.domain.verification import Verified
from hikitsugi.domain.workspace import Published


class Ending(StrEnum):
    """How a session can end."""

    COMPLETED = "completed"
    STOPPED = "stopped"
    FAILED = "failed"


class Closure(StrEnum):
    """What can end a conversation, and with it a session that is completed."""

    WORDS = "words"
    SILENCE = "silence"
    ENOUGH = "enough"
    MODEL = "model"
    SETTINGS = "settings"


class Handover(Value):
    """What a session leaves to the next one."""

    session: int
    ending: Ending
    ended_at: datetime
    summary: str
    id: str = ""
    """Under which the store keeps the whole."""
    done: tuple[PlanItem, ...] = ()
    """The actions of its plan that are done."""


class Called(Value):
    """The issue as it stood when a session opened, in small facts, and the rules that hold for it."""

    policy: Policy
    title: str
    author: str
    url: str
    is_open: bool
    labels: tuple[str, ...] = ()
    bot: str | None = None
    request: ChangeRequest | None = None
    """Its branches, where it is a pull or merge request itself."""


class Talk(Sparse):
    """The open conversation with the model, and how far it went."""

    id: str
    sequence: int = 0
    """The number of its next turn; 0 while it is not opened."""
    opening: int = 0
    """How many turns it was first opened with; compression keeps them as they are."""
    context_tokens: int = 0
    """How long it is: as the last reply reported it, and a guess of what was added since."""
    rest_until_tokens: int = 0
    """How long it must have become before it is compressed, whatever the limit."""
    iterations: int = 0
    misfits: int = 0
    """How many replies had to be sent back."""
    asked: tuple[str, ...] | None = None
    """The calls of the model's last turn that nobody has answered yet; None when it is its turn."""

    @property
    def is_open(self) -> bool:
        """Whether it was begun."""
        return self.sequence > 0

    def open(self, turns: int) -> None:
        """It was begun with so many turns."""
        self.sequence = self.opening = turns

    def is_longer_than(self, tokens: int) -> bool:
        """Whether it is time to compress it."""
        return self.context_tokens > max(tokens, self.rest_until_tokens)

    def rest(self) -> None:
        """Leave its length alone until it has grown by a tenth."""
        self.rest_until_tokens = self.context_tokens * 11 // 10

    def continued_in(self, conversation: str, turns: int, tokens: int) -> "Talk":
        """The same talk in a shorter conversation."""
        kept = self.model_dump(include={"opening", "iterations", "misfits"})
        shorter = Talk(id=conversation, sequence=turns, context_tokens=tokens, **kept)
        shorter.rest()
        return shorter

    def turn(self, back: int = 1) -> TurnRef:
        """One of its last turns."""
        return TurnRef(conversation=self.id, sequence=self.sequence - back)


class Living(Sparse):
    """The comment of a session that is edited in place."""

    comment: str | None = None
    """Its id, once it was written."""
    is_stale: bool = False
    """Whether there is something new to tell."""
    due_at: datetime | None = None
    """Before this it is left as it is."""


class Part(StrEnum):
    """What one pass of work consists of, in order."""

    HEARING = "hearing"
    WORKING = "working"
    PUBLISHING = "publishing"
    REQUESTING = "requesting"
    TELLING = "telling"


class Session(Sparse):
    """Where the work stands; small enough to travel through continue-as-new at any moment."""

    number: int
    key: str
    branch: str
    talk: Talk
    living: Living = Field(default_factory=Living)
    pushes: bool = True
    """Whether the branch is one that we may push to."""
    passes: int = 0
    phase: Phase | None = None
    plan: Plan = Field(default_factory=Plan)
    planning: Planning = Field(default_factory=Planning)
    verified: Verified | None = None
    """What the checks showed on the commit pushed last."""
    compressions: int = 0
    """How often one of its conversations was compressed, or that was tried."""
    submitted: TurnRef | None = None
    """The turn in which the model last submitted."""
    is_instructed: bool = False
    """Whether the repository's own instructions were read."""
    part: Part = Part.HEARING
    """Which part of the pass is next or under way, so that a fresh run goes on in the middle of it."""
    concluded: bool = False
    """Whether the model submitted in this pass, before a limit came."""
    is_over: bool = False
    """Whether the model understood the last comments as the end of the conversation."""
    closed_by: Closure | None = None
    """What ended the conversation, once it is over."""
    published: Published | None = None
    workspace_queue: str | None = None
    moves: int = 0
    """How often the checkout had to be prepared anew elsewhere; what was not pushed before is lost then."""
    has_lost_work: bool = False
    """Whether the checkout was lost before the last push, and with it what was to be pushed."""
    awaits_until: datetime | None = None
    """Set while the result is told and an answer is waited for."""
    answer_at: IssueAddress | None = None
    """Where the last comment of this pass was written, if not on the issue itself."""
    asked_at: tuple[IssueAddress, ...] = ()
    """Where the comments of this pass were written, the issue itself included."""
    started_at: datetime | None = None
    inherited: Handover | None = None
    """What an earlier session left to this one."""
    comments_answered: int = 0
    """How many comments of this session were answered; closing comments do not count."""

    @property
    def is_refuted(self) -> bool:
        """Whether a check failed on what was pushed, whatever the model says."""
        return self.verified is not None and bool(self.verified.failing)

    def key_of(self, effect: str) -> str:
        """Names one outside effect of this session, the same at every attempt."""
        return f"{self.key}:{effect}"

    def begin_anew(self, conversation: str) -> None:
        """Leave a conversation that cannot be continued."""
        self.talk, self.submitted = Talk(id=conversation), None
        self.phase = None

    def enter(self, phase: Phase | None, conversation: str) -> None:
        """Go on to a phase, which has a conversation of its own; None when planned work is over."""
        self.phase, self.talk = phase, Talk(id=conversation)

    def note_asked(self, issue: IssueAddress, places: Sequence[IssueAddress | None]) -> None:
        """Comments of this pass were written there; None stands for the issue itself."""
        if places:
            self.answer_at = places[-1]
        self.asked_at = tuple(dict.fromkeys([*self.asked_at, *(place or issue for place in places)]))

    def asked_elsewhere(self, issue: IssueAddress) -> tuple[IssueAddress, ...]:
        """Where else comments of this pass were written than where the last one was."""
        return tuple(place for place in self.asked_at if place != (self.answer_at or issue))

    def next_pass(self) -> None:
        """Begin another round of work in the same conversation."""
        self.passes += 1
        self.part, self.talk.iterations, self.answer_at, self.asked_at = Part.HEARING, 0, None, ()
        self.is_over = False
