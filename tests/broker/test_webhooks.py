"""Webhooks: only genuine ones ring, each of them once, and a forged one changes nothing."""

# The Redis client leaves its keyword arguments untyped.
# pyright: reportUnknownMemberType=false

import base64
import hashlib
import hmac
import json
from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from pydantic import SecretStr
from redis.asyncio import Redis

from hikitsugi.app.embedded_valkey import embedded_valkey
from hikitsugi.board.doorbell import Doorbell
from hikitsugi.broker.application import application
from hikitsugi.broker.webhooks import LARGEST_BODY, Sender, webhook_routes
from hikitsugi.domain.address import RepositoryAddress

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
GITHUB_SECRET = "github-webhook-secret"
SIGNING = "whsec_" + base64.b64encode(b"k" * 32).decode()
PLAIN = "plain-gitlab-token"
GITHUB = json.dumps({"repository": {"full_name": "octo/repo"}, "action": "created"}).encode()
GITLAB = json.dumps({"project": {"path_with_namespace": "group/sub/repo"}, "object_kind": "note"}).encode()
SENDERS = [
    Sender(name="github", kind="github", secret=SecretStr(GITHUB_SECRET), repositories=frozenset({"octo/repo"})),
    Sender(name="signed", kind="gitlab", secret=SecretStr(SIGNING), repositories=frozenset({"group/sub/repo"})),
    Sender(name="plain", kind="gitlab", secret=SecretStr(PLAIN), repositories=frozenset({"group/sub/repo"})),
]

pytestmark = pytest.mark.req("CH-17")


class Door:
    """The application with its bell, and what was rung."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self.client = client
        self.rung: list[str] = []

    async def send(self, kind: str, headers: Mapping[str, str], body: bytes) -> int:
        return (await self.client.post(f"/webhooks/{kind}", headers=dict(headers), content=body)).status_code


class NotedBell(Doorbell):
    """The real bell, which also notes whom it rang for."""

    door: Door

    async def ring(self, home: RepositoryAddress) -> None:
        self.door.rung.append(str(home))
        await super().ring(home)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def valkey(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[str]:
    async with embedded_valkey(tmp_path_factory.mktemp("valkey")) as url:
        yield url


@pytest_asyncio.fixture(loop_scope="session")
async def door(valkey: str) -> AsyncGenerator[Door]:
    async with Redis.from_url(valkey) as redis:
        await redis.flushall()
        bell = NotedBell(redis)
        app = application({})
        app.include_router(webhook_routes(SENDERS, bell, lambda: NOW))
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://broker") as client:
            bell.door = Door(client)
            yield bell.door


def _github(body: bytes = GITHUB, secret: str = GITHUB_SECRET, delivery: str = "d-1") -> dict[str, str]:
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {"X-Hub-Signature-256": f"sha256={signature}", "X-GitHub-Delivery": delivery}


def _gitlab(body: bytes = GITLAB, secret: str = SIGNING, at: datetime = NOW, delivery: str = "d-1") -> dict[str, str]:
    key, stamp = base64.b64decode(secret.removeprefix("whsec_")), str(int(at.timestamp()))
    signature = hmac.new(key, f"{delivery}.{stamp}.".encode() + body, hashlib.sha256).digest()
    signed = f"v1,{base64.b64encode(signature).decode()}"
    return {"webhook-id": delivery, "webhook-timestamp": stamp, "webhook-signature": signed}


@pytest.mark.parametrize(
    ("kind", "headers", "body", "home"),
    [
        ("github", _github(), GITHUB, "github:octo/repo"),
        ("gitlab", _gitlab(), GITLAB, "signed:group/sub/repo"),
        ("gitlab", {"X-Gitlab-Token": PLAIN, "Idempotency-Key": "d-2"}, GITLAB, "plain:group/sub/repo"),
    ],
    ids=["github", "gitlab signed", "gitlab token"],
)
async def test_a_genuine_delivery_rings_once_however_often_it_comes(
    door: Door, kind: str, headers: dict[str, str], body: bytes, home: str
):
    assert [await door.send(kind, headers, body) for _ in range(5)] == [202, 200, 200, 200, 200]
    assert door.rung == [home]


@pytest.mark.parametrize(
    ("kind", "headers", "body"),
    [
        ("github", {}, GITHUB),
        ("github", _github(secret="guessed"), GITHUB),
        ("github", _github(), GITHUB.replace(b"created", b"deleted")),
        ("gitlab", {}, GITLAB),
        ("gitlab", {"X-Gitlab-Token": "guessed"}, GITLAB),
        ("gitlab", _gitlab() | {"webhook-id": "another"}, GITLAB),
        ("gitlab", _gitlab(at=NOW - timedelta(days=1)), GITLAB),
        ("gitlab", _gitlab() | {"webhook-timestamp": "soon"}, GITLAB),
        ("gitlab", {"webhook-signature": "v1,none", "X-Gitlab-Token": PLAIN}, GITLAB),
    ],
    ids=lambda given: str(given)[:40],
)
async def test_a_forged_or_old_delivery_is_refused(door: Door, kind: str, headers: dict[str, str], body: bytes):
    assert await door.send(kind, headers, body) == 401
    assert door.rung == []


@pytest.mark.parametrize("payload", [{}, [], {"repository": {"full_name": 5}}, {"repository": None}, "x"], ids=repr)
async def test_a_signed_delivery_about_nothing_we_watch_rings_nobody(door: Door, payload: Any):
    body = json.dumps(payload).encode()
    assert await door.send("github", _github(body), body) == 202
    other = GITHUB.replace(b"octo/repo", b"octo/other")
    assert await door.send("github", _github(other, delivery="d-9"), other) == 202
    assert door.rung == []


async def test_a_body_that_is_too_large_is_refused_before_it_is_read_whole(door: Door):
    assert await door.send("github", _github(), b"x" * (LARGEST_BODY + 1)) == 413


async def test_without_a_secret_there_is_no_door():
    app = application({})
    app.include_router(webhook_routes([], Doorbell(Redis()), lambda: NOW))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://broker") as client:
        assert (await client.post("/webhooks/github", headers=_github(), content=GITHUB)).status_code == 404
        assert (await client.post("/webhooks/other", content=b"")).status_code in {404, 422}


async def test_without_redis_the_forge_is_asked_to_come_again():
    async with Redis.from_url("redis://127.0.0.1:1/0") as redis:
        app = application({})
        app.include_router(webhook_routes(SENDERS, Doorbell(redis), lambda: NOW))
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://broker") as client:
            answer = await client.post("/webhooks/github", headers=_github(), content=GITHUB)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
