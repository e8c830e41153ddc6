"""Routes for a repository itself, its labels, and what git holds of it."""

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from hikitsugi.devforge.github import repository_shape as shape
from hikitsugi.devforge.github.asking import At, Caller, Home, Paged, writer
from hikitsugi.devforge.github.people_shape import Json
from hikitsugi.devforge.github.route import GitHubRoute
from hikitsugi.devforge.refusals import NotThere

BRANCHES = "refs/heads/"
routes = APIRouter(route_class=GitHubRoute)


class NewLabel(BaseModel):
    """What a label is made with."""

    name: str
    color: str | None = None
    description: str | None = None


class NewReference(BaseModel):
    """A ref to make and the commit it points at."""

    ref: str
    sha: str


@routes.get("")
def read_repository(home: Home, caller: Caller, links: At) -> Json:
    """The repository."""
    return shape.repository(links, home, caller)


@routes.get("/labels")
def list_labels(home: Home, links: At, page: Paged) -> list[Json]:
    """All labels of the repository."""
    return page.cut([shape.label(links, home, label) for label in home.labels.all])


@routes.post("/labels", status_code=201, dependencies=[Depends(writer)])
def define_label(home: Home, links: At, new: NewLabel) -> Json:
    """Make a label."""
    return shape.label(links, home, home.labels.define(new.name, new.color, new.description or ""))


@routes.get("/labels/{name:path}")
def read_label(name: str, home: Home, links: At) -> Json:
    """One label."""
    return shape.label(links, home, home.labels.named(name))


@routes.get("/git/ref/{ref:path}")
def read_reference(ref: str, home: Home, links: At) -> Json:
    """One git reference, named without `refs/`."""
    name = f"refs/{ref}"
    commit = home.git.refs(name).get(name)
    if not commit:
        raise NotThere(name)
    return shape.reference(links, home, name, commit)


@routes.post("/git/refs", status_code=201, dependencies=[Depends(writer)])
def create_reference(home: Home, links: At, new: NewReference) -> Json:
    """Make a git reference."""
    home.git.create_ref(new.ref, new.sha)
    return shape.reference(links, home, new.ref, new.sha)


@routes.get("/branches")
def list_branches(home: Home, links: At, page: Paged) -> list[Json]:
    """All branches."""
    refs = home.git.refs(BRANCHES).items()
    return page.cut([shape.short_branch(links, home, ref.removeprefix(BRANCHES), commit) for ref, commit in refs])


@routes.get("/branches/{name:path}")
def read_branch(name: str, home: Home, links: At) -> Json:
    """One branch with its last commit."""
    ref = BRANCHES + name
    commit = home.git.refs(ref).get(ref)
    if not commit:
        raise NotThere(ref)
    return shape.branch(links, home, name, home.git.commit(commit))


@routes.get("/compare/{ends:path}")
def compare(ends: str, home: Home) -> Json:
    """How far one branch is ahead of another, and behind it."""
    names = ends.split("...")
    base, head = (home.git.commit_of(name) for name in names) if len(names) == 2 else (None, None)  # noqa: PLR2004 - both ends
    if not base or not head:
        raise NotThere(ends)
    ahead, behind = home.git.difference(base, head).commits, home.git.difference(head, base).commits
    status = "diverged" if ahead and behind else "ahead" if ahead else "behind" if behind else "identical"
    return {"status": status, "ahead_by": ahead, "behind_by": behind, "total_commits": ahead}


@routes.get("/contents/{path:path}")
def read_content(path: str, home: Home, links: At, ref: str = "") -> Json | list[Json]:
    """A file with its bytes, or the entries of a folder."""
    ref = ref or home.default_branch
    commit = home.git.commit_of(ref)
    if not commit:
        raise NotThere(ref)
    entry = home.git.entry(commit, path.strip("/"))
    if entry.kind == "tree":
        return [shape.content(links, home, ref, one) for one in home.git.listing(commit, entry.path)]
    return shape.content(links, home, ref, entry, home.git.content(entry.hash))
