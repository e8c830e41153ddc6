"""Every request passes here: the place where calls are counted."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.records import Call


class Traffic:
    """Notes method, path and status of each answered request on the forge."""

    def __init__(self, app: ASGIApp, forge: DevForge) -> None:
        self._app = app
        self._forge = forge

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and note how it was answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                query = scope["query_string"].decode("latin-1")
                self._forge.record(Call(scope["method"], scope["path"], query, message["status"]))
            await send(message)

        await self._app(scope, receive, note)
