"""Pages to read."""

from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.pages.diff import changed_files
from hikitsugi.devforge.pages.view import show
from hikitsugi.devforge.records import Issue
from hikitsugi.devforge.repository import Repository

routes = APIRouter()
Chosen = Literal["open", "closed", "all"]


@routes.get("/")
def overview(request: Request) -> HTMLResponse:
    """All repositories."""
    forge: DevForge = request.app.state.forge
    return show(request, "overview.html", repositories=forge.repositories)


@routes.get("/{owner}/{name}")
def repository(request: Request, owner: str, name: str) -> RedirectResponse:
    """A repository's page is its list of issues."""
    return RedirectResponse(f"/{_home(request, owner, name).full_name}/issues", status_code=303)


@routes.get("/{owner}/{name}/issues")
def issues(request: Request, owner: str, name: str, state: Chosen = "open") -> HTMLResponse:
    """The issues and pull requests of a repository."""
    return show(request, "issues.html", **_list_facts(request, owner, name, state))


@routes.get("/{owner}/{name}/issues/fragment")
def issues_fragment(request: Request, owner: str, name: str, state: Chosen = "open") -> HTMLResponse:
    """The living part of the list."""
    return show(request, "issue_rows.html", **_list_facts(request, owner, name, state))


@routes.get("/{owner}/{name}/pull/{number:int}.diff")
def diff(request: Request, owner: str, name: str, number: int) -> PlainTextResponse:
    """A pull request's changes as a patch."""
    home = _home(request, owner, name)
    _, pull = home.pull(number)
    return PlainTextResponse(home.git.diff(pull.base_commit, pull.head_commit))


@routes.get("/{owner}/{name}/issues/{number:int}")
@routes.get("/{owner}/{name}/pull/{number:int}")
def issue(request: Request, owner: str, name: str, number: int) -> Response:
    """One issue or pull request, each at its own address."""
    home = _home(request, owner, name)
    one = home.tracker.issue(number)
    address = f"/{owner}/{name}/{'pull' if one.pull else 'issues'}/{number}"
    if request.url.path != address:
        return RedirectResponse(address, status_code=303)
    return show(request, "issue.html", **_issue_facts(home, one))


@routes.get("/{owner}/{name}/issues/{number:int}/fragment")
def issue_fragment(request: Request, owner: str, name: str, number: int) -> HTMLResponse:
    """The living part of an issue's page."""
    home = _home(request, owner, name)
    return show(request, "conversation.html", **_issue_facts(home, home.tracker.issue(number)))


def _list_facts(request: Request, owner: str, name: str, state: Chosen) -> dict[str, Any]:
    home = _home(request, owner, name)
    every = home.tracker.issues
    chosen = [one for one in reversed(every) if state in {"all", "open" if one.is_open else "closed"}]
    is_open = sum(one.is_open for one in every)
    counts = {"open": is_open, "closed": len(every) - is_open, "all": len(every)}
    return {"home": home, "issues": chosen, "state": state, "counts": counts}


def _issue_facts(home: Repository, one: Issue) -> dict[str, Any]:
    facts: dict[str, Any] = {"home": home, "issue": one, "comments": home.tracker.thread(one.number)}
    if not one.pull:
        return facts | {"related": home.pulls_naming(one.number), "pull": None, "files": []}
    _, pull = home.pull(one.number)
    files = changed_files(home.git.diff(pull.base_commit, pull.head_commit))
    return facts | {"related": home.issues_named_in(one), "pull": pull, "files": files}


def _home(request: Request, owner: str, name: str) -> Repository:
    forge: DevForge = request.app.state.forge
    return forge.repository(f"{owner}/{name}")
