"""A conversation is shortened once, however often the step runs, and stays as it is where that fails."""

import pytest

from activities.compression_activities import Compress, Compressed, CompressionActivities
from hikitsugi.domain.conversation import Turn
from hikitsugi.domain.policy import Language
from hikitsugi.domain.tools import Intent, ToolCall, ToolOutcome
from hikitsugi.language_model.tokens import estimate
from hikitsugi.memory.store import SqlMemory
from hikitsugi.messages.compression import at_most, record
from tests.activities.examples import CONVERSATION, ISSUE, asked_for, step
from tests.workflows.fakes import EPOCH, FakeSummarist

pytestmark = [pytest.mark.req("CH-18"), pytest.mark.lesson("C20", "C21")]

RUN = ("run", {"command": "make test"})
REQUEST = Compress(
    issue=ISSUE, session=1, number=1, conversation=CONVERSATION, opening=1, into="short", language="en", at=EPOCH
)


def prompt(language: Language) -> str:
    return f"Shorten in {language}."


async def long_conversation(memory: SqlMemory) -> None:
    """A request, a call, its answer, and a comment that nobody has answered yet."""
    await asked_for(memory, RUN)
    read = ToolCall(id="read-1", name="read", input={"path": "a.py"})
    await memory.begin_tool_run(CONVERSATION, Intent(call=read))
    await memory.finish_tool_run(CONVERSATION, "read-1", ToolOutcome(text="x", path="a.py", sha256="1"))
    answer = {"type": "tool_result", "tool_use_id": "call-0", "content": "2 failed"}
    await memory.append(CONVERSATION, 2, Turn.model_validate({"role": "user", "content": [answer]}))
    await memory.append(CONVERSATION, 3, Turn.of_text("user", "Please hurry."))


async def compress(memory: SqlMemory, model: FakeSummarist) -> Compressed:
    activities = CompressionActivities(memory, memory.records, model, prompt, estimate)
    return await step(activities.compress, REQUEST)


async def test_twice_is_once(memory: SqlMemory):
    await long_conversation(memory)
    before = await memory.read_conversation(CONVERSATION)
    model = FakeSummarist()
    model.says = "## TESTS\n2 failed"
    made = [await compress(memory, model) for _ in range(2)]
    short = await memory.read_conversation("short")
    assert made[0] == made[1]
    assert made[0].turns == len(short.turns) == 3
    assert len(model.records) == 1
    assert [turn.text for turn in short.turns[::2]] == ["Please fix it.", "Please hurry."]
    assert short.turns[1].text.endswith("## TESTS\n2 failed")
    assert "2 failed" in model.records[0].turns[0].text
    assert await memory.read_conversation(CONVERSATION) == before
    assert await memory.records.summaries(ISSUE, 1) == ["## TESTS\n2 failed"]


async def test_what_was_seen_of_files_goes_along_and_never_overwrites_something_newer(memory: SqlMemory):
    await long_conversation(memory)
    model = FakeSummarist()
    model.says = "So far."
    await compress(memory, model)
    assert await memory.files_seen("short") == {"a.py": "1"}
    await memory.begin_tool_run("short", Intent(call=ToolCall(id="edit-1", name="edit", input={})))
    await memory.finish_tool_run("short", "edit-1", ToolOutcome(text="x", path="a.py", sha256="2"))
    await compress(memory, model)
    assert await memory.files_seen("short") == {"a.py": "2"}


async def test_without_a_summary_there_is_no_new_conversation(memory: SqlMemory):
    await long_conversation(memory)
    assert await compress(memory, FakeSummarist()) == Compressed()
    assert "short" not in await memory.records.conversations(ISSUE)
    assert await memory.records.summaries(ISSUE, 1) == []


def test_a_summary_that_is_too_long_is_cut():
    assert at_most("short", 3000, estimate) == "short"
    cut = at_most("長い要約。" * 2000, 3000, estimate)
    assert cut.endswith("[…]")
    assert 2900 < estimate(cut) <= 3000


def test_the_record_keeps_the_request_and_the_earlier_summary_and_drops_the_oldest_turns():
    turns = [Turn.of_text("user", text) for text in ("Fix it.", "Earlier summary.", *(f"{n:0500}" for n in range(9)))]
    told = record(turns, 1, 600, estimate)
    assert told.index("Fix it.") < told.index("Earlier summary.") < told.index("6 turns left out") < told.index("00008")
    assert estimate(told) < 620
