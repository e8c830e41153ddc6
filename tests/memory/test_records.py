"""What was done on an issue can be read back, session by session, and is never another issue's."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from hikitsugi.domain.handover import Attempts, Context, PlanRecord
from hikitsugi.domain.records import Task, Use
from hikitsugi.domain.redaction import HIDDEN, Redactor
from hikitsugi.domain.session import Ending
from hikitsugi.memory.opening import open_memory
from hikitsugi.memory.records import SqlRecords
from hikitsugi.memory.store import SqlMemory
from tests.memory.examples import ANOTHER_ISSUE, ISSUE, intent, opening, outcome, replied, said

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
SECRET = "correct-horse-battery"


def context(key: str = "k1", session: int = 1, ending: Ending = Ending.COMPLETED, at: datetime = NOON) -> Context:
    return Context(
        id=key,
        issue=ISSUE,
        session=session,
        ending=ending,
        ended_at=at,
        summary=f"セッション {session} の要約",
        plans=(PlanRecord(goal="直す", outline=("読む", "直す")),),
        attempts=Attempts(succeeded=3, failed=1, failures=("run pytest: 1 failed",)),
        use=Use(model="claude-opus-5-5", llm_calls=4, input_tokens=10, output_tokens=5, cost_usd=Decimal("0.10")),
    )


def task(key: str = "k1", session: int = 1) -> Task:
    return Task(key=key, issue=ISSUE, session=session, started_at=NOON - DAY)


@pytest.fixture
def records(memory: SqlMemory) -> SqlRecords:
    return memory.records


@pytest.mark.req("CI-05")
async def test_results_of_phases_come_back_in_order_and_the_first_writer_wins(records: SqlRecords):
    await records.record_phase(ISSUE, 1, "plan", 1, {"goal": "直す", "tasks": [{"id": "task_1"}]})
    await records.record_phase(ISSUE, 1, "plan", 1, {"goal": "another"})
    await records.record_phase(ISSUE, 1, "verification", 1, {"passed": False})
    await records.record_phase(ISSUE, 2, "plan", 1, {"goal": "続き"})
    await records.record_phase(ANOTHER_ISSUE, 1, "plan", 1, {"goal": "theirs"})

    found = await records.phase_results(ISSUE)

    assert [(each.session, each.phase, each.result) for each in found] == [
        (1, "plan", {"goal": "直す", "tasks": [{"id": "task_1"}]}),
        (1, "verification", {"passed": False}),
        (2, "plan", {"goal": "続き"}),
    ]


@pytest.mark.req("BY-07")
async def test_model_calls_of_a_session_are_numbered_over_all_its_conversations(memory: SqlMemory):
    for conversation, purpose in (("c1", "planning"), ("c2", "execution")):
        await memory.open_conversation(opening(conversation).model_copy(update={"purpose": purpose}))
        await memory.append_reply(conversation, 1, replied(f"thought in {purpose}"))
        await memory.append(conversation, 2, said("go on"))
    await memory.open_conversation(opening("c3").model_copy(update={"session": 2}))
    await memory.append_reply("c3", 1, replied("later"))

    calls = await memory.records.model_calls(ISSUE, 1)

    assert [(call.number, call.phase, call.text, call.stop_reason) for call in calls] == [
        (1, "planning", "thought in planning", "end_turn"),
        (2, "execution", "thought in execution", "end_turn"),
    ]
    assert calls[0].cost_usd == Decimal("0.0123450")
    assert await memory.records.model_calls(ANOTHER_ISSUE, 1) == []


@pytest.mark.req("CI-05")
async def test_tool_runs_are_told_with_their_session(memory: SqlMemory):
    await memory.open_conversation(opening("c1"))
    await memory.begin_tool_run("c1", intent())
    await memory.finish_tool_run("c1", "toolu_1", outcome())
    await memory.begin_tool_run("c1", intent("toolu_2"))

    runs = await memory.records.tool_runs(ISSUE)

    assert [(run.session, run.intent.call.id, run.outcome and run.outcome.text) for run in runs] == [
        (1, "toolu_1", "done"),
        (1, "toolu_2", None),
    ]


@pytest.mark.req("LC-04")
async def test_failed_tools_and_failed_model_calls_are_told_by_session(memory: SqlMemory):
    await memory.open_conversation(opening("c1").model_copy(update={"purpose": "execution", "subject": "task_1"}))
    for call, is_error in (("toolu_1", True), ("toolu_2", False)):
        await memory.begin_tool_run("c1", intent(call))
        await memory.finish_tool_run("c1", call, outcome().model_copy(update={"is_error": is_error}))
    for message in ("overloaded", "said again"):
        await memory.records.record_failed_call("c1", 3, 1, message)

    [run] = await memory.records.failed_runs(ISSUE, 1)
    [call] = await memory.records.failed_calls(ISSUE, 1)

    assert (run.phase, run.subject, run.intent.call.id) == ("execution", "task_1", "toolu_1")
    assert (call.phase, call.message) == ("execution", "overloaded")
    assert (await memory.read_conversation("c1")).purpose == "execution"
    assert await memory.records.failed_runs(ISSUE, 2) == []
    assert await memory.records.failed_calls(ANOTHER_ISSUE, 1) == []


@pytest.mark.req("CI-01", "CI-02", "CI-03")
async def test_a_context_is_kept_once_and_closes_its_task(records: SqlRecords):
    await records.begin_task(task())
    await records.begin_task(task())
    first = await records.keep_context(context())
    again = await records.keep_context(context(ending=Ending.FAILED).model_copy(update={"summary": "another"}))

    [kept] = await records.tasks(ISSUE)

    assert first == again == context()
    assert (kept.status, kept.ended_at, kept.use) == ("completed", NOON, context().use)
    assert await records.read_context(ISSUE, "k1") == context()
    assert await records.read_context(ANOTHER_ISSUE, "k1") is None


@pytest.mark.req("CI-01", "CI-02", "CI-09")
@pytest.mark.lesson("C24")
async def test_the_newest_completed_or_stopped_context_in_time_is_found(records: SqlRecords):
    await records.keep_context(context("k1", 1, Ending.COMPLETED, NOON))
    await records.keep_context(context("k2", 2, Ending.STOPPED, NOON + DAY))
    await records.keep_context(context("k3", 3, Ending.FAILED, NOON + 2 * DAY))

    found = await records.find_context(ISSUE, since=NOON)

    assert found is not None
    assert found.id == "k2"
    assert await records.find_context(ISSUE, since=NOON + DAY + timedelta(seconds=1)) is None
    assert await records.find_context(ANOTHER_ISSUE, since=NOON) is None


@pytest.mark.req("CI-08")
@pytest.mark.parametrize("body", ["{", "null", '{"id": "k1"}', "[]", ""])
async def test_a_damaged_context_is_no_context(url: str, body: str):
    async with open_memory(url) as memory:
        await memory.records.keep_context(context())
        await _overwrite(url, "UPDATE contexts SET body = :body", body)
        assert await memory.records.find_context(ISSUE, since=NOON - DAY) is None


@pytest.mark.req("CI-08")
async def test_a_damaged_result_is_left_out_and_the_others_are_told(url: str):
    async with open_memory(url) as memory:
        await memory.records.record_phase(ISSUE, 1, "plan", 1, {"goal": "a"})
        await _overwrite(url, "UPDATE phase_results SET result = :body", "{")
        await memory.records.record_phase(ISSUE, 1, "plan", 2, {"goal": "b"})
        assert [result.sequence for result in await memory.records.phase_results(ISSUE)] == [2]


@pytest.mark.req("CI-08")
async def test_a_context_without_a_summary_is_no_context(records: SqlRecords):
    await records.keep_context(context().model_copy(update={"summary": "  "}))
    assert await records.find_context(ISSUE, since=NOON - DAY) is None


@pytest.mark.req("CI-09")
async def test_forgetting_an_issue_leaves_nothing_of_it_and_all_of_the_others(memory: SqlMemory, url: str):
    await _worked_on(memory)
    await memory.open_conversation(opening("theirs").model_copy(update={"issue": ANOTHER_ISSUE}))

    assert await memory.records.forget(ISSUE) == 1

    assert await _rows(url) == {"conversations": 1, "messages": 1}
    assert await memory.records.forget(ISSUE) == 0


@pytest.mark.req("CI-09")
@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
async def test_of_what_is_forgotten_not_even_the_raw_files_hold_anything(memory: SqlMemory, url: str, tmp_path: Path):
    async with open_memory(url) as another:
        await _worked_on(memory)
        for number in range(40):
            await memory.append("c1", 2 + number, said(f"canary {number} " + "カナリア" * 50 * number))
        await another.open_conversation(opening("theirs").model_copy(update={"issue": ANOTHER_ISSUE}))
        assert _raw(tmp_path).count(b"canary") >= 40
        await another.records.forget(ISSUE)
        await memory.open_conversation(opening("later").model_copy(update={"issue": ANOTHER_ISSUE}))
        raw = _raw(tmp_path)
    for canary in ("canary", "カナリア", "セッション 1 の要約", str(ISSUE)):
        assert canary.encode() not in raw


@pytest.mark.req("CI-05", "CI-09")
async def test_a_session_whose_end_nobody_recorded_is_over_when_the_next_one_begins(memory: SqlMemory, url: str):
    await memory.records.begin_task(task())
    await memory.records.begin_task(task("k2", 2))
    await memory.records.begin_task(task())

    assert [(each.status, each.ended_at) for each in await memory.records.tasks(ISSUE)] == [
        ("failed", NOON - DAY),
        ("running", None),
    ]
    assert await memory.records.expire(NOON, under_way=[ISSUE]) == 1
    assert await _rows(url) == {"tasks": 1}


@pytest.mark.req("CI-09")
async def test_sessions_expire_by_their_end_and_one_without_an_end_when_nobody_works_on_it_any_more(
    memory: SqlMemory, url: str
):
    await _worked_on(memory)
    await memory.records.begin_task(task("k2", 2))
    await memory.open_conversation(opening("c2").model_copy(update={"session": 2}))

    assert await memory.records.expire(NOON, under_way=[ISSUE]) == 0
    assert await memory.records.expire(NOON + DAY, under_way=[ISSUE]) == 1
    assert await _rows(url) == {"tasks": 1, "conversations": 1, "messages": 1}

    assert await memory.records.expire(NOON - DAY, under_way=[]) == 0
    assert await memory.records.expire(NOON, under_way=[ANOTHER_ISSUE]) == 1
    assert await _rows(url) == {}


@pytest.mark.req("OP-05")
async def test_no_record_holds_a_secret(url: str):
    async with open_memory(url, redact=Redactor([SECRET])) as memory:
        await memory.records.record_phase(ISSUE, 1, "plan", 1, {"goal": [f"use {SECRET}"], SECRET: 1})
        await memory.records.record_summary(ISSUE, 1, 1, f"we used {SECRET}")
        await memory.records.keep_context(context().model_copy(update={"summary": f"{SECRET} was used"}))
        [plan] = await memory.records.phase_results(ISSUE)
        assert plan.result == {"goal": [f"use {HIDDEN}"], HIDDEN: 1}
        assert await memory.records.summaries(ISSUE, 1) == [f"we used {HIDDEN}"]
        kept = await memory.records.read_context(ISSUE, "k1")
        assert kept is not None
        assert kept.summary == f"{HIDDEN} was used"


def _raw(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def _worked_on(memory: SqlMemory) -> None:
    await memory.records.begin_task(task())
    await memory.open_conversation(opening("c1").model_copy(update={"comments": ("1@",)}))
    await memory.append_reply("c1", 1, replied("x"))
    await memory.begin_tool_run("c1", intent())
    await memory.finish_tool_run("c1", "toolu_1", outcome())
    await memory.records.record_phase(ISSUE, 1, "plan", 1, {})
    await memory.records.record_summary(ISSUE, 1, 1, "so far")
    await memory.records.keep_context(context())


async def _rows(url: str) -> dict[str, int]:
    tables = ("tasks", "contexts", "summaries", "phase_results", "conversations", "messages", "model_calls")
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        counted = {
            table: (await connection.execute(text(f"SELECT count(*) FROM {table}"))).scalar_one()  # noqa: S608 - ours
            for table in (*tables, "comments_taken_in", "tool_runs", "files_seen")
        }
    await engine.dispose()
    return {table: count for table, count in counted.items() if count}


async def _overwrite(url: str, statement: str, body: str) -> None:
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text(statement), {"body": body})
    await engine.dispose()
