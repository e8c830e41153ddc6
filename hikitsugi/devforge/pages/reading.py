"""Pages to read."""

from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from hikitsugi.devforge.faults import Failing
from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.pages.diff import changed_files
from hikitsugi.devforge.pages.view import show
from hikitsugi.devforge.places import ISSUES
from hikitsugi.devforge.records import Issue
from hikitsugi.devforge.refusals import NotThere
from hikitsugi.devforge.repository import Repository

routes = APIRouter()
roots = APIRouter()
Chosen = Literal["open", "closed", "all"]


@roots.get("/")
def overview(request: Request) -> HTMLResponse:
    """All repositories."""
    forge: DevForge = request.app.state.forge
    return show(
        request, "overview.html", repositories=forge.repositories, faults=forge.faults.waiting, failings=list(Failing)
    )


@roots.get("/{full_name:path}")
def repository(request: Request, full_name: str) -> RedirectResponse:
    """A repository's page is its list of issues."""
    home = _home(request, full_name)
    return RedirectResponse(f"/{home.full_name}{home.kind.pages_below}/issues", status_code=303)


@routes.get("/issues")
def issues(request: Request, full_name: str, state: Chosen = "open") -> HTMLResponse:
    """The issues and pull requests of a repository."""
    return show(request, "issues.html", **_list_facts(request, full_name, state))


@routes.get("/issues/fragment")
def issues_fragment(request: Request, full_name: str, state: Chosen = "open") -> HTMLResponse:
    """The living part of the list."""
    return show(request, "issue_rows.html", **_list_facts(request, full_name, state))


@routes.get("/{place:place}/{number:int}.diff")
def diff(request: Request, full_name: str, place: str, number: int) -> PlainTextResponse:
    """A pull request's changes as a patch."""
    home = _home(request, full_name)
    _, pull = home.pull(issue_at(home, place, number).number)
    return PlainTextResponse(home.git.diff(pull.base_commit, pull.head_commit))


@routes.get("/{place:place}/{number:int}")
def issue(request: Request, full_name: str, place: str, number: int) -> Response:
    """One issue or pull request, each at its own address."""
    home = _home(request, full_name)
    one = issue_at(home, place, number)
    if request.url.path.lower() != home.place_of(one).lower():
        return RedirectResponse(home.place_of(one), status_code=303)
    return show(request, "issue.html", **_issue_facts(home, one))


@routes.get("/{place:place}/{number:int}/fragment")
def issue_fragment(request: Request, full_name: str, place: str, number: int) -> HTMLResponse:
    """The living part of an issue's page."""
    home = _home(request, full_name)
    return show(request, "conversation.html", **_issue_facts(home, issue_at(home, place, number)))


def issue_at(home: Repository, place: str, number: int) -> Issue:
    """The issue or pull request that an address of a page names."""
    if place not in {ISSUES, home.kind.pulls_place}:
        raise NotThere(place)
    return (home.tracker if place == ISSUES else home.pull_tracker).issue(number)


def _list_facts(request: Request, full_name: str, state: Chosen) -> dict[str, Any]:
    home = _home(request, full_name)
    every = home.tracker.issues
    if not home.kind.numbers_are_shared:
        every = sorted([*every, *home.pulls], key=lambda one: one.id)
    chosen = [one for one in reversed(every) if state in {"all", "open" if one.is_open else "closed"}]
    is_open = sum(one.is_open for one in every)
    counts = {"open": is_open, "closed": len(every) - is_open, "all": len(every)}
    return {"home": home, "issues": chosen, "state": state, "counts": counts}


def _issue_facts(home: Repository, one: Issue) -> dict[str, Any]:
    facts: dict[str, Any] = {"home": home, "issue": one, "comments": home.tracker_of(one).notes(one.number)}
    if not one.pull:
        return facts | {"related": home.pulls_naming(one.number), "pull": None, "files": []}
    _, pull = home.pull(one.number)
    files = changed_files(home.git.diff(pull.base_commit, pull.head_commit))
    return facts | {"related": home.issues_named_in(one), "pull": pull, "files": files}


def _home(request: Request, full_name: str) -> Repository:
    forge: DevForge = request.app.state.forge
    return forge.repository(full_name)
