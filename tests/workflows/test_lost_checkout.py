"""A checkout that is not there any more is prepared again, and the work goes on."""

from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from activities.workspace_activities import MOVED
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import Unprepared
from hikitsugi.domain.issue import GitRemote
from hikitsugi.domain.tools import Intent, ToolOutcome
from hikitsugi.domain.workspace import Commit, Published
from tests.workflows.fakes import FakeWorkshop
from tests.workflows.house import House, house
from tests.workflows.planner import Planner, planned


class Forgetful(FakeWorkshop):
    """Loses its checkout before the first command and before the push."""

    def __init__(self) -> None:
        super().__init__()
        self.lost = 0

    async def carry_out(self, issue: IssueAddress, intent: Intent) -> ToolOutcome:
        self._lose(1)
        return await super().carry_out(issue, intent)

    async def publish(self, issue: IssueAddress, remote: GitRemote, branch: str, commit: Commit) -> Published:
        self._lose(2)
        return await super().publish(issue, remote, branch, commit)

    def _lose(self, times: int) -> None:
        if self.lost < times:
            self.lost += 1
            raise Unprepared("there is no checkout on this host")


@pytest.mark.req("TW-08", "PL-02")
@pytest.mark.parametrize("by_plan", [False, True])
async def test_the_model_is_told_and_does_again_what_was_lost(
    time: WorkflowEnvironment, tmp_path: Path, *, by_plan: bool
):
    here = House(time, Planner(), planned()) if by_plan else house(time)
    here.workshop = workshop = Forgetful()
    async with here.open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        assert (workshop.lost, workshop.prepared) == (2, 3 if by_plan else 4)
        told = [sum(turn.text == MOVED for turn in transcript.turns) for transcript in h.model.transcripts]
        assert max(told) == 2
        assert len(workshop.published) == (5 if by_plan else 2)
        assert sum("完了" in line for line in h.forge.ours) == 1


class LostWhileSubmitting(FakeWorkshop):
    """Loses its checkout before the model's submission is taken."""

    def __init__(self) -> None:
        super().__init__()
        self.lost = 0

    async def carry_out(self, issue: IssueAddress, intent: Intent) -> ToolOutcome:
        if intent.call.name == "submit" and not self.lost:
            self.lost += 1
            raise Unprepared("there is no checkout on this host")
        return await super().carry_out(issue, intent)


@pytest.mark.req("TW-08", "PL-02")
async def test_what_is_submitted_without_the_checkout_does_not_count(time: WorkflowEnvironment, tmp_path: Path):
    here = house(time)
    here.workshop = workshop = LostWhileSubmitting()
    async with here.open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        assert workshop.lost == 1
        assert any(turn.text == MOVED for turn in h.model.transcripts[-1].turns)
        assert len(workshop.published) == 1
        assert h.forge.ours == ["## 実行完了"]
