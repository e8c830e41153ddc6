"""The life of an issue in the house: everything its workflow carries from run to run."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, Field

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.assignment import Assignment
from hikitsugi.domain.budget import Spending
from hikitsugi.domain.conversation import Usage
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.policy import Policy
from hikitsugi.domain.session import Called, Ending, Handover, Session
from hikitsugi.domain.states import State
from hikitsugi.domain.status import Status
from hikitsugi.domain.value import Value

_REMEMBERED = 500
_TOLD_AT_ONCE = 20


class Order(Value):
    """A pause, resume or stop: who gave it, and why."""

    by: str = "operator"
    reason: str = ""


class IssueFacts(Value):
    """What the watcher tells of an issue beside its comments."""

    state: str = "open"
    labels: tuple[str, ...] | None = None
    assignees: tuple[str, ...] | None = None
    for_work: bool = False
    """Whether the watcher found it labelled for work."""
    called_by: str | None = None
    """Who asks for a new session, whatever the labels say."""

    def over(self, earlier: "IssueFacts | None") -> "IssueFacts":
        """These facts, with what they leave out taken from earlier ones."""
        known = earlier or IssueFacts()
        labels = known.labels if self.labels is None else self.labels
        assignees = known.assignees if self.assignees is None else self.assignees
        return self.model_copy(update={"labels": labels, "assignees": assignees})


class Life(BaseModel):
    """Changes by its own methods, and travels through continue-as-new as it is."""

    state: State = State.PROCESSING
    called: Called | None = None
    session: Session | None = None
    sessions: int = 0
    handover: Handover | None = None
    called_again: bool = False
    """Whether somebody called for the next session while the last one took its leave."""
    rests_until: datetime | None = None
    hold: Order | None = None
    stop: Order | None = None
    facts: IssueFacts | None = None
    pending: list[Comment] = []
    """Received, but not yet asked whether its author counts."""
    heard: list[Comment] = []
    """By people who count, but not yet given to the model."""
    received: list[str] = []
    doubtful: list[str] = []
    """Keys of our comments of which a late duplicate may turn up."""
    spending: Spending = Field(default_factory=Spending)
    spent_on: dict[str, float] = {}
    """US dollars by phase of the work."""
    granted_usd: float | None = None
    """The budget a person gave on the issue."""
    asked_for_more: str | None = None
    """The budget for whose end people were asked already."""
    found: int = 0
    checks: int = 0
    errors: int = 0
    comments_processed: int = 0
    last_comment_id: str | None = None
    first_processed_at: datetime | None = None
    last_processed_at: datetime | None = None
    branch: str | None = None
    change_request: str | None = None
    error: str | None = None
    assignment: Assignment | None = None
    """Who has the issue, where external agents work on it."""

    @property
    def policy(self) -> Policy:
        """The rules of the session under way, or of the last one."""
        return self.called.policy if self.called else Policy()

    @property
    def inheritance(self) -> Handover | None:
        """What the last session left to this one; a failed one leaves nothing."""
        left = self.handover
        return left if left and self.policy.inherits and left.ending is not Ending.FAILED else None

    @property
    def current(self) -> Session:
        """The session under way."""
        if self.session is None:
            raise RuntimeError("no session is open")
        return self.session

    @property
    def is_new(self) -> bool:
        """Whether no session was ever opened."""
        return self.sessions == 0

    @property
    def is_labelled_for_work(self) -> bool:
        """Whether the watcher sent it because of its labels."""
        return self.facts is not None and self.facts.for_work

    @property
    def title(self) -> str:
        """The issue's title, once it was read."""
        return self.called.title if self.called else ""

    def receive(self, comment: Comment) -> None:
        """Keep a comment until it is heard; a repeated delivery changes nothing, an edit takes the old one's place."""
        if comment.version in self.received:
            return
        self.received = [*self.received, comment.version][-_REMEMBERED:]
        self.found += 1
        self.pending = _with(self.pending, comment.model_copy(update={"edited": self._was_heard(comment.id)}))

    def _was_heard(self, comment_id: str) -> bool:
        """Whether an earlier text of the comment has gone through our hands already."""
        waiting = [comment.id for comment in (*self.pending, *self.heard)]
        earlier = [version.rpartition("@")[0] for version in self.received[:-1]]
        return comment_id in earlier and comment_id not in waiting

    def hear(self, asked: Sequence[Comment], accepted: Sequence[Comment]) -> None:
        """Some pending comments were asked about; the accepted ones wait for the model, a newer text stays pending."""
        versions = [comment.version for comment in asked]
        self.pending = [comment for comment in self.pending if comment.version not in versions]
        for comment in accepted:
            self.heard = _with(self.heard, comment)

    def take_heard(self) -> tuple[Comment, ...]:
        """The oldest of what was heard and not yet told, in order."""
        taken, self.heard = tuple(self.heard[:_TOLD_AT_ONCE]), self.heard[_TOLD_AT_ONCE:]
        return taken

    def open_session(self, called: Called, session: Session) -> None:
        """Begin a stretch of work."""
        self.called, self.session, self.error = called, session, None
        self.asked_for_more = None
        self.sessions = session.number
        self.branch = session.branch

    def close_session(self, handover: Handover) -> None:
        """End it; what remains is the handover."""
        self.handover, self.session = handover, None
        self.state = State(handover.ending)

    def spend(self, usage: Usage, cost_usd: float | None) -> None:
        """A model call was paid."""
        self.spending.add(usage, cost_usd)
        phase = self.status_phase
        self.spent_on[phase] = self.spent_on.get(phase, 0.0) + (cost_usd or 0.0)

    @property
    def status_phase(self) -> str:
        """What the work is at, in one word."""
        return "work"

    def note_error(self, reason: str) -> None:
        """Something could not be done; it is told, and tried again."""
        self.error = reason
        self.errors += 1

    def count_comments(self, comments: tuple[Comment, ...], now: datetime) -> None:
        """Comments were given to the model."""
        self.comments_processed += len(comments)
        self.last_comment_id = comments[-1].id if comments else self.last_comment_id
        self.note_work(now)

    def note_work(self, now: datetime) -> None:
        """Work happened on the issue."""
        self.first_processed_at = self.first_processed_at or now
        self.last_processed_at = now

    def calls_again(self, facts: IssueFacts) -> bool:
        """Whether new facts call a resting issue up: it was reopened, or its trigger label was put on again."""
        if facts.called_by:
            return True
        earlier, self.facts = self.facts, facts.over(self.facts)
        if earlier is None or facts.state != "open":
            return False
        names = self.policy.labels
        reopened = earlier.state != "open"
        known = earlier.labels is not None
        relabelled = known and not names.trigger_in(earlier.labels or ()) and names.trigger_in(facts.labels or ())
        return reopened or relabelled

    def loses_bot(self, facts: IssueFacts) -> bool:
        """Whether new facts take the issue away from us: we were assigned, and are no more."""
        bot, earlier = self.called.bot if self.called else None, self.facts
        if bot is None or earlier is None or facts.assignees is None:
            return False
        return bot in (earlier.assignees or ()) and bot not in facts.assignees

    def status(self, issue: IssueAddress, waiting_for: str) -> Status:
        """Where the issue stands."""
        return Status(
            issue=str(issue),
            state=self.state,
            session=self.sessions,
            **self.spending.model_dump(exclude={"dearest_usd", "longest_tokens"}),
            comments_processed=self.comments_processed,
            comments_pending=len(self.pending) + len(self.heard),
            last_comment_id=self.last_comment_id,
            first_processed_at=self.first_processed_at,
            last_processed_at=self.last_processed_at,
            change_request=self.change_request,
            branch=self.branch,
            inherited_from=None,
            waiting_for=waiting_for,
            error=self.error,
        )


def _with(comments: Sequence[Comment], newest: Comment) -> list[Comment]:
    """The comments with one more, which takes the place of its own older text."""
    if newest.id not in [comment.id for comment in comments]:
        return [*comments, newest]
    return [newest if comment.id == newest.id else comment for comment in comments]
