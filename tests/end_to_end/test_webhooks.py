"""Webhooks ring and no more: news is acted on at once, and what comes five times or in disorder happens once."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

import base64
import random
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from redis.asyncio import Redis
from temporalio.testing import WorkflowEnvironment

from hikitsugi.app.embedded_valkey import embedded_valkey
from hikitsugi.app.running import Role, running
from hikitsugi.devforge.hooks import Delivery
from hikitsugi.devforge.kinds import KindName
from tests.end_to_end.stage import BOT, GENEROUS, TOKENS, Stage, stage, until

SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes ok.").decode()
ANOTHER = "whsec_" + base64.b64encode(b"another one of thirty-two bytes.").decode()
A_MINUTE, AN_HOUR = 60, 3600
TIMES = 5
FIRST_CALLS = {"github": 2 + 2, "gitlab": 4 + 4}
"""What the first look and the sweep after it ask for: two lists; on GitLab the open and the recent ones of each."""


class Sender:
    """Somebody who sends the forge's deliveries to the broker again."""

    def __init__(self, s: Stage, broker: str, redis: Redis) -> None:
        self._s = s
        self._redis = redis
        self._url = f"{broker}/webhooks/{s.forge.kind.name}"
        self._order = random.Random(20261116)  # noqa: S311 - the same disorder at every run

    @property
    def delivered(self) -> list[Delivery]:
        """What the forge itself has sent."""
        return self._s.forge.repository(self._s.repository).hooks.deliveries()

    async def sends_again(self) -> Counter[int]:
        """Everything so far five times and shuffled; the answers."""
        copies = self.delivered * TIMES
        self._order.shuffle(copies)
        return await self._send(copies)

    async def sends_again_what_the_broker_has_forgotten(self) -> Counter[int]:
        """The same, a day later."""
        await self._redis.flushall()
        return await self.sends_again()

    async def rings_are_heard(self) -> bool:
        """Whether the watcher listens."""
        return dict(await self._redis.pubsub_numsub("hikitsugi:ring"))[b"hikitsugi:ring"] == 1

    async def _send(self, copies: Sequence[Delivery]) -> Counter[int]:
        async with httpx2.AsyncClient(timeout=GENEROUS) as client:
            return Counter([(await self._post(client, copy)).status_code for copy in copies])

    async def _post(self, client: httpx2.AsyncClient, copy: Delivery) -> httpx2.Response:
        return await client.post(self._url, headers=dict(copy.headers), content=copy.letter.body)


@pytest.mark.parametrize("kind", ["github", pytest.param("gitlab", marks=pytest.mark.long)])
@pytest.mark.req("CH-17", "CH-12", "TW-08")
async def test_every_delivery_five_times_and_shuffled_is_one_workflow_and_one_answer(
    time: WorkflowEnvironment, tmp_path: Path, kind: KindName
):
    async with stage(time, tmp_path, interval=A_MINUTE, kind=kind) as s, hooked(s, SECRET) as sender:
        s.opens_issue()
        await until(lambda: _is_delivered(sender))
        assert set(await sender.sends_again()) == {200}
        await s.comes_to("awaiting-response", results=1)
        first_run = await _first_run(s)
        s.says("README に使い方を書いてください。")
        assert set(await sender.sends_again()) == {200}
        assert set(await sender.sends_again_what_the_broker_has_forgotten()) == {200, 202}
        await s.comes_to("awaiting-response", results=2)
        assert set(await sender.sends_again_what_the_broker_has_forgotten()) == {200, 202}
        s.says("ありがとう")
        await s.comes_to("completed")
        assert s.headings == ["## 実行完了", "## 実行完了", "## ✅ 完了"]
        assert len(s.forge.pulls(s.repository)) == 1
        status = await s.status()
        assert (status.session, status.comments_processed) == (1, 1)
        assert await _workflows(s) == {str(s.issue)}
        assert await _first_run(s) == first_run
        assert all(len(c.reactions) == 1 for c in s.forge.comments(s.repository, 1) if c.author.login != BOT)


@pytest.mark.parametrize("kind", ["github", pytest.param("gitlab", marks=pytest.mark.long)])
@pytest.mark.req("CH-17")
async def test_a_forged_delivery_is_refused_and_nobody_looks(time: WorkflowEnvironment, tmp_path: Path, kind: KindName):
    async with stage(time, tmp_path, interval=AN_HOUR, kind=kind) as s, hooked(s, ANOTHER) as sender:
        looked = len(s.forge.requests)
        s.opens_issue()
        await until(lambda: _is_delivered(sender))
        assert set(await sender.sends_again()) == {401}
        assert {delivery.outcome.status for delivery in sender.delivered} == {401}
        assert len(s.forge.requests) == looked
        assert await _workflows(s) == set()


@asynccontextmanager
async def hooked(s: Stage, signed_with: str) -> AsyncGenerator[Sender]:
    """The whole product with its broker, its first look over, and the repository's hook pointing there."""
    kind = s.forge.kind.name
    async with embedded_valkey(s.folder / "valkey") as url, Redis.from_url(url) as redis:
        forge = {"kind": kind, "url": s.configure().forges[0].url, "token": TOKENS[BOT], "repositories": [s.repository]}
        settings = s.configure(redis={"url": url}, forges=[forge | {"webhook_secret": SECRET}])
        async with running(settings, set(Role)) as (facts, _):
            proof = {"secret": signed_with} if kind == "github" else {"signing_token": signed_with}
            s.forge.add_hook(s.repository, f"{facts.broker}/webhooks/{kind}", **proof)
            sender = Sender(s, str(facts.broker), redis)
            await until(sender.rings_are_heard)
            await until(lambda: _has_looked(s))
            yield sender


async def _has_looked(s: Stage) -> bool:
    """Whether the first look and the sweep after it are over."""
    return len(s.forge.requests) >= FIRST_CALLS[s.forge.kind.name]


async def _is_delivered(sender: Sender) -> bool:
    return bool(sender.delivered)


async def _workflows(s: Stage) -> set[str]:
    """The ids of all workflows of issues of the repository; which runs are over is listed with a delay."""
    found = s.client.list_workflows(f"HikitsugiRepository = '{s.repository}'")
    return {workflow.id async for workflow in found}


async def _first_run(s: Stage) -> str:
    """Stays the same for as long as it is one workflow, in however many runs."""
    return (await s.workflow.describe()).raw_description.workflow_execution_info.first_run_id
