"""An issue that is worked on again remembers, whatever happened to its workflow or to the store."""

import asyncio
import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.testing import WorkflowEnvironment

from hikitsugi.domain.conversation import Transcript
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.policy import Policy
from tests.workflows.fakes import ALICE
from tests.workflows.house import GENEROUS, House, house, until

NOTICE = "📋 **過去のコンテキストを引き継ぎました**"


@pytest.mark.req("CI-01", "CI-03", "CI-04", "CI-07", "CI-09", "CI-12")
async def test_ten_days_after_completion_the_model_is_told_what_the_last_session_left(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=1).open(tmp_path) as h:
        h.summarist.says = "## Decisions\nUse tabs, as @alice said."
        await _completed(h)
        await time.fast_forward(h.workflow, timedelta(days=10))
        await h.hears(ALICE, "It fails again.")
        await until(lambda: _results(h, 2))
        turns = h.model.transcripts[-1].turns
        assert turns[1].text == "前回の処理要約: ## Decisions\nUse tabs, as [user] said."
        assert "recall" in [tool.name for tool in h.model.transcripts[-1].tools]
        assert NOTICE in h.forge.ours
        status = await h.status()
        assert status.inherited_from is not None
        assert status.inherited_from[:8] in next(c.body for c in h.forge.comments if c.body.startswith(NOTICE))


@pytest.mark.req("CI-01", "CI-03")
async def test_a_stopped_session_is_inherited_by_a_summary_made_by_rule(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=1).open(tmp_path) as h:
        await h.start()
        await h.comes_to("awaiting-response")
        await h.workflow.signal("stop")
        await h.comes_to("stopped")
        await h.hears(ALICE, "Go on, please.")
        await until(lambda: _results(h, 2))
        inherited = h.model.transcripts[-1].turns[1].text
        assert "Fixed it." in inherited
        assert "tests pass" in inherited


@pytest.mark.req("CI-02", "CI-03")
async def test_a_failed_session_leaves_a_summary_and_the_next_one_inherits_the_one_before(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=0).open(tmp_path) as h:
        h.summarist.says = "The good session."
        await _completed(h)
        h.summarist.says = "The bad session."
        h.model.refuses = WillNeverWork("The key is refused.")
        await h.hears(ALICE, "Once more.")
        await h.comes_to("failed")
        h.model.refuses = None
        await h.hears(ALICE, "And again.")
        await until(lambda: _results(h, 2))
        assert h.model.transcripts[-1].turns[1].text == "前回の処理要約: The good session."
        assert _stored(tmp_path, "SELECT status FROM contexts ORDER BY session") == ["completed", "failed"]
        await h.hears(ALICE, "thanks")
        await h.comes_to("completed")
        [handed_down] = _stored(tmp_path, "SELECT body FROM contexts WHERE session = 3")
        claimed = [told for told in json.loads(handed_down)["verifications"] if told.endswith("tests pass")]
        assert claimed == ["Session 1: tests pass", "tests pass"]


@pytest.mark.req("CI-12")
async def test_inheritance_can_be_switched_off(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=0, policy=Policy(inherits=False, completion_keywords=("thanks",))).open(
        tmp_path
    ) as h:
        await _completed(h)
        await h.hears(ALICE, "Once more.")
        await until(lambda: _results(h, 2))
        assert not _is_inherited(h)
        assert h.model.transcripts[-1].tools == ()
        assert NOTICE not in h.forge.ours


@pytest.mark.req("CI-01", "CI-02")
@pytest.mark.lesson("C24")
@pytest.mark.parametrize(("days", "inheritances"), [(89, 1), (91, 0)])
async def test_after_a_termination_by_hand_the_store_gives_the_context_back_until_it_expires(
    time: WorkflowEnvironment, tmp_path: Path, days: int, inheritances: int
):
    async with house(time, rounds=0).open(tmp_path) as h:
        await _completed(h)
        await h.workflow.terminate()
        _change(tmp_path, "UPDATE contexts SET ended_at = datetime(ended_at, ?)", f"-{days} days")
        await h.start()
        await until(lambda: _results(h, 2))
        assert _is_inherited(h) == inheritances
        assert (await h.status()).session == 2


@pytest.mark.req("CI-08")
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE contexts SET body = '{'",
        "UPDATE contexts SET body = replace(body, 'summary', 'nothing')",
        "DELETE FROM contexts",
        "DROP TABLE contexts",
    ],
)
async def test_a_damaged_context_means_a_new_task_and_never_a_failure(
    time: WorkflowEnvironment, tmp_path: Path, damage: str
):
    async with house(time, rounds=0).open(tmp_path) as h:
        await _completed(h)
        await h.workflow.terminate()
        _change(tmp_path, damage)
        await h.start()
        await until(lambda: _results(h, 2))
        assert not _is_inherited(h)


@pytest.mark.req("CI-08")
@pytest.mark.parametrize("ends", ["terminated", "at rest"])
async def test_a_memory_in_which_every_row_is_damaged_means_a_new_task_and_never_a_failure(
    time: WorkflowEnvironment, tmp_path: Path, ends: str
):
    async with house(time, rounds=1).open(tmp_path) as h:
        await _completed(h)
        if ends == "terminated":
            await h.workflow.terminate()
        _vandalise(tmp_path)
        if ends == "terminated":
            await h.start()
        else:
            await h.hears(ALICE, "It fails again.")
        await until(lambda: _results(h, 2))
        await h.hears(ALICE, "thanks")
        await h.comes_to("completed")


@pytest.mark.req("CI-08", "CI-01")
async def test_what_the_workflow_carries_itself_is_told_when_the_store_lost_it(
    time: WorkflowEnvironment, tmp_path: Path
):
    async with house(time, rounds=0).open(tmp_path) as h:
        h.summarist.says = "Carried along."
        await _completed(h)
        _change(tmp_path, "ALTER TABLE tasks RENAME TO gone")
        await h.hears(ALICE, "Once more.")
        await until(lambda: _asked(h, 2))
        assert h.model.transcripts[-1].turns[1].text == "前回の処理要約: Carried along."
        _change(tmp_path, "ALTER TABLE gone RENAME TO tasks")
        await until(lambda: _results(h, 2))


@pytest.mark.req("CI-08")
@pytest.mark.lesson("C11", "C20")
@pytest.mark.parametrize("seconds", [1.0, pytest.param(30.0, marks=pytest.mark.long)])
async def test_a_locked_store_is_waited_for_and_no_message_is_lost(
    time: WorkflowEnvironment, tmp_path: Path, seconds: float
):
    async with house(time, rounds=1).open(tmp_path) as h:
        h.model.may_speak.clear()
        await h.start()
        await until(lambda: _asked(h, 1))
        lock = sqlite3.connect(tmp_path / "memory.db", isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
        h.model.may_speak.set()
        await h.hears(ALICE, "Use tabs.")
        await asyncio.sleep(seconds)
        lock.execute("ROLLBACK")
        lock.close()
        await h.comes_to("awaiting-response")
        said = [turn.text for turn in h.model.transcripts[-1].turns]
        assert any("Use tabs." in text for text in said)
        assert _stored(tmp_path, "SELECT count(*) FROM messages") == [len(said) + 2]
        assert "failed" not in h.forge.labels


@pytest.mark.req("CI-05")
async def test_the_model_can_recall_what_earlier_sessions_tried(time: WorkflowEnvironment, tmp_path: Path):
    async with house(time, rounds=1).open(tmp_path) as h:
        await _completed(h)
        h.model.script = _recalls
        await h.hears(ALICE, "It fails again.")
        await until(lambda: _results(h, 2))
        answered = str(h.model.transcripts[-1].turns[-1].content[0]["content"])
        assert answered == "[session 1, tool] run step 0: done"


def _recalls(transcript: Transcript) -> Sequence[tuple[str, Mapping[str, Any]]]:
    if transcript.turns[-1].content[0]["type"] == "tool_result":
        return [("submit", {"status": "done", "summary": "I remember."})]
    return [("recall", {"query": "STEP", "kind": "tool"})]


async def _completed(h: House) -> None:
    await h.start()
    await h.comes_to("awaiting-response")
    await h.hears(ALICE, "thanks")
    await h.comes_to("completed")


def _is_inherited(h: House) -> bool:
    return any(turn.text.startswith("前回の処理要約: ") for turn in h.model.transcripts[-1].turns)


async def _results(h: House, number: int) -> bool:
    return h.forge.ours.count("## 実行完了") == number


async def _asked(h: House, number: int) -> bool:
    return len(h.model.transcripts) >= number


def _stored(folder: Path, query: str) -> list[Any]:
    with sqlite3.connect(folder / "memory.db", timeout=GENEROUS) as connection:
        found = [row[0] for row in connection.execute(query)]
    connection.close()
    return found


def _vandalise(folder: Path) -> None:
    """Put something unreadable wherever a row holds more than its key."""
    with sqlite3.connect(folder / "memory.db", timeout=GENEROUS) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in {*tables} - {"alembic_version"}:
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            for _, column, kind, *_, is_key in columns:
                if kind in {"TEXT", "DATETIME"} and not is_key and column not in {"issue", "conversation"}:
                    connection.execute(f"UPDATE {table} SET {column} = '{{'")  # noqa: S608 - names of our own schema
    connection.close()


def _change(folder: Path, statement: str, *given: str) -> None:
    with sqlite3.connect(folder / "memory.db", timeout=GENEROUS) as connection:
        connection.execute(statement, given)
    connection.close()
