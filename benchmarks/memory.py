"""What a message costs in the store: appending and reading it at several lengths of a conversation."""

import statistics
import tempfile
import time as clock
from datetime import UTC, datetime
from pathlib import Path

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.conversation import Opening, Turn
from hikitsugi.memory.opening import open_memory
from hikitsugi.memory.store import SqlMemory

LENGTHS = (100, 3_000, 30_000)
_SAMPLES = 100
_TURN = Turn.of_text("user", "テスト結果を確認しました。 " * 20)


async def measure() -> None:
    """Print milliseconds per message, and each length against the shortest."""
    print("messages | append ms | ratio | read one ms | ratio | read all us/message")
    with tempfile.TemporaryDirectory() as folder:
        async with open_memory(f"sqlite+aiosqlite:///{Path(folder) / 'memory.db'}") as memory:
            first: tuple[float, float] | None = None
            for length in LENGTHS:
                append, read, whole = await _at(memory, length)
                first = first or (append, read)
                ratios = (append / first[0], read / first[1])
                print(
                    f"{length:8} | {append:9.2f} | {ratios[0]:5.2f} | {read:11.2f} | {ratios[1]:5.2f} | {whole:10.1f}",
                    flush=True,
                )


async def _at(memory: SqlMemory, length: int) -> tuple[float, float, float]:
    conversation = f"of {length}"
    await memory.open_conversation(_opening(conversation, length))
    appending, reading = list[float](), list[float]()
    for sequence in range(length, length + _SAMPLES):
        began = clock.perf_counter()
        await memory.append(conversation, sequence, _TURN)
        between = clock.perf_counter()
        await memory.find_turn(conversation, sequence)
        appending.append(between - began)
        reading.append(clock.perf_counter() - between)
    began = clock.perf_counter()
    transcript = await memory.read_conversation(conversation)
    whole = (clock.perf_counter() - began) / len(transcript.turns) * 1e6
    return statistics.median(appending) * 1e3, statistics.median(reading) * 1e3, whole


def _opening(conversation: str, length: int) -> Opening:
    return Opening(
        id=conversation,
        issue=IssueAddress(forge="github", repository="octo/repo", number=1),
        session=1,
        purpose="work",
        system="Work.",
        turns=(_TURN,) * length,
        opened_at=datetime.now(UTC),
    )
