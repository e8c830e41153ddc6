"""Many agents, two brokers, and everything that can go wrong: no issue is given twice, and none is lost."""

from pathlib import Path

import pytest

from tests.broker.crowd import Crowd

pytestmark = [pytest.mark.req("BR-06", "BR-10"), pytest.mark.lesson("B7", "B8", "B14")]


async def test_a_few_agents_with_every_misfortune(tmp_path: Path):
    async with Crowd(tmp_path, seed=1, agents=10, issues=30).open() as crowd:
        await crowd.play([crowd.kill_a_broker, crowd.lose_redis, crowd.kill_temporal])
        _all_is_well(crowd)


@pytest.mark.long
@pytest.mark.timeout(1800)
async def test_128_agents_on_1000_issues_with_every_misfortune(tmp_path: Path):
    async with Crowd(tmp_path, seed=2, agents=128, issues=1000, lease_minutes=1).open() as crowd:
        again = [crowd.kill_a_broker, crowd.lose_redis, crowd.restart_a_broker, crowd.kill_temporal]
        await crowd.play([*again, *again])
        _all_is_well(crowd)


def _all_is_well(crowd: Crowd) -> None:
    assert crowd.ledger.wrongs == []
    assert set(crowd.ledger.done.values()) == {1}
    assert len(crowd.ledger.done) == crowd.issues
    assert crowd.labels_of_two_agents() == []
    assert crowd.unfinished() == []
    assert crowd.not_repeated() == []
