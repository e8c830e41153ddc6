"""One damaged row hides none of the others, and is counted."""

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.issue import Comment
from hikitsugi.memory.archive import SqlArchive
from hikitsugi.memory.opening import open_memory
from hikitsugi.memory.store import SqlMemory
from tests.memory.examples import ANOTHER_ISSUE, ISSUE, intent, opening, outcome, replied
from tests.memory.test_records import DAY, NOON, context, task

NO_TURN = ["{", "null", '{"a": 1}', "[1]", "7"]
NO_REPLY = [*NO_TURN, '[{"a": 1}]', '[{"type": "text"}]', '[{"type": "tool_use"}]']


async def damage(url: str, table: str, column: str, value: str, where: str) -> None:
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        statement = f"UPDATE {table} SET {column} = :value WHERE {where}"  # noqa: S608 - ours
        await connection.execute(text(statement), {"value": value})
    await engine.dispose()


async def worked_on_twice(memory: SqlMemory) -> None:
    for session in (1, 2):
        await memory.records.begin_task(task(f"k{session}", session))
        await memory.open_conversation(opening(f"c{session}").model_copy(update={"session": session}))
        for sequence in (1, 2):
            await memory.append_reply(f"c{session}", sequence, replied(f"reply {sequence}"))
            await memory.records.record_phase(ISSUE, session, "plan", sequence, {"goal": "a"})
            await memory.records.record_summary(ISSUE, session, sequence, f"summary {sequence}")
        for call in ("toolu_1", "toolu_2"):
            await memory.begin_tool_run(f"c{session}", intent(call))
            await memory.finish_tool_run(
                f"c{session}", call, outcome().model_copy(update={"is_error": True, "text": call})
            )
        await memory.keep_comments(ISSUE, [Comment(id=f"operator:{session}", author="operator", body="Use tabs.")])
        await memory.take_in_comments(ISSUE, f"c{session}", [f"operator:{session}@"])
        await memory.records.keep_context(context(f"k{session}", session))


@pytest.mark.req("CI-08", "CI-03")
@pytest.mark.parametrize("content", NO_REPLY)
async def test_model_calls_keep_their_numbers_when_one_of_them_is_damaged(url: str, content: str):
    async with open_memory(url) as memory:
        await worked_on_twice(memory)
        await damage(url, "messages", "content", content, "conversation = 'c1' AND sequence = 1")
        records = memory.records
        assert [(call.number, call.text) for call in await records.model_calls(ISSUE, 1)] == [(2, "reply 2")]
        assert records.left_out == 1


@pytest.mark.req("CI-08", "CI-03")
@pytest.mark.parametrize("column", ["intent", "outcome"])
@pytest.mark.parametrize("value", ["{", "[]", '{"a": 1}', "7"])
async def test_the_other_tool_runs_are_told(url: str, column: str, value: str):
    async with open_memory(url) as memory:
        await worked_on_twice(memory)
        await damage(url, "tool_runs", column, value, "conversation = 'c1' AND call = 'toolu_1'")
        told = [(run.session, run.intent.call.id) for run in await memory.records.tool_runs(ISSUE)]
        assert told == [(1, "toolu_2"), (2, "toolu_1"), (2, "toolu_2")]
        assert [run.intent.call.id for run in await memory.records.failed_runs(ISSUE, 1)] == ["toolu_2"]


@pytest.mark.req("CI-08", "CI-03")
@pytest.mark.parametrize("value", ["{", "null", '{"a": 1}', "7"])
async def test_the_other_summaries_and_sessions_are_told(url: str, value: str):
    async with open_memory(url) as memory:
        await worked_on_twice(memory)
        await damage(url, "summaries", "text", value, "session = 1 AND sequence = 1")
        assert await memory.records.summaries(ISSUE, 1) == ["summary 2"]
        await damage(url, "tasks", "cost_usd", value if value != "7" else "seven", "session = 1")
        assert [task.session for task in await memory.records.tasks(ISSUE)] == [2]


@pytest.mark.req("CI-09")
async def test_a_session_with_a_damaged_price_expires_like_any_other(url: str):
    async with open_memory(url) as memory:
        await worked_on_twice(memory)
        await damage(url, "tasks", "cost_usd", "{", "session = 1")
        assert await memory.records.expire(NOON + DAY, under_way=[]) == 2
        assert not await memory.archive.sessions(ISSUE)


@pytest.mark.parametrize("content", NO_TURN)
async def test_a_conversation_that_is_needed_whole_is_refused_in_a_sentence(url: str, content: str):
    async with open_memory(url) as memory:
        await worked_on_twice(memory)
        await damage(url, "messages", "content", content, "conversation = 'c1' AND sequence = 1")
        for ask in (memory.read_conversation("c1"), memory.find_turn("c1", 1)):
            with pytest.raises(WillNeverWork, match="A record does not fit the memory"):
                await ask


@pytest.mark.parametrize("tools", ["null", "{", "[1]", '{"a": 1}'])
async def test_a_conversation_whose_tools_are_damaged_is_refused_in_a_sentence(url: str, tools: str):
    async with open_memory(url) as memory:
        await worked_on_twice(memory)
        await damage(url, "conversations", "tools", tools, "id = 'c1'")
        with pytest.raises(WillNeverWork, match="A record does not fit the memory"):
            await memory.read_conversation("c1")


@pytest.mark.req("BY-07")
async def test_the_archive_holds_everything_of_an_issue_and_nothing_of_others(memory: SqlMemory):
    await worked_on_twice(memory)
    archive = memory.archive
    assert await archive.holds(ISSUE)
    assert not await archive.holds(ANOTHER_ISSUE)
    assert await archive.sessions(ISSUE) == [1, 2]
    assert [left.id for left in await archive.contexts(ISSUE)] == ["k1", "k2"]
    assert [comment.id for comment in await archive.kept_comments(ISSUE)] == ["operator:1", "operator:2"]
    taken = [(each.conversation, each.comment) for each in await archive.comments_taken_in(ISSUE)]
    assert taken == [("c1", "operator:1@"), ("c2", "operator:2@")]
    assert await archive.files_seen(ISSUE) == {"c1": {"a.py": "a" * 64}, "c2": {"a.py": "a" * 64}}
    held = (await archive.transcripts(ISSUE))["c2"]
    assert (held.session, held.system, len(held.turns)) == (2, opening().system, 3)
    assert archive.left_out == 0
    for nothing in (archive.contexts, archive.transcripts, archive.kept_comments, archive.files_seen):
        assert not await nothing(ANOTHER_ISSUE)


@pytest.mark.req("BY-07")
async def test_the_archive_tells_what_can_be_read_and_how_much_cannot(url: str):
    async with open_memory(url) as memory:
        await worked_on_twice(memory)
        await damage(url, "messages", "content", "{", "conversation = 'c1' AND sequence = 1")
        await damage(url, "conversations", "tools", "null", "id = 'c2'")
        await damage(url, "kept_comments", "content", "[]", "comment = 'operator:1'")
        await damage(url, "contexts", "body", "null", "session = 1")
        archive = memory.archive
        held = await archive.transcripts(ISSUE)
        assert {id_: len(each.turns) for id_, each in held.items()} == {"c1": 2, "c2": 3}
        assert [comment.id for comment in await archive.kept_comments(ISSUE)] == ["operator:2"]
        assert [left.id for left in await archive.contexts(ISSUE)] == ["k2"]
        assert archive.left_out == 4


async def test_an_issue_of_which_every_row_is_damaged_is_still_held(memory: SqlMemory, url: str):
    await memory.records.begin_task(task())
    await damage(url, "tasks", "cost_usd", "{", "session = 1")
    archive: SqlArchive = memory.archive
    assert await archive.tasks(ISSUE) == []
    assert await archive.holds(ISSUE)
