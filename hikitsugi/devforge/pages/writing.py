"""Forms: whoever sits at this machine may write as anyone, other sites may not."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse

from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.pages.view import CHOSEN_PERSON
from hikitsugi.devforge.records import Edit, Issue, Person
from hikitsugi.devforge.refusals import NotAllowed
from hikitsugi.devforge.repository import Repository


async def _from_own_page(request: Request) -> None:
    origin = request.headers.get("origin")
    if origin is not None and origin != str(request.base_url).rstrip("/"):
        raise NotAllowed("The forms of this forge take nothing from other sites.")


async def _home(request: Request, owner: str, name: str) -> Repository:
    forge: DevForge = request.app.state.forge
    return forge.repository(f"{owner}/{name}")


async def _writer(request: Request, person: Annotated[str, Form()]) -> Person:
    forge: DevForge = request.app.state.forge
    return forge.person(person)


routes = APIRouter(prefix="/{owner}/{name}", dependencies=[Depends(_from_own_page)])
Home = Annotated[Repository, Depends(_home)]
Writer = Annotated[Person, Depends(_writer)]
Text = Annotated[str, Form()]


@routes.post("/issues")
def open_issue(home: Home, writer: Writer, title: Text, body: Text = "", labels: Text = "") -> RedirectResponse:
    """Open an issue."""
    names = [name.strip() for name in labels.split(",") if name.strip()] if writer.may_write else []
    return _back(home, home.tracker.open_issue(writer, title, _lines(body), names), writer)


@routes.post("/issues/{number:int}/comments")
def comment(home: Home, writer: Writer, number: int, body: Text) -> RedirectResponse:
    """Comment on an issue or pull request."""
    said = home.tracker.comment(number, writer, _lines(body))
    return _back(home, home.tracker.issue(number), writer, f"#issuecomment-{said.id}")


@routes.post("/issues/{number:int}/state")
def change_state(
    home: Home, writer: Writer, number: int, state: Annotated[Literal["open", "closed"], Form()], body: Text = ""
) -> RedirectResponse:
    """Close or reopen, with what was being said."""
    one = home.tracker.issue(number)
    if not writer.may_write and one.author != writer:
        raise NotAllowed(f"{writer.login} may close and reopen only issues of their own.")
    if body.strip():
        home.tracker.comment(number, writer, _lines(body))
    edited = home.edit_pull if one.pull else home.tracker.edit
    return _back(home, edited(number, writer, Edit(is_open=state == "open")), writer)


@routes.post("/issues/{number:int}/labels")
def change_label(
    home: Home, writer: Writer, number: int, label: Text, change: Annotated[Literal["add", "remove"], Form()]
) -> RedirectResponse:
    """Put a label on or take it off."""
    _refuse_readers(writer)
    if change == "add":
        return _back(home, home.tracker.add_labels(number, writer, [label.strip()]), writer)
    return _back(home, home.tracker.remove_label(number, writer, label), writer)


@routes.post("/pull/{number:int}/merge")
def merge(home: Home, writer: Writer, number: int) -> RedirectResponse:
    """Merge a pull request."""
    _refuse_readers(writer)
    home.merge(number, writer)
    return _back(home, home.tracker.issue(number), writer)


def _refuse_readers(writer: Person) -> None:
    if not writer.may_write:
        raise NotAllowed(f"{writer.login} has no write permission.")


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _back(home: Repository, one: Issue, writer: Person, anchor: str = "") -> RedirectResponse:
    page = f"/{home.full_name}/{'pull' if one.pull else 'issues'}/{one.number}{anchor}"
    response = RedirectResponse(page, status_code=303)
    response.set_cookie(CHOSEN_PERSON, writer.login, samesite="strict", httponly=True)
    return response
