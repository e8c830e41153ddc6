"""Later passes know what was said on the request and past the forge."""

from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.domain.address import Kind
from hikitsugi.domain.phases import Phase
from tests.workflows.fakes import ALICE
from tests.workflows.house import House, until
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
