"""Routes for projects, their labels, and what git holds of them."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, Field

from hikitsugi.devforge.bare_git import Entry
from hikitsugi.devforge.gitlab import project_shape as shape
from hikitsugi.devforge.gitlab.asking import Caller, Forge, Home, Paged, Site, Unquoted, wish, writer
from hikitsugi.devforge.gitlab.errors import Missing
from hikitsugi.devforge.gitlab.route import GitLabRoute
from hikitsugi.devforge.gitlab.shape import Json, project_label
from hikitsugi.devforge.records import Permission
from hikitsugi.devforge.refusals import Invalid, NotThere
from hikitsugi.devforge.repository import Repository

BRANCHES = "refs/heads/"
list_routes = APIRouter(route_class=GitLabRoute)
routes = APIRouter(route_class=GitLabRoute)


class NewBranch(BaseModel):
    """A branch to make and where it begins."""

    branch: str
    ref: str


class Ends(BaseModel):
    """Two branches or commits to compare."""

    base: str = Field(alias="from")
    to: str


class NewLabel(BaseModel):
    """What a label is made with."""

    name: str
    color: str
    description: str | None = None


@list_routes.get("/projects")
def list_projects(forge: Forge, caller: Caller, site: Site, page: Paged, search: str = "") -> list[Json]:
    """The projects the caller may know of."""
    seen = [
        home
        for home in forge.repositories
        if home.member(caller).permission is not Permission.NONE and search.lower() in home.full_name.lower()
    ]
    return [shape.project(site, home, home.member(caller)) for home in page.cut(seen)]


@routes.get("")
def read_project(home: Home, caller: Caller, site: Site) -> Json:
    """The project."""
    return shape.project(site, home, caller)


@routes.get("/labels")
def list_labels(home: Home, page: Paged, search: str = "") -> list[Json]:
    """All labels of the project."""
    found = [label for label in home.labels.all if search.lower() in label.name.lower()]
    return [project_label(home, label) for label in page.cut(found)]


@routes.post("/labels", status_code=201, dependencies=[Depends(writer)])
def define_label(home: Home, new: Annotated[NewLabel, Depends(wish(NewLabel))]) -> Json:
    """Make a label."""
    return project_label(home, home.labels.define(new.name, new.color.removeprefix("#"), new.description or ""))


@routes.get("/labels/{name}")
def read_label(name: Unquoted, home: Home) -> Json:
    """One label."""
    return project_label(home, home.labels.named(name))


@routes.get("/repository/branches")
def list_branches(home: Home, site: Site, page: Paged, search: str = "") -> list[Json]:
    """All branches."""
    refs = [(ref.removeprefix(BRANCHES), commit) for ref, commit in home.git.refs(BRANCHES).items() if search in ref]
    return [shape.branch(site, home, name, home.git.commit(commit)) for name, commit in page.cut(refs)]


@routes.post("/repository/branches", status_code=201, dependencies=[Depends(writer)])
def create_branch(home: Home, site: Site, new: Annotated[NewBranch, Depends(wish(NewBranch))]) -> Json:
    """Make a branch from another or from a commit."""
    commit = home.git.commit_of(new.ref)
    if not commit:
        raise Invalid("Reference", "ref", "invalid", new.ref)
    home.git.create_ref(BRANCHES + new.branch, commit)
    return shape.branch(site, home, new.branch, home.git.commit(commit))


@routes.get("/repository/branches/{name}")
def read_branch(name: Unquoted, home: Home, site: Site) -> Json:
    """One branch with its last commit."""
    return shape.branch(site, home, name, home.git.commit(_head(home, name)))


@routes.delete("/repository/branches/{name}", status_code=204, dependencies=[Depends(writer)])
def delete_branch(name: Unquoted, home: Home) -> Response:
    """Remove a branch."""
    home.git.delete_ref(BRANCHES + name, _head(home, name))
    return Response(status_code=204)


@routes.get("/repository/compare")
def compare(home: Home, ends: Annotated[Ends, Query()]) -> Json:
    """The commits of one branch that another does not have."""
    base, head = home.git.commit_of(ends.base), home.git.commit_of(ends.to)
    if not base or not head:
        raise Missing("commit")
    return {"commits": [{"id": commit} for commit in home.git.commits_between(base, head)]}


@routes.get("/repository/files/{path}")
def read_file(path: Unquoted, home: Home, ref: str = "HEAD") -> Json:
    """A file with its bytes."""
    ref = home.default_branch if ref == "HEAD" else ref
    commit, entry = _file(home, path, ref)
    return shape.file(entry, ref, commit, home.git.content(entry.hash))


@routes.get("/repository/files/{path}/raw")
def read_raw_file(path: Unquoted, home: Home, ref: str = "HEAD") -> Response:
    """A file's bytes alone."""
    _, entry = _file(home, path, home.default_branch if ref == "HEAD" else ref)
    return Response(home.git.content(entry.hash), media_type="text/plain")


def _head(home: Repository, name: str) -> str:
    commit = home.git.refs(BRANCHES + name).get(BRANCHES + name)
    if not commit:
        raise Missing("branch")
    return commit


def _file(home: Repository, path: str, ref: str) -> tuple[str, Entry]:
    commit = home.git.commit_of(ref)
    if not commit:
        raise Missing("commit")
    try:
        entry = home.git.entry(commit, path)
    except NotThere:
        raise Missing("file") from None
    if entry.kind != "blob":
        raise Missing("file")
    return commit, entry
