"""A provider is asked whether it offers a model, and a server that cannot be asked is told from one that refuses."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.responses import Response
from pydantic import SecretStr

from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.language_model.looking_up import Offer, look_up
from hikitsugi.language_model.scripted import ScriptedModel, say, serve
from hikitsugi.serving import listening, serving
from tests.language_model.talking import KEY

RETIRED = (
    '{"type": "model", "id": "m", "display_name": "m", "created_at": "2026-01-01T00:00:00Z", "lifecycle": "retired"}'
)


@asynccontextmanager
async def answering(status: int, body: str, kind: str) -> AsyncGenerator[str]:
    """A server that answers so when it is asked for the model m."""
    app = FastAPI(openapi_url=None)

    @app.get("/v1/models/m")
    async def answer() -> Response:
        return Response(body, status, media_type=kind)

    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=1)
    with listening("127.0.0.1", 0) as door:
        async with serving(config, door) as address:
            yield address


async def test_a_model_is_offered_or_not():
    async with serve(ScriptedModel(lambda _: say("hi"), KEY, unknown=["claude-nothing"])) as base_url:
        assert await look_up(base_url, SecretStr(KEY), "claude-opus-5-5") is Offer.OFFERED
        assert await look_up(base_url, SecretStr(KEY), "claude-nothing") is Offer.NOT_OFFERED
        for key in ("another", "", "ключ"):
            with pytest.raises(WillNeverWork, match=r"llm\.api_key"):
                await look_up(base_url, SecretStr(key), "claude-opus-5-5")


@pytest.mark.parametrize(
    ("status", "body", "kind", "offer"),
    [
        (404, '{"detail": "Not Found"}', "application/json", Offer.UNTOLD),
        (404, '{"error": "no such page"}', "application/json", Offer.UNTOLD),
        (404, "<h1>Not Found</h1>", "text/html", Offer.UNTOLD),
        (404, "", "text/plain", Offer.UNTOLD),
        (405, '{"detail": "Method Not Allowed"}', "application/json", Offer.UNTOLD),
        (501, "", "text/plain", Offer.UNTOLD),
        (200, "<h1>Welcome</h1>", "text/html", Offer.UNTOLD),
        (200, '{"id": "m", "object": "model"}', "application/json", Offer.UNTOLD),
        (200, "[]", "application/json", Offer.UNTOLD),
        (200, RETIRED, "application/json", Offer.NOT_OFFERED),
    ],
)
async def test_a_missing_route_is_told_from_a_missing_model(status: int, body: str, kind: str, offer: Offer):
    async with answering(status, body, kind) as base_url:
        assert await look_up(base_url, SecretStr(KEY), "m") is offer


@pytest.mark.parametrize(("status", "error"), [(401, WillNeverWork), (403, WillNeverWork), (529, TryAgainLater)])
async def test_a_refusal_is_told_in_a_sentence_without_the_key(status: int, error: type[Exception]):
    async with answering(status, f"no {KEY}", "text/plain") as base_url:
        with pytest.raises(error, match="model") as refusal:
            await look_up(base_url, SecretStr(KEY), "m")
    assert KEY not in str(refusal.value)


async def test_a_server_that_is_away_is_told():
    with pytest.raises(TryAgainLater, match=r"cannot be reached; check llm\.base_url"):
        await look_up("http://127.0.0.1:1", SecretStr(KEY), "m")
