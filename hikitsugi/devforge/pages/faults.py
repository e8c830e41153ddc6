"""The page's switch: fail the next calls of the API or of git."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse

from hikitsugi.devforge.faults import Failing, Fault, When
from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.pages.writing import from_own_page
from hikitsugi.devforge.refusals import Invalid
from hikitsugi.domain.errors import WillNeverWork

MOST_FAILURES = 1000
routes = APIRouter(prefix="/-/faults", dependencies=[Depends(from_own_page)])
Text = Annotated[str, Form()]


@routes.post("")
def add(
    request: Request,
    how: Annotated[Failing, Form()] = Failing.SERVER_ERROR,
    when: Annotated[When, Form()] = "before",
    times: Annotated[int, Form(ge=1, le=MOST_FAILURES)] = 1,
    path: Text = "",
) -> RedirectResponse:
    """Let the next calls fail."""
    try:
        fault = Fault(how, path=path, times=times, when=when)
    except WillNeverWork as reason:
        raise Invalid("Fault", "fault", "custom", str(reason)) from reason
    _forge(request).faults.add(fault)
    return RedirectResponse("/", status_code=303)


@routes.post("/clear")
def clear(request: Request) -> RedirectResponse:
    """Let all calls succeed again."""
    _forge(request).faults.clear()
    return RedirectResponse("/", status_code=303)


def _forge(request: Request) -> DevForge:
    return request.app.state.forge
