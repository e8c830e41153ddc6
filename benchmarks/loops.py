"""The peers of the product's turn: the transcript in memory, carried through Temporal, and left in a store."""

import sqlite3
import time as clock
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from temporalio import activity, workflow
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from benchmarks.baton import Baton

BY_VALUE, BY_REFERENCE = "by value", "by reference"
_LIMIT = timedelta(minutes=30)


class Scribe:
    """A model and a tool that say a few kilobytes a turn, and the store of the loop by reference."""

    def __init__(self, baton: Baton, database: Path, text: str) -> None:
        self._baton = baton
        self._text = text
        self._store = sqlite3.connect(database, isolation_level=None)
        self._store.execute("PRAGMA journal_mode=WAL")
        self._store.execute("PRAGMA synchronous=NORMAL")
        self._store.execute("CREATE TABLE turns (number INTEGER PRIMARY KEY, said TEXT)")

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    @activity.defn
    async def say(self, turn: int) -> str:
        """Read what was said, and let the model say the next turn."""
        said = self._store.execute("SELECT said FROM turns ORDER BY number").fetchall()
        await self._baton.take(BY_REFERENCE)
        self._store.execute("INSERT INTO turns VALUES (?, ?)", (2 * turn, f"run {len(said)}"))
        return "run"

    @activity.defn
    async def do(self, turn: int) -> bool:
        """Run the tool, and keep what it printed."""
        self._store.execute("INSERT INTO turns VALUES (?, ?)", (2 * turn + 1, self._text))
        return True

    @activity.defn
    async def say_to(self, transcript: list[str]) -> str:
        """Let the model say the next turn of what it is given."""
        await self._baton.take(BY_VALUE)
        return f"run {len(transcript)}"

    @activity.defn
    async def do_for(self, transcript: list[str]) -> str:
        """Run the tool, and tell what it printed."""
        return f"{self._text}{len(transcript)}"


@workflow.defn
class ByReference:
    """Two activities a turn that are given a number, and no more: what a durable turn costs at least."""

    @workflow.run
    async def run(self, turns: int) -> None:
        """Go round."""
        for turn in range(turns + 1):
            await workflow.execute_activity_method(Scribe.say, turn, start_to_close_timeout=_LIMIT)
            await workflow.execute_activity_method(Scribe.do, turn, start_to_close_timeout=_LIMIT)


@workflow.defn
class ByValue:
    """Two activities a turn that are given the whole transcript, as agents on Temporal usually are."""

    @workflow.run
    async def run(self, turns: int) -> None:
        """Go round."""
        transcript: list[str] = []
        for _ in range(turns + 1):
            for step in (Scribe.say_to, Scribe.do_for):
                said = await workflow.execute_activity_method(step, transcript, start_to_close_timeout=_LIMIT)
                transcript.append(said)


@asynccontextmanager
async def loops(
    client: Client, scribe: Scribe, turns: dict[str, int]
) -> AsyncGenerator[dict[str, WorkflowHandle[ByValue, None] | WorkflowHandle[ByReference, None]]]:
    """Both loops under way, by name."""
    steps = [scribe.say, scribe.do, scribe.say_to, scribe.do_for]
    async with Worker(client, task_queue="loops", workflows=[ByReference, ByValue], activities=steps):
        yield {
            name: await client.start_workflow(loop, turns[name], id=name, task_queue="loops")
            for name, loop in ((BY_VALUE, ByValue.run), (BY_REFERENCE, ByReference.run))
        }


def in_memory(turns: int, text: str) -> float:
    """Milliseconds a turn of a loop that forgets everything when its process ends."""
    transcript: list[str] = []
    began = clock.perf_counter()
    for turn in range(turns):
        transcript += [f"run {len(transcript)}", f"{text}{turn}"]
    return (clock.perf_counter() - began) / turns * 1000
