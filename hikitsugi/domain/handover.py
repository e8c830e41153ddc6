"""Everything a session leaves behind, as the store keeps it whole; `session.Handover` is its small form."""

from datetime import datetime

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.records import Use
from hikitsugi.domain.session import Ending, Handover
from hikitsugi.domain.status import PlanItem
from hikitsugi.domain.value import Value

_CARRIED = 2000
_HANDED_DOWN = 10


class PlanRecord(Value):
    """One earlier plan: what it was for, its parts in a line each, and each part in full."""

    goal: str
    session: int = 0
    outline: tuple[str, ...] = ()
    details: tuple[str, ...] = ()


class Attempts(Value):
    """What was tried with tools: how often it worked, how often not, and what went wrong."""

    succeeded: int = 0
    failed: int = 0
    failures: tuple[str, ...] = ()
    """The failed calls with the reason each gave, oldest first."""
    succeeded_with: tuple[str, ...] = ()
    """The commands that worked."""


class Context(Value):
    """The record of one session, for the next one on the same issue and for nobody else."""

    id: str
    issue: IssueAddress
    session: int
    ending: Ending
    ended_at: datetime
    summary: str
    older_summaries: tuple[str, ...] = ()
    """Earlier summaries of the same session, oldest first."""
    plans: tuple[PlanRecord, ...] = ()
    attempts: Attempts = Attempts()
    verifications: tuple[str, ...] = ()
    reflections: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    done: tuple[PlanItem, ...] = ()
    """The actions that are done, for a plan that continues."""
    use: Use = Use()

    @classmethod
    def of(cls, issue: IssueAddress, carried: Handover) -> "Context":
        """What is left of a context when the store cannot give the whole."""
        return cls(
            id=carried.id,
            issue=issue,
            session=carried.session,
            ending=carried.ending,
            ended_at=carried.ended_at,
            summary=carried.summary,
            done=carried.done,
        )

    def after(self, earlier: "Context | None") -> "Context":
        """The same, with the plans and verifications that had been handed down to its session before its own."""
        if earlier is None:
            return self
        verified = (
            line if line.startswith("Session ") else f"Session {earlier.session}: {line}"
            for line in earlier.verifications
        )
        return self.model_copy(
            update={
                "plans": (*earlier.plans, *self.plans)[-_HANDED_DOWN:],
                "verifications": (*verified, *self.verifications)[-_HANDED_DOWN:],
            }
        )

    @property
    def carried(self) -> Handover:
        """What travels through continue-as-new: enough to go on if the store should be lost."""
        return Handover(
            id=self.id,
            session=self.session,
            ending=self.ending,
            ended_at=self.ended_at,
            summary=self.summary[:_CARRIED],
            done=self.done,
        )
