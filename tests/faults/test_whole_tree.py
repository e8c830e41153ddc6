"""Kill -9 of the whole product, and of the servers embedded in it: started again, it ends the same."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.stage import GENEROUS, until
from tests.faults.canonical import SeenIssue
from tests.faults.conversations import CONVERSATIONS
from tests.faults.crew import crew
from tests.faults.servers import outside
from tests.faults.town import Town, assert_paid_alike, town

WORKER = Path(__file__).parents[2] / "worker.py"
VICTIMS = ("temporal", "everything", "valkey", "temporal", "everything", "temporal")
SEED = 20261116
Process = asyncio.subprocess.Process


@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.req("BY-08", "TW-06")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends children with their parent")
async def test_kills_of_the_product_and_of_what_is_embedded_in_it_change_nothing(tmp_path: Path):
    async with (
        outside(tmp_path) as servers,
        town(tmp_path / "undisturbed", CONVERSATIONS, servers.as_settings()) as undisturbed,
        town(tmp_path / "killed", CONVERSATIONS, {}) as killed,
    ):
        expected, seen = await asyncio.gather(_in_peace(undisturbed), _with_kills(killed))
    assert seen == expected
    assert_paid_alike(killed, undisturbed)


async def _in_peace(place: Town) -> list[SeenIssue]:
    async with crew(place.config, place.folder / "worker.log") as workers:
        await workers.begin()
        place.begin()
        seen = await place.live()
        await workers.end()
    return seen


async def _with_kills(place: Town) -> list[SeenIssue]:
    chance = random.Random(SEED)  # noqa: S311 - the same moments at every run
    async with asyncio.TaskGroup() as meanwhile:
        living = meanwhile.create_task(place.live())
        for number, victim in enumerate(VICTIMS, start=1):
            place.begin(number / len(VICTIMS))
            product = await _start(place)
            await place.stirs()
            await asyncio.sleep(chance.uniform(0.0, 4.0))
            await _kill(place, product, victim)
        product = await _start(place)
        seen = await living
        product.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(product.wait(), GENEROUS) == 0
    return seen


async def _start(place: Town) -> Process:
    command = [sys.executable, str(WORKER), "--config", str(place.config)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HIKITSUGI_")}
    with (place.folder / "worker.log").open("ab") as log:
        return await asyncio.create_subprocess_exec(*command, env=environment, stdout=log, stderr=subprocess.STDOUT)


async def _kill(place: Town, product: Process, victim: str) -> None:
    """Kill the product or one of its servers; without a server the product ends by itself."""
    if victim == "everything":
        product.kill()
    else:
        lock = place.folder / "data" / f"{victim}.lock"

        async def is_killed() -> bool:
            return _kill_server(lock)

        await until(is_killed)
    status = await asyncio.wait_for(product.wait(), GENEROUS)
    assert status == (-signal.SIGKILL if victim == "everything" else 1)


def _kill_server(lock: Path) -> bool:
    """Kill the server that a lock names; that of a product which is gone is not there any more."""
    try:
        os.kill(json.loads(lock.read_text())["server"], signal.SIGKILL)
    except (ProcessLookupError, FileNotFoundError, KeyError, ValueError):
        return False
    return True
