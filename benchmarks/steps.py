"""What a model turn costs beside the model, next to what it costs at least and to what is usual, all in one run."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from benchmarks.baton import Baton
from benchmarks.loops import BY_REFERENCE, BY_VALUE, Scribe, in_memory, loops
from hikitsugi.app.embedded_temporal import embedded_temporal
from hikitsugi.app.temporal import plugin, register_search_attributes
from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Reply, Transcript
from hikitsugi.domain.policy import Policy
from hikitsugi.domain.tools import Intent, ToolOutcome
from tests.workflows.fakes import FakeModel, FakeWorkshop
from tests.workflows.house import House

TURNS = (10, 100, 300)
BY_VALUE_TURNS = 100
OURS = "ours"
PRINTED = " ".join(f"{number * 2654435761 % 2**32:x}" for number in range(460))
"""About 4 KB, of which nothing repeats."""
_LARGEST_HISTORY = 50 * 1024 * 1024


class Model(FakeModel):
    """Runs a command in each of its turns."""

    def __init__(self, baton: Baton) -> None:
        super().__init__(self._next)
        self._baton = baton
        self._goes_on = True

    async def reply(self, transcript: Transcript) -> Reply:
        """Wait for its turn; after the last, submit."""
        self._goes_on = await self._baton.take(OURS)
        self.transcripts.clear()
        return await super().reply(transcript)

    def _next(self, transcript: Transcript) -> Sequence[tuple[str, Mapping[str, str]]]:
        if self._goes_on:
            return [("run", {"command": f"look {len(transcript.turns)}"})]
        return [("submit", {"status": "done", "summary": "Ran it.", "evidence": ""})]


class Workshop(FakeWorkshop):
    """Prints a few kilobytes whatever is run."""

    async def carry_out(self, issue: IssueAddress, intent: Intent) -> ToolOutcome:
        """What the command prints."""
        return ToolOutcome(text=PRINTED)


async def measure() -> None:
    """Compare at three lengths."""
    await _measure(TURNS)


async def measure_long() -> None:
    """The same, and a thousand turns."""
    await _measure((*TURNS, 1000))


async def _measure(lengths: tuple[int, ...]) -> None:
    turns = {BY_VALUE: BY_VALUE_TURNS, BY_REFERENCE: lengths[-1], OURS: lengths[-1]}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        stores = {BY_REFERENCE: folder / "bare.db", OURS: folder / "memory.db"}
        async with embedded_temporal(folder / "temporal") as server:
            client = await Client.connect(server.address, plugins=[plugin()])
            await register_search_attributes(client)
            baton = Baton(turns, stores)
            histories = await _played(client, baton, stores, turns)
    _print(lengths, baton, histories)


async def _played(
    client: Client, baton: Baton, stores: Mapping[str, Path], turns: dict[str, int]
) -> dict[str, list[HistoryEvent]]:
    """Let all designs run to their end; what is in their histories."""
    scribe = Scribe(baton, stores[BY_REFERENCE], PRINTED)
    house = House(WorkflowEnvironment.from_client(client), lambda _: (), Policy(max_iterations=turns[OURS] + 10))
    house.model, house.workshop = Model(baton), Workshop()
    async with loops(client, scribe, turns) as peers, house.open(stores[OURS].parent):
        first = await house.start()
        for peer in peers.values():
            await peer.result()
        await house.comes_to("awaiting-response")
        ours = await house.history(str(first.first_execution_run_id))
        theirs = {name: list((await peer.fetch_history()).events) for name, peer in peers.items()}
    scribe.close()
    return theirs | {OURS: ours}


def _print(lengths: tuple[int, ...], baton: Baton, histories: Mapping[str, list[HistoryEvent]]) -> None:
    print("per turn: milliseconds and processor time, with ratios to by reference; events, bytes of history and store")
    print("turns | design       |      ms | ratio | CPU ms | ratio | events | history | store")
    for turns in lengths:
        limit = baton.per_turn(BY_REFERENCE, turns)
        print(f"{turns:5} | in memory    | {in_memory(turns, PRINTED):7.3f} |")
        for name, events in histories.items():
            if turns // 10 > len(baton.seconds[name]):
                continue
            (taken, cpu), (number, size) = baton.per_turn(name, turns), _grown(events, turns)
            against = taken / limit[0], cpu / limit[1]
            print(
                f"{turns:5} | {name:12} | {taken:7.1f} | {against[0]:5.2f} | {cpu:6.1f} | {against[1]:5.2f} | "
                f"{number:6.1f} | {size:7,.0f} | {baton.stored_per_turn(name, turns):5,.0f}",
                flush=True,
            )
    size = _grown(histories[BY_VALUE], BY_VALUE_TURNS)[1] * BY_VALUE_TURNS
    print(f"by value is terminated by the server at about turn {BY_VALUE_TURNS * (_LARGEST_HISTORY / size) ** 0.5:.0f}")


def _grown(events: list[HistoryEvent], turns: int) -> tuple[float, float]:
    """Events and bytes a turn, from the first call of the model to the one after so many turns."""
    calls = [
        at
        for at, event in enumerate(events)
        if event.activity_task_scheduled_event_attributes.activity_type.name in {"think", "say", "say_to"}
    ]
    between = events[calls[0] : calls[turns]]
    return len(between) / turns, sum(event.ByteSize() for event in between) / turns
