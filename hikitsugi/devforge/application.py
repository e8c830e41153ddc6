"""The whole forge as one web application."""

from typing import cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.middleware.trustedhost import TrustedHostMiddleware

from hikitsugi.devforge import git_http
from hikitsugi.devforge.courier import Courier
from hikitsugi.devforge.failing import FailingCalls
from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.github.api import github_routes
from hikitsugi.devforge.github.errors import refusal
from hikitsugi.devforge.gitlab.api import gitlab_routes
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
    app.include_router(_API_ROUTES[forge.kind.name]())
    app.include_router(git_http.routes)
    app.include_router(faults.routes)
    app.mount("/-", STATIC)
    pages = f"/{{full_name:path}}{forge.kind.pages_below}"
    app.include_router(writing.routes, prefix=pages)
    app.include_router(writing.issue_routes, prefix=pages)
    app.include_router(reading.routes, prefix=pages)
    app.include_router(reading.roots)
    for kind in REFUSALS:
        app.add_exception_handler(kind, refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_middleware(RawPath)
    # A page of another site must not reach the forge under a name of its own (DNS rebinding).
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=LOOPBACK_NAMES)
    app.add_middleware(FailingCalls, forge=forge)
    app.add_middleware(Traffic, forge=forge)
    return app


async def _malformed(_: Request, reason: Exception) -> Response:
    return refusal(cast("RequestValidationError", reason))
