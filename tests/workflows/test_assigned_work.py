"""The issue's workflow alone decides which agent has it."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.client import WorkflowExecutionStatus
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Replayer

from hikitsugi.app.leases import TemporalOffice
from hikitsugi.app.temporal import WORKFLOWS, plugin
from hikitsugi.domain.assignment import ANOTHERS, BUSY, IN_REVIEW, LOST, Outcome
from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from tests.workflows.house import house, until
from tests.workflows.office import HOUR, AgentsIssue
from workflows.display import AGENT, STATE
from workflows.issue_workflow import IssueWorkflow


@pytest.mark.req("BR-06", "BR-10")
@pytest.mark.lesson("B7")
async def test_of_many_claims_at_once_exactly_one_is_granted(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        answers = await asyncio.gather(*(issue.asks(f"a{n}") for n in range(8)))
        (lease,) = [answer.lease for answer in answers if answer.lease]
        assert issue.forge.labels == {"bug", "in-progress", lease.agent}
        assert issue.forge.branches == ["feature/issue-1"]
        assert issue.forge.calls == 2
        described = await issue.workflow.describe()
        assert described.typed_search_attributes.get(AGENT) == lease.agent
        assert described.typed_search_attributes.get(STATE) == "in-progress"
        assert lease.agent in ((await issue.status()).waiting_for or "")


@pytest.mark.req("BR-10", "TW-03")
@pytest.mark.lesson("B6")
async def test_a_silent_agent_loses_the_issue_and_its_late_report_is_refused(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        lease = await issue.gets("a1")
        await issue.after(HOUR / 2)
        assert (await issue.reports(lease, Outcome.HEARTBEAT)).lease
        await issue.after(HOUR * 0.9)
        assert (await issue.status()).state == "in-progress"
        await issue.after(HOUR / 2)

        async def is_back() -> bool:
            return issue.board.told[-1] == "again"

        await until(is_back)
        assert (await issue.status()).state == "available"
        assert issue.forge.labels == {"bug"}
        assert "fell silent" in issue.forge.ours[0]
        assert (await issue.reports(lease, Outcome.COMPLETED)).refusal == LOST
        assert issue.forge.labels == {"bug"}
        second = await issue.gets("a2")
        assert (await issue.reports(lease, Outcome.HEARTBEAT)).refusal == LOST
        assert (await issue.reports(second, Outcome.HEARTBEAT, agent="a1")).refusal == ANOTHERS
        await issue.after(HOUR * 1.1)

        async def is_back_again() -> bool:
            return issue.board.told.count("again") == 2

        await until(is_back_again)


@pytest.mark.req("BR-10", "TW-03")
@pytest.mark.parametrize("drift", [timedelta(), timedelta(seconds=1), timedelta(days=1)], ids=str)
async def test_the_story_repeats_itself_whatever_the_clock_tells(time: WorkflowEnvironment, drift: timedelta):
    """A worker whose task was handed to it late may have read an earlier time than the history tells."""
    async with AgentsIssue(time).open() as issue:
        lease = await issue.gets("a1")
        await issue.after(HOUR / 2)
        await issue.reports(lease, Outcome.HEARTBEAT)
        await issue.after(HOUR * 2)
        await until(lambda: issue.is_given_to("a2"))
        failing = await issue.gets("a2")
        await issue.reports(failing, Outcome.FAILED)
        await issue.after(timedelta(seconds=6))
        await until(lambda: issue.is_given_to("a3"))
        assert (await issue.reports(failing, Outcome.COMPLETED)).refusal == LOST
        await issue.reports(await issue.gets("a3"), Outcome.COMPLETED)
        history = await issue.workflow.fetch_history()
    steps = [event for event in history.events if event.HasField("workflow_task_started_event_attributes")]
    began = steps[0].event_time.ToDatetime()
    for number, step in enumerate(steps):
        step.event_time.FromDatetime(began + drift * number)
    await Replayer(workflows=WORKFLOWS, plugins=[plugin()]).replay_workflow(history)


@pytest.mark.req("BR-04", "BR-10")
async def test_a_report_ends_the_lease_and_said_again_changes_nothing(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        lease = await issue.gets("a1")
        for _ in range(2):
            assert (await issue.reports(lease, Outcome.COMPLETED, "tests pass")).outcome is Outcome.COMPLETED
        assert issue.forge.labels == {"bug", "needs-review"}
        assert [line for line in issue.forge.ours if "finished" in line] == issue.forge.ours
        assert (await issue.status()).state == "needs-review"
        assert await issue.workflow.query(IssueWorkflow.author) == "a1"
        assert (await issue.asks("a2")).refusal == "the issue waits for a review"
        issue.forge.labels -= {"needs-review"}

        async def is_given() -> bool:
            return (await issue.asks("a2")).lease is not None

        await until(is_given)


@pytest.mark.lesson("B5")
async def test_what_cannot_be_prepared_goes_back_with_a_reason_and_is_offered_after_a_rest(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        issue.forge.poison = WillNeverWork("no such branch can be made")
        assert (await issue.asks("a1")).refusal == "no such branch can be made"
        assert (await issue.status()).error == "no such branch can be made"

        async def is_settled() -> bool:
            return "rests" in ((await issue.asks("a2")).refusal or "")

        await until(is_settled)
        assert issue.forge.labels == {"bug"}
        issue.forge.poison = None
        await issue.after(timedelta(seconds=6))

        async def is_offered() -> bool:
            return issue.board.told[-1] == "again"

        await until(is_offered)
        await issue.gets("a2")


@pytest.mark.req("BR-04")
async def test_asking_again_is_the_same_lease_until_there_is_evidence(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        lease = await issue.gets("a1")
        again = await issue.reports(lease, Outcome.ASKS_AGAIN)
        assert again.lease
        assert (again.lease.id, again.lease.expires_at > lease.expires_at) == (lease.id, True)
        issue.forge.has_work = True
        assert (await issue.reports(lease, Outcome.ASKS_AGAIN)).outcome is Outcome.COMPLETED
        assert issue.forge.labels == {"bug", "needs-review"}


async def test_a_failed_and_a_released_issue_become_available_again(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        assert (await issue.reports(await issue.gets("a1"), Outcome.RELEASED)).outcome
        assert issue.board.told[-1] == "again"
        assert issue.forge.ours == []
        assert (await issue.reports(await issue.gets("a2"), Outcome.FAILED, "no compiler")).outcome
        assert issue.board.told[-1] == "let go"
        assert "no compiler" in issue.forge.comments[-1].body
        assert "rests" in ((await issue.asks("a3")).refusal or "")


async def test_a_closed_issue_is_taken_from_its_agent_and_its_workflow_ends(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        lease = await issue.gets("a1")
        await issue.workflow.signal("issue_changed", {"state": "closed"})
        await issue.workflow.result()
        assert issue.board.told[-1] == "let go"
        assert issue.forge.labels == {"bug"}
        assert (await issue.reports(lease, Outcome.COMPLETED)).refusal == LOST
        assert (await issue.workflow.describe()).status is WorkflowExecutionStatus.COMPLETED


async def test_a_pause_while_an_agent_works_keeps_its_lease_and_a_resume_changes_nothing(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        lease = await issue.gets("a1")
        for order in ("pause", "resume", "pause", "resume"):
            await issue.workflow.signal(order)
            assert (await issue.reports(lease, Outcome.HEARTBEAT)).lease
        assert (await issue.reports(lease, Outcome.COMPLETED)).outcome is Outcome.COMPLETED
        assert issue.forge.labels == {"bug", "needs-review"}


async def test_a_pause_during_a_rest_does_not_shorten_it(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        await issue.reports(await issue.gets("a1"), Outcome.FAILED)
        for order in ("pause", "resume"):
            await issue.workflow.signal(order)
        assert "rests" in ((await issue.asks("a2")).refusal or "")
        await issue.after(timedelta(seconds=6))

        async def is_offered() -> bool:
            return issue.board.told[-1] == "again"

        await until(is_offered)
        await issue.gets("a2")


async def test_a_reopened_issue_is_given_again_and_the_end_of_its_new_lease_is_told_too(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        for agent in ("a1", "a2"):
            lease = await issue.gets(agent)
            assert (await issue.reports(lease, Outcome.FAILED, f"{agent} had no compiler")).outcome
            await issue.workflow.signal("issue_changed", {"state": "closed"})
            await issue.workflow.result()
            assert f"{agent} had no compiler" in issue.forge.comments[-1].body


@pytest.mark.req("BR-06")
async def test_an_agent_that_did_not_hear_of_its_lease_is_told_of_it_when_it_claims_anew(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        first, second = await asyncio.gather(issue.asks("a1"), issue.asks("a1"))
        assert first.lease
        assert second.lease == first.lease
        assert (await issue.gets("a1")).id == first.lease.id
        assert issue.forge.calls == 2


@pytest.mark.req("BR-06")
async def test_an_agent_with_another_task_is_refused_and_the_issue_goes_to_the_next(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        issue.board.busy = {"a1"}
        assert (await issue.asks("a1")).refusal == BUSY
        assert issue.forge.branches == []

        async def is_back() -> bool:
            return issue.board.told[-1] == "again"

        await until(is_back)
        await issue.gets("a2")


@pytest.mark.req("BR-06")
async def test_who_is_woken_before_the_story_knows_that_the_issue_is_offered_gets_it(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        lease = await issue.gets("a1")
        issue.board.answers.clear()
        released = asyncio.create_task(issue.reports(lease, Outcome.RELEASED))

        async def is_offered() -> bool:
            return issue.board.told[-1] == "again"

        await until(is_offered)
        claimed = asyncio.create_task(issue.asks("a2"))

        async def has_come() -> bool:
            events = (await issue.workflow.fetch_history()).events
            updates = [e for e in events if e.HasField("workflow_execution_update_accepted_event_attributes")]
            return len(updates) == 3

        await until(has_come)
        issue.board.answers.set()
        assert (await released).outcome
        assert (await claimed).lease


async def test_a_stop_takes_it_from_the_agent_and_only_a_resume_gives_it_again(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        await issue.gets("a1")
        await issue.workflow.signal("stop", "wrong idea")

        async def is_held() -> bool:
            return (await issue.asks("a2")).refusal == "the issue is paused"

        await until(is_held)
        assert issue.board.told[-1] == "let go"
        status = await issue.workflow.query(IssueWorkflow.status)
        assert status.waiting_for == "a resume (starter.py resume or the dashboard); held by operator: wrong idea"
        await issue.workflow.signal("resume")

        async def is_offered() -> bool:
            return issue.board.told[-1] == "again"

        await until(is_offered)
        await issue.gets("a2")


@pytest.mark.req("TW-05")
async def test_a_lease_outlives_continue_as_new_and_no_report_is_lost(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        lease = await issue.gets("a1")
        first = (await issue.workflow.describe()).run_id

        async def is_renewed() -> bool:
            said = await asyncio.gather(*(issue.reports(lease, Outcome.HEARTBEAT) for _ in range(8)))
            assert all(answer.lease for answer in said)
            return (await issue.workflow.describe()).run_id != first

        await until(is_renewed)
        assert (await issue.asks("a2")).refusal
        assert (await issue.reports(lease, Outcome.COMPLETED)).outcome is Outcome.COMPLETED


async def test_an_issue_that_agents_have_is_not_worked_on_by_the_built_in_one(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        await issue.gets("a1")
        await issue.workflow.signal("issue_changed", {"labels": ["task:misc"], "for_work": True})
        await issue.workflow.signal("comment", {"body": "please"})
        assert (await issue.status()).session == 0
        assert (await issue.status()).state == "in-progress"


async def test_an_issue_that_the_built_in_agent_has_is_given_to_nobody(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time).open(tmp_path) as ours:
        ours.model.may_speak.clear()
        await ours.start()
        await ours.comes_to("processing")
        issue = AgentsIssue(time)
        issue.issue, issue.office = ours.issue, TemporalOffice(time.client, ours.task_queue)
        assert (await issue.asks("a1")).refusal == "the built-in agent works on it"
        ours.model.may_speak.set()


@pytest.mark.req("BR-06")
async def test_a_limit_of_the_forge_is_no_fault_of_the_issue_which_comes_back_when_it_is_over(
    time: WorkflowEnvironment,
):
    async with AgentsIssue(time).open() as issue:
        issue.forge.poison = TryAgainLater("limited", after=timedelta(minutes=10))
        answer = await issue.asks("a1")
        assert (answer.wait, answer.lease) == (timedelta(minutes=10), None)
        issue.forge.poison = None
        await until(lambda: issue.is_given_to("a2"))


@pytest.mark.req("BR-06")
async def test_what_was_sent_back_from_review_is_not_lost_when_it_cannot_be_prepared_at_once(
    time: WorkflowEnvironment,
):
    async with AgentsIssue(time).open() as issue:
        await issue.reports(await issue.gets("a1"), Outcome.COMPLETED)
        issue.forge.labels = {"bug"}
        issue.forge.poison = WillNeverWork("the branch is refused")
        assert (await issue.asks("a2")).refusal == "the branch is refused"
        issue.forge.poison = None

        async def is_settled() -> bool:
            return "rests" in ((await issue.asks("a2")).refusal or "")

        await until(is_settled)
        await issue.after(timedelta(seconds=6))

        async def is_offered() -> bool:
            return issue.board.told[-1] == "again"

        await until(is_offered)
        await issue.gets("a3")


async def test_what_still_waits_for_its_review_is_not_offered(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        await issue.reports(await issue.gets("a1"), Outcome.COMPLETED)
        assert (await issue.asks("a2")).refusal == IN_REVIEW

        async def is_settled() -> bool:
            return issue.board.told[-1] == "let go"

        await until(is_settled)
        assert "again" not in issue.board.told


@pytest.mark.req("BR-10")
async def test_an_issue_closed_while_it_is_prepared_keeps_no_label_of_the_agent(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        issue.forge.answers.clear()
        claimed = asyncio.create_task(issue.asks("a1"))

        async def is_asked() -> bool:
            return issue.forge.calls > 0

        await until(is_asked)
        await issue.workflow.signal("issue_changed", {"state": "closed"})
        await issue.workflow.query(IssueWorkflow.status)
        issue.forge.answers.set()
        assert (await claimed).refusal == LOST
        await issue.workflow.result()
        assert issue.forge.labels == {"bug"}


async def test_the_board_hears_of_the_end_even_where_the_forge_refuses_to_show_it(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        lease = await issue.gets("a1")
        issue.forge.refusal = WillNeverWork("the issue is locked")
        assert (await issue.reports(lease, Outcome.RELEASED)).outcome
        assert issue.board.told[-1] == "again"
        assert (await issue.status()).error == "the issue is locked"


@pytest.mark.req("BR-08")
async def test_the_next_agent_hears_what_the_last_one_said(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        assert (await issue.asks("a1")).handover is None
        lease = (await issue.asks("a1")).lease
        assert lease
        await issue.reports(lease, Outcome.RELEASED, "the schema is missing")
        told = (await issue.asks("a2")).handover
        assert told
        assert "`a1`" in told
        assert "the schema is missing" in told


async def test_a_lease_outlives_the_day_on_which_the_issue_would_have_been_forgotten(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        lease = await issue.gets("a1")
        await issue.reports(lease, Outcome.RELEASED)
        await issue.after(timedelta(days=90) - HOUR / 2)
        lease = await issue.gets("a2")
        await issue.after(HOUR * 0.75)
        assert (await issue.reports(lease, Outcome.HEARTBEAT)).lease


async def test_of_an_issue_whose_workflow_was_ended_by_hand_nobody_has_the_lease(time: WorkflowEnvironment):
    async with AgentsIssue(time).open() as issue:
        assert await issue.office.held_of(issue.issue) is None
        lease = await issue.gets("a1")
        held = await issue.office.held_of(issue.issue)
        assert held
        assert held.lease_id == lease.id
        await issue.workflow.terminate()
        assert await issue.office.held_of(issue.issue) is None
