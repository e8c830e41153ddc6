"""The HTTP application: health; tasks, webhooks and the dashboard hang on it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from hikitsugi.domain.errors import TryAgainLater

Probe = Callable[[], Awaitable[object]]
_PROBE_SECONDS = 5.0
_RETRY_SECONDS = "5"


def application(probes: Mapping[str, Probe]) -> FastAPI:
    """The application; `probes` tell by name whether a part it needs can be reached."""
    app = FastAPI(title="Hikitsugi", docs_url=None, redoc_url=None)
    app.add_exception_handler(TryAgainLater, _comes_back_later)
    app.add_exception_handler(RequestValidationError, _does_not_fit)

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """Tell that the process is alive."""
        return {"status": "alive"}

    @app.get("/readyz")
    async def readyz() -> JSONResponse:
        """Tell whether every needed part answers."""
        answers = dict(zip(probes, await asyncio.gather(*map(_answers, probes.values())), strict=True))
        if all(answers.values()):
            return JSONResponse({"status": "ready", "parts": answers})
        return JSONResponse({"status": "not ready", "parts": answers}, 503, {"Retry-After": _RETRY_SECONDS})

    return app


async def _comes_back_later(_: Request, error: Exception) -> JSONResponse:
    """What is away now may be back soon."""
    return JSONResponse({"detail": str(error)}, 503, {"Retry-After": _RETRY_SECONDS})


async def _does_not_fit(_: Request, error: Exception) -> JSONResponse:
    """What is wrong and where, without what came: not all of that can be said in JSON."""
    wrongs: Sequence[Any] = error.errors() if isinstance(error, RequestValidationError) else ()
    told = [{"type": str(wrong["type"]), "loc": _place(wrong["loc"]), "msg": str(wrong["msg"])} for wrong in wrongs]
    return JSONResponse({"detail": told}, 422)


def _place(path: Sequence[object]) -> list[str | int]:
    return [part if isinstance(part, int) else _sayable(str(part)) for part in path]


def _sayable(text: str) -> str:
    return text.encode(errors="replace").decode()


async def _answers(probe: Probe) -> bool:
    try:
        await asyncio.wait_for(probe(), _PROBE_SECONDS)
    except Exception:  # noqa: BLE001 - whatever the reason, that part does not answer
        return False
    return True
