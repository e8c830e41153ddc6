"""Gives the API's routes the path as it was sent: a project may be written `group%2Fproject`."""

from starlette.types import ASGIApp, Receive, Scope, Send

GITLAB_API = "/api/v4"


class RawPath:
    """Leaves the path of API calls encoded, which the server had decoded."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a call on, with its path as it was sent."""
        if scope["type"] == "http" and scope["path"].startswith(f"{GITLAB_API}/"):
            scope = {**scope, "path": scope["raw_path"].decode("latin-1")}
        await self._app(scope, receive, send)
