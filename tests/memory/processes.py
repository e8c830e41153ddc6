"""Processes that use a memory: `python -m tests.memory.processes WHAT URL`."""

import asyncio
import sys
from itertools import count

from hikitsugi.memory.opening import open_memory
from tests.memory.examples import opening, replied


def _say(word: object) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


async def come_up(url: str) -> None:
    """Say when ready, wait for the word, then open the memory and use it."""
    _say("ready")
    sys.stdin.readline()
    async with open_memory(url) as memory:
        await memory.open_conversation(opening())
        await memory.read_conversation("c1")
    _say("up")


async def write_for_ever(url: str) -> None:
    """Append replies, saying each number once it is stored."""
    async with open_memory(url) as memory:
        await memory.open_conversation(opening())
        start = len((await memory.read_conversation("c1")).turns)
        for sequence in count(start):
            await memory.append_reply("c1", sequence, replied(f"reply {sequence} " + "x" * 3000))
            _say(sequence)


if __name__ == "__main__":
    asyncio.run({"come_up": come_up, "write_for_ever": write_for_ever}[sys.argv[1]](sys.argv[2]))
