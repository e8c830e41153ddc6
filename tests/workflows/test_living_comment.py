"""One comment per session tells how far the work is, and is edited in place."""

from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.phases import Phase
from hikitsugi.domain.policy import PlanningPolicy
from tests.workflows.fakes import ALICE, BOT
from tests.workflows.house import House, house, until
from tests.workflows.planner import Planner, action, plan, planned
from workflows import limits

LONG = {Phase.PLANNING: plan(*(action(n) for n in range(1, 26)))}


def living(h: House) -> list[str]:
    """The texts of the living comments."""
    return [c.body for c in h.forge.comments if c.author == BOT and c.body.startswith("## 🛠️")]


async def tells(h: House, words: str) -> None:
    """Wait until the living comment tells something; its clock is moved on, so that the next edit is due."""

    async def told() -> bool:
        if words in "".join(living(h)):
            return True
        await h.time.fast_forward(h.workflow, timedelta(seconds=6))
        return False

    await until(told)


@pytest.mark.req("LC-01", "LC-02", "LC-03", "LC-05", "BY-02")
@pytest.mark.lesson("C27")
async def test_sixty_model_calls_add_two_comments_and_few_edits(time: WorkflowEnvironment, tmp_path: Path):
    async with House(time, Planner(LONG), planned()).open(tmp_path) as h:
        await h.start()
        status = await h.comes_to("awaiting-response")
        await tells(h, "**次**: コメントの返信")
        assert status.llm_calls >= 60
        assert [text.splitlines()[0] for text in h.forge.ours] == ["## 🛠️ 進捗(セッション 1)", "## 実行完了"]
        [text] = living(h)
        calls = len(h.model.transcripts)
        assert f"## ✅ 検証 - LLM呼び出し #{calls} 完了" in text
        assert all(f"LLM呼び出し #{n} " in text for n in range(1, calls))
        assert "アクション「task_7」の実行が完了しました" in text
        assert "- [x] **task_25**: Step 25" in text
        assert "*Progress: 25/25 (100%)*" in text
        assert h.forge.edited < calls / 2


@pytest.mark.req("LC-02", "LC-03", "TW-05")
@pytest.mark.lesson("C18")
async def test_a_pause_and_fresh_runs_go_on_in_the_same_comment_with_the_same_numbers(
    time: WorkflowEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(limits, "RENEW_AFTER_EVENTS", 60)
    h = House(time, Planner(), planned())
    async with h.open(tmp_path):
        h.model.silent_in = Phase.EXECUTION
        first = await h.start()
        await until(lambda: _is_asked(h, "execution"))
        await h.workflow.signal("pause", "tea")
        await tells(h, "終わり次第、一時停止します")
        h.model.may_speak.set()
        await h.comes_to("paused")
        await tells(h, "**状態**: `paused`")
        await h.workflow.signal("resume")
        await h.comes_to("awaiting-response")
        await tells(h, "**状態**: `awaiting-response`")
        [text] = living(h)
        assert [f"LLM呼び出し #{n} " in text for n in range(1, 9)] == [True] * len(h.model.transcripts) + [False]
        assert (await h.workflow.describe()).run_id != first.first_execution_run_id


@pytest.mark.req("LC-03")
async def test_a_later_pass_edits_the_comment_of_the_session_and_its_end_is_told_there(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with House(time, Planner(), planned()).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, "Also the README, please.")
        await until(lambda: _has_results(h, 2))
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, "ありがとう")
        await tells(h, "**状態**: `completed`")
        assert len(living(h)) == 1


@pytest.mark.req("LC-03")
async def test_a_comment_that_somebody_deleted_is_written_anew_and_edited_from_then_on(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with House(time, Planner(), planned()).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await tells(h, "**次**: コメントの返信")
        [deleted] = [c for c in h.forge.comments if c.body in living(h)]
        h.forge.deletes(deleted)
        await h.workflow.signal("pause", "tea")
        await tells(h, "**状態**: `paused`")
        await h.workflow.signal("resume")
        await tells(h, "**状態**: `awaiting-response`")
        assert len(living(h)) == 1


@pytest.mark.req("LC-03", "PR-01")
@pytest.mark.parametrize("ending", ["completed", "stopped"])
async def test_a_session_that_is_over_waits_for_no_reply_any_more(
    time: WorkflowEnvironment, tmp_path: Path, ending: str
):
    async with House(time, Planner(), planned()).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, "ありがとう" if ending == "completed" else "/stop")
        await tells(h, f"**状態**: `{ending}`")
        assert "新しいコメント" in str((await h.status()).waiting_for)
        assert "**次**" not in living(h)[0]


@pytest.mark.req("BY-02", "PR-01")
async def test_plain_work_tells_a_pause_who_asked_for_it_and_how_to_go_on_in_one_comment(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time).open(tmp_path) as h:
        h.model.may_speak.clear()
        await h.start()
        await until(lambda: _is_asked(h, "plain_work"))
        await h.hears(ALICE, "/pause 昼休み")
        await tells(h, "`processing` · **次**: 作業の続き。終わり次第、一時停止します")
        assert "モデルの作業(1 回目)。終わり次第、一時停止します" in str((await h.status()).waiting_for)
        h.model.may_speak.set()
        await tells(h, f"`paused` · **次**: 再開の指示(`/resume` とコメント)。一時停止: {ALICE}(昼休み)")
        await h.hears(ALICE, "/resume")
        await h.comes_to("awaiting-response")
        await tells(h, "`awaiting-response` · **次**: コメントの返信")
        await h.workflow.signal("pause", {"by": "label"})
        await tells(h, "一時停止: ラベルの変更")
        await h.workflow.signal("resume")
        await h.comes_to("awaiting-response")
        assert sorted(text.splitlines()[0] for text in h.forge.ours) == ["## 実行完了", "## 🛠️ 進捗(セッション 1)"]


@pytest.mark.req("LC-06")
@pytest.mark.parametrize("failures", [2, 50])
async def test_a_progress_that_cannot_be_told_stops_nothing(time: WorkflowEnvironment, tmp_path: Path, failures: int):
    async with House(time, Planner(), planned()).open(tmp_path) as h:
        h.forge.refuses_edits = True
        h.forge.progress_fails = failures
        await h.start()
        status = await h.comes_to("awaiting-response")
        assert [item.status for item in status.plan] == ["done", "done"]
        assert h.forge.ours.count("## 実行完了") == 1


@pytest.mark.req("LC-04")
async def test_a_model_call_that_failed_is_told_in_the_specified_form(time: WorkflowEnvironment, tmp_path: Path):
    async with House(time, Planner(), planned()).open(tmp_path) as h:
        h.model.refuses_once = TryAgainLater("The model is overloaded.")
        await h.start()
        await h.comes_to("awaiting-response")
        await tells(h, "## ⚠️ LLM呼び出しエラー - 計画前情報収集")
        assert "**エラー内容**: The model is overloaded." in living(h)[0]


@pytest.mark.req("LC-04")
async def test_a_model_that_stays_away_is_told_while_it_is_away(time: WorkflowEnvironment, tmp_path: Path):
    async with House(time, Planner(), planned()).open(tmp_path) as h:
        h.model.refuses = TryAgainLater("The model is overloaded.")
        await h.start()
        await tells(h, "**次**: モデルの利用制限または障害の解除")
        await tells(h, "**エラー内容**: The model is overloaded.\n\nリトライを試みます...")
        h.model.refuses = None
        await time.fast_forward(h.workflow, limits.LONGEST_AWAY)
        await h.comes_to("awaiting-response")


@pytest.mark.req("LC-04")
async def test_a_model_call_that_is_given_up_does_not_promise_another(time: WorkflowEnvironment, tmp_path: Path):
    async with House(time, Planner(), planned()).open(tmp_path) as h:
        h.model.refuses = WillNeverWork("The key was refused.")
        await h.start()
        await h.comes_to("failed")
        await tells(h, "**状態**: `failed`")
        assert "**エラー内容**: The key was refused." in living(h)[0]
        assert "リトライを試みます" not in living(h)[0]


@pytest.mark.req("LC-08")
async def test_calls_are_not_told_where_that_is_switched_off(time: WorkflowEnvironment, tmp_path: Path):
    policy = planned().model_copy(update={"planning": PlanningPolicy(enabled=True, tells_calls=False)})
    async with House(time, Planner(), policy).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await tells(h, "*Progress: 2/2 (100%)*")
        assert "LLM呼び出し" not in living(h)[0]


async def _is_asked(h: House, phase: str) -> bool:
    return bool(h.model.transcripts) and h.model.transcripts[-1].purpose == phase


async def _has_results(h: House, number: int) -> bool:
    return h.forge.ours.count("## 実行完了") == number
