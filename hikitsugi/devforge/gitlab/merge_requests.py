"""Routes for merge requests."""

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from hikitsugi.devforge.gitlab import issue_shape as shape
from hikitsugi.devforge.gitlab.asking import Caller, Forge, Home, Names, Numbers, Paged, Site, Writer, wish
from hikitsugi.devforge.gitlab.filters import Filtered
from hikitsugi.devforge.gitlab.issues import Change, people, refuse_strangers
from hikitsugi.devforge.gitlab.route import GitLabRoute
from hikitsugi.devforge.gitlab.shape import Json, person
from hikitsugi.devforge.repository import Repository

routes = APIRouter(route_class=GitLabRoute, prefix="/merge_requests")


class NewRequest(BaseModel):
    """What a merge request is opened with."""

    title: str
    source_branch: str
    target_branch: str
    description: str | None = None
    labels: Names = []
    assignee_ids: Numbers = []


class RequestChange(Change):
    """What a merge request's fields should become."""

    target_branch: str | None = None


class MergeWish(BaseModel):
    """How to merge; only the expected head matters here."""

    sha: str | None = None


@routes.get("")
def list_requests(home: Home, caller: Caller, site: Site, page: Paged, wanted: Filtered) -> list[Json]:
    """The merge requests of a project."""
    chosen = page.cut(wanted.choose(home.pulls, caller, "all"))
    return [shape.merge_request(site, home, *home.pull(one.number)) for one in chosen]


@routes.post("", status_code=201)
def open_request(
    home: Home, writer: Writer, forge: Forge, site: Site, new: Annotated[NewRequest, Depends(wish(NewRequest))]
) -> Json:
    """Open a merge request; a title that begins with `Draft: ` makes it a draft."""
    opened = home.open_pull(
        writer,
        new.title,
        new.description or "",
        new.source_branch,
        new.target_branch,
        labels=new.labels,
        assignees=people(forge, new.assignee_ids),
    )
    return _in_full(site, home, opened.number)


@routes.get("/{iid:int}")
def read_request(iid: int, home: Home, site: Site) -> Json:
    """One merge request with its head as it stands now."""
    return _in_full(site, home, iid)


@routes.put("/{iid:int}")
def change_request(
    iid: int,
    home: Home,
    caller: Caller,
    forge: Forge,
    site: Site,
    change: Annotated[RequestChange, Depends(wish(RequestChange))],
) -> Json:
    """Change a merge request; its author and those who may write can."""
    with home.journal.lock:
        one, _ = home.pull(iid)
        refuse_strangers(caller, one, change)
        home.edit_pull(iid, caller, change.as_edit(forge, one), change.target_branch)
        return _in_full(site, home, iid)


@routes.put("/{iid:int}/merge")
def merge(
    iid: int, home: Home, writer: Writer, site: Site, wanted: Annotated[MergeWish, Depends(wish(MergeWish))]
) -> Json:
    """Merge a merge request and close what it promised to close."""
    home.merge(iid, writer, wanted.sha)
    return _in_full(site, home, iid)


@routes.post("/{iid:int}/approve", status_code=201)
def approve(iid: int, home: Home, writer: Writer, site: Site) -> Json:
    """Approve a merge request."""
    home.approve(iid, writer)
    return _approvals(site, home, iid)


@routes.post("/{iid:int}/unapprove", status_code=201)
def unapprove(iid: int, home: Home, writer: Writer, site: Site) -> Json:
    """Take one's approval back."""
    home.approve(iid, writer, approves=False)
    return _approvals(site, home, iid)


@routes.get("/{iid:int}/approvals")
def approvals(iid: int, home: Home, site: Site) -> Json:
    """Who has approved."""
    return _approvals(site, home, iid)


def _approvals(site: str, home: Repository, iid: int) -> Json:
    one, pull = home.pull(iid)
    by = [{"user": person(site, somebody)} for somebody in pull.approved_by]
    told = {"id": one.id, "iid": one.number, "project_id": home.id, "title": one.title, "state": shape.state(one)}
    return told | {"approved": bool(by), "user_has_approved": False, "user_can_approve": True, "approved_by": by}


def _in_full(site: str, home: Repository, iid: int) -> Json:
    return shape.merge_request_in_full(site, home, *home.pull(iid))
