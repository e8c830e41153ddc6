"""What a person sees when the forge says no; a program is told in the API's form."""

from fastapi import Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.github.errors import error
from hikitsugi.devforge.gitlab.errors import error as gitlab_error
from hikitsugi.devforge.pages.view import show
from hikitsugi.devforge.refusals import Invalid, NotAllowed, NotMergeable, NotThere

NOT_THERE = (404, "Not Found")
REFUSALS: dict[type[Exception], tuple[int, str]] = {
    HTTPException: NOT_THERE,
    NotThere: NOT_THERE,
    NotAllowed: (403, "Not Allowed"),
    NotMergeable: (409, "Not Mergeable"),
    Invalid: (422, "Not Accepted"),
}


async def refused(request: Request, reason: Exception) -> Response:
    """A page that names the reason, or the API's way of saying so."""
    status, title = REFUSALS.get(type(reason), NOT_THERE)
    if "text/html" not in request.headers.get("accept", ""):
        forge: DevForge = request.app.state.forge
        return error(status, title) if forge.kind.name == "github" else gitlab_error(status, f"{status} {title}")
    return show(request, "refused.html", status, title=title, reason=str(reason))
