"""Planned work end to end: the product, a forge and a model, over HTTP."""

from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.devforge.kinds import KindName
from hikitsugi.language_model.scripted import say, use
from tests.end_to_end.plays import Play, blocked, writes
from tests.end_to_end.stage import BOT, Stage, stage, until
from tests.workflows.planner import action, brief, decision, plan, reflection, verdict
from workflows.issue_workflow import IssueWorkflow

PLANNED = {"enabled": True}
BROKEN = "def total(prices):\n    return 0\n"


@pytest.mark.req("PL-01", "PL-02", "PL-04", "PL-07", "BY-03", "OP-05")
@pytest.mark.parametrize("kind", ["github", pytest.param("gitlab", marks=pytest.mark.long)])
async def test_an_issue_is_planned_worked_verified_and_shown(time: WorkflowEnvironment, tmp_path: Path, kind: KindName):
    async with stage(time, tmp_path, kind=kind) as s:
        s.configure(planning=PLANNED)
        async with s.product():
            s.opens_issue()
            await s.comes_to("awaiting-response", results=1)
            status = await s.status()
            assert [(item.id, item.status) for item in status.plan] == [("task_1", "done"), ("task_2", "done")]
            [pull] = s.forge.pulls(s.repository)
            assert pull.pull is not None
            assert not pull.pull.is_draft
            assert pull.body.startswith("Closes #1")
            assert "- [x] **task_1**" in pull.body
            assert "✅ `python -m " in pull.body
            assert "test_nothing_is_lost" in (s.checked_out() / "test_receipt.py").read_text()
            assert "*Progress: 2/2 (100%)*" in await s.workflow.query(IssueWorkflow.plan)
            history = (await s.workflow.fetch_history()).to_json()
            assert "PlanReply" not in history
            assert "success_criteria" not in history
            assert not any(token in history for token in ("token-of-", "key-of-the-model"))


@pytest.mark.req("PL-03", "PL-04", "PL-01", "CD-02")
@pytest.mark.lesson("C25")
@pytest.mark.parametrize("kind", ["github", pytest.param("gitlab", marks=pytest.mark.long)])
async def test_a_question_a_failure_a_revision_and_a_placeholder_on_the_way_to_success(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName
):
    lines = {
        "Brief": (brief("端数はどう扱いますか?"), brief()),
        "PlanReply": (plan(action(5), action(6, 5)),),
        "Reflection": (reflection(revise=True), reflection(revise=False)),
        "Revision": ({"reason": "Another way.", "actions": [action(1), action(7, 1)]},),
        "Verdict": (verdict(), verdict()),
    }
    deeds = {
        "task_5": blocked,
        "task_7": writes("notes.py", '"""Notes."""\n\n\ndef note():\n    raise NotImplementedError\n'),
        "further_1_1": writes("notes.py", '"""Notes."""\n\n\ndef note():\n    return 1\n'),
    }
    async with stage(time, tmp_path, play=Play(lines, deeds), kind=kind) as s:
        s.configure(planning=PLANNED)
        async with s.product():
            s.opens_issue()
            await until(lambda: _said(s, "## ❓ 確認したいことがあります"))
            s.says("切り捨てです。")
            await s.comes_to("awaiting-response", results=1)
            status = await s.status()
            assert [(item.id, item.status) for item in status.plan] == [
                ("task_5", "failed"),
                ("task_1", "done"),
                ("task_7", "done"),
                ("further_1_1", "done"),
            ]
            assert "return 1" in (s.checked_out() / "notes.py").read_text()
            [pull] = s.forge.pulls(s.repository)
            assert pull.pull is not None
            assert not pull.pull.is_draft
            sent = [r.body for r in s.model.requests if r.body.form == "PlanReply"]
            assert any("切り捨てです。" in text for text in sent[0].texts)


@pytest.mark.req("BY-03", "PL-05")
@pytest.mark.lesson("C19")
@pytest.mark.parametrize("kind", ["gitlab", pytest.param("github", marks=pytest.mark.long)])
async def test_a_model_that_lies_leaves_a_draft_that_says_so(time: WorkflowEnvironment, tmp_path: Path, kind: KindName):
    lines = {
        "PlanReply": (plan(action(9)), plan(action(10))),
        "Verdict": (verdict(),),
        "ReplanDecision": (decision("task_redecomposition"), decision("none")),
    }
    deeds = {task: writes("receipt.py", BROKEN) for task in ("task_9", "task_10")}
    async with stage(time, tmp_path, play=Play(lines, deeds), kind=kind) as s:
        s.configure(planning={**PLANNED, "limits": {"verification_rounds": 0}})
        async with s.product():
            s.opens_issue()
            await s.comes_to("awaiting-response", results=1)
            [request] = s.forge.pulls(s.repository)
            assert request.pull is not None
            assert request.pull.is_draft
            assert "下書き" in request.body
            told = s.forge.comments(s.repository, 1)[-1].body
            assert "❌ `python -m " in told
            assert "下書き" in told
            assert "作業は途中で止まっています" in told
            assert [item.id for item in (await s.status()).plan] == ["task_10"]


@pytest.mark.req("BY-03")
@pytest.mark.lesson("C19")
async def test_where_there_are_no_drafts_a_request_that_is_not_ready_says_so(time: WorkflowEnvironment, tmp_path: Path):
    async with stage(time, tmp_path, play=writes("receipt.py", BROKEN)) as s:
        s.forge.repository(s.repository).has_drafts = False
        async with s.product():
            s.opens_issue()
            await s.comes_to("awaiting-response", results=1)
            [pull] = s.forge.pulls(s.repository)
            assert pull.title.startswith("WIP: ")
            for told in (pull.body, s.forge.comments(s.repository, 1)[-1].body):
                assert "まだマージできる状態ではありません" in told
                assert "❌ `python -m " in told


@pytest.mark.long
@pytest.mark.req("BY-04")
@pytest.mark.parametrize(("kind", "approve"), [("github", "/approve"), ("gitlab", f"@{BOT} approve")])
async def test_a_plan_is_approved_after_a_revision(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName, approve: str
):
    async with stage(time, tmp_path, kind=kind) as s:
        s.configure(planning={**PLANNED, "approval": "always"})
        async with s.product():
            s.opens_issue()
            await until(lambda: _said(s, "## 📋 計画の承認をお願いします"))
            assert approve in s.forge.comments(s.repository, 1)[-1].body
            s.says(approve.replace("approve", "revise README だけ直してください"))
            await until(lambda: _said(s, "## 📋 計画の承認をお願いします", 2))
            assert s.forge.pulls(s.repository) == []
            s.says(approve)
            await s.comes_to("awaiting-response", results=1)
            assert len(s.forge.pulls(s.repository)) == 1


@pytest.mark.req("BY-04", "TW-03")
@pytest.mark.parametrize("kind", ["gitlab", pytest.param("github", marks=pytest.mark.long)])
async def test_an_approval_is_reminded_of_and_expires_and_a_comment_asks_for_it_anew(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName
):
    async with stage(time, tmp_path, kind=kind) as s:
        s.configure(planning={**PLANNED, "approval": "always"})
        async with s.product():
            s.opens_issue()
            await until(lambda: _said(s, "## 📋 計画の承認をお願いします"))
            await s.comes_to("awaiting-response")
            await time.fast_forward(s.workflow, timedelta(hours=25))
            await until(lambda: _said(s, "## ⏰ 計画が承認を待っています"))
            await time.fast_forward(s.workflow, timedelta(hours=48))
            await s.comes_to("stopped")
            assert "計画が期限までに承認されませんでした" in s.forge.comments(s.repository, 1)[-1].body
            s.says("すみません、休んでいました。")
            await until(lambda: _said(s, "## 📋 計画の承認をお願いします", 2))
            assert s.forge.pulls(s.repository) == []


@pytest.mark.long
@pytest.mark.req("PL-01")
@pytest.mark.parametrize(("kind", "what"), [("github", "garbage"), ("gitlab", "garbage"), ("gitlab", "loop")])
async def test_garbage_and_endless_loops_end_truthfully(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName, what: str
):
    said = say('{"goal": "cut').ending("max_tokens") if what == "garbage" else use("launch", missiles=1)
    lines = {"Brief": (said,), "PlanReply": (said,)}
    async with stage(time, tmp_path, play=Play(lines), kind=kind) as s:
        s.configure(planning={**PLANNED, "limits": {"steps_per_action": 4}})
        async with s.product():
            s.opens_issue()
            await s.comes_to("awaiting-response", results=1)
            assert s.forge.pulls(s.repository) == []
            assert "作業を最後まで終えられませんでした" in s.forge.comments(s.repository, 1)[-1].body
            assert len(s.model.requests) <= 8


@pytest.mark.long
@pytest.mark.req("OP-03", "PL-01")
@pytest.mark.lesson("C25")
@pytest.mark.parametrize(("kind", "more"), [("github", "/budget 8"), ("gitlab", f"@{BOT} budget 8")])
async def test_assumptions_hold_after_a_while_and_a_new_budget_lets_the_work_go_on(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName, more: str
):
    async with stage(time, tmp_path, play=Play({"Brief": (brief("端数はどう扱いますか?"),)}), kind=kind) as s:
        s.configure(planning={**PLANNED, "question_timeout_minutes": 0.03}, budget={"usd_per_issue": 0.03})
        async with s.product():
            s.opens_issue()
            await s.comes_to("paused")
            calls = (await s.status()).llm_calls
            assert s.headings.count("## ❓ 確認したいことがあります") == 1
            asked = next(c.body for c in s.forge.comments(s.repository, 1) if "## 💰" in c.body)
            assert more in asked
            assert "pre_planning" in asked
            assert len(s.model.requests) == calls
            s.says(more)
            await s.comes_to("awaiting-response", results=1)
            [request] = s.forge.pulls(s.repository)
            assert request.pull is not None
            assert not request.pull.is_draft
            planned = [r.body for r in s.model.requests if r.body.form == "PlanReply"]
            assert any("The stated assumptions hold." in text for text in planned[0].texts)


async def _said(s: Stage, heading: str, times: int = 1) -> bool:
    return s.headings.count(heading) == times
