"""The life of an issue in the house: everything its workflow carries from run to run."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from pydantic import BaseModel, Field

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.assignment import Assignment
from hikitsugi.domain.budget import Spending
from hikitsugi.domain.commands import Word
from hikitsugi.domain.conversation import Usage
from hikitsugi.domain.hearing import Hearing
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.plan import TurnRef
from hikitsugi.domain.policy import Policy
from hikitsugi.domain.session import Called, Ending, Handover, Session
from hikitsugi.domain.states import ENDED, State
from hikitsugi.domain.status import Status
from hikitsugi.domain.tally import Tally
from hikitsugi.domain.value import Value
from hikitsugi.domain.waiting import Waiting

BUDGET = "budget"
"""Who gave the order to hold when the money was spent."""

_PASSES_TOLD = 20


class Order(Value):
    """A pause, resume or stop: who gave it, and why."""

    by: str = "operator"
    reason: str = ""
    closing: bool = False
    """Whether the issue was closed; then only reopening it helps."""


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


class Life(Hearing, BaseModel):
    """Changes by its own methods, and travels through continue-as-new as it is."""

    state: State = State.PROCESSING
    called: Called | None = None
    session: Session | None = None
    sessions: int = 0
    handover: Handover | None = None
    called_again: bool = False
    """Whether somebody called for the next session while the last one was stopped or took its leave."""
    rests_until: datetime | None = None
    hold: Order | None = None
    tells_hold: bool = False
    """Whether people were told, between two sessions, that a pause holds back the next one."""
    stop: Order | None = None
    facts: IssueFacts | None = None
    before_pause: State | None = None
    """What a pause interrupted, and what is shown again after it."""
    doubtful: list[str] = []
    """Keys of our comments of which a late duplicate may turn up."""
    doubtful_at: dict[str, IssueAddress] = {}
    """Where those of them were written that are not on the issue itself."""
    spending: Spending = Field(default_factory=Spending)
    spent_on: dict[str, float | None] = {}
    """US dollars by phase of the work."""
    granted_usd: float | None = None
    """The budget a person gave on the issue."""
    asked_for_more: str | None = None
    """The budget for whose end people were asked already."""
    checks: int = 0
    errors: int = 0
    tally_before: Tally = Tally()
    """What had been counted when the last session ended."""
    comments_processed: int = 0
    last_comment_id: str | None = None
    first_processed_at: datetime | None = None
    last_processed_at: datetime | None = None
    branch: str | None = None
    change_request: str | None = None
    handed_in: list[TurnRef] = []
    """The turns that tell what went into the request so far."""
    is_draft: bool = True
    """Whether the request is a draft, once there is one."""
    ready_with: str | None = None
    """The commit with which the request says to be ready, if it does."""
    error: str | None = None
    """Why the last session, or the last pass of this one, failed."""
    trouble: str | None = None
    """What cannot be done at the moment, and is tried again."""
    shown: State | None = None
    """The state whose label we set last, if nothing was changed since by halves."""
    is_alarmed: bool = False
    """Whether the labels are not what we show, and were not put in order yet."""
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
    def is_known_closed(self) -> bool:
        """Whether the watcher last saw it closed."""
        return self.facts is not None and self.facts.state != "open"

    @property
    def is_planned(self) -> bool:
        """Whether a session works by plan now."""
        return self.session is not None and self.session.phase is not None

    @property
    def tally(self) -> Tally:
        """What was counted about comments so far."""
        return Tally(checks=self.checks, found=self.found, added=self.comments_processed, errors=self.errors)

    @property
    def mention(self) -> str | None:
        """The name that people put before a command, where the forge takes a slash for an order to itself."""
        return self.called.bot if self.called and self.policy.shows_mentions else None

    @property
    def request_branch(self) -> str | None:
        """The branch that a request of ours comes from, once there is one; a request worked on itself is the issue."""
        is_ours = self.change_request is not None and not (self.called and self.called.request)
        return self.branch if is_ours else None

    @property
    def awaits_reply_for(self) -> timedelta | None:
        """How long a reply to the next result is waited for, if it is."""
        session = self.current
        is_over = session.is_over and session.passes > 0
        awaits = self.policy.converses and not is_over and session.comments_answered < self.policy.max_comment_count
        return self.policy.reply_timeout if awaits else None

    @property
    def title(self) -> str:
        """The issue's title, once it was read."""
        return self.called.title if self.called else ""

    def pause_by(self, order: Order) -> None:
        """Somebody pauses it; what a person wants outlasts a new budget."""
        if self.hold is None or self.hold.by == BUDGET:
            self.hold, self.tells_hold = order, False

    def follow(self, called: Called) -> None:
        """At rest, go by the rules in force now; what ended before this life began is shown as its label tells."""
        self.called = called
        shown = called.policy.labels.shown_by(called.labels) & ENDED
        if self.is_new and self.state is State.PROCESSING and len(shown) == 1:
            (self.state,) = shown

    def end_by(self, order: Order, *, by_comment: bool = False) -> None:
        """Somebody stops the session; a call that came before is withdrawn."""
        first, self.called_again = self.stop or order, False
        self.stop = first.model_copy(update={"closing": first.closing or order.closing})
        self.draw_a_line(before_pending=by_comment)

    def take_call(self) -> bool:
        """Whether somebody called for another session since this one was stopped; it is told once."""
        called, self.called_again = self.called_again, False
        return called

    def open_session(self, called: Called, session: Session) -> None:
        """Begin a stretch of work."""
        self.called, self.session = called, session
        self.error = self.trouble = None
        self.asked_for_more, self.said_before_stop = None, []
        self.sessions = session.number
        self.branch = session.branch

    def close_session(self, handover: Handover) -> None:
        """End it; what remains is the handover."""
        self.handover, self.session = handover, None
        self.tally_before = self.tally
        self.state = State(handover.ending)

    def spend(self, usage: Usage, cost_usd: float | None) -> None:
        """A model call was paid; one unknown price makes the cost of its phase unknown."""
        self.spending.add(usage, cost_usd)
        phase = self.status_phase
        before = self.spent_on.get(phase, 0.0)
        self.spent_on[phase] = None if before is None or cost_usd is None else before + cost_usd

    @property
    def status_phase(self) -> str:
        """What the work is at, in one word."""
        return self.session.phase or "work" if self.session else "work"

    def doubt(self, key: str, place: IssueAddress | None) -> None:
        """A comment of ours may be there twice."""
        self.doubtful.append(key)
        if place:
            self.doubtful_at[key] = place

    def hand_in(self, change_request: str) -> None:
        """A pass went into a request; into a new one, as the first."""
        told = self.current.planning.verdict or self.current.submitted
        earlier = self.handed_in if change_request == self.change_request else []
        self.handed_in = [*earlier, *([told] if told else [])][-_PASSES_TOLD:]
        self.change_request = change_request

    def note_error(self, reason: str) -> None:
        """Something could not be done; it is told."""
        self.error = reason
        self.errors += 1

    def note_trouble(self, reason: str) -> None:
        """Something cannot be done for now; it is told until it can be done."""
        self.trouble = reason
        self.errors += 1

    @property
    def problem(self) -> str | None:
        """What is wrong, if anything is."""
        return self.error or self.trouble

    def count_comments(self, comments: Sequence[Waiting], now: datetime) -> None:
        """Comments were given to the model."""
        self.comments_processed += len(comments)
        self.last_comment_id = comments[-1].id if comments else self.last_comment_id
        self.note_work(now)

    def note_work(self, now: datetime) -> None:
        """Work happened on the issue."""
        self.first_processed_at = self.first_processed_at or now
        self.last_processed_at = now

    def can_be_steered(self, word: Word) -> bool:
        """Whether there is a plan to approve, or planned work to revise."""
        session = self.session
        if session is None or session.phase is None:
            return False
        return word is Word.REVISE or (session.phase is Phase.PLANNING and session.planning.is_waiting)

    def steer(self, word: Word, comment: Comment) -> None:
        """Somebody approves the plan or wants another; while it is being made, hearing why is enough."""
        planning = self.current.planning
        if word is Word.APPROVE:
            planning.is_approved = True
        else:
            self.heard[comment.id] = Waiting.of(comment).model_copy(update={"steers": True})
            planning.revision_asked = self.current.phase not in {Phase.PRE_PLANNING, Phase.PLANNING}

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
        before, now = ({name.casefold() for name in names or ()} for names in (earlier.assignees, facts.assignees))
        return bot.casefold() in before - now

    @property
    def _inherited_from(self) -> str | None:
        left = self.session.inherited if self.session else None
        return left.id or str(left.session) if left else None

    def status(self, issue: IssueAddress, waiting_for: str) -> Status:
        """Where the issue stands."""
        return Status(
            issue=str(issue),
            state=self.state,
            phase=self.session.phase if self.session else None,
            session=self.sessions,
            **self.spending.model_dump(exclude={"dearest_usd", "longest_tokens"}),
            plan=self.session.plan.items() if self.session else (),
            comments_processed=self.comments_processed,
            comments_pending=len(self.pending) + len(self.heard),
            last_comment_id=self.last_comment_id,
            first_processed_at=self.first_processed_at,
            last_processed_at=self.last_processed_at,
            change_request=self.change_request,
            branch=self.branch,
            inherited_from=self._inherited_from,
            waiting_for=waiting_for,
            error=self.problem,
        )
