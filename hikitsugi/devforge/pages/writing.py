"""Forms: whoever sits at this machine may write as anyone, other sites may not."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse

from hikitsugi.devforge.forge import DevForge, Said
from hikitsugi.devforge.pages.reading import issue_at
from hikitsugi.devforge.pages.view import CHOSEN_PERSON
from hikitsugi.devforge.records import Edit, Issue, Person
from hikitsugi.devforge.refusals import NotAllowed
from hikitsugi.devforge.repository import Repository


async def from_own_page(request: Request) -> None:
    """Refuse what another site's page sends."""
    origin = request.headers.get("origin")
    if origin is not None and origin != str(request.base_url).rstrip("/"):
        raise NotAllowed("The forms of this forge take nothing from other sites.")


async def _home(request: Request, full_name: str) -> Repository:
    forge: DevForge = request.app.state.forge
    return forge.repository(full_name)


Home = Annotated[Repository, Depends(_home)]


async def _writer(request: Request, home: Home, person: Annotated[str, Form()]) -> Person:
    forge: DevForge = request.app.state.forge
    return home.member(forge.person(person))


async def _one(home: Home, place: str, number: int) -> Issue:
    return issue_at(home, place, number)


routes = APIRouter(dependencies=[Depends(from_own_page)])
issue_routes = APIRouter(prefix="/{place:place}/{number:int}", dependencies=[Depends(from_own_page)])
Writer = Annotated[Person, Depends(_writer)]
One = Annotated[Issue, Depends(_one)]
Text = Annotated[str, Form()]


@routes.post("/issues")
def open_issue(home: Home, writer: Writer, title: Text, body: Text = "", labels: Text = "") -> RedirectResponse:
    """Open an issue."""
    names = [name.strip() for name in labels.split(",") if name.strip()] if writer.may_write else []
    return _back(home, home.tracker.open_issue(writer, title, _lines(body), names), writer)


@issue_routes.post("/comments")
def comment(request: Request, home: Home, writer: Writer, one: One, body: Text) -> RedirectResponse:
    """Comment on an issue or pull request."""
    said = _say(request, home, one, writer, body)
    return _back(home, one, writer, f"#issuecomment-{said.comment.id}" if said.comment else "")


@issue_routes.post("/state")
def change_state(
    request: Request,
    home: Home,
    writer: Writer,
    one: One,
    state: Annotated[Literal["open", "closed"], Form()],
    body: Text = "",
) -> RedirectResponse:
    """Close or reopen, with what was being said."""
    if not writer.may_write and one.author != writer:
        raise NotAllowed(f"{writer.login} may close and reopen only issues of their own.")
    if body.strip():
        _say(request, home, one, writer, body)
    edited = home.edit_pull if one.pull else home.tracker.edit
    return _back(home, edited(one.number, writer, Edit(is_open=state == "open")), writer)


@issue_routes.post("/labels")
def change_label(
    home: Home, writer: Writer, one: One, label: Text, change: Annotated[Literal["add", "remove"], Form()]
) -> RedirectResponse:
    """Put a label on or take it off."""
    _refuse_readers(writer)
    tracker = home.tracker_of(one)
    if change == "add":
        return _back(home, tracker.add_labels(one.number, writer, [label.strip()]), writer)
    return _back(home, tracker.remove_label(one.number, writer, label), writer)


@issue_routes.post("/merge")
def merge(home: Home, writer: Writer, one: One) -> RedirectResponse:
    """Merge a pull request."""
    _refuse_readers(writer)
    home.merge(one.number, writer)
    return _back(home, one, writer)


def _say(request: Request, home: Repository, one: Issue, writer: Person, body: str) -> Said:
    forge: DevForge = request.app.state.forge
    return forge.say(home, one, writer, _lines(body))


def _refuse_readers(writer: Person) -> None:
    if not writer.may_write:
        raise NotAllowed(
            f"{writer.login} has no write permission. Go back and choose somebody who has, beside the Comment button."
        )


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _back(home: Repository, one: Issue, writer: Person, anchor: str = "") -> RedirectResponse:
    response = RedirectResponse(home.place_of(one) + anchor, status_code=303)
    response.set_cookie(CHOSEN_PERSON, writer.login, samesite="strict", httponly=True)
    return response
