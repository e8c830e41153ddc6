"""What every API call has in common: a token, a quota, an ETag, and GitHub's way to say no."""

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from hikitsugi.devforge.etags import NOT_MODIFIED, conditional
from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.github.errors import error, refusal
from hikitsugi.devforge.github.quota import quota_headers
from hikitsugi.devforge.rate import RateMeter
from hikitsugi.devforge.records import Person
from hikitsugi.devforge.refusals import Invalid, NotAllowed, NotMergeable, NotThere, Outdated, Unsupported

Handle = Callable[[Request], Coroutine[Any, Any, Response]]
CREATED = 201


class GitHubRoute(APIRoute):
    """An API route that answers only known people and keeps count."""

    def get_route_handler(self) -> Handle:
        """Wrap the route's own work."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            caller = _authenticate(request)
            if isinstance(caller, JSONResponse):
                return caller
            request.state.caller = caller
            return await _answer_known(request, caller, handle)

        return answer


class AppRoute(APIRoute):
    """A route that answers only Apps, which prove themselves by a token signed with their key."""

    def get_route_handler(self) -> Handle:
        """Wrap the route's own work."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            forge: DevForge = request.app.state.forge
            scheme, _, token = request.headers.get("authorization", "").partition(" ")
            app = forge.apps.signed_by(token.strip()) if scheme.lower() == "bearer" else None
            if not app:
                return error(401, "A JSON web token could not be decoded")
            request.state.app, request.state.caller = app, app.person
            return await _answer_known(request, app.person, handle)

        return answer


def _authenticate(request: Request) -> Person | JSONResponse:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if not token:
        return error(401, "Requires authentication")
    forge: DevForge = request.app.state.forge
    caller = forge.person_with(token.strip()) if scheme.lower() in {"token", "bearer"} else None
    return caller or error(401, "Bad credentials")


async def _answer_known(request: Request, caller: Person, handle: Handle) -> Response:
    meter: RateMeter = request.app.state.meter
    is_free = request.url.path.endswith("/rate_limit")
    if not is_free and not meter.quota(caller).remaining:
        response: Response = error(403, f"API rate limit exceeded for user ID {caller.id}.")
    else:
        response = _located(conditional(request, caller, await _attempt(request, handle)))
        if not is_free and response.status_code != NOT_MODIFIED:
            meter.spend(caller)
    response.headers.update(quota_headers(meter.quota(caller)))
    return response


async def _attempt(request: Request, handle: Handle) -> Response:
    try:
        return await handle(request)
    except (NotThere, NotAllowed, NotMergeable, Outdated, Unsupported, Invalid, RequestValidationError) as reason:
        return refusal(reason)


def _located(response: Response) -> Response:
    if response.status_code == CREATED and (url := json.loads(bytes(response.body)).get("url")):
        response.headers["location"] = url
    return response
