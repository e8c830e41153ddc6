"""What every GitLab call has in common: a token, a limit, an ETag, and GitLab's way to say no."""

import time
import uuid
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.routing import APIRoute

from hikitsugi.devforge.etags import conditional
from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.gitlab.errors import REFUSALS, error, refusal
from hikitsugi.devforge.rate import Quota, RateMeter
from hikitsugi.devforge.records import Person

Handle = Callable[[Request], Coroutine[Any, Any, Response]]


class GitLabRoute(APIRoute):
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


def _authenticate(request: Request) -> Person | JSONResponse:
    forge: DevForge = request.app.state.forge
    headers = request.headers
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    token = headers.get("private-token") or headers.get("job-token") or request.query_params.get("private_token", "")
    if not token and scheme.lower() == "bearer":
        found = forge.person_with(bearer.strip())
        told = {"error": "invalid_token", "error_description": "Token is expired or unknown. You have to re-authorize."}
        return found or JSONResponse(told, status_code=401)
    return forge.person_with(token) or error(401, "401 Unauthorized")


async def _answer_known(request: Request, caller: Person, handle: Handle) -> Response:
    meter: RateMeter = request.app.state.meter
    if not meter.quota(caller).remaining:
        response: Response = PlainTextResponse("Retry later\n", status_code=429)
        response.headers["retry-after"] = str(max(1, meter.quota(caller).reset - int(time.time())))
    else:
        meter.spend(caller)
        response = conditional(request, caller, await _attempt(request, handle), is_weak=True)
    response.headers.update(_limits(meter.quota(caller)))
    response.headers["x-request-id"] = uuid.uuid4().hex
    return response


async def _attempt(request: Request, handle: Handle) -> Response:
    try:
        return await handle(request)
    except REFUSALS as reason:
        return refusal(reason)


def _limits(quota: Quota) -> dict[str, str]:
    told = {
        "limit": quota.limit,
        "name": "throttle_authenticated_api",
        "observed": quota.used,
        "remaining": quota.remaining,
        "reset": quota.reset,
        "resettime": datetime.fromtimestamp(quota.reset, UTC).strftime("%a, %d %b %Y %H:%M:%S GMT"),
    }
    return {f"ratelimit-{key}": str(value) for key, value in told.items()}
