"""What was said before a session was stopped or failed waits for the next one, and begins none by itself."""

from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.policy import Policy
from tests.workflows.fakes import ALICE
from tests.workflows.house import House, house, until


@pytest.mark.req("PR-02", "CH-12")
@pytest.mark.lesson("C12")
async def test_a_stop_holds_although_something_was_said_before_it(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        h.model.may_speak.clear()
        await h.start()
        await until(lambda: _asked(h, 1))
        await h.delivers(h.forge.says(ALICE, "Use tabs."), h.forge.says(ALICE, "/stop"))
        status = await h.comes_to("stopped")
        assert (status.session, status.comments_pending) == (1, 1)
        h.model.may_speak.set()
        await h.hears(ALICE, "ありがとう")
        await h.hears(ALICE, "/status")
        await until(lambda: _said(h, "## 現在の状態"))
        assert (await h.status()).session == 1
        await h.hears(ALICE, "Go on after all.")
        await h.comes_to("awaiting-response")
        told = "".join(turn.text for turn in h.model.transcripts[-1].turns)
        assert told.index("Use tabs.") < told.index("Go on after all.")


@pytest.mark.req("PR-02", "CH-12")
async def test_what_is_said_after_a_stop_calls_for_another_session_though_both_came_at_once(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.delivers(h.forge.says(ALICE, "/stop"), h.forge.says(ALICE, "Use tabs instead."))
        await until(lambda: _asked(h, 2))
        assert "## ⛔ タスク停止" in h.forge.ours
        assert "Use tabs instead." in h.model.transcripts[-1].turns[-1].text
        assert (await h.comes_to("awaiting-response")).session == 2


@pytest.mark.req("CH-11", "CH-12")
@pytest.mark.lesson("C13")
async def test_a_repository_that_cannot_be_checked_out_fails_once_for_each_call(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, "/stop")
        await h.comes_to("stopped")
        h.workshop.refuses = WillNeverWork("The repository cannot be cloned.")
        await h.hears(ALICE, "Go on.")
        status = await h.comes_to("failed")
        assert (status.session, status.comments_pending) == (2, 1)
        assert h.forge.ours.count("## エラーが発生しました") == 1
        h.workshop.refuses = None
        await h.hears(ALICE, "/retry")
        await h.comes_to("awaiting-response")
        assert "Go on." in h.model.transcripts[-1].turns[-1].text


@pytest.mark.req("PR-03", "CH-12")
async def test_what_is_said_on_a_closed_issue_waits_until_it_is_reopened(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0, policy=Policy(converses=False)).open(tmp_path) as h:
        first = await h.start()
        await until(lambda: _rests(h, first.first_execution_run_id))
        h.forge.is_open = False
        await h.workflow.signal("issue_changed", {"state": "closed"})
        assert "再オープン" in str((await h.status()).waiting_for)
        await h.hears(ALICE, "Do more.")
        await until(lambda: _is_refused(h))
        await h.hears(ALICE, "/status")
        await until(lambda: _said(h, "## 現在の状態"))
        assert (await h.status()).state == "completed"
        assert sum("再び開いて" in comment.body for comment in h.forge.comments) == 1
        await h.hears(ALICE, "/retry")
        await until(lambda: _said(h, "再開するには、再び開いて"))
        assert (await h.status()).state == "completed"
        h.forge.is_open = True
        await h.workflow.signal("issue_changed", {"state": "open"})
        await until(lambda: _asked(h, 2))
        assert "Do more." in h.model.transcripts[-1].turns[-1].text
        assert (await h.comes_to("completed")).session == 2


async def _rests(h: House, first_run: str | None) -> bool:
    is_another_run = (await h.workflow.describe()).run_id != first_run
    return is_another_run and "新しいコメント" in str((await h.status()).waiting_for)


@pytest.mark.req("CH-13", "CD-05")
async def test_with_conversation_and_detection_off_a_comment_is_worked_on_once(
    time: WorkflowEnvironment, tmp_path: Path
):
    policy = Policy(converses=False, hears_while_working=False)
    async with house(time, rounds=0, policy=policy).open(tmp_path) as h:
        await h.start()
        await h.comes_to("completed")
        await h.hears(ALICE, "Do more.")
        await until(lambda: _asked(h, 2))
        status = await h.comes_to("completed")
        assert (status.session, status.comments_pending) == (2, 0)
        assert "Do more." in h.model.transcripts[-1].turns[-1].text


@pytest.mark.req("CH-07", "CH-12")
async def test_a_comment_that_calls_an_issue_up_and_is_taken_back_leaves_the_model_a_question(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, "/stop")
        await h.comes_to("stopped")
        withdrawn = h.forge.says(ALICE, "One more thing.")
        h.forge.deletes(withdrawn)
        await h.delivers(withdrawn)
        await until(lambda: _asked(h, 2))
        # The model's API refuses a conversation that ends with the model itself.
        assert h.model.transcripts[-1].turns[-1].role == "user"


async def _asked(h: House, times: int) -> bool:
    return len(h.model.transcripts) == times


async def _said(h: House, heading: str) -> bool:
    return any(line.startswith(heading) for line in h.forge.ours)


async def _is_refused(h: House) -> bool:
    return (await h.status()).error == "Issue は閉じられています"
