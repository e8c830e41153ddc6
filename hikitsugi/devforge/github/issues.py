"""Routes for issues and their labels and assignees."""

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Body
from pydantic import BaseModel

from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.github import issue_shape as shape
from hikitsugi.devforge.github.asking import (
    At,
    Caller,
    Direction,
    Forge,
    Home,
    Paged,
    Sort,
    State,
    Writer,
    in_order,
    in_utc,
    whole_second,
)
from hikitsugi.devforge.github.people_shape import Json
from hikitsugi.devforge.github.repository_shape import labels as label_shapes
from hikitsugi.devforge.github.route import GitHubRoute
from hikitsugi.devforge.records import Edit, Issue, Person
from hikitsugi.devforge.refusals import NotAllowed, NotThere

routes = APIRouter(route_class=GitHubRoute)


class Named(BaseModel):
    """A label given as an object."""

    name: str


class Labels(BaseModel):
    """Labels given as the description has it; clients also send the bare array."""

    labels: list[str | Named]


class NewIssue(BaseModel):
    """What an issue is opened with."""

    title: str
    body: str | None = None
    labels: list[str | Named] = []
    assignees: list[str] = []


class IssueChange(BaseModel):
    """What an issue's fields should become."""

    title: str | None = None
    body: str | None = None
    state: Literal["open", "closed"] | None = None
    state_reason: Literal["completed", "not_planned", "duplicate", "reopened"] | None = None
    labels: list[str | Named] | None = None
    assignees: list[str] | None = None


class Assignees(BaseModel):
    """Whom to assign or unassign."""

    assignees: list[str] = []


LabelsInBody = Annotated[list[str | Named] | Labels, Body()]


@routes.get("/issues")
def list_issues(
    home: Home,
    links: At,
    page: Paged,
    state: State = "open",
    labels: str = "",
    creator: str = "",
    assignee: str = "",
    since: datetime | None = None,
    sort: Sort = "created",
    direction: Direction = "desc",
) -> list[Json]:
    """Issues and pull requests; `since` includes its own second."""
    needed = {name.strip().lower() for name in labels.split(",") if name.strip()}
    chosen = [
        issue
        for issue in home.tracker.issues
        if state in {"all", "open" if issue.is_open else "closed"}
        and needed <= {name.lower() for name in issue.labels}
        and (not creator or issue.author.login.lower() == creator.lower())
        and _is_assigned(issue, assignee)
        and (since is None or whole_second(issue.updated_at) >= in_utc(since))
    ]
    return [shape.issue(links, home, issue) for issue in page.cut(in_order(chosen, sort, direction))]


@routes.post("/issues", status_code=201)
def open_issue(home: Home, caller: Caller, forge: Forge, links: At, new: NewIssue) -> Json:
    """Open an issue; labels and assignees of people who may not write are dropped, as GitHub does."""
    labels = _names(new.labels) if caller.may_write else ()
    assignees = _people(forge, new.assignees) if caller.may_write else ()
    return shape.issue(links, home, home.tracker.open_issue(caller, new.title, new.body or "", labels, assignees))


@routes.get("/issues/{number}")
def read_issue(number: int, home: Home, links: At) -> Json:
    """One issue or pull request."""
    return shape.issue(links, home, home.tracker.issue(number))


@routes.patch("/issues/{number}")
def change_issue(number: int, home: Home, caller: Caller, forge: Forge, links: At, change: IssueChange) -> Json:
    """Change an issue; its author may change all but labels and assignees."""
    needs_write = change.labels is not None or change.assignees is not None
    if not caller.may_write and (needs_write or home.tracker.issue(number).author != caller):
        raise NotAllowed(caller.login)
    edit = Edit(
        title=change.title,
        body=change.body,
        is_open=None if change.state is None else change.state == "open",
        reason=change.state_reason,
        labels=None if change.labels is None else _names(change.labels),
        assignees=None if change.assignees is None else _people(forge, change.assignees),
    )
    edited = home.edit_pull if home.tracker.issue(number).pull else home.tracker.edit
    return shape.issue(links, home, edited(number, caller, edit))


@routes.get("/issues/{number}/labels")
def labels_of_issue(number: int, home: Home, links: At, page: Paged) -> list[Json]:
    """The labels an issue carries."""
    return page.cut(label_shapes(links, home, home.tracker.issue(number).labels))


@routes.post("/issues/{number}/labels")
def add_labels(number: int, home: Home, writer: Writer, links: At, body: LabelsInBody) -> list[Json]:
    """Put labels on an issue; unknown ones come into being."""
    issue = home.tracker.add_labels(number, writer, _names(_bare(body)))
    return label_shapes(links, home, issue.labels)


@routes.put("/issues/{number}/labels")
def set_labels(number: int, home: Home, writer: Writer, links: At, body: LabelsInBody) -> list[Json]:
    """Replace the labels of an issue."""
    issue = home.tracker.edit(number, writer, Edit(labels=_names(_bare(body))))
    return label_shapes(links, home, issue.labels)


@routes.delete("/issues/{number}/labels/{name:path}")
def remove_label(number: int, name: str, home: Home, writer: Writer, links: At) -> list[Json]:
    """Take a label off an issue; the labels it still has."""
    issue = home.tracker.remove_label(number, writer, name)
    return label_shapes(links, home, issue.labels)


@routes.post("/issues/{number}/assignees", status_code=201)
def assign(number: int, home: Home, writer: Writer, forge: Forge, links: At, body: Assignees) -> Json:
    """Assign people beside those who are."""
    with home.tracker.lock:
        assignees = (*home.tracker.issue(number).assignees, *_people(forge, body.assignees))
        return shape.issue(links, home, home.tracker.edit(number, writer, Edit(assignees=assignees)))


@routes.delete("/issues/{number}/assignees")
def unassign(number: int, home: Home, writer: Writer, forge: Forge, links: At, body: Assignees) -> Json:
    """Take people off an issue."""
    gone = _people(forge, body.assignees)
    with home.tracker.lock:
        left = tuple(somebody for somebody in home.tracker.issue(number).assignees if somebody not in gone)
        return shape.issue(links, home, home.tracker.edit(number, writer, Edit(assignees=left)))


def _is_assigned(issue: Issue, assignee: str) -> bool:
    logins = {somebody.login.lower() for somebody in issue.assignees}
    return {"": True, "*": bool(logins), "none": not logins}.get(assignee, assignee.lower() in logins)


def _bare(body: list[str | Named] | Labels) -> list[str | Named]:
    return body.labels if isinstance(body, Labels) else body


def _names(labels: list[str | Named]) -> tuple[str, ...]:
    return tuple(label if isinstance(label, str) else label.name for label in labels)


def _people(forge: DevForge, logins: list[str]) -> tuple[Person, ...]:
    found: list[Person] = []
    for login in logins:
        try:
            found.append(forge.person(login))
        except NotThere:
            continue
    return tuple(found)
