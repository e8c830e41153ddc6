"""The whole forge as one web application."""

from typing import cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.middleware.trustedhost import TrustedHostMiddleware

from hikitsugi.devforge import git_http
from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.github.api import github_routes
from hikitsugi.devforge.github.errors import refusal
from hikitsugi.devforge.github.rate import RateMeter
from hikitsugi.devforge.pages import reading, writing
from hikitsugi.devforge.pages.refusing import REFUSALS, refused
from hikitsugi.devforge.pages.view import STATIC
from hikitsugi.devforge.traffic import Traffic

LOOPBACK_NAMES = ("127.0.0.1", "localhost")


def application(forge: DevForge) -> FastAPI:
    """The API, git over HTTP and the pages of one forge."""
    app = FastAPI(title="Development forge", openapi_url=None)
    app.state.forge = forge
    app.state.meter = RateMeter(forge.hourly_limit)
    app.include_router(github_routes())
    app.include_router(git_http.routes)
    app.mount("/-", STATIC)
    app.include_router(reading.routes)
    app.include_router(writing.routes)
    for kind in REFUSALS:
        app.add_exception_handler(kind, refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    # A page of another site must not reach the forge under a name of its own (DNS rebinding).
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=LOOPBACK_NAMES)
    app.add_middleware(Traffic, forge=forge)
    return app


async def _malformed(_: Request, reason: Exception) -> Response:
    return refusal(cast("RequestValidationError", reason))
