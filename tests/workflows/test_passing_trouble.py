"""What passes is told while it lasts, and no longer."""

from collections.abc import Collection
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.life import Life
from hikitsugi.domain.policy import Policy
from hikitsugi.domain.session import Called, Ending, Handover
from hikitsugi.domain.states import State
from tests.workflows.fakes import ALICE, EPOCH, FakeForge
from tests.workflows.house import House, house, until
from tests.workflows.planner import Planner, planned
from workflows.issue_workflow import IssueWorkflow


@pytest.mark.req("CH-14", "CI-03")
async def test_a_forge_that_refuses_for_a_while_is_told_and_then_forgotten(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        h.forge.refuses = WillNeverWork("The token was refused.")
        h.forge.labels ^= {"completed"}
        await h.workflow.signal("issue_changed", {"labels": sorted(h.forge.labels)})
        await until(lambda: _complains(h, "The token was refused."))
        h.forge.refuses = None
        await time.fast_forward(h.workflow, timedelta(minutes=2))
        await until(lambda: _complains(h, None))
        await h.hears(ALICE, "ありがとう")
        await h.comes_to("completed")
        assert "refused" not in h.forge.comments[-1].body


@pytest.mark.req("CH-11", "CH-14")
async def test_a_pass_that_failed_is_told_until_one_succeeds_and_is_not_handed_over_by_a_completed_session(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        h.model.refuses_once = WillNeverWork("The model refuses.")
        await h.hears(ALICE, "One more thing.")
        await until(lambda: _complains(h, "The model refuses."))
        await h.hears(ALICE, "And another.")
        await until(lambda: _complains(h, None))
        h.model.refuses_once = WillNeverWork("The model refuses.")
        await h.hears(ALICE, "The last one.")
        await until(lambda: _complains(h, "The model refuses."))
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, "ありがとう")
        await h.comes_to("completed")
        assert "The model refuses." not in h.forge.comments[-1].body


class BusyForge(FakeForge):
    """Asks for patience when it is first asked who maria is."""

    is_busy = True
    patience = timedelta(minutes=1)

    async def may_write(self, home: RepositoryAddress, user: str) -> bool:
        if self.is_busy:
            self.is_busy = False
            raise TryAgainLater("Slow down.", after=self.patience)
        return await super().may_write(home, user)


@pytest.mark.req("TW-04")
async def test_of_two_limits_the_longer_is_still_told_when_the_shorter_is_over(
    time: WorkflowEnvironment, tmp_path: Path
):
    h = house(time, rounds=0)
    h.forge = BusyForge(h.issue)
    h.model.refuses_once = TryAgainLater("Slow down.", after=timedelta(hours=1))
    async with h.open(tmp_path):
        await h.start()
        await until(lambda: _waits_for(h, "モデルの利用制限"))
        await h.hears("maria", "Use tabs.")
        await until(lambda: _waits_for(h, "フォージの"))
        await time.fast_forward(h.workflow, timedelta(minutes=2))
        await until(lambda: _acknowledged(h))
        await until(lambda: _waits_for(h, "モデルの利用制限"))


@pytest.mark.req("CH-08", "CH-12", "TW-03")
async def test_who_writes_in_time_is_answered_although_the_forge_lets_us_know_late(
    time: WorkflowEnvironment, tmp_path: Path
):
    h = house(time, rounds=0)
    h.forge = forge = BusyForge(h.issue)
    forge.patience = timedelta(hours=2)
    async with h.open(tmp_path):
        await h.start()
        await h.comes_to("awaiting-response")
        await time.fast_forward(h.workflow, timedelta(hours=23, minutes=30))
        await h.hears("maria", "Use tabs.")
        await until(lambda: _waits_for(h, "フォージの"))
        await time.fast_forward(h.workflow, timedelta(hours=1))
        assert (await h.status()).state == "awaiting-response"
        await time.fast_forward(h.workflow, timedelta(hours=2))
        await until(lambda: _acknowledged(h))
        await until(lambda: _has_told(h, 2))
        assert (await h.comes_to("awaiting-response")).session == 1


class ForgeWithoutLabels(FakeForge):
    """Refuses to change labels for a while."""

    is_strict = False

    async def change_labels(self, issue: IssueAddress, add: Collection[str], remove: Collection[str]) -> None:
        if self.is_strict:
            raise WillNeverWork("The token may not change labels.")
        await super().change_labels(issue, add, remove)


@pytest.mark.req("PR-01", "CH-06", "TW-04")
async def test_a_pause_at_rest_outlives_a_forge_that_refuses_its_label(time: WorkflowEnvironment, tmp_path: Path):
    h = house(time, rounds=0, policy=Policy(converses=False))
    h.forge = forge = ForgeWithoutLabels(h.issue)
    async with h.open(tmp_path):
        await h.start()
        await h.comes_to("completed")
        forge.is_strict = True
        await h.workflow.signal("pause")
        await until(lambda: _complains(h, "The token may not change labels."))
        assert "一時停止" in str((await h.status()).waiting_for)
        forge.is_strict = False
        await time.fast_forward(h.workflow, timedelta(minutes=2))
        await h.comes_to("paused")
        forge.is_strict = True
        await h.workflow.signal("resume")
        await until(lambda: _complains(h, "The token may not change labels."))
        forge.is_strict = False
        await time.fast_forward(h.workflow, timedelta(minutes=2))
        await h.comes_to("completed")
        assert "paused" not in forge.labels


@pytest.mark.req("LC-03", "CH-06")
async def test_a_session_whose_last_label_is_refused_is_told_as_over_in_its_living_comment(
    time: WorkflowEnvironment, tmp_path: Path
):
    h = House(time, Planner(), planned())
    h.forge = forge = ForgeWithoutLabels(h.issue)
    async with h.open(tmp_path):
        await h.start()
        await h.comes_to("awaiting-response")
        forge.is_strict = True
        await h.hears(ALICE, "ありがとう")
        await until(lambda: _has_ended(h))
        [living] = [comment.body for comment in forge.comments if comment.body.startswith("## 🛠️")]
        assert "`completed`" in living
        assert "**次**" not in living


async def _has_ended(h: House) -> bool:
    """Whether the session is over; its clock is moved on, so that the last edit is due."""
    await h.time.fast_forward(h.workflow, timedelta(seconds=6))
    described = await h.workflow.describe()
    return described.run_id != described.raw_info.first_run_id and (await h.status()).state == "completed"


@pytest.mark.req("CH-06", "TW-05")
async def test_a_label_that_was_not_put_right_before_a_fresh_run_is_put_right_in_it(
    time: WorkflowEnvironment, tmp_path: Path
):
    called = Called(policy=Policy(), title="It fails", author=ALICE, url="", is_open=True)
    left = Handover(session=1, ending=Ending.COMPLETED, ended_at=EPOCH, summary="Fixed.")
    life = Life(called=called, sessions=1, handover=left, state=State.COMPLETED, is_alarmed=True)
    async with house(time).open(tmp_path) as h:
        with time.with_time_skipping_disabled():
            await time.client.start_workflow(IssueWorkflow.run, life, id=str(h.issue), task_queue=h.task_queue)
        await h.comes_to("completed")


async def _complains(h: House, error: str | None) -> bool:
    return (await h.status()).error == error


async def _waits_for(h: House, words: str) -> bool:
    return words in str((await h.status()).waiting_for)


async def _acknowledged(h: House) -> bool:
    return bool(h.forge.acknowledged)


async def _has_told(h: House, results: int) -> bool:
    return h.forge.ours.count("## 実行完了") == results
