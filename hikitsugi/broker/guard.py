"""Stands before every route: who asks, how much, and how often."""

from base64 import b64decode

from fastapi import HTTPException
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hikitsugi.broker.agents import Agents

LARGEST_BODY = 64 * 1024
_OPEN = ("/healthz", "/readyz", "/metrics")
_SIGNED = "/webhooks/"
_TOO_LARGE = "the body is too large"


class Guard:
    """Lets known agents in, with small bodies; webhooks prove themselves by their signatures."""

    def __init__(self, app: ASGIApp, agents: Agents) -> None:
        self._app = app
        self._agents = agents

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer for the application where it need not be asked."""
        if scope["type"] != "http" or scope["path"] in _OPEN or scope["path"].startswith(_SIGNED):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        agent = self._agent(headers)
        if self._agents.need_tokens and agent is None:
            challenge = {"WWW-Authenticate": 'Bearer realm="hikitsugi", Basic realm="hikitsugi"'}
            await JSONResponse({"detail": "a known token is needed"}, 401, challenge)(scope, receive, send)
            return
        if _length(headers) > LARGEST_BODY:
            await JSONResponse({"detail": _TOO_LARGE}, 413)(scope, receive, send)
            return
        scope.setdefault("state", {})["agent"] = agent
        await self._app(scope, _counted(receive), send)

    def _agent(self, headers: Headers) -> str | None:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "basic":
            # What a browser can send: the token as the password.
            token = _password(token)
        return self._agents.with_token(token.strip()) if scheme.lower() in ("bearer", "basic") else None


def _counted(receive: Receive) -> Receive:
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > LARGEST_BODY:
            raise HTTPException(413, _TOO_LARGE)
        return message

    return counted


def _password(credentials: str) -> str:
    try:
        return b64decode(credentials, validate=True).decode().partition(":")[2]
    except ValueError:
        return ""


def _length(headers: Headers) -> int:
    told = headers.get("content-length", "0")
    return int(told) if told.isdecimal() else 0
