"""The whole forge as one web application."""

from collections.abc import Sequence
from functools import cache
from typing import cast

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.routing import BaseRoute

from hikitsugi.devforge import git_http
from hikitsugi.devforge.courier import Courier
from hikitsugi.devforge.failing import FailingCalls
from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.github.api import github_routes
from hikitsugi.devforge.github.errors import refusal
from hikitsugi.devforge.gitlab.api import gitlab_routes
from hikitsugi.devforge.kinds import Kind
from hikitsugi.devforge.pages import faults, reading, writing
from hikitsugi.devforge.pages.refusing import REFUSALS, refused
from hikitsugi.devforge.pages.view import STATIC
from hikitsugi.devforge.rate import RateMeter
from hikitsugi.devforge.raw_path import RawPath
from hikitsugi.devforge.traffic import Traffic

LOOPBACK_NAMES = ("127.0.0.1", "localhost")
_API_ROUTES = {"github": github_routes, "gitlab": gitlab_routes}


def application(forge: DevForge, courier: Courier) -> FastAPI:
    """The API, git over HTTP and the pages of one forge."""
    app = FastAPI(title="Development forge", openapi_url=None)
    app.state.forge = forge
    app.state.courier = courier
    app.state.meter = RateMeter(forge.call_limit, forge.kind.limit_window)
    app.router.routes.extend(_routes(forge.kind))
    for kind in REFUSALS:
        app.add_exception_handler(kind, refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_middleware(RawPath)
    # A page of another site must not reach the forge under a name of its own (DNS rebinding).
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=LOOPBACK_NAMES)
    app.add_middleware(FailingCalls, forge=forge)
    app.add_middleware(Traffic, forge=forge)
    return app


@cache
def _routes(kind: Kind) -> Sequence[BaseRoute]:
    """All routes of a kind of forge, made once for all forges of the process."""
    table = APIRouter()
    table.include_router(_API_ROUTES[kind.name]())
    table.include_router(git_http.routes)
    table.include_router(faults.routes)
    table.mount("/-", STATIC)
    pages = f"/{{full_name:path}}{kind.pages_below}"
    table.include_router(writing.routes, prefix=pages)
    table.include_router(writing.issue_routes, prefix=pages)
    table.include_router(reading.routes, prefix=pages)
    table.include_router(reading.roots)
    return table.routes


async def _malformed(_: Request, reason: Exception) -> Response:
    return refusal(cast("RequestValidationError", reason))
