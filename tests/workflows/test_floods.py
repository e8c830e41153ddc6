"""Thousands of comments on one issue: none lost, none told twice, and no limit of Temporal near."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.testing import WorkflowEnvironment

from hikitsugi.app.settings_sections import COMPLETION_KEYWORDS
from hikitsugi.domain.policy import Policy
from tests.workflows.fakes import ALICE
from tests.workflows.house import House, house, until

PATIENT = Policy(completion_keywords=COMPLETION_KEYWORDS, max_comment_count=100_000)
EVENTS_OF_A_RUN = 2_000
BYTES_OF_A_RUN = 40_000_000
"""Temporal ends a run at 50 MB; how much of a flood falls into one run depends on how fast the machine is."""

SIGNALS_OF_A_RUN = 10_000
WORK_AFTER_A_COMMENT = ["step 0", "step 1"]
LONG_TEXT = "あ" * 400


@pytest.mark.req("CH-12", "TW-05", "TW-08")
@pytest.mark.lesson("C1", "C5")
async def test_a_thousand_watched_comments_are_told_once_and_in_order(time: WorkflowEnvironment, tmp_path: Path):
    await _flooded_by_the_watcher(time, tmp_path, 1_000)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.req("CH-12", "TW-05", "TW-08")
async def test_ten_thousand_watched_comments_are_told_once_and_in_order(time: WorkflowEnvironment, tmp_path: Path):
    await _flooded_by_the_watcher(time, tmp_path, 10_000)


@pytest.mark.req("CH-12", "TW-02", "TW-05")
async def test_a_flood_of_comments_typed_by_hand_is_told_once_and_in_order(time: WorkflowEnvironment, tmp_path: Path):
    await _flooded_by_hand(time, tmp_path, comments=400, at_once=100)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("at_once", [1, 100])
@pytest.mark.req("CH-12", "TW-02", "TW-05")
async def test_ten_thousand_comments_typed_by_hand_are_told_once_and_in_order(
    time: WorkflowEnvironment, tmp_path: Path, at_once: int
):
    await _flooded_by_hand(time, tmp_path, comments=10_000, at_once=at_once)


@pytest.mark.req("TW-02", "CD-09")
async def test_a_typed_comment_of_any_length_is_told_shortened(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.workflow.signal("comment", [{"body": f"{n} {'x' * 900_000}"} for n in (1, 2)])
        await until(lambda: _processed(h, 2))
        await h.comes_to("awaiting-response")
        assert "characters left out" in h.model.transcripts[-1].turns[-1].text


@pytest.mark.req("PR-01", "TW-05", "CH-12")
@pytest.mark.lesson("C11", "C18")
async def test_a_flood_of_comments_and_labels_during_a_pause_of_thirty_days_leaves_the_history_short(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=2, policy=PATIENT).open(tmp_path) as h:
        h.model.may_speak.clear()
        first = await h.start()
        await until(lambda: _asked(h))
        await h.workflow.signal("pause", "holiday")
        h.model.may_speak.set()
        await h.comes_to("paused")
        for day in range(30):
            await h.delivers(*(h.forge.says(ALICE, f"wish-{3 * day + n}.") for n in range(3)))
            await h.delivers(h.forge.says("mallory", "Spam."))
            await _relabelled(h, "processing")
            await until(lambda: _nothing_pending(h))
        await time.fast_forward(h.workflow, timedelta(days=30))
        await _stays_small(h)
        assert (await h.workflow.describe()).run_id != first.first_execution_run_id
        assert (await h.status()).state == "paused"
        assert len(h.model.transcripts) == 1
        await h.workflow.signal("resume")
        await h.comes_to("awaiting-response")
        assert h.workshop.carried_out == ["step 0", *WORK_AFTER_A_COMMENT]
        assert len(h.model.transcripts) == 4
        assert _told(h) == list(range(90))
        assert h.forge.ours == ["## 🛠️ 進捗(セッション 1)", "## 実行完了"]


async def _flooded_by_the_watcher(time: WorkflowEnvironment, folder: Path, comments: int) -> None:
    """While the model speaks, people write more than anybody can read; every delivery comes twice."""
    async with house(time, rounds=1, policy=PATIENT).open(folder) as h:
        h.model.may_speak.clear()
        await h.start()
        await until(lambda: _asked(h))
        said = [h.forge.says(ALICE, f"wish-{n}. {LONG_TEXT if n % 10 == 0 else ''}") for n in range(comments)]
        for first in range(0, comments, 100):
            for _ in range(2):
                await h.delivers(*said[first : first + 100])
        h.model.may_speak.set()
        await _is_told(h, comments)
        assert sorted(h.forge.acknowledged, key=int) == [comment.id for comment in said]


async def _flooded_by_hand(time: WorkflowEnvironment, folder: Path, comments: int, at_once: int) -> None:
    async with house(time, rounds=1, policy=PATIENT).open(folder) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        for first in range(0, comments, at_once):
            typed = [{"body": f"wish-{n}. {LONG_TEXT}"} for n in range(first, first + at_once)]
            await h.workflow.signal("comment", typed)
        await _is_told(h, comments)


async def _is_told(h: House, comments: int) -> None:
    await until(lambda: _processed(h, comments), patience=800)
    await h.comes_to("awaiting-response")
    assert _told(h) == list(range(comments))
    assert (await h.status()).comments_pending == 0
    assert max(len(turn.text) for turn in h.model.transcripts[-1].turns) < 80_000
    executions = h.time.client.list_workflows(f"WorkflowId = '{h.issue}'")
    async for execution in executions:
        await _stays_small(h, execution.run_id)


async def _stays_small(h: House, run: str | None = None) -> None:
    """No run of the workflow comes near a limit of Temporal."""
    history = await h.time.client.get_workflow_handle(str(h.issue), run_id=run).fetch_history()
    signals = [e for e in history.events if e.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED]
    assert len(history.events) < EVENTS_OF_A_RUN
    assert len(signals) < SIGNALS_OF_A_RUN / 2
    assert sum(event.ByteSize() for event in history.events) < BYTES_OF_A_RUN


def _told(h: House) -> list[int]:
    """The wishes that the model was given in the end, in its order."""
    turns = h.model.transcripts[-1].turns
    return [int(number) for turn in turns for number in re.findall(r"wish-(\d+)\.", turn.text)]


async def _relabelled(h: House, label: str) -> None:
    """Somebody adds a label, and the watcher tells it."""
    h.forge.labels.add(label)
    await h.workflow.signal("issue_changed", {"state": "open", "labels": sorted(h.forge.labels), "assignees": []})


async def _asked(h: House) -> bool:
    return bool(h.model.transcripts)


async def _processed(h: House, number: int) -> bool:
    return (await h.status()).comments_processed == number


async def _nothing_pending(h: House) -> bool:
    return not (await h.status()).comments_pending % 3
