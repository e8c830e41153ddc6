"""What is not clearly closing goes to the model, whose reply may declare the conversation over."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.domain.conversation import Transcript
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.policy import Policy
from tests.workflows.fakes import ALICE
from tests.workflows.house import House
from tests.workflows.planner import Planner, brief, planned

FAREWELL = "それでは、また来年お会いしましょう。"


@pytest.mark.req("CH-08", "CH-09")
async def test_a_reply_that_declares_the_conversation_over_completes_it(time: WorkflowEnvironment, tmp_path: Path):
    async with House(time, _understands_a_farewell, Policy()).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, FAREWELL)
        await h.comes_to("completed")
        assert h.forge.ours == ["## 実行完了", "## 実行完了", "## ✅ 完了"]
        assert "モデルが判断しました" in h.forge.comments[-1].body
        assert "24 時間返信がなければ" not in h.forge.comments[-2].body


@pytest.mark.req("CH-08")
async def test_nobody_has_said_anything_that_the_first_result_could_close(time: WorkflowEnvironment, tmp_path: Path):
    async with House(time, lambda _: _submits(closes=True), Policy()).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")


@pytest.mark.req("CH-08", "PL-01")
async def test_no_plan_is_made_for_a_farewell(time: WorkflowEnvironment, tmp_path: Path):
    planner = Planner({Phase.PRE_PLANNING: (brief(), {**brief(), "closes": True})})
    async with House(time, planner, planned()).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, FAREWELL)
        await h.comes_to("completed")
        assert planner.said[Phase.PLANNING] == 1
        assert [line for line in h.forge.ours if line.startswith("## ")][-2:] == ["## 実行完了", "## ✅ 完了"]


def _understands_a_farewell(transcript: Transcript) -> Sequence[tuple[str, Mapping[str, Any]]]:
    return _submits(closes=FAREWELL in transcript.turns[-1].text)


def _submits(*, closes: bool) -> Sequence[tuple[str, Mapping[str, Any]]]:
    return [("submit", {"status": "done", "summary": "Gladly.", "closes": closes})]
