"""Whatever people do on an issue has one right answer."""

from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.app.settings_sections import COMPLETION_KEYWORDS
from hikitsugi.domain.address import Kind
from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.domain.policy import Policy
from tests.workflows.fakes import ALICE, BOT
from tests.workflows.house import House, house, until


@pytest.mark.req("BY-02")
async def test_sixty_model_calls_add_at_most_three_comments(time: WorkflowEnvironment, tmp_path: Path):
    policy = Policy(completion_keywords=COMPLETION_KEYWORDS, max_iterations=100)
    async with house(time, rounds=60, policy=policy).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, "thanks")
        status = await h.comes_to("completed")
        assert status.llm_calls > 60
        assert len(h.forge.ours) <= 3


@pytest.mark.req("CD-05")
@pytest.mark.lesson("C4")
async def test_comments_are_looked_for_only_at_every_third_round_where_that_is_wished(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=6, policy=Policy(check_interval=3)).open(tmp_path) as h:
        h.model.may_speak.clear()
        await h.start()
        await until(lambda: _asked(h, 1))
        await h.hears(ALICE, "One more thing.")
        await until(lambda: _acknowledged(h))
        h.model.may_speak.set()
        await h.comes_to("awaiting-response")
        told = [n for n, each in enumerate(h.model.transcripts) if "One more thing." in str(each.turns)]
        assert told[0] == 3


@pytest.mark.req("PR-03", "TW-02")
async def test_pause_resume_and_stop_by_comment(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time).open(tmp_path) as h:
        h.model.may_speak.clear()
        await h.start()
        await until(lambda: _asked(h, 1))
        await h.hears(ALICE, "/pause お昼にします")
        h.model.may_speak.set()
        status = await h.comes_to("paused")
        assert "alice" in str(status.waiting_for)
        await h.hears("mallory", "/resume")
        await h.hears(ALICE, f"@{BOT} status")
        await until(lambda: _said(h, "## 現在の状態"))
        assert (await h.status()).state == "paused"
        await h.hears(ALICE, "/resume")
        await h.comes_to("awaiting-response")
        await h.hears("maria", "/stop 別の方法にします")
        await h.comes_to("stopped")
        assert "maria" in h.forge.comments[-1].body
        assert "別の方法にします" in h.forge.comments[-1].body
        assert not any("/pause" in turn.text for turn in h.model.transcripts[-1].turns)


@pytest.mark.req("BY-01")
async def test_every_command_is_answered_once(time: WorkflowEnvironment, tmp_path: Path):
    answers = {
        "/status": "## 現在の状態",
        "/dance": "使えるコマンド:",
        "/approve": "今は `/approve` でできることがありません。",
        "/retry": "今は `/retry` でできることがありません。",
        f"@{BOT}: status": "## 現在の状態",
    }
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        for number, (written, answer) in enumerate(answers.items(), start=2):
            await h.hears(ALICE, written)
            await until(lambda number=number: _ours(h, number))
            assert h.forge.ours[-1].startswith(answer)
        assert (await h.status()).comments_processed == 0
        assert len(h.model.transcripts) == 1


@pytest.mark.req("BY-01", "CH-12")
async def test_a_command_whose_spelling_is_mended_is_obeyed_and_one_that_was_obeyed_is_not_again(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        mended = h.forge.says(ALICE, "/staus")
        await h.delivers(mended)
        await until(lambda: _said(h, "使えるコマンド:"))
        await h.delivers(h.forge.edits(mended, "/status"))
        await until(lambda: _said(h, "## 現在の状態"))
        pause = h.forge.says(ALICE, "/pause")
        await h.delivers(pause)
        await h.comes_to("paused")
        await h.hears(ALICE, "/resume")
        await h.comes_to("awaiting-response")
        await h.delivers(h.forge.edits(pause, "/pause お昼"), h.forge.says(ALICE, "/resume"))
        await until(lambda: _said(h, "今は `/resume` でできることがありません。"))
        assert (await h.status()).state == "awaiting-response"
        await h.delivers(h.forge.edits(h.forge.edits(pause, "/pause お昼"), "/stop やめます"))
        await h.comes_to("stopped")


async def test_what_only_looks_like_a_command_goes_to_the_model(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        written = ["/usr/bin/python fails", "/etc/hosts", f"@{BOT} please fix it"]
        for number, each in enumerate(written, start=1):
            await h.hears(ALICE, each)
            await until(lambda number=number: _processed(h, number))


async def test_retry_calls_an_ended_issue_up(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        h.model.refuses = WillNeverWork("The key is refused; check llm.api_key.")
        await h.start()
        await h.comes_to("failed")
        h.model.refuses = None
        await h.hears(ALICE, "/status")
        await until(lambda: _said(h, "## 現在の状態"))
        assert "llm.api_key" in h.forge.comments[-1].body
        await h.hears(ALICE, "/retry")
        await h.comes_to("awaiting-response")
        turns = h.model.transcripts[-1].turns
        assert not any("前回の処理要約" in turn.text for turn in turns)


@pytest.mark.req("CH-12")
@pytest.mark.lesson("C3")
async def test_a_comment_edited_before_delivery_is_told_in_its_newest_text(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=1).open(tmp_path) as h:
        h.model.may_speak.clear()
        await h.start()
        await until(lambda: _asked(h, 1))
        first = h.forge.says(ALICE, "Use tabs.")
        await h.delivers(first)
        await h.delivers(h.forge.edits(first, "Use spaces."))
        h.model.may_speak.set()
        await h.comes_to("awaiting-response")
        told = [turn.text for turn in h.model.transcripts[-1].turns if "Comment from" in turn.text]
        assert told == ["[New Comment from @alice]:\nUse spaces."]


@pytest.mark.req("CH-12")
@pytest.mark.lesson("C3")
async def test_a_comment_edited_after_delivery_is_told_as_an_edit(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, "Use tabs.")
        await until(lambda: _processed(h, 1))
        await h.comes_to("awaiting-response")
        edited = h.forge.edits(h.forge.comments[1], "Use spaces.")
        await h.delivers(edited)
        await h.delivers(edited)
        await until(lambda: _processed(h, 2))
        await h.comes_to("awaiting-response")
        assert h.model.transcripts[-1].turns[-1].text == "[Edited Comment from @alice]:\nUse spaces."


@pytest.mark.req("CH-12")
async def test_a_comment_deleted_before_delivery_is_dropped(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        regretted = h.forge.says(ALICE, "Delete everything!")
        h.forge.deletes(regretted)
        await h.delivers(regretted, h.forge.says(ALICE, "Add a test."))
        await until(lambda: _processed(h, 1))
        told = "".join(turn.text for transcript in h.model.transcripts for turn in transcript.turns)
        assert "Delete everything!" not in told


@pytest.mark.req("PR-03", "CH-06")
async def test_labels_moved_by_people_are_requests(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await _relabelled(h, add="paused")
        await h.comes_to("paused")
        assert "awaiting-response" not in h.forge.labels
        await _relabelled(h, remove="paused")
        await h.comes_to("awaiting-response")
        await _relabelled(h, add="stopped")
        await h.comes_to("stopped")
        assert h.forge.labels == {"task:misc", "a human's label", "stopped"}


@pytest.mark.req("CH-06")
@pytest.mark.lesson("C17")
async def test_other_changes_of_state_labels_are_put_right(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await _relabelled(h, add="completed", remove="awaiting-response")
        await until(lambda: _labels_are(h, {"task:misc", "a human's label", "awaiting-response"}))
        await _relabelled(h, remove="task:misc")
        assert (await h.status()).state == "awaiting-response"


async def test_old_news_of_our_own_labels_change_nothing(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.workflow.signal("pause")
        await h.comes_to("paused")
        await h.workflow.signal("resume")
        await h.comes_to("awaiting-response")
        await h.workflow.signal("issue_changed", {"state": "open", "labels": ["task:misc", "paused"]})
        await h.hears(ALICE, "One more thing.")
        await until(lambda: _processed(h, 1))
        await h.comes_to("awaiting-response")


@pytest.mark.req("PR-03")
async def test_unassigning_the_bot_stops_it(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        labels = sorted(h.forge.labels)
        await h.workflow.signal("issue_changed", {"labels": labels, "assignees": [BOT]})
        await h.workflow.signal("issue_changed", {"labels": labels, "assignees": []})
        await h.comes_to("stopped")
        assert "担当から外されました" in h.forge.comments[-1].body


@pytest.mark.req("CH-11", "CH-12")
async def test_a_comment_that_cannot_be_worked_on_is_reported_and_the_next_one_goes_on(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        h.model.refuses = WillNeverWork("The request is refused.")
        await h.hears(ALICE, "Something impossible.")
        await until(lambda: _said(h, "## エラーが発生しました"))
        await h.comes_to("awaiting-response")
        h.model.refuses = None
        await h.hears(ALICE, "Something possible.")
        await until(lambda: _results(h, 2))
        await h.comes_to("awaiting-response")
        told = [turn.text for turn in h.model.transcripts[-1].turns]
        assert "Something possible." in told[-1]
        assert "".join(told).count("Something possible.") == 1


@pytest.mark.req("CH-13")
async def test_without_conversation_the_first_pass_completes_the_issue(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0, policy=Policy(converses=False)).open(tmp_path) as h:
        await h.start()
        await h.comes_to("completed")
        assert h.forge.ours == ["## 実行完了", "## ✅ 完了"]


@pytest.mark.req("CD-05")
async def test_without_detection_comments_wait_for_the_result(time: WorkflowEnvironment, tmp_path: Path):
    policy = Policy(completion_keywords=COMPLETION_KEYWORDS, hears_while_working=False)
    async with house(time, rounds=1, policy=policy).open(tmp_path) as h:
        h.model.may_speak.clear()
        await h.start()
        await until(lambda: _asked(h, 1))
        await h.hears(ALICE, "Use tabs.")
        h.model.may_speak.set()
        await until(lambda: _results(h, 2))
        firsts = [transcript for transcript in h.model.transcripts if len(transcript.turns) <= 3]
        assert not any("Use tabs." in turn.text for transcript in firsts for turn in transcript.turns)


async def test_the_answer_to_status_comes_during_a_limit(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        h.model.refuses = TryAgainLater("limit", after=timedelta(hours=1))
        await h.start()
        await until(lambda: _waits(h, "モデルの利用制限"))
        await h.hears(ALICE, "/status")
        await until(lambda: _said(h, "## 現在の状態"))
        assert "モデルの利用制限" in h.forge.comments[-1].body


@pytest.mark.req("CH-12")
async def test_a_comment_that_was_written_again_is_looked_after_a_minute_later(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=0).open(tmp_path) as h:
        h.forge.posts_fail = 1
        await h.start()
        await h.comes_to("awaiting-response")
        await until(lambda: _waits(h, "返信"))
        assert h.forge.reconciled == []
        await time.fast_forward(h.workflow, timedelta(minutes=2))
        await until(lambda: _reconciled(h))
        assert (await h.status()).state == "awaiting-response"


@pytest.mark.req("CH-12")
@pytest.mark.parametrize("said", ["Please go on.", "/status"])
async def test_an_answer_on_the_request_that_was_written_again_is_looked_after_there(
    time: WorkflowEnvironment, tmp_path: Path, said: str
):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        place = h.issue.model_copy(update={"kind": Kind.PULL_REQUEST, "number": 2})
        h.forge.posts_fail = 1
        await h.delivers(h.forge.says(ALICE, said, place).model_copy(update={"place": place}))
        await until(lambda: _ours(h, 2))
        await h.comes_to("awaiting-response")
        await time.fast_forward(h.workflow, timedelta(minutes=2))
        await until(lambda: _reconciled(h))
        assert h.forge.reconciled_at == [place]


async def test_a_forge_that_takes_nothing_back_leaves_the_conversation_as_it_is(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=0).open(tmp_path) as h:
        h.forge.posts_fail = 1
        await h.start()
        await h.comes_to("awaiting-response")
        await until(lambda: _waits(h, "返信"))
        h.forge.refuses = WillNeverWork("The conversation is locked.")
        await time.fast_forward(h.workflow, timedelta(minutes=2))
        await until(lambda: _reconciled(h))
        h.forge.refuses = None
        await h.hears(ALICE, "Go on.")
        await until(lambda: _results(h, 2))


async def test_a_command_is_obeyed_although_the_answer_to_another_is_refused(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        h.forge.locked = True
        await h.delivers(h.forge.says(ALICE, "/status"), h.forge.says(ALICE, "/stop"))
        await h.comes_to("stopped")


@pytest.mark.req("TW-05")
async def test_a_flood_of_strangers_does_not_let_the_history_grow_without_bound(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=0).open(tmp_path) as h:
        first = await h.start()
        await h.comes_to("awaiting-response")
        for n in range(60):
            await h.hears("mallory", f"Spam {n}")
            await until(lambda: _nothing_pending(h))
        await h.hears(ALICE, "One more thing.")
        await until(lambda: _results(h, 2))
        assert (await h.workflow.describe()).run_id != first.first_execution_run_id
        assert len((await h.workflow.fetch_history()).events) < 500


async def test_facts_typed_without_labels_call_nobody(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0, policy=Policy(converses=False)).open(tmp_path) as h:
        await h.start()
        await h.comes_to("completed")
        await h.workflow.signal("issue_changed")
        await h.workflow.signal("issue_changed", {"state": "open", "labels": ["task:misc", "completed"]})
        await h.hears(ALICE, "/status")
        await until(lambda: _said(h, "## 現在の状態"))
        assert (await h.status()).session == 1


async def _nothing_pending(h: House) -> bool:
    return (await h.status()).comments_pending == 0


async def _ours(h: House, number: int) -> bool:
    return len(h.forge.ours) == number


async def _reconciled(h: House) -> bool:
    return len(h.forge.reconciled) == 1


async def _relabelled(h: House, add: str = "", remove: str = "") -> None:
    """Somebody moves labels, and the watcher tells it."""
    h.forge.labels = (h.forge.labels | {add}) - {remove, ""}
    await h.workflow.signal("issue_changed", {"state": "open", "labels": sorted(h.forge.labels), "assignees": []})


async def _asked(h: House, times: int) -> bool:
    return len(h.model.transcripts) == times


async def _said(h: House, heading: str) -> bool:
    return any(line.startswith(heading) for line in h.forge.ours)


async def _results(h: House, number: int) -> bool:
    return h.forge.ours.count("## 実行完了") == number


async def _processed(h: House, number: int) -> bool:
    return (await h.status()).comments_processed == number


async def _labels_are(h: House, labels: set[str]) -> bool:
    return h.forge.labels == labels


async def _waits(h: House, words: str) -> bool:
    return words in str((await h.status()).waiting_for)


@pytest.mark.req("CH-04")
async def test_at_rest_the_rules_in_force_now_decide_who_counts(time: WorkflowEnvironment, tmp_path: Path):
    policy = Policy(completion_keywords=COMPLETION_KEYWORDS, converses=False)
    async with house(time, rounds=0, policy=policy).open(tmp_path) as h:
        await h.start()
        await h.comes_to("completed")
        h.policies["github"] = policy.model_copy(update={"accept_comments_from": ("bob",)})
        await h.hears(ALICE, "Do more.")
        await until(lambda: _nothing_pending(h))
        await h.hears("bob", "Do something else.")
        await until(lambda: _is_in_session(h, 2))
        await h.comes_to("completed")
        told = "".join(turn.text for turn in h.model.transcripts[-1].turns)
        assert "Do something else." in told
        assert "Do more." not in told


async def _is_in_session(h: House, number: int) -> bool:
    return (await h.status()).session == number


async def _acknowledged(h: House) -> bool:
    return bool(h.forge.acknowledged)
