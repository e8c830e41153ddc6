"""Carries out the ordered faults on the calls that pass."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

from fastapi.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hikitsugi.devforge.faults import Failing, Fault
from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.github.errors import error as github_error
from hikitsugi.devforge.records import Call

HANG_UP = "devforge.hang_up"
_STATUSES = {Failing.SERVER_ERROR: 500, Failing.BAD_GATEWAY: 502, Failing.UNAVAILABLE: 503}
_SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


class FailingCalls:
    """Fails the calls that a fault of the forge waits for; the forge's own pages are spared."""

    def __init__(self, app: ASGIApp, forge: DevForge) -> None:
        self._app = app
        self._forge = forge
        self._late: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a call on, unless a fault fits it."""
        is_call = scope["type"] == "http" and self._forge.kind.calls.search(scope["path"])
        fault = self._forge.faults.strike(scope["method"], scope["path"]) if is_call else None
        if not fault:
            await self._app(scope, receive, send)
        elif fault.how is Failing.SLOW:
            await self._slowly(fault, scope, receive, send)
        elif fault.how in {Failing.HALF, Failing.CUT}:
            await self._in_part(fault, scope, receive, send)
        else:
            await self._fail(fault, scope, receive, send)

    async def _fail(self, fault: Fault, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _whole(receive)
        if fault.when == "after":
            await self._effect(scope, body)
        elif fault.when == "late":
            task = asyncio.create_task(self._effect_later(fault.seconds, scope, body))
            self._late.add(task)
            task.add_done_callback(self._late.discard)
        if fault.how is Failing.DROP:
            self._forge.record(Call(scope["method"], scope["path"], scope["query_string"].decode("latin-1"), 0))
            await _hang_up(scope, receive)
        else:
            await _answer(self._forge, fault)(scope, receive, send)

    async def _effect(self, scope: Scope, body: bytes) -> list[Message]:
        """Do the work and keep the answer back."""
        kept: list[Message] = []

        async def keep(message: Message) -> None:
            kept.append(message)

        await self._app(scope, _again(body), keep)
        return kept

    async def _effect_later(self, seconds: float, scope: Scope, body: bytes) -> None:
        await asyncio.sleep(seconds)
        await self._effect(scope, body)

    async def _slowly(self, fault: Fault, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _whole(receive)
        if fault.when == "before":
            await asyncio.sleep(fault.seconds)
        answer = await self._effect(scope, body)
        if fault.when == "after":
            await asyncio.sleep(fault.seconds)
        for message in answer:
            await send(message)

    async def _in_part(self, fault: Fault, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self._effect(scope, await _whole(receive))
        whole = b"".join(message.get("body", b"") for message in answer)
        half, start = whole[: len(whole) // 2], answer[0]
        kept = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
        promised = len(half) if fault.how is Failing.CUT else len(whole)
        await send({**start, "headers": [*kept, (b"content-length", str(promised).encode())]})
        await send({"type": "http.response.body", "body": half, "more_body": fault.how is Failing.HALF})
        if fault.how is Failing.HALF:
            await _hang_up(scope, receive)


def _answer(forge: DevForge, fault: Fault) -> Response:
    if fault.how in _STATUSES:
        status = _STATUSES[fault.how]
        return JSONResponse({"message": f"{status} Injected Fault"}, status_code=status)
    quota = {
        "remaining": "0",
        "limit": str(forge.call_limit),
        "reset": str(int(forge.now().timestamp()) + fault.retry_after),
    }
    wait = {"retry-after": str(fault.retry_after)}
    if forge.kind.name == "gitlab":
        told = {f"ratelimit-{key}": value for key, value in quota.items()} | {
            "ratelimit-name": "throttle_authenticated_api"
        }
        return PlainTextResponse("Retry later\n", status_code=429, headers=wait | told)
    if fault.how is Failing.PRIMARY_LIMIT:
        response = github_error(403, "API rate limit exceeded for user ID 1.")
        response.headers.update({f"x-ratelimit-{key}": value for key, value in quota.items()})
        return response
    response = github_error(429 if fault.how is Failing.TOO_MANY else 403, _SECONDARY)
    response.headers.update(wait)
    return response


async def _hang_up(scope: Scope, receive: Receive) -> None:
    """Close the connection and wait until it is gone, so that nothing more is sent on it."""
    close = cast("Callable[[], None]", scope["extensions"][HANG_UP])
    close()
    while (await receive())["type"] != "http.disconnect":
        pass


async def _whole(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)


def _again(body: bytes) -> Callable[[], Awaitable[Message]]:
    """The request's body, given to the application once more."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return left.pop() if left else await asyncio.Future()

    return receive
