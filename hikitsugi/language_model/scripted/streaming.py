"""Sending a reply event by event, whole or broken."""

import asyncio

from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

from hikitsugi.language_model.scripted import wire
from hikitsugi.language_model.scripted.answers import Breakage
from hikitsugi.language_model.scripted.model import Received


async def has_left(receive: Receive, within: float | None) -> bool:
    """Wait so long for the caller to hang up (for ever with None); whether it did."""
    try:
        async with asyncio.timeout(within):
            while (await receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return False
    return True


class EventStream(Response):
    """A reply as server-sent events; a breakage lets half of it out."""

    media_type = "text/event-stream"

    def __init__(self, received: Received, message: wire.Message, breakage: Breakage | None, request_id: str) -> None:
        super().__init__(headers={"request-id": request_id, "cache-control": "no-cache"})
        del self.headers["content-length"]
        self._received = received
        self._events = list(wire.events(message))
        self._breakage = breakage
        self._request_id = request_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        shown = self._events[: len(self._events) // 2] if self._breakage else self._events[:-1]
        for event in shown:
            await _send(send, event, more=True)
        await (self._break(self._breakage, receive, send) if self._breakage else self._end(receive, send))

    async def _end(self, receive: Receive, send: Send) -> None:
        self._received.answered = not await has_left(receive, within=0)
        await _send(send, self._events[-1], more=False)

    async def _break(self, breakage: Breakage, receive: Receive, send: Send) -> None:
        match breakage.kind:
            case "cut":
                # Returning without an end makes the server tear the connection.
                return
            case "stall":
                await has_left(receive, within=None)
            case "early_eof":
                await _send(send, "", more=False)
            case "error":
                body = wire.error(breakage.error_type, "the stream broke off", self._request_id)
                await _send(send, wire.event("error", body), more=False)


async def _send(send: Send, text: str, *, more: bool) -> None:
    await send({"type": "http.response.body", "body": text.encode(), "more_body": more})
