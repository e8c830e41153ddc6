"""What was said on the request and past the forge is known later, and answered where it was written."""

from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.domain.address import IssueAddress, Kind
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.phases import Phase
from tests.workflows.fakes import ALICE
from tests.workflows.house import House, house, until
from tests.workflows.planner import Planner, planned


@pytest.mark.req("CH-03", "CH-07")
@pytest.mark.lesson("C26")
async def test_a_later_pass_of_planned_work_knows_what_was_said_on_the_request_and_by_the_operator(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with House(time, Planner(), planned()).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        place = h.issue.model_copy(update={"kind": Kind.PULL_REQUEST, "number": 2})
        await h.delivers(h.forge.says("maria", "Use tabs.", place).model_copy(update={"place": place}))
        await until(lambda: _has_results(h, 2))
        await h.comes_to("awaiting-response")
        await h.workflow.signal("comment", "Mind the docs.")
        await until(lambda: _has_results(h, 3))
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, "Once more, please.")
        await until(lambda: _has_results(h, 4))
        last = [each for each in h.model.transcripts if each.purpose == Phase.PRE_PLANNING][-1]
        told = "".join(turn.text for turn in last.turns)
        assert told.index("Use tabs.") < told.index("Mind the docs.") < told.index("Once more, please.")


async def _has_results(h: House, number: int) -> bool:
    return h.forge.ours.count("## 実行完了") == number


@pytest.mark.req("CH-03")
@pytest.mark.lesson("C26")
async def test_who_writes_on_the_request_and_who_writes_on_the_issue_meanwhile_are_both_answered_there(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=1).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        place = h.issue.model_copy(update={"kind": Kind.PULL_REQUEST, "number": 2})
        on_request = h.forge.says("maria", "Use tabs.", place).model_copy(update={"place": place})
        withdrawn = h.forge.says(ALICE, "Never mind.")
        await h.delivers(on_request, h.forge.says(ALICE, "And tests."))
        await until(lambda: _has_results(h, 3))
        await h.comes_to("awaiting-response")
        assert [_places(h, "## 実行完了").count(at) for at in (h.issue, place)] == [2, 1]
        h.model.may_speak.clear()
        await h.delivers(h.forge.says("maria", "Spaces, rather.", place).model_copy(update={"place": place}))
        await h.comes_to("processing")
        await until(lambda: _is_told(h, "Spaces, rather."))
        h.forge.deletes(withdrawn)
        await h.delivers(withdrawn)
        h.model.may_speak.set()
        await until(lambda: _has_results(h, 4))
        assert _places(h, "## 実行完了")[-1] == place


@pytest.mark.req("CH-11", "CH-03")
@pytest.mark.lesson("C26")
async def test_a_comment_on_the_request_that_cannot_be_worked_on_is_reported_there(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        place = h.issue.model_copy(update={"kind": Kind.PULL_REQUEST, "number": 2})
        h.model.refuses_once = WillNeverWork("The request is refused.")
        await h.delivers(h.forge.says("maria", "Use tabs.", place).model_copy(update={"place": place}))
        await until(lambda: _is_reported(h))
        assert _places(h, "## エラーが発生しました") == [place]


async def _is_told(h: House, text: str) -> bool:
    return text in h.model.transcripts[-1].turns[-1].text


def _places(h: House, heading: str) -> list[IssueAddress]:
    """Where our comments under a heading were written."""
    return [h.forge.where[each.id] for each in h.forge.comments if each.body.startswith(heading)]


async def _is_reported(h: House) -> bool:
    return "## エラーが発生しました" in h.forge.ours
