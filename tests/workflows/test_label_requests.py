"""Labels that people move while the state changes, and in other letters than ours."""

from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.domain.policy import Policy
from tests.workflows.fakes import ALICE
from tests.workflows.house import House, house, until


@pytest.mark.req("PR-01", "PR-02", "PR-03", "CH-06")
@pytest.mark.parametrize("label", ["paused", "stopped"])
async def test_a_label_put_on_just_before_the_state_changes_is_obeyed(
    time: WorkflowEnvironment, tmp_path: Path, label: str
):
    async with house(time, rounds=0).open(tmp_path) as h:
        h.model.may_speak.clear()
        await h.start()
        await until(lambda: _asked(h))
        h.forge.labels |= {label}
        h.model.may_speak.set()
        await h.comes_to(label)
        assert h.forge.labels == {"task:misc", "a human's label", label}
        await h.hears(ALICE, "/resume" if label == "paused" else "/retry")
        await h.comes_to("awaiting-response")
        assert h.forge.labels == {"task:misc", "a human's label", "awaiting-response"}


@pytest.mark.req("PR-01", "PR-03", "CH-06")
async def test_a_pause_put_on_as_the_last_session_ends_holds_the_next(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0, policy=Policy(converses=False)).open(tmp_path) as h:
        h.model.may_speak.clear()
        await h.start()
        await until(lambda: _asked(h))
        h.forge.labels |= {"paused"}
        h.model.may_speak.set()
        await h.comes_to("paused")
        assert h.forge.ours == ["## 実行完了", "## ✅ 完了"]
        await h.hears(ALICE, "/resume")
        await h.comes_to("completed")
        assert h.forge.labels == {"task:misc", "a human's label", "completed"}


@pytest.mark.req("PR-01", "PR-03", "CH-06")
async def test_a_label_in_other_letters_is_obeyed_and_taken_off_where_letters_count(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        h.forge.labels |= {"Paused"}
        await h.workflow.signal("issue_changed", {"labels": sorted(h.forge.labels)})
        await h.comes_to("paused")
        await h.hears(ALICE, "/resume")
        await h.comes_to("awaiting-response")
        assert h.forge.labels == {"task:misc", "a human's label", "awaiting-response"}


async def _asked(h: House) -> bool:
    return bool(h.model.transcripts)
