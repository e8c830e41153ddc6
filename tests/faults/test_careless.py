"""The harness finds what it is there for: with the protection taken out, it sees duplicates."""

import asyncio
from pathlib import Path

import pytest

from hikitsugi.devforge.faults import Failing, Fault
from tests.faults.canonical import SeenIssue
from tests.faults.conversations import asks_for_more, thanks
from tests.faults.crew import crew
from tests.faults.servers import outside
from tests.faults.town import Town, town

DONE_BUT_DROPPED = Fault(Failing.DROP, method="POST", path="(comments|notes)$", when="after")


@pytest.mark.req("BY-08", "CH-12")
@pytest.mark.lesson("P1", "P4")
async def test_without_looking_first_comments_are_doubled_and_the_harness_sees_it(tmp_path: Path):
    conversations = (asks_for_more, thanks)
    async with (
        outside(tmp_path) as servers,
        town(tmp_path / "careful", conversations, servers.as_settings()) as careful,
        town(tmp_path / "careless", conversations, servers.as_settings()) as careless,
    ):
        expected, seen = await asyncio.gather(_played(careful), _played(careless, "careless"))
    assert sum(issue.duplicates for issue in expected) == 0
    assert sum(issue.duplicates for issue in seen) == len(conversations)
    assert seen != expected


async def _played(place: Town, *how: str) -> list[SeenIssue]:
    """Live in the town, whose forges tear the connection after the first comment of ours is there."""
    for forge in place.forges:
        forge.faults.add(DONE_BUT_DROPPED)
    async with crew(place.config, place.folder / "worker.log", *how) as workers:
        await workers.begin()
        place.begin()
        seen = await place.live()
        await workers.end()
    return seen
