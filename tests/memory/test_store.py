"""What is written is read back, and writing it again changes nothing."""

from collections.abc import Awaitable

import pytest

from hikitsugi.domain.conversation import Turn
from hikitsugi.domain.errors import WillNeverWork
from hikitsugi.domain.ports import Memory, ToolRun
from hikitsugi.domain.redaction import Redactor
from hikitsugi.memory.opening import open_memory
from hikitsugi.memory.store import WITHHELD, SqlMemory
from tests.memory.examples import ANOTHER_ISSUE, ISSUE, READ, intent, opening, outcome, replied, said


def test_it_is_the_memory_the_stories_ask_for(memory: SqlMemory):
    port: Memory = memory
    assert port is memory


async def test_a_conversation_is_read_as_it_was_opened_and_continued(memory: SqlMemory):
    assert await memory.open_conversation(opening("c1", "one", "two")) == 2
    await memory.append_reply("c1", 2, replied("three"))
    await memory.append("c1", 3, said("four"))

    transcript = await memory.read_conversation("c1")

    assert transcript.system == opening().system
    assert transcript.tools == (READ,)
    assert [turn.text for turn in transcript.turns] == ["one", "two", "three", "four"]
    assert [turn.role for turn in transcript.turns] == ["user", "user", "assistant", "user"]


@pytest.mark.lesson("C22")
async def test_a_conversation_that_was_read_before_shows_what_others_added_and_removed(url: str):
    async with open_memory(url) as ours, open_memory(url) as theirs:
        await ours.open_conversation(opening("c1", "one"))
        assert [turn.text for turn in (await ours.read_conversation("c1")).turns] == ["one"]
        await theirs.append_reply("c1", 1, replied("two"))
        await theirs.append("c1", 2, said("three"))
        for _ in range(2):
            assert [turn.text for turn in (await ours.read_conversation("c1")).turns] == ["one", "two", "three"]
        assert await ours.find_reply("c1", 1) == replied("two")
        await theirs.records.forget(ISSUE)
        with pytest.raises(WillNeverWork):
            await ours.read_conversation("c1")


async def test_a_conversation_may_open_without_turns(memory: SqlMemory):
    silent = opening().model_copy(update={"turns": ()})
    assert await memory.open_conversation(silent) == 0
    assert await memory.open_conversation(silent) == 0


@pytest.mark.req("BY-08")
async def test_opening_again_keeps_the_first_opening_and_its_number_of_turns(memory: SqlMemory):
    await memory.open_conversation(opening("c1", "one", "two"))
    await memory.append("c1", 2, said("three"))

    assert await memory.open_conversation(opening("c1", "other", "longer", "opening")) == 2
    assert [turn.text for turn in (await memory.read_conversation("c1")).turns] == ["one", "two", "three"]


@pytest.mark.req("BY-08", "TW-04")
async def test_appending_again_gives_back_the_first_turn(memory: SqlMemory):
    await memory.open_conversation(opening())
    assert await memory.append("c1", 1, said("first")) == said("first")
    assert await memory.append("c1", 1, said("second")) == said("first")
    assert await memory.find_turn("c1", 1) == said("first")
    assert await memory.find_turn("c1", 2) is None


@pytest.mark.req("BY-08", "TW-04")
async def test_a_reply_that_is_stored_is_given_back_and_not_paid_again(memory: SqlMemory):
    await memory.open_conversation(opening())
    assert await memory.find_reply("c1", 1) is None
    assert await memory.append_reply("c1", 1, replied("first")) == replied("first")
    assert await memory.append_reply("c1", 1, replied("second", cost="9")) == replied("first")

    stored = await memory.find_reply("c1", 1)

    assert stored == replied("first")
    assert stored is not None
    assert str(stored.cost_usd) == "0.0123450"
    assert await memory.find_turn("c1", 1) == replied("first").turn


async def test_an_unknown_price_stays_unknown(memory: SqlMemory):
    await memory.open_conversation(opening())
    await memory.append_reply("c1", 1, replied("x", cost=None))
    stored = await memory.find_reply("c1", 1)
    assert stored is not None
    assert stored.cost_usd is None


async def test_a_persons_turn_is_never_taken_for_a_reply(memory: SqlMemory):
    await memory.open_conversation(opening())
    assert await memory.find_reply("c1", 0) is None
    with pytest.raises(WillNeverWork, match="Turn 0 of conversation c1 is no reply"):
        await memory.append_reply("c1", 0, replied("late"))


@pytest.mark.req("BY-08")
async def test_comments_are_taken_in_once_for_the_issue(memory: SqlMemory):
    await memory.open_conversation(opening("c1"))
    await memory.open_conversation(opening("c2"))
    assert await memory.comments_taken_in(ISSUE) == frozenset()

    await memory.take_in_comments(ISSUE, "c1", ["1", "2", "2"])
    await memory.take_in_comments(ISSUE, "c1", ["1", "2"])
    await memory.take_in_comments(ISSUE, "c2", ["2", "operator:3"])
    await memory.take_in_comments(ISSUE, "c2", [])

    assert await memory.comments_taken_in(ISSUE) == {"1", "2", "operator:3"}


@pytest.mark.req("BY-08")
async def test_the_comments_of_an_opening_are_taken_in_with_it(memory: SqlMemory):
    await memory.open_conversation(opening("c1").model_copy(update={"comments": ("1", "2")}))
    await memory.open_conversation(opening("c1").model_copy(update={"comments": ("3",)}))
    await memory.open_conversation(opening("c2").model_copy(update={"comments": ("2", "4")}))
    assert await memory.comments_taken_in(ISSUE) == {"1", "2", "4"}


@pytest.mark.lesson("C24")
async def test_another_repositorys_issue_of_the_same_number_shares_nothing(memory: SqlMemory):
    await memory.open_conversation(opening("c1"))
    await memory.take_in_comments(ISSUE, "c1", ["1"])
    assert await memory.comments_taken_in(ANOTHER_ISSUE) == frozenset()


@pytest.mark.req("BY-08")
async def test_a_tool_run_is_known_from_its_intent_to_its_first_outcome(memory: SqlMemory):
    await memory.open_conversation(opening())
    assert await memory.find_tool_run("c1", "toolu_1") is None

    await memory.begin_tool_run("c1", intent())
    await memory.begin_tool_run("c1", intent(path="other.py"))
    assert await memory.find_tool_run("c1", "toolu_1") == ToolRun(intent=intent())

    await memory.finish_tool_run("c1", "toolu_1", outcome(text="first"))
    await memory.finish_tool_run("c1", "toolu_1", outcome(text="second", sha256="f" * 64))
    await memory.begin_tool_run("c1", intent())

    assert await memory.find_tool_run("c1", "toolu_1") == ToolRun(intent=intent(), outcome=outcome(text="first"))
    assert await memory.files_seen("c1") == {"a.py": "a" * 64}


async def test_the_files_seen_are_the_newest_content_of_each(memory: SqlMemory):
    await memory.open_conversation(opening())
    outcomes = [outcome("a.py", "1"), outcome("b.py", "2"), outcome("a.py", "3"), outcome("b.py", None), outcome(None)]
    for number, result in enumerate(outcomes):
        await memory.begin_tool_run("c1", intent(f"toolu_{number}"))
        await memory.finish_tool_run("c1", f"toolu_{number}", result)

    assert await memory.files_seen("c1") == {"a.py": "3", "b.py": "2"}
    assert await memory.files_seen("c2") == {}


async def test_a_tool_call_that_was_never_begun_cannot_be_finished(memory: SqlMemory):
    await memory.open_conversation(opening())
    with pytest.raises(WillNeverWork, match="Tool call toolu_9 of conversation c1 was never begun"):
        await memory.finish_tool_run("c1", "toolu_9", outcome())


async def test_an_unknown_conversation_is_named(memory: SqlMemory):
    attempts: list[Awaitable[object]] = [
        memory.read_conversation("nowhere"),
        memory.append("nowhere", 0, said("x")),
        memory.append_reply("nowhere", 0, replied("x")),
        memory.take_in_comments(ISSUE, "nowhere", ["1"]),
        memory.begin_tool_run("nowhere", intent()),
    ]
    for attempt in attempts:
        with pytest.raises(WillNeverWork, match="Conversation nowhere is not in the memory"):
            await attempt


async def test_nothing_is_found_in_an_unknown_conversation(memory: SqlMemory):
    assert await memory.find_turn("nowhere", 0) is None
    assert await memory.find_reply("nowhere", 0) is None
    assert await memory.find_tool_run("nowhere", "toolu_1") is None


async def test_an_opening_that_cannot_be_stored_whole_is_not_stored_at_all(memory: SqlMemory):
    impossible = Turn.model_construct(role="user", content=({"type": "text", "text": b"bytes"},))
    half = opening().model_copy(update={"turns": (said("good"), impossible), "comments": ("1",)})
    with pytest.raises(WillNeverWork, match="not JSON serializable"):
        await memory.open_conversation(half)
    with pytest.raises(WillNeverWork, match="is not in the memory"):
        await memory.read_conversation("c1")
    assert await memory.comments_taken_in(ISSUE) == frozenset()


@pytest.mark.req("OP-05")
async def test_a_call_with_a_secret_in_its_input_is_answered_without_being_carried_out(url: str):
    secret = "correct-horse-battery"
    called = {"type": "tool_use", "id": "toolu_1", "name": "run", "input": {"command": f"echo {secret}"}}
    reply = replied("x").model_copy(
        update={"turn": Turn.model_validate({"role": "assistant", "content": [called]}), "stop_reason": "tool_use"}
    )
    async with open_memory(url, redact=Redactor([secret])) as memory:
        await memory.open_conversation(opening())
        stored = await memory.append_reply("c1", 1, reply)
        run = await memory.find_tool_run("c1", "toolu_1")
    assert secret not in stored.model_dump_json()
    assert run is not None
    assert run.outcome == WITHHELD
