"""The life of an issue in the house: everything its workflow carries from run to run."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from pydantic import BaseModel, Field

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.assignment import Assignment
from hikitsugi.domain.budget import Spending
from hikitsugi.domain.commands import Word
from hikitsugi.domain.conversation import Usage
from hikitsugi.domain.issue import Comment
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.plan import TurnRef
from hikitsugi.domain.policy import Policy
from hikitsugi.domain.portion import portion
from hikitsugi.domain.session import Called, Ending, Handover, Session
from hikitsugi.domain.states import State
from hikitsugi.domain.status import Status
from hikitsugi.domain.tally import Tally
from hikitsugi.domain.value import Sparse, Value
from hikitsugi.domain.waiting import Waiting

_REMEMBERED = 500
_ASKED_AT_ONCE = 100
_TOLD_AT_ONCE = 500
_CHARACTERS_ASKED = 100_000
_CHARACTERS_TOLD = 60_000
_CHARACTERS_CARRIED = 60_000
_MOST_WAITING = 10_000
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


class Life(Sparse, BaseModel):
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
    stop: Order | None = None
    facts: IssueFacts | None = None
    before_pause: State | None = None
    """What a pause interrupted, and what is shown again after it."""
    pending: dict[str, Comment] = {}
    """Received, but not yet asked whether its author counts."""
    heard: dict[str, Waiting] = {}
    """By people who count, but not yet given to the model."""
    told: list[str] = []
    """The versions told last, because one of them may be asked about while it is told."""
    said_before_stop: list[str] = []
    """The versions that were pending when the session was stopped; they do not call for another."""
    overlooked: int = 0
    """How many waited in vain, because even more came after them."""
    received: dict[str, str] = {}
    """The last comments that came, each with the time of its newest text."""
    obeyed: list[str] = []
    """The last commands, because a delivery may come again much later."""
    doubtful: list[str] = []
    """Keys of our comments of which a late duplicate may turn up."""
    doubtful_at: dict[str, IssueAddress] = {}
    """Where those of them were written that are not on the issue itself."""
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
    def title(self) -> str:
        """The issue's title, once it was read."""
        return self.called.title if self.called else ""

    def receive(self, comment: Comment) -> None:
        """Keep a comment until it is heard; a repeated or older delivery changes nothing, an edit is put in place."""
        known, at = self.received.get(comment.id), comment.at
        if known is not None and at <= known:
            return
        told_before = known is not None and comment.id not in self.pending and comment.id not in self.heard
        self.received.pop(comment.id, None)
        self.received[comment.id] = at
        if len(self.received) > _REMEMBERED:
            del self.received[next(iter(self.received))]
        self.found += 1
        self.pending[comment.id] = comment.model_copy(update={"edited": True}) if told_before else comment

    @property
    def next_pending(self) -> tuple[Comment, ...]:
        """The oldest of the pending comments, as many as one step can ask about."""
        return portion(self.pending.values(), lambda c: len(c.body), _ASKED_AT_ONCE, _CHARACTERS_ASKED)

    @property
    def is_light(self) -> bool:
        """Whether it can be carried into a fresh run, which takes no more than 2 MB."""
        few = len(self.pending) <= _ASKED_AT_ONCE
        return few and sum(len(comment.body) for comment in self.pending.values()) <= _CHARACTERS_CARRIED

    def hear(self, asked: Sequence[Comment], accepted: Sequence[Waiting]) -> None:
        """Some pending comments were asked about; the accepted ones wait for the model, a newer text stays pending."""
        for comment in asked:
            newest = self.pending.get(comment.id)
            if newest and newest.version == comment.version:
                del self.pending[comment.id]
        told = self._told_at()
        new = [each for each in accepted if each.id not in told or each.at > told[each.id]]
        before = frozenset(self.said_before_stop)
        self.heard |= {each.id: each.model_copy(update={"passed_over": each.version in before}) for each in new}
        for oldest in list(self.heard)[: max(0, len(self.heard) - _MOST_WAITING)]:
            del self.heard[oldest]
            self.overlooked += 1

    def _told_at(self) -> dict[str, str]:
        """The time of the latest text told of each comment; an earlier one may still be asked about meanwhile."""
        told: dict[str, str] = {}
        for version in self.told:
            id_, _, at = version.rpartition("@")
            told[id_] = max(at, told.get(id_, ""))
        return told

    @property
    def next_heard(self) -> tuple[Waiting, ...]:
        """The oldest of what waits for the model, as much as one turn can hold."""
        return portion(self.heard.values(), lambda w: w.size, _TOLD_AT_ONCE, _CHARACTERS_TOLD)

    def forget_heard(self, dealt_with: Iterable[str]) -> None:
        """Versions of comments were told, or are gone; a later text than the told one stays, as an edit."""
        versions = frozenset(dealt_with)
        self.told = [*self.told, *sorted(versions)][-_REMEMBERED:]
        told = {version.rpartition("@")[0] for version in versions}
        left = [waiting for waiting in self.heard.values() if waiting.version not in versions]
        later = [waiting.model_copy(update={"edited": True}) if waiting.id in told else waiting for waiting in left]
        self.heard = {waiting.id: waiting for waiting in later}

    @property
    def only_closing_is_heard(self) -> bool:
        """Whether all that was heard says nothing but that all is well."""
        return all(waiting.closing for waiting in self.heard.values())

    @property
    def somebody_writes(self) -> bool:
        """Whether something was heard since the last session was stopped or failed."""
        return any(not waiting.passed_over for waiting in self.heard.values())

    def end_by(self, order: Order) -> None:
        """Somebody stops the session: what came before waits until somebody calls for another, what comes now calls."""
        self.stop, self.called_again = self.stop or order, False
        self.said_before_stop = [comment.version for comment in self.pending.values()][-_REMEMBERED:]
        self.pass_over()

    def take_call(self) -> bool:
        """Whether somebody called for another session since this one was stopped; it is told once."""
        called, self.called_again = self.called_again, False
        return called

    def pass_over(self) -> None:
        """A session is stopped or fails: what was heard before waits until somebody calls for another."""
        self.heard = {id_: waiting.model_copy(update={"passed_over": True}) for id_, waiting in self.heard.items()}

    def forget_thanks(self) -> None:
        """At rest, words that say nothing but that all is well call for nothing."""
        if all(waiting.closing or waiting.passed_over for waiting in self.heard.values()):
            self.heard = {id_: waiting for id_, waiting in self.heard.items() if not waiting.closing}

    def is_new_command(self, comment_id: str) -> bool:
        """Whether a command was not obeyed before; from now on it was."""
        if comment_id in self.obeyed:
            return False
        self.obeyed = [*self.obeyed, comment_id][-_REMEMBERED:]
        return True

    def open_session(self, called: Called, session: Session) -> None:
        """Begin a stretch of work."""
        self.called, self.session, self.error = called, session, None
        self.asked_for_more, self.said_before_stop = None, []
        self.sessions = session.number
        self.branch = session.branch

    def close_session(self, handover: Handover) -> None:
        """End it; what remains is the handover."""
        self.handover, self.session = handover, None
        self.tally_before = self.tally
        self.state = State(handover.ending)

    def spend(self, usage: Usage, cost_usd: float | None) -> None:
        """A model call was paid."""
        self.spending.add(usage, cost_usd)
        phase = self.status_phase
        self.spent_on[phase] = self.spent_on.get(phase, 0.0) + (cost_usd or 0.0)

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
        """Something could not be done; it is told, and tried again."""
        self.error = reason
        self.errors += 1

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
            self.heard[comment.id] = Waiting.of(comment)
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
        return bot in (earlier.assignees or ()) and bot not in facts.assignees

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
            error=self.error,
        )
