"""Several writers at once, and writers that are killed."""

import asyncio
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from hikitsugi.memory.opening import open_memory
from hikitsugi.memory.store import SqlMemory
from tests.memory.examples import ISSUE, intent, opening, outcome, replied, said


@pytest.mark.req("BY-08")
async def test_of_two_writers_the_first_wins_and_both_are_told(url: str):
    async with open_memory(url) as one, open_memory(url) as other:
        await one.open_conversation(opening())
        for sequence in range(1, 20):
            replies = await asyncio.gather(
                one.append_reply("c1", sequence, replied("one")), other.append_reply("c1", sequence, replied("other"))
            )
            assert replies[0] == replies[1] == await one.find_reply("c1", sequence)


@pytest.mark.req("BY-08")
async def test_one_of_many_openings_counts_for_all(url: str):
    async with open_memory(url) as one, open_memory(url) as other:
        lengths = [["x"] * length for length in range(1, 11)]
        counts = await asyncio.gather(
            *(memory.open_conversation(opening("c1", *texts)) for texts in lengths for memory in (one, other))
        )
        assert set(counts) == {len((await one.read_conversation("c1")).turns)}


async def test_writers_of_many_conversations_do_not_disturb_each_other(memory: SqlMemory):
    async def write(conversation: str) -> None:
        await memory.open_conversation(opening(conversation))
        for sequence in range(1, 11):
            await memory.append(conversation, sequence, said(f"{conversation} {sequence}"))
        await memory.take_in_comments(ISSUE, conversation, [f"{conversation}-{n}" for n in range(5)] + ["shared", "a"])

    names = [f"c{number}" for number in range(20)]
    await asyncio.gather(*(write(name) for name in names))

    assert {len((await memory.read_conversation(name)).turns) for name in names} == {11}
    assert len(await memory.comments_taken_in(ISSUE)) == 102


async def test_a_tool_run_finished_twice_at_once_has_one_outcome(memory: SqlMemory):
    await memory.open_conversation(opening())
    await memory.begin_tool_run("c1", intent())
    hashes = [letter * 64 for letter in "abcdef"]
    await asyncio.gather(*(memory.finish_tool_run("c1", "toolu_1", outcome(sha256=sha256)) for sha256 in hashes))

    run = await memory.find_tool_run("c1", "toolu_1")

    assert run is not None
    assert run.outcome is not None
    assert await memory.files_seen("c1") == {"a.py": run.outcome.sha256}


async def test_a_writer_that_is_cancelled_leaves_all_or_nothing(memory: SqlMemory):
    await memory.open_conversation(opening())
    for sequence in range(1, 30):
        writing = asyncio.ensure_future(memory.append_reply("c1", sequence, replied("x")))
        for _ in range(sequence):
            await asyncio.sleep(0)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        turn, reply = await memory.find_turn("c1", sequence), await memory.find_reply("c1", sequence)
        assert (turn is None) == (reply is None)


@pytest.mark.req("BY-08")
async def test_a_writer_that_is_killed_loses_nothing_it_had_stored(url: str):
    last = 0
    for goal in (3, 1, 8):
        with _process("write_for_ever", url) as writer:
            assert writer.stdout is not None
            said_stored = [int(writer.stdout.readline()) for _ in range(goal)]
            writer.kill()
            said_stored += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
        assert said_stored[0] > last
        last = said_stored[-1]

        async with open_memory(url) as memory:
            texts = [turn.text for turn in (await memory.read_conversation("c1")).turns]
            assert last + 1 <= len(texts) <= last + 2
            assert [text.split(" x")[0] for text in texts[1:]] == [f"reply {n}" for n in range(1, len(texts))]
            assert None not in [await memory.find_reply("c1", sequence) for sequence in range(1, len(texts))]


async def test_processes_that_start_at_once_all_come_up(url: str):
    with _process("come_up", url) as one, _process("come_up", url) as two, _process("come_up", url) as three:
        everybody = [one, two, three]
        for process in everybody:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in everybody:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        answers = [process.communicate(timeout=60)[0] for process in everybody]
    assert answers == ["up\n"] * 3
    assert [process.returncode for process in everybody] == [0, 0, 0]


@contextmanager
def _process(what: str, url: str) -> Generator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.memory.processes", what, url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()
