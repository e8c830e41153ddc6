"""When planned work reflects, revises, asks and plans anew."""

from datetime import UTC, datetime, timedelta

import pytest

from hikitsugi.domain.outcome import Outcome
from hikitsugi.domain.phase_replies import Misfit, ReplanKind, parsed
from hikitsugi.domain.phases import Phase, tools_of
from hikitsugi.domain.plan import TurnRef
from hikitsugi.domain.planning import Planning
from hikitsugi.domain.policy import PlanningLimits, PlanningPolicy
from hikitsugi.domain.proof import is_ready
from hikitsugi.domain.tools import Submission, SubmissionStatus
from hikitsugi.domain.verification import CheckRun, Verified

POLICY = PlanningPolicy(enabled=True)
TURN = TurnRef(conversation="c", sequence=1)


@pytest.mark.req("PL-03")
@pytest.mark.parametrize(
    ("planning", "due"),
    [
        (Planning(), False),
        (Planning(acted=2), False),
        (Planning(acted=3), True),
        (Planning(acted=1, has_failed=True), True),
        (Planning(acted=1, is_steered=True), True),
    ],
)
def test_reflection_is_due_after_a_failure_a_comment_and_every_so_many_actions(planning: Planning, *, due: bool):
    assert planning.calls_for_reflection(POLICY) is due


@pytest.mark.req("PL-05")
@pytest.mark.parametrize(
    ("wanted", "confidence", "earlier", "asked", "follows"),
    [
        ("none", 1.0, [], 0, "none"),
        ("retry", 0.9, [], 0, "retry"),
        ("retry", 0.5, [], 0, "retry"),
        ("retry", 0.49, [], 0, "clarification_request"),
        ("retry", 0.49, [], 2, "none"),
        ("retry", 0.29, [], 0, "none"),
        ("clarification_request", 0.9, [], 0, "clarification_request"),
        ("clarification_request", 0.9, [], 2, "none"),
        ("retry", 0.9, ["retry"], 0, "retry"),
        ("retry", 0.9, ["retry", "retry"], 0, "none"),
        ("goal_revision", 0.9, ["retry", "retry"], 0, "goal_revision"),
        ("goal_revision", 0.9, ["retry", "retry", "partial_replan"], 0, "none"),
    ],
)
def test_what_follows_from_a_replan_decision(
    wanted: str, confidence: float, earlier: list[str], asked: int, follows: str
):
    planning = Planning(replans=[ReplanKind(kind) for kind in earlier], clarifications=asked)
    assert planning.replan_by(Outcome(replan=ReplanKind(wanted), confidence=confidence), POLICY) == follows


@pytest.mark.req("PL-05")
@pytest.mark.parametrize(
    ("kind", "keeps"), [("partial_replan", True), ("task_redecomposition", False), ("goal_revision", False)]
)
def test_only_a_partial_replan_keeps_the_ticks(kind: str, *, keeps: bool):
    planning = Planning(rounds=2, acted=2)
    planning.begin_replan(ReplanKind(kind), TURN)
    assert (planning.keeps_done, planning.replan, planning.rounds) == (keeps, TURN, 0)


@pytest.mark.parametrize("limit", [0, 2])
def test_limits_are_kept(limit: int):
    limits = PlanningLimits(revisions=limit, verification_rounds=limit, replans=limit)
    policy = PlanningPolicy(limits=limits)
    planning = Planning(revisions=limit, rounds=limit, replans=[ReplanKind.RETRY] * limit)
    assert not planning.may_revise(policy)
    assert not planning.may_add_work(policy)
    assert not planning.may_replan(policy)


def test_a_pause_does_not_count_as_waiting():
    since = datetime(2026, 1, 1, tzinfo=UTC)
    planning = Planning(awaits_since=since)
    planning.wait_longer(timedelta(days=2))
    assert planning.awaits_since == since + timedelta(days=2)


@pytest.mark.req("BY-04")
@pytest.mark.parametrize(
    ("approval", "labels", "waits"),
    [
        ("never", ["needs-approval"], False),
        ("always", [], True),
        ("label", [], False),
        ("label", ["Needs-Approval"], True),
    ],
)
def test_who_has_to_approve_a_plan(approval: str, labels: list[str], *, waits: bool):
    policy = PlanningPolicy.model_validate({"approval": approval})
    assert policy.wants_approval(labels, "needs-approval") is waits


@pytest.mark.req("PL-01")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("not JSON", "Invalid JSON"),
        ('{"status": "success"}', "evaluation: Field required"),
        ('{"status": "so-so", "evaluation": "x", "issues": [], "root_cause": "", "revise": false}', "status: Input"),
        ("[]", "reply: Input should be an object"),
        ("", "Invalid JSON"),
    ],
)
def test_a_reply_that_does_not_fit_says_why(text: str, reason: str):
    with pytest.raises(Misfit, match=reason):
        parsed(Phase.REFLECTION, text)


def test_only_execution_may_change_anything_and_only_it_submits():
    changing = {"edit", "write", "submit"}
    assert [phase for phase in Phase if changing & set(tools_of(phase))] == [Phase.EXECUTION]


@pytest.mark.req("BY-03")
@pytest.mark.parametrize(
    ("status", "exits", "touched", "ready"),
    [
        ("done", [0, 0], [], True),
        ("done", [0, 1], [], False),
        ("done", [], [], False),
        ("done", [0], ["AGENTS.md"], False),
        ("blocked", [0], [], False),
        (None, [0], [], False),
    ],
)
def test_a_request_is_ready_only_by_what_was_seen(
    status: str | None, exits: list[int], touched: list[str], *, ready: bool
):
    submission = Submission(status=SubmissionStatus(status), summary="x") if status else None
    checks = tuple(CheckRun(command="make test", exit_code=code) for code in exits)
    verified = Verified(commit="c", checks=checks, touches_instructions=tuple(touched))
    assert is_ready(submission, verified) is ready
    assert is_ready(submission, None) is False
