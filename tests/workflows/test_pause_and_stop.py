"""Pause, resume and stop between any two steps, and in the middle of one."""

import asyncio
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio import activity
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.errors import TryAgainLater
from hikitsugi.domain.issue import GitRemote
from hikitsugi.domain.workspace import Commit, Published
from tests.workflows.fakes import ALICE, FakeWorkshop
from tests.workflows.house import House, house, until

STEPS = (
    "open_conversation",
    "prepare_workspace",
    "think",
    "use_tools",
    "publish",
    "open_change_request",
    "post_result",
)
WORK = {"think", "use_tools", "prepare_workspace", "publish"}


class Journal(Interceptor):
    """Notes every activity that is begun, and gives an order when one of them is."""

    def __init__(self, h: House, at: str, *, after: bool = False, order: str = "pause", turn: int = 1) -> None:
        self.begun: list[str] = []
        self._house, self._at, self._after, self._order, self._turn = h, at, after, order, turn

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002
        return _Noting(next, self)

    async def note(self, name: str, *, after: bool) -> None:
        if not after:
            self.begun.append(name)
        if (name, after) == (self._at, self._after) and self.begun.count(name) == self._turn:
            await self._house.workflow.signal(self._order, "holiday")


class Reopening(Journal):
    """Reopens the issue while its final summary is made."""

    def __init__(self, h: House) -> None:
        super().__init__(h, "hand_over")

    async def note(self, name: str, *, after: bool) -> None:
        if name == "hand_over" and not after:
            await self._house.workflow.signal("issue_changed", {"state": "open", "labels": ["task:misc"]})


class Lingering(Journal):
    """Lets the first tool run take its time to end when it is cancelled."""

    def __init__(self) -> None:
        self.began, self.may_end = asyncio.Event(), asyncio.Event()

    async def note(self, name: str, *, after: bool) -> None:
        if name == "use_tools" and not after and not self.began.is_set():
            self.began.set()
            while not self.may_end.is_set():
                with suppress(asyncio.CancelledError):
                    await self.may_end.wait()


class _Noting(ActivityInboundInterceptor):
    def __init__(self, inner: ActivityInboundInterceptor, journal: Journal) -> None:
        super().__init__(inner)
        self._journal = journal

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002
        name = activity.info().activity_type
        await self._journal.note(name, after=False)
        result = await super().execute_activity(input)
        await self._journal.note(name, after=True)
        return result


@pytest.mark.req("PR-01", "TW-03")
@pytest.mark.lesson("C10", "C18")
@pytest.mark.parametrize("after", [False, True], ids=["during", "after"])
@pytest.mark.parametrize("step", STEPS)
async def test_a_pause_of_thirty_days_holds_before_the_next_step_and_changes_nothing(
    time: WorkflowEnvironment, tmp_path: Path, step: str, *, after: bool
):
    h = house(time)
    journal = Journal(h, step, after=after)
    async with h.open(tmp_path, (journal,)):
        await h.start()
        status = await h.comes_to("paused")
        assert "holiday" in str(status.waiting_for)
        held = [name for name in journal.begun if name in WORK]
        await time.fast_forward(h.workflow, timedelta(days=30))
        assert [name for name in journal.begun if name in WORK] == held
        assert (await h.status()).state == "paused"
        await h.workflow.signal("resume")
        await h.comes_to("awaiting-response")
    counted = Counter(name for name in journal.begun if name in STEPS)
    assert counted == dict.fromkeys(STEPS, 1) | {"think": 3, "use_tools": 3}
    assert h.workshop.carried_out == ["step 0", "step 1"]
    assert sorted(h.forge.ours) == ["## 実行完了", "## 🛠️ 進捗(セッション 1)"]


@pytest.mark.req("PR-01", "PR-03", "CH-06")
async def test_an_issue_labelled_for_work_and_paused_at_once_waits_until_the_pause_is_taken_off(
    time: WorkflowEnvironment, tmp_path: Path
):
    h = house(time)
    journal = Journal(h, "nothing")
    async with h.open(tmp_path, (journal,)):
        h.forge.labels |= {"paused"}
        await h.start()
        await h.comes_to("paused")
        assert not WORK & set(journal.begun)
        h.forge.labels -= {"paused"}
        await h.workflow.signal("issue_changed", {"labels": sorted(h.forge.labels)})
        await h.comes_to("awaiting-response")
        assert "paused" not in h.forge.labels


@pytest.mark.req("PR-01")
@pytest.mark.lesson("C11")
async def test_comments_written_during_a_pause_are_heard_after_it(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.workflow.signal("pause", {"by": "maria", "reason": "release"})
        await h.comes_to("paused")
        await h.hears(ALICE, "One more thing.")
        await time.fast_forward(h.workflow, timedelta(days=30))
        assert (await h.status()).comments_pending == 1
        await h.workflow.signal("resume")
        await until(lambda: _processed(h, 1))


@pytest.mark.req("PR-01", "PR-03")
@pytest.mark.lesson("C11")
@pytest.mark.parametrize("step", ["take_over", "show_state", "read_instructions", "open_conversation"])
async def test_a_session_paused_while_it_begins_still_hears_people(
    time: WorkflowEnvironment, tmp_path: Path, step: str
):
    h = house(time, rounds=0)
    async with h.open(tmp_path, (Journal(h, step),)):
        await h.start()
        await h.comes_to("paused")
        await h.hears(ALICE, "Use tabs.")
        await h.hears(ALICE, "/status")
        await until(lambda: _said(h, "## 現在の状態"))
        await h.hears(ALICE, "/resume")
        await h.comes_to("awaiting-response")
        texts = [turn.text for transcript in h.model.transcripts for turn in transcript.turns]
        assert sum(text.count("Use tabs.") for text in texts) == 1


@pytest.mark.req("PR-01", "PR-03")
async def test_a_pause_between_two_sessions_is_answered(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, "ありがとう")
        await h.comes_to("completed")
        await h.hears(ALICE, "/pause")
        await h.comes_to("paused")
        await until(lambda: _said(h, "一時停止しました。`/resume` とコメントするまで、新しい作業を始めません。"))


@pytest.mark.req("PR-01", "PR-03")
async def test_who_writes_during_a_pause_between_two_sessions_is_told_of_it_once(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.hears(ALICE, "ありがとう")
        await h.comes_to("completed")
        await h.workflow.signal("pause", "release")
        await h.comes_to("paused")
        told = "一時停止中のため、まだ作業を始めません。コメントは取っておき、`/resume` とコメントされたら対応します。"
        for wish in ("Also the README.", "And the tests."):
            await h.hears(ALICE, wish)
            await until(lambda: _said(h, told))
        await h.workflow.signal("resume")
        await until(lambda: _processed(h, 2))
        assert h.forge.ours.count(told) == 1


@pytest.mark.req("PR-02", "CI-03")
@pytest.mark.lesson("C12")
async def test_a_stop_ends_the_model_call_under_way_and_saves_the_work(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time).open(tmp_path) as h:
        h.model.may_speak.clear()
        await h.start()
        await until(lambda: _asked(h))
        await h.workflow.signal("stop", "wrong issue")
        await h.comes_to("stopped")
        assert h.forge.ours == ["## ⛔ タスク停止"]
        assert "wrong issue" in h.forge.comments[-1].body
        assert len(h.workshop.published) == 1
        assert h.workshop.carried_out == []


@pytest.mark.req("PR-02")
async def test_a_stop_holds_even_when_the_step_under_way_ends_at_the_same_moment(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=9).open(tmp_path) as h:
        h.model.may_speak.clear()
        await h.start()
        await until(lambda: _asked(h))
        await h.workflow.signal("stop")
        h.model.may_speak.set()
        await h.comes_to("stopped")
        assert len(h.workshop.carried_out) <= 1
        assert h.forge.ours == ["## ⛔ タスク停止"]


@pytest.mark.req("PR-02")
@pytest.mark.parametrize("turn", [1, 2])
@pytest.mark.parametrize("step", ["show_state", "think", "use_tools"])
async def test_a_stop_is_obeyed_whatever_is_under_way(time: WorkflowEnvironment, tmp_path: Path, step: str, turn: int):
    h = house(time)
    async with h.open(tmp_path, (Journal(h, step, order="stop", turn=turn),)):
        await h.start()
        await h.comes_to("stopped")
        assert h.forge.ours[-1] == "## ⛔ タスク停止"


@pytest.mark.req("PR-02")
async def test_a_stop_is_obeyed_while_the_pause_is_being_shown(time: WorkflowEnvironment, tmp_path: Path):
    h = house(time)
    async with h.open(tmp_path, (Journal(h, "show_state", order="stop", turn=2),)):
        h.model.may_speak.clear()
        await h.start()
        await until(lambda: _asked(h))
        await h.workflow.signal("pause")
        h.model.may_speak.set()
        await h.comes_to("stopped")


@pytest.mark.req("PR-02")
async def test_a_paused_issue_can_be_stopped(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.workflow.signal("pause")
        await h.comes_to("paused")
        await h.workflow.signal("stop")
        await h.comes_to("stopped")
        assert "paused" not in h.forge.labels


@pytest.mark.req("PR-03")
async def test_closing_the_issue_stops_it_and_reopening_calls_it_up(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.workflow.signal("issue_changed", {"state": "closed", "labels": ["task:misc"]})
        await h.comes_to("stopped")
        assert "再び開いて" in h.forge.comments[-1].body
        assert "ここにコメント" not in h.forge.comments[-1].body
        await h.workflow.signal("issue_changed", {"state": "open", "labels": ["task:misc", "stopped"]})
        await h.comes_to("awaiting-response")
        assert (await h.status()).session == 2


@pytest.mark.req("TW-05")
async def test_reopening_while_the_last_session_takes_its_leave_is_not_lost(time: WorkflowEnvironment, tmp_path: Path):
    h = house(time, rounds=0)
    async with h.open(tmp_path, (Reopening(h),)):
        await h.start()
        await h.comes_to("awaiting-response")
        await h.workflow.signal("issue_changed", {"state": "closed", "labels": ["task:misc"]})
        await until(lambda: _is_in_session(h, 2))
        await h.comes_to("awaiting-response")


@pytest.mark.req("PR-02", "PR-03", "TW-05")
@pytest.mark.parametrize("said", [None, "/retry", "Go on after all."])
async def test_a_call_right_after_a_stop_opens_the_next_session(
    time: WorkflowEnvironment, tmp_path: Path, said: str | None
):
    h = house(time)
    slow = Lingering()
    async with h.open(tmp_path, (slow,)):
        await h.start()
        await slow.began.wait()
        await h.workflow.signal("stop")
        if said:
            await h.hears(ALICE, said)
            await until(lambda: _is_heard(h))
        else:
            await h.workflow.signal("issue_changed", {"called_by": "operator"})
        slow.may_end.set()
        status = await h.comes_to("awaiting-response")
        assert (status.session, h.forge.ours.count("## ⛔ タスク停止")) == (2, 1)


@pytest.mark.req("PR-02")
async def test_of_a_stop_a_call_and_another_stop_the_last_word_counts(time: WorkflowEnvironment, tmp_path: Path):
    h = house(time)
    slow = Lingering()
    async with h.open(tmp_path, (slow,)):
        await h.start()
        await slow.began.wait()
        await h.workflow.signal("stop")
        await h.workflow.signal("issue_changed", {"called_by": "operator"})
        await h.workflow.signal("stop")
        slow.may_end.set()
        await h.comes_to("stopped")
        await h.hears(ALICE, "/status")
        await until(lambda: _said(h, "## 現在の状態"))
        assert (await h.status()).session == 1


class BusyWorkshop(FakeWorkshop):
    """Cannot push for an hour."""

    is_busy = True

    async def publish(self, issue: IssueAddress, remote: GitRemote, branch: str, commit: Commit) -> Published:
        if self.is_busy:
            self.is_busy = False
            raise TryAgainLater("Slow down.", after=timedelta(hours=1))
        return await super().publish(issue, remote, branch, commit)


@pytest.mark.req("PR-02", "CH-06")
@pytest.mark.lesson("C12")
@pytest.mark.parametrize("order", ["pause", "stop"])
async def test_nothing_holds_a_session_that_takes_its_leave(time: WorkflowEnvironment, tmp_path: Path, order: str):
    h = house(time)
    h.workshop = BusyWorkshop()
    h.model.may_speak.clear()
    async with h.open(tmp_path):
        await h.start()
        await until(lambda: _asked(h))
        await h.workflow.signal("stop")
        await until(lambda: _is_limited(h))
        if order == "stop":
            await h.workflow.signal("issue_changed", {"called_by": "operator"})
        await h.workflow.signal(order)
        await time.fast_forward(h.workflow, timedelta(minutes=61))
        await until(lambda: _said(h, "## ⛔ タスク停止"))
        if order == "pause":
            await h.comes_to("paused")
            await h.workflow.signal("resume")
        assert (await h.comes_to("stopped")).session == 1
        assert len(h.workshop.published) == 1


@pytest.mark.req("TW-02")
@pytest.mark.parametrize("typed", [None, "tea", {"by": "maria"}, {"reason": 5}, 7, ["x"]], ids=repr)
async def test_signals_typed_by_hand_are_understood(time: WorkflowEnvironment, tmp_path: Path, typed: object):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.workflow.signal("pause", *([] if typed is None else [typed]))
        await h.comes_to("paused")
        await h.workflow.signal("resume", *([] if typed is None else [typed]))
        await h.comes_to("awaiting-response")


@pytest.mark.req("TW-02", "CD-08")
@pytest.mark.parametrize(
    "typed",
    [
        "Do more.",
        {"body": "Do more."},
        [{"body": "Do more."}, 5],
        [{"author": "alice"}, {"id": 9, "author": "alice", "body": "Do more."}],
    ],
    ids=repr,
)
async def test_comments_typed_by_hand_are_heard_and_malformed_ones_left_out(
    time: WorkflowEnvironment, tmp_path: Path, typed: object
):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.workflow.signal("comment", typed)
        await until(lambda: _processed(h, 1))
        await h.comes_to("awaiting-response")


async def _asked(h: House) -> bool:
    return bool(h.model.transcripts)


async def _is_limited(h: House) -> bool:
    return "利用制限" in str((await h.status()).waiting_for)


async def _processed(h: House, number: int) -> bool:
    return (await h.status()).comments_processed == number


async def _is_heard(h: House) -> bool:
    """Whether the workflow knows who counts."""
    events = (await h.workflow.fetch_history()).events
    asked = {e.event_id for e in events if e.activity_task_scheduled_event_attributes.activity_type.name == "hear"}
    return any(e.activity_task_completed_event_attributes.scheduled_event_id in asked for e in events)


async def _said(h: House, heading: str) -> bool:
    return heading in h.forge.ours


async def _is_in_session(h: House, number: int) -> bool:
    return (await h.status()).session == number


@pytest.mark.req("PR-01", "PR-03", "BY-01")
async def test_who_pauses_before_the_conversation_is_open_is_still_heard(time: WorkflowEnvironment, tmp_path: Path):
    h = house(time, rounds=0)
    async with h.open(tmp_path, (Journal(h, "read_instructions"),)):
        await h.start()
        await h.comes_to("paused")
        await h.hears(ALICE, "Use tabs.")
        await h.hears(ALICE, "/status")
        await until(lambda: _answers(h, "## 現在の状態"))
        await h.hears(ALICE, "/resume")
        status = await h.comes_to("awaiting-response")
        (transcript,) = h.model.transcripts
    assert h.forge.acknowledged == ["2", "3", "5"]
    assert [turn.text for turn in transcript.turns if "Use tabs." in turn.text] == [
        f"[New Comment from @{ALICE}]:\nUse tabs."
    ]
    assert status.comments_processed == 1


async def _answers(h: House, heading: str) -> bool:
    return heading in h.forge.ours
