"""An issue in the hands of external agents: who has it, until when, and what has to be put right afterwards."""

from datetime import datetime, timedelta
from enum import StrEnum

from pydantic import BaseModel

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.lease import Lease, LeaseId
from hikitsugi.domain.policy import LabelNames, Language
from hikitsugi.domain.selection import TaskType
from hikitsugi.domain.states import State
from hikitsugi.domain.value import Value

SHORTEST_REST = timedelta(seconds=5)
LONGEST_REST = timedelta(hours=1)
_LONGEST_NOTE = 2000


LOST = "the lease is lost"
ANOTHERS = "the lease is another agent's"
BUSY = "the agent has another task"
IN_REVIEW = "the issue waits for a review"


class Outcome(StrEnum):
    """What an agent, or its silence, says of a lease."""

    HEARTBEAT = "heartbeat"
    COMPLETED = "completed"
    FAILED = "failed"
    RELEASED = "released"
    ASKS_AGAIN = "asks again"
    EXPIRED = "expired"


class Terms(Value):
    """What holds for every lease: how long it lasts, and how its labels are called."""

    lease: timedelta = timedelta(hours=1)
    labels: LabelNames = LabelNames()
    language: Language = "ja"
    context_expiry: timedelta = timedelta(days=90)


class Claim(Value):
    """An agent asks for an issue, as the board shows it."""

    agent: str
    title: str
    url: str
    branch: str
    base: str
    base_commit: str
    shelf: str
    task_type: TaskType = TaskType.DEVELOPMENT
    terms: Terms = Terms()


class Answer(Value):
    """What comes of a claim or a report: the lease, or why there is none."""

    lease: Lease | None = None
    refusal: str | None = None
    outcome: Outcome | None = None
    handover: str | None = None
    """What earlier work on the issue left."""
    wait: timedelta | None = None
    """How long the forge asked everybody to stay away, where that is why there is none."""


class Report(Value):
    """What an agent says of its lease."""

    lease_id: str
    agent: str
    outcome: Outcome
    note: str = ""


class Settlement(Value):
    """What forge and board must still be shown after a lease has ended."""

    agent: str
    outcome: Outcome
    lease: str
    """Tells the lease from all others that the issue ever had."""
    note: str = ""
    is_told: bool = True
    """Whether people are told why."""
    again: bool = True
    """Whether the issue can be given to the next, once nothing else keeps it back."""


class Assignment(BaseModel):
    """Changes by its own methods, and travels with the life of the issue."""

    claim: Claim | None = None
    lease: Lease | None = None
    is_ready: bool = False
    """Whether branch, labels and board know of the lease."""
    granted: int = 0
    failures: int = 0
    """How often in a row the issue came back unfinished."""
    rests_until: datetime | None = None
    is_rested: bool = False
    """Whether the rest is over, but the board has not heard of it."""
    signs: int = 0
    """Counts the signs of life, so that silence shows without a clock."""
    author: str | None = None
    """Whose work waits for a review."""
    settlement: Settlement | None = None
    last_words: Settlement | None = None
    """How the last lease of which there is something to tell ended, for whoever works on it next."""
    last_report: Report | None = None
    """The report that ended the last lease; said again, it is answered as before."""
    is_closed: bool = False
    is_held: bool = False
    """Whether it was kept back by a pause, so that it must be offered again afterwards."""

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to be done or decided."""
        return self.is_closed and self.lease is None and self.settlement is None

    @property
    def is_being_prepared(self) -> bool:
        """Whether somebody waits for branch and labels."""
        return self.lease is not None and not self.is_ready

    @property
    def terms(self) -> Terms:
        """The terms of the last claim."""
        return self.claim.terms if self.claim else Terms()

    @property
    def state(self) -> State:
        """How the issue is shown."""
        if self.lease:
            return State.IN_PROGRESS
        return State.NEEDS_REVIEW if self.author else State.AVAILABLE

    def refusal(self, *, held: bool = False) -> str | None:
        """Why the issue cannot be given to anybody now; None when it can."""
        if self.is_closed:
            return "the issue is closed"
        if self.lease:
            return f"{self.lease.agent} works on it until {self.lease.expires_at.isoformat()}"
        if self.settlement:
            return "the last lease is still being settled"
        if held:
            return "the issue is paused"
        if self.rests_until:
            return f"it rests until {self.rests_until.isoformat()}"
        return None

    def is_given_to(self, agent: str) -> bool:
        """Whether an agent has the issue already."""
        return self.lease is not None and self.lease.agent == agent

    def grant(self, issue: IssueAddress, claim: Claim, secret: str, now: datetime) -> Lease:
        """Give the issue to an agent; the number of each lease is greater than those before."""
        self.granted += 1
        self.claim, self.is_ready = claim, False
        lease_id = LeaseId(issue=issue, number=self.granted, secret=secret)
        expires_at = now + claim.terms.lease
        self.lease = Lease(id=str(lease_id), agent=claim.agent, branch=claim.branch, expires_at=expires_at)
        return self.lease

    def ready(self, now: datetime) -> Lease | None:
        """Branch and labels are there: the agent's time begins, unless the lease was taken back meanwhile."""
        if self.lease is None:
            return None
        self.is_ready, self.author = True, None
        return self.renew(now)

    def holds(self, lease_id: str, agent: str) -> bool:
        """Whether an agent's lease is the present one."""
        return self.lease is not None and (self.lease.id, self.lease.agent) == (lease_id, agent)

    def knows(self, report: Report) -> bool:
        """Whether the very same report has already ended the lease."""
        return self.last_report == report.model_copy(update={"note": ""})

    def is_anothers(self, report: Report) -> bool:
        """Whether somebody reports on a lease that another agent has."""
        return self.lease is not None and self.lease.id == report.lease_id and self.lease.agent != report.agent

    def renew(self, now: datetime) -> Lease:
        """The agent is alive: its time begins anew."""
        if self.lease is None:
            raise RuntimeError("nobody holds a lease")
        self.signs += 1
        self.lease = self.lease.model_copy(update={"expires_at": now + self.terms.lease})
        return self.lease

    def end(self, outcome: Outcome, now: datetime, note: str = "", *, is_told: bool = True, again: bool = True) -> None:
        """The lease is over; what follows from it is still to be settled."""
        if self.lease is None:
            return
        agent, lease = self.lease.agent, LeaseId.parse(self.lease.id)
        self.lease, self.is_ready, note = None, False, note[:_LONGEST_NOTE]
        self.settlement = Settlement(
            agent=agent,
            outcome=outcome,
            lease=f"{lease.number}-{lease.secret[:8]}",
            note=note,
            is_told=is_told and _is_worth_telling(outcome, note),
            again=again and outcome is not Outcome.COMPLETED,
        )
        if self.settlement.is_told:
            self.last_words = self.settlement
        if outcome is Outcome.COMPLETED:
            self.author, self.failures = agent, 0
        elif outcome is Outcome.FAILED:
            self.failures += 1
            self.rests_until = now + min(SHORTEST_REST * 2 ** min(self.failures - 1, 20), LONGEST_REST)

    def time_is_up(self, signs: int, now: datetime) -> None:
        """A timer has fired that began at so many signs of life: whoever gave none since loses it, and a rest is over.

        Nothing here asks the clock: a story that is told again may read another time on it.
        """
        if self.lease and self.is_ready and self.signs == signs:
            self.end(Outcome.EXPIRED, now)
        elif self.rests_until:
            self.is_rested = True

    def close(self, now: datetime) -> None:
        """Whoever has it loses it, and nobody gets it any more."""
        self.end(Outcome.RELEASED, now, is_told=False)
        self.is_closed = True

    def can_be_given_again(self, *, held: bool = False) -> bool:
        """Whether nothing keeps the board from giving it to the next who asks."""
        kept = held or self.is_closed or self.lease or self.rests_until
        return not kept and self.settlement is not None and self.settlement.again

    def can_be_offered(self, *, held: bool = False) -> bool:
        """Whether a rest or a pause has ended, so that the board must hear of it."""
        resting = self.rests_until is not None and not self.is_rested
        return (self.is_rested or self.is_held) and not resting and not held and not self.is_closed and not self.lease

    def rested(self) -> None:
        """The rest or pause is over."""
        self.rests_until, self.is_rested, self.is_held = None, False, False

    def next_moment(self, otherwise: datetime) -> datetime:
        """When something happens by itself."""
        if self.lease:
            return self.lease.expires_at if self.is_ready else otherwise
        return otherwise if self.is_rested else self.rests_until or otherwise


def _is_worth_telling(outcome: Outcome, note: str) -> bool:
    return outcome in (Outcome.EXPIRED, Outcome.FAILED) or bool(note)
