"""What the product's real requests cost as input, against no caching and against what caching could save at best."""

import json
import sqlite3
import tempfile
from collections import Counter
from itertools import count
from pathlib import Path
from typing import NamedTuple

from hikitsugi.app.settings_sections import Llm
from hikitsugi.language_model.scripted import Reaction, Script, say, use
from hikitsugi.language_model.scripted.request import Request
from tests.conftest import time_skipping_server
from tests.end_to_end.stage import stage

STEPS = 100
READ, WRITTEN = 0.1, 1.25
"""What a cached token costs to read and to write, in parts of an uncached one."""
SUMMARY_MODEL = Llm().summary_model
_NEVER = 10_000_000


class Call(NamedTuple):
    """The input tokens of one call of a model; summaries are counted as dear as work."""

    conversation: str
    uncached: int
    read: int
    written: int

    @property
    def total(self) -> int:
        """How long its prompt was."""
        return self.uncached + self.read + self.written

    @property
    def cost(self) -> float:
        """In uncached tokens."""
        return self.uncached + self.read * READ + self.written * WRITTEN


async def measure() -> None:
    """Print the cost of a session of a hundred steps, with and without compression."""
    print(f"{STEPS} steps of about 4 KB; input cost against sending everything uncached in each call")
    print("compression | calls | longest prompt | ours / uncached | append-only floor / uncached | ours / that floor")
    rows = {"none": _NEVER, "at 80,000": 80_000, "at 40,000": 40_000}
    full = 0
    for name, compress_at in rows.items():
        calls = await _session(compress_at)
        full = full or sum(call.total for call in calls)
        ours, floor = sum(call.cost for call in calls) / full, _floor(calls) / full
        longest = max(call.total for call in calls)
        print(
            f"{name:11} | {len(calls):5} | {longest:14,} | {ours:15.3f} | {floor:28.3f} | {ours / floor:.2f}",
            flush=True,
        )


def _floor(calls: list[Call]) -> float:
    """The least append-only conversations cost with caching: each token written once, everything earlier read."""
    cost, before = 0.0, Counter[str]()
    for call in calls:
        kept = before[call.conversation]
        cost += kept * READ + (call.total - kept) * WRITTEN
        before[call.conversation] = call.total
    return cost


async def _session(compress_at: int) -> list[Call]:
    with tempfile.TemporaryDirectory() as folder:
        async with time_skipping_server() as time, stage(time, Path(folder), _counting()) as s:
            llm = json.loads(s.config.read_text())["llm"] | {"compress_at_tokens": compress_at}
            s.configure(llm=llm, plain={"max_iterations": STEPS + 10}, budget={"usd_per_issue": None})
            s.opens_issue()
            async with s.product():
                await s.comes_to("awaiting-response", results=1)
            return _calls(Path(folder) / "data" / "memory.db")


def _counting() -> Script:
    """A model that looks at a few kilobytes in each step, wherever the conversation was compressed."""
    steps = count(1)

    def script(request: Request) -> Reaction:
        if request.model == SUMMARY_MODEL:
            return say("Numbers were counted; go on counting.")
        step = next(steps)
        if step > STEPS:
            return use("submit", status="done", summary="Counted.", evidence="seq")
        return use("run", command=f"seq {step * 10_000} {step * 10_000 + 700}")

    return script


def _calls(database: Path) -> list[Call]:
    rows = "SELECT conversation, input_tokens, cache_read_tokens, cache_write_tokens FROM model_calls ORDER BY at"
    with sqlite3.connect(database) as connection:
        return [Call(*row) for row in connection.execute(rows)]
