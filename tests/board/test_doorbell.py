"""The bell between the webhooks and the watchers."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

import asyncio
import logging
from pathlib import Path

import pytest
from redis.asyncio import Redis

from hikitsugi.app.embedded_valkey import embedded_valkey
from hikitsugi.board import doorbell
from hikitsugi.board.doorbell import Doorbell
from hikitsugi.domain.address import RepositoryAddress

OURS = RepositoryAddress(forge="github", repository="octo/repo")
OTHERS = RepositoryAddress(forge="github", repository="octo/other")


@pytest.mark.req("CH-17")
async def test_a_ring_is_heard_by_its_repository_alone_and_waits_for_a_busy_watcher(tmp_path: Path):
    async with embedded_valkey(tmp_path) as url, Redis.from_url(url) as redis, Doorbell(redis).listening() as bell:
        heard, not_heard = asyncio.ensure_future(bell.rung(OURS)), asyncio.ensure_future(bell.rung(OTHERS))
        while not heard.done():
            await bell.ring(OURS)
            await asyncio.sleep(0.01)
        await bell.ring(OURS)
        await asyncio.wait_for(bell.rung(OURS), 60)
        assert not not_heard.done()
        not_heard.cancel()


async def test_without_redis_nobody_rings_and_nothing_fails():
    async with Redis.from_url("redis://127.0.0.1:1/0") as redis, Doorbell(redis).listening() as bell:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(bell.rung(OURS), 0.2)


async def test_the_same_trouble_with_redis_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(doorbell, "_RECONNECT_SECONDS", 0.01)
    async with Redis.from_url("redis://127.0.0.1:1/0") as redis, Doorbell(redis).listening() as bell:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(bell.rung(OURS), 0.5)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
