"""Routes for pull requests."""

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel

from hikitsugi.devforge.github import issue_shape as shape
from hikitsugi.devforge.github.asking import At, Caller, Direction, Home, Paged, Sort, State, Writer, in_order
from hikitsugi.devforge.github.people_shape import Json
from hikitsugi.devforge.github.route import GitHubRoute
from hikitsugi.devforge.records import Edit, Issue
from hikitsugi.devforge.refusals import Invalid, NotAllowed, NotThere
from hikitsugi.devforge.repository import Repository

routes = APIRouter(route_class=GitHubRoute)


class NewPull(BaseModel):
    """What a pull request is opened with."""

    title: str
    head: str
    base: str
    body: str | None = None
    draft: bool = False


class PullChange(BaseModel):
    """What a pull request's fields should become."""

    title: str | None = None
    body: str | None = None
    state: Literal["open", "closed"] | None = None
    base: str | None = None


class MergeWish(BaseModel):
    """How to merge; only the expected head matters here."""

    sha: str | None = None


@routes.get("/pulls")
def list_pulls(
    home: Home,
    caller: Caller,
    links: At,
    page: Paged,
    state: State = "open",
    head: str = "",
    base: str = "",
    sort: Sort = "created",
    direction: Direction = "desc",
) -> list[Json]:
    """Pull requests; `head` is `owner:branch`, and a head without an owner filters nothing."""
    chosen = [
        one
        for one in home.pulls
        if state in {"all", "open" if one.is_open else "closed"} and _fits(home, one, head, base)
    ]
    chosen = page.cut(in_order(chosen, sort, direction))
    return [shape.pull_in_list(links, home, *home.pull(one.number), caller) for one in chosen]


@routes.post("/pulls", status_code=201)
def open_pull(home: Home, writer: Writer, links: At, new: NewPull) -> Json:
    """Open a pull request."""
    owner, _, branch = new.head.rpartition(":")
    if owner and owner.lower() != home.owner.lower():
        raise Invalid("PullRequest", "head", "invalid")
    opened = home.open_pull(writer, new.title, new.body or "", branch, new.base, is_draft=new.draft)
    return shape.pull_request(links, home, *home.pull(opened.number), writer)


@routes.get("/pulls/{number}")
def read_pull(number: int, home: Home, caller: Caller, links: At) -> Json:
    """One pull request with its head as it stands now."""
    return shape.pull_request(links, home, *home.pull(number), caller)


@routes.patch("/pulls/{number}")
def change_pull(number: int, home: Home, caller: Caller, links: At, change: PullChange) -> Json:
    """Change a pull request; its author and those who may write can."""
    if not caller.may_write and home.pull(number)[0].author != caller:
        raise NotAllowed(caller.login)
    is_open = None if change.state is None else change.state == "open"
    home.edit_pull(number, caller, Edit(title=change.title, body=change.body, is_open=is_open), change.base)
    return shape.pull_request(links, home, *home.pull(number), caller)


@routes.get("/pulls/{number}/merge", status_code=204)
def is_merged(number: int, home: Home) -> Response:
    """Whether it was merged."""
    if not home.pull(number)[1].merge:
        raise NotThere(f"merge of pull request {number}")
    return Response(status_code=204)


@routes.put("/pulls/{number}/merge")
def merge(number: int, home: Home, writer: Writer, wish: MergeWish | None = None) -> Json:
    """Merge a pull request and close what it promised to close."""
    commit = home.merge(number, writer, wish.sha if wish else None)
    return {"sha": commit, "merged": True, "message": "Pull Request successfully merged"}


def _fits(home: Repository, one: Issue, head: str, base: str) -> bool:
    if not one.pull:
        return False
    owner, _, branch = head.partition(":")
    ours = (home.owner.lower(), one.pull.head)
    is_head = not branch or (not one.pull.is_from_fork and (owner.lower(), branch) == ours)
    return is_head and base in {"", one.pull.base}
