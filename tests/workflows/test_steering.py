"""People steer planned work: approvals, other plans, questions and comments."""

from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.domain.phases import Phase
from tests.workflows.fakes import ALICE
from tests.workflows.house import House, until
from tests.workflows.planner import Planner, action, brief, decision, plan, planned, reflection, verdict

PROPOSAL = "## 📋 計画の承認をお願いします"
QUESTION = "## ❓ 確認したいことがあります"


@pytest.mark.req("BY-04")
async def test_a_plan_waits_for_approval_and_another_is_made_on_request(time: WorkflowEnvironment, tmp_path: Path):
    lines = {Phase.PLANNING: (plan(action(1)), plan(action(8, title="With tabs")))}
    async with House(time, Planner(lines), planned(approval="always")).open(tmp_path) as h:
        await h.start()
        await until(lambda: _said(h, PROPOSAL, 1))
        status = await h.comes_to("awaiting-response")
        assert (status.phase, status.llm_calls) == ("planning", 2)
        assert "承認" in str(status.waiting_for)
        assert "- [ ] **task_1**: Step 1" in h.forge.comments[-1].body
        assert "72 時間以内に返信がなければ、作業を終了します。" in h.forge.comments[-1].body
        await h.hears(ALICE, "/revise Use tabs.")
        await until(lambda: _said(h, PROPOSAL, 2))
        again = [t for t in h.model.transcripts if t.purpose == "planning"][-1]
        assert "Use tabs." in again.turns[-1].text
        assert h.workshop.carried_out == []
        await h.hears(ALICE, "/approve")
        await until(lambda: _said(h, "## 実行完了", 1))
        assert h.workshop.carried_out == ["task_8"]


@pytest.mark.req("BY-04", "TW-03", "PR-01")
async def test_an_approval_is_reminded_of_and_expires_and_a_comment_revives_it(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with House(time, Planner(), planned(approval="always")).open(tmp_path) as h:
        await h.start()
        await until(lambda: _said(h, PROPOSAL, 1))
        await h.comes_to("awaiting-response")
        await time.fast_forward(h.workflow, timedelta(hours=25))
        await until(lambda: _said(h, "## ⏰ 計画が承認を待っています", 1))
        await h.workflow.signal("pause")
        await h.comes_to("paused")
        await time.fast_forward(h.workflow, timedelta(days=7))
        await h.workflow.signal("resume")
        await h.comes_to("awaiting-response")
        await time.fast_forward(h.workflow, timedelta(hours=49))
        await h.comes_to("stopped")
        assert "計画が期限までに承認されませんでした" in h.forge.comments[-1].body
        assert h.workshop.carried_out == []
        await h.hears(ALICE, "Sorry, I was away.")
        await until(lambda: _said(h, PROPOSAL, 2))


@pytest.mark.req("BY-04")
async def test_only_a_labelled_issue_waits_where_the_label_decides(time: WorkflowEnvironment, tmp_path: Path):
    async with House(time, Planner(), planned(approval="label")).open(tmp_path) as h:
        h.forge.labels.add("Needs-Approval")
        await h.start()
        await until(lambda: _said(h, PROPOSAL, 1))


async def test_without_the_label_nobody_is_asked_and_approve_means_nothing(time: WorkflowEnvironment, tmp_path: Path):
    async with House(time, Planner(), planned(approval="label")).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        assert not await _said(h, PROPOSAL, 1)
        await h.hears(ALICE, "/approve")
        await until(lambda: _contains(h, "今は `/approve` でできることがありません"))


@pytest.mark.req("PL-01")
@pytest.mark.lesson("C25")
@pytest.mark.parametrize("hears", [True, False], ids=["hears", "hears only answers"])
async def test_a_question_is_really_waited_for_and_its_answer_reaches_the_plan(
    time: WorkflowEnvironment, tmp_path: Path, *, hears: bool
):
    lines = {Phase.PRE_PLANNING: (brief("Tabs or spaces?"), brief())}
    policy = planned().model_copy(update={"hears_while_working": hears})
    async with House(time, Planner(lines), policy).open(tmp_path) as h:
        await h.start()
        await until(lambda: _said(h, QUESTION, 1))
        status = await h.comes_to("awaiting-response")
        assert status.llm_calls == 1
        assert "1. Tabs or spaces?" in h.forge.comments[-1].body
        assert "the usual" in h.forge.comments[-1].body
        await h.hears(ALICE, "Tabs.")
        await until(lambda: _said(h, "## 実行完了", 1))
        planning = next(t for t in h.model.transcripts if t.purpose == "planning")
        assert any("[New Comment from @alice]:\nTabs." in turn.text for turn in planning.turns)
        assert not any("Nobody answered" in turn.text for turn in planning.turns)


@pytest.mark.req("TW-03")
@pytest.mark.lesson("C25")
async def test_without_an_answer_in_time_the_assumptions_hold(time: WorkflowEnvironment, tmp_path: Path):
    async with House(time, Planner({Phase.PRE_PLANNING: brief("Tabs or spaces?")}), planned()).open(tmp_path) as h:
        await h.start()
        await until(lambda: _said(h, QUESTION, 1))
        await h.comes_to("awaiting-response")
        await time.fast_forward(h.workflow, timedelta(minutes=29))
        assert len(h.model.transcripts) == 1
        await time.fast_forward(h.workflow, timedelta(minutes=2))
        await until(lambda: _said(h, "## 実行完了", 1))
        planning = next(t for t in h.model.transcripts if t.purpose == "planning")
        assert any("The stated assumptions hold." in turn.text for turn in planning.turns)


@pytest.mark.req("PL-05")
@pytest.mark.lesson("C25")
async def test_a_replan_the_model_doubts_is_put_to_people(time: WorkflowEnvironment, tmp_path: Path):
    lines = {
        Phase.VERIFICATION: (verdict(passed=False), verdict()),
        Phase.REPLAN_DECISION: (decision("task_redecomposition", 0.4), decision("task_redecomposition", 0.9)),
    }
    async with House(time, Planner(lines), planned()).open(tmp_path) as h:
        await h.start()
        await until(lambda: _said(h, QUESTION, 1))
        await h.hears(ALICE, "Yes, plan it anew.")
        await until(lambda: _said(h, "## 実行完了", 1))
        assert [t.purpose for t in h.model.transcripts].count("planning") == 2
        assert h.forge.is_draft is False


@pytest.mark.req("CD-02", "CD-03", "PL-03")
async def test_a_comment_during_an_action_is_told_at_once_and_may_revise_the_plan(
    time: WorkflowEnvironment, tmp_path: Path
):
    lines = {
        Phase.REFLECTION: reflection(revise=True),
        Phase.REVISION: {"reason": "Asked for.", "actions": [action(9)]},
    }
    async with House(time, Planner(lines), planned()).open(tmp_path) as h:
        await _held_in(h, "execution")
        await h.hears(ALICE, "Leave the README alone.")
        h.model.may_speak.set()
        await h.comes_to("awaiting-response")
        asked = [t.purpose for t in h.model.transcripts]
        assert asked.index("reflection") < asked.index("revision")
        told = next(t for t in h.model.transcripts if any("Leave the README" in turn.text for turn in t.turns))
        assert told.purpose == "execution"
        assert h.workshop.carried_out == ["task_1", "task_9"]


@pytest.mark.req("CD-02")
@pytest.mark.parametrize("phase", ["pre_planning", "planning", "reflection", "revision"])
async def test_a_comment_is_told_in_whichever_phase_is_open(time: WorkflowEnvironment, tmp_path: Path, phase: str):
    lines = {Phase.REFLECTION: reflection(revise=True), Phase.REVISION: {"reason": "So.", "actions": [action(2)]}}
    policy = planned(reflection_interval=1)
    async with House(time, Planner(lines), policy).open(tmp_path) as h:
        await _held_in(h, phase)
        await h.hears(ALICE, "One more thing.")
        h.model.may_speak.set()
        await until(lambda: _said(h, "## 実行完了", 1))
        told = [t for t in h.model.transcripts if any("One more thing." in turn.text for turn in t.turns)]
        assert told
        assert (await h.status()).comments_processed == 1


@pytest.mark.req("PR-01", "PR-02")
@pytest.mark.lesson("C10", "C12", "C18")
async def test_planned_work_is_paused_resumed_and_stopped_without_a_call_too_many(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with House(time, Planner(), planned()).open(tmp_path) as h:
        await _held_in(h, "planning")
        await h.workflow.signal("pause")
        h.model.may_speak.set()
        status = await h.comes_to("paused")
        assert (status.phase, len(h.model.transcripts)) == ("planning", 2)
        h.model.silent_in = "execution"
        await h.workflow.signal("resume")
        await until(lambda: _is_asked_in(h, "execution"))
        await h.workflow.signal("stop")
        h.model.may_speak.set()
        await h.comes_to("stopped")
        assert [t.purpose for t in h.model.transcripts[:3]] == ["pre_planning", "planning", "execution"]
        assert h.workshop.published


@pytest.mark.req("TW-05", "PL-02")
@pytest.mark.lesson("C18", "C22")
async def test_planned_work_goes_on_in_a_fresh_run_in_the_middle_of_a_plan(time: WorkflowEnvironment, tmp_path: Path):
    lines = {Phase.PLANNING: plan(*(action(n) for n in range(1, 13)))}
    async with House(time, Planner(lines), planned()).open(tmp_path) as h:
        first = await h.start()
        status = await h.comes_to("awaiting-response")
        assert (await h.workflow.describe()).run_id != first.first_execution_run_id
        assert h.workshop.carried_out == [f"task_{n}" for n in range(1, 13)]
        assert [t.purpose for t in h.model.transcripts].count("pre_planning") == 1
        assert status.llm_calls == len(h.model.transcripts)
        assert h.forge.is_draft is False


async def _held_in(h: House, phase: str) -> None:
    """Start, and let the model fall silent when it is asked in a phase."""
    h.model.silent_in = phase
    await h.start()
    await until(lambda: _is_asked_in(h, phase))


async def _is_asked_in(h: House, phase: str) -> bool:
    return bool(h.model.transcripts) and h.model.transcripts[-1].purpose == phase


async def _said(h: House, heading: str, times: int) -> bool:
    return h.forge.ours.count(heading) == times


async def _contains(h: House, text: str) -> bool:
    return any(text in comment.body for comment in h.forge.comments)
