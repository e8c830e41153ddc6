"""Leases: who has an issue, until when, and what follows."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.assignment import LONGEST_REST, Assignment, Claim, Outcome, Report, Terms
from hikitsugi.domain.lease import Lease, LeaseId
from hikitsugi.domain.states import State

ISSUE = IssueAddress(forge="github", repository="octo/repo", number=12)
NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
FAR = NOW + timedelta(days=90)
ENDINGS = [Outcome.COMPLETED, Outcome.FAILED, Outcome.RELEASED]

pytestmark = pytest.mark.req("BR-10")


def claim(agent: str = "a1") -> Claim:
    return Claim(
        agent=agent,
        title="",
        url="",
        branch="feature/issue-12",
        base="main",
        base_commit="",
        shelf="",
        terms=Terms(lease=HOUR),
    )


def given_to(agent: str = "a1") -> tuple[Assignment, Lease]:
    assignment = Assignment()
    lease = assignment.grant(ISSUE, claim(agent), "0" * 16, NOW)
    assignment.ready(NOW)
    return assignment, lease


def test_a_lease_id_tells_its_issue_and_nothing_else_is_one():
    lease_id = LeaseId(issue=ISSUE, number=3, secret="0123456789abcdef")
    assert LeaseId.parse(str(lease_id)) == lease_id
    assert "/" not in str(lease_id)
    for wrong in (
        "",
        "x",
        "x.1.0123456789abcdef",
        "////.1.0123456789abcdef",
        str(lease_id) + "0",
        str(lease_id).replace(".3.", ".0."),
    ):
        with pytest.raises(ValueError, match="not a"):
            LeaseId.parse(wrong)


@pytest.mark.parametrize(
    ("outcome", "state", "can_be_given"),
    [
        (Outcome.COMPLETED, State.NEEDS_REVIEW, False),
        (Outcome.FAILED, State.AVAILABLE, False),
        (Outcome.RELEASED, State.AVAILABLE, True),
        (Outcome.EXPIRED, State.AVAILABLE, True),
    ],
)
def test_what_follows_from_the_end_of_a_lease(outcome: Outcome, state: State, can_be_given: bool):  # noqa: FBT001
    assignment, lease = given_to()
    assignment.end(outcome, NOW)
    assert assignment.state is state
    assert assignment.can_be_given_again() is can_be_given
    assert assignment.settlement is not None
    assert not assignment.holds(lease.id, "a1")


def test_a_lease_is_its_agents_alone():
    assignment, lease = given_to()
    assert assignment.holds(lease.id, "a1")
    assert not assignment.holds(lease.id, "a2")


def test_who_gave_a_sign_of_life_keeps_the_lease_when_the_time_before_it_is_up():
    assignment, lease = given_to()
    signs = assignment.signs
    assignment.renew(NOW + HOUR / 2)
    assignment.time_is_up(signs, NOW + HOUR)
    assert assignment.holds(lease.id, "a1")
    assert assignment.next_moment(NOW) == NOW + 1.5 * HOUR
    assignment.time_is_up(assignment.signs, NOW + 1.5 * HOUR)
    assert not assignment.holds(lease.id, "a1")


@pytest.mark.lesson("B5")
def test_what_fails_rests_ever_longer():
    assignment, rests = Assignment(), list[timedelta]()
    now = NOW
    for _ in range(60):
        assignment.grant(ISSUE, claim(), "0" * 16, now)
        assignment.end(Outcome.FAILED, now)
        assignment.settlement = None
        assert assignment.rests_until is not None
        assert assignment.refusal()
        assert not assignment.can_be_offered()
        rests.append(assignment.rests_until - now)
        now = assignment.rests_until
        assignment.time_is_up(assignment.signs, now)
        assert assignment.can_be_offered()
        assignment.rested()
    assert rests == sorted(rests)
    assert rests[-1] == LONGEST_REST


def test_the_same_report_said_again_is_known_and_another_is_not():
    assignment, lease = given_to()
    report = Report(lease_id=lease.id, agent="a1", outcome=Outcome.COMPLETED, note="done")
    assignment.end(report.outcome, NOW, report.note)
    assignment.last_report = report.model_copy(update={"note": ""})
    assert assignment.knows(report)
    assert not assignment.knows(report.model_copy(update={"outcome": Outcome.FAILED}))
    assert not assignment.knows(report.model_copy(update={"agent": "a2"}))


def test_a_closed_issue_is_given_to_nobody():
    assignment, lease = given_to()
    assignment.close(NOW)
    assert not assignment.holds(lease.id, "a1")
    assert not assignment.is_over
    assignment.settlement = None
    assert assignment.is_over
    assert assignment.refusal() == "the issue is closed"


class Leases(RuleBasedStateMachine):
    """Any order of claims, reports, signs of life, silence and closing."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.assignment = Assignment()
        self.given: list[Lease] = []
        self.ends: dict[str, datetime] = {}

    @rule(agent=st.sampled_from(["a1", "a2", "a3"]))
    def claims(self, agent: str) -> None:
        if self.assignment.refusal():
            return
        assert not self.working()
        lease = self.assignment.grant(ISSUE, claim(agent), f"{len(self.given):016x}", self.now)
        self.assignment.ready(self.now)
        assert lease.id not in [earlier.id for earlier in self.given]
        self.given.append(lease)
        self.ends[lease.id] = self.now + HOUR

    @precondition(lambda self: self.given)
    @rule(data=st.data(), outcome=st.sampled_from([Outcome.HEARTBEAT, *ENDINGS]))
    def reports(self, data: st.DataObject, outcome: Outcome) -> None:
        lease = data.draw(st.sampled_from(self.given))
        if not self.assignment.holds(lease.id, lease.agent):
            assert lease.id not in self.working()
            return
        assert self.working() == [lease.id]
        if outcome is Outcome.HEARTBEAT:
            self.ends[lease.id] = self.assignment.renew(self.now).expires_at
        else:
            self.assignment.end(outcome, self.now)
            self.ends[lease.id] = self.now

    @rule(minutes=st.integers(1, 90))
    def time_passes(self, minutes: int) -> None:
        """A timer fires as soon as its time is up, as Temporal's do."""
        end = self.now + timedelta(minutes=minutes)
        while (moment := self.assignment.next_moment(FAR)) <= end:
            self.now = max(self.now, moment)
            self.assignment.time_is_up(self.assignment.signs, self.now)
        self.now = end

    @precondition(lambda self: self.assignment.lease)
    @rule()
    def an_earlier_timer_fires(self) -> None:
        """One that began before the last sign of life."""
        lease = self.assignment.lease
        self.assignment.time_is_up(self.assignment.signs - 1, self.now)
        assert self.assignment.lease == lease

    @rule()
    def is_settled(self) -> None:
        self.assignment.settlement = None

    @rule()
    def rests(self) -> None:
        if self.assignment.can_be_offered():
            self.assignment.rested()

    def working(self) -> list[str]:
        """The leases whose agents may still believe in them."""
        return [lease.id for lease in self.given if self.now < self.ends[lease.id]]

    @invariant()
    def nobody_works_twice(self) -> None:
        assert len(self.working()) <= 1

    @invariant()
    def the_present_lease_is_the_newest(self) -> None:
        if self.assignment.lease:
            assert self.assignment.lease.id == self.given[-1].id
            assert LeaseId.parse(self.assignment.lease.id).number == len(self.given)

    @invariant()
    def it_is_never_lost(self) -> None:
        later = self.now + 2 * HOUR
        waits = self.assignment.settlement or self.assignment.author or self.assignment.is_rested
        assert waits or self.assignment.next_moment(later) <= later


Leases.TestCase.settings = settings(max_examples=60, stateful_step_count=30)
TestLeases = Leases.TestCase


@pytest.mark.long
def test_very_many_orders_of_claims_reports_and_silence():
    run_state_machine_as_test(Leases, settings=settings(max_examples=5000, stateful_step_count=60))
