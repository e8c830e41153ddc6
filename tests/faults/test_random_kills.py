"""Kill -9 of the worker or of the Temporal server at random moments: the end is the same as without."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from itertools import cycle, islice
from pathlib import Path

import pytest

from tests.faults.canonical import SeenIssue, differences
from tests.faults.conversations import CONVERSATIONS, PLANNED, Conversation
from tests.faults.crew import Crew, crew
from tests.faults.servers import Outside, outside
from tests.faults.town import Town, assert_paid_alike, town

SEED = 20261116
_log = logging.getLogger(__name__)
Kill = Callable[[Crew, Outside], Awaitable[None]]


async def kill_worker(workers: Crew, _: Outside) -> None:
    await workers.kill()
    await workers.begin()


async def kill_temporal(_: Crew, servers: Outside) -> None:
    await servers.temporal.kill()
    await servers.temporal.start()


@pytest.mark.req("BY-08", "TW-01", "TW-08", "CH-12", "PL-07")
@pytest.mark.lesson("C15", "P1", "P4", "P10")
async def test_a_few_kills_at_random_moments_change_nothing(tmp_path: Path):
    kills = [*[kill_worker] * 2, kill_temporal, *[kill_worker] * 2]
    await _changes_nothing(tmp_path, CONVERSATIONS[:4], kills, longest=1.0)


@pytest.mark.long
@pytest.mark.timeout(3000)
@pytest.mark.req("BY-08", "TW-08", "CH-12", "PL-07")
async def test_a_hundred_kills_over_twenty_issues_change_nothing(tmp_path: Path):
    conversations = tuple(islice(cycle(CONVERSATIONS), 20))
    await _changes_nothing(tmp_path, conversations, [kill_worker] * 100, longest=4.0)


@pytest.mark.long
@pytest.mark.timeout(1500)
@pytest.mark.req("BY-08", "TW-01", "TW-08")
async def test_three_kills_of_temporal_among_those_of_the_worker_change_nothing(tmp_path: Path):
    kills = [kill_temporal, kill_worker, kill_temporal, kill_worker, kill_temporal]
    await _changes_nothing(tmp_path, CONVERSATIONS, kills, longest=4.0)


@pytest.mark.req("BY-08", "CH-12", "LC-03")
@pytest.mark.lesson("C18")
async def test_a_few_kills_while_it_works_by_plan_change_nothing(tmp_path: Path):
    await _changes_nothing(tmp_path, PLANNED[:2], [kill_worker] * 3, longest=1.0, planned=True)


@pytest.mark.long
@pytest.mark.timeout(3000)
@pytest.mark.req("BY-08", "TW-08", "CH-12", "PL-07", "LC-03")
@pytest.mark.lesson("C18")
async def test_kills_while_it_works_by_plan_change_nothing(tmp_path: Path):
    conversations = tuple(islice(cycle(PLANNED), 12))
    kills = [*[kill_worker] * 20, kill_temporal, *[kill_worker] * 20, kill_temporal, *[kill_worker] * 20]
    await _changes_nothing(tmp_path, conversations, kills, longest=4.0, planned=True)


async def _changes_nothing(
    folder: Path, conversations: Sequence[Conversation], kills: Sequence[Kill], longest: float, *, planned: bool = False
) -> None:
    """Play the same conversations twice, in peace and with kills: nothing is lost, doubled or paid again."""
    async with (
        outside(folder / "peaceful") as peaceful,
        outside(folder / "shaken") as shaken,
        town(folder / "undisturbed", conversations, peaceful.as_settings(), planned=planned) as undisturbed,
        town(folder / "killed", conversations, shaken.as_settings(), planned=planned) as killed,
    ):
        expected, seen = await asyncio.gather(_played(undisturbed, peaceful), _played(killed, shaken, kills, longest))
    figures = (killed.figures(), undisturbed.figures())
    _log.info("%d kills over %d issues: %s; undisturbed: %s", len(kills), len(seen), *figures)
    assert sum(issue.duplicates for issue in expected) == 0
    assert seen == expected, "\n".join(differences(seen, expected))
    assert_paid_alike(killed, undisturbed)


async def _played(place: Town, servers: Outside, kills: Sequence[Kill] = (), longest: float = 0.0) -> list[SeenIssue]:
    """Let people and product live in the town, with kills at random moments in the meantime."""
    chance = random.Random(SEED)  # noqa: S311 - the same moments at every run
    async with crew(place.config, place.folder / "worker.log") as workers, asyncio.TaskGroup() as meanwhile:
        await workers.begin()
        living = meanwhile.create_task(place.live())
        for number, kill in enumerate(kills, start=1):
            place.begin(number / (len(kills) + 1))
            await place.stirs()
            await asyncio.sleep(chance.uniform(0.0, longest))
            await kill(workers, servers)
        place.begin()
        seen = await living
        await workers.end()
    return seen
