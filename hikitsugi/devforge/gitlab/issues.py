"""Routes for issues."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.gitlab import issue_shape as shape
from hikitsugi.devforge.gitlab.asking import Caller, Forge, Home, Names, Numbers, Paged, Site, wish
from hikitsugi.devforge.gitlab.filters import Filtered
from hikitsugi.devforge.gitlab.route import GitLabRoute
from hikitsugi.devforge.gitlab.shape import Json
from hikitsugi.devforge.records import Edit, Issue, Permission, Person
from hikitsugi.devforge.refusals import NotAllowed, NotThere

list_routes = APIRouter(route_class=GitLabRoute)
routes = APIRouter(route_class=GitLabRoute)


class NewIssue(BaseModel):
    """What an issue is opened with."""

    title: str
    description: str | None = None
    labels: Names = []
    assignee_ids: Numbers = []


class Change(BaseModel):
    """What the fields of an issue or merge request should become."""

    title: str | None = None
    description: str | None = None
    labels: Names | None = None
    add_labels: Names | None = None
    remove_labels: Names | None = None
    assignee_ids: Numbers | None = None
    assignee_id: int | None = None
    state_event: Literal["close", "reopen"] | None = None

    @property
    def needs_write(self) -> bool:
        """Whether an author without further permission may not do this."""
        return any(
            wanted is not None
            for wanted in (self.labels, self.add_labels, self.remove_labels, self.assignee_ids, self.assignee_id)
        )

    def as_edit(self, forge: DevForge, one: Issue) -> Edit:
        """The change as the repository takes it."""
        return Edit(
            title=self.title,
            body=self.description,
            is_open=None if self.state_event is None else self.state_event == "reopen",
            labels=self._labels(one),
            assignees=self._assignees(forge),
        )

    def _labels(self, one: Issue) -> tuple[str, ...] | None:
        if self.labels is None and self.add_labels is None and self.remove_labels is None:
            return None
        gone = {name.lower() for name in self.remove_labels or []}
        kept = one.labels if self.labels is None else self.labels
        return tuple(name for name in (*kept, *(self.add_labels or [])) if name.lower() not in gone)

    def _assignees(self, forge: DevForge) -> tuple[Person, ...] | None:
        ids = self.assignee_ids
        if ids is None and self.assignee_id is not None:
            ids = [self.assignee_id]
        return None if ids is None else people(forge, ids)


@list_routes.get("/issues")
def list_all_issues(forge: Forge, caller: Caller, site: Site, page: Paged, wanted: Filtered) -> list[Json]:
    """Issues of all projects; without a scope those the caller wrote."""
    homes = {
        one.id: home
        for home in forge.repositories
        if home.member(caller).permission is not Permission.NONE
        for one in home.tracker.issues
    }
    every = [one for home in forge.repositories for one in home.tracker.issues if one.id in homes]
    chosen = page.cut(wanted.choose(every, caller, "created_by_me"))
    details = wanted.with_labels_details
    return [shape.issue(site, homes[one.id], one, with_label_details=details) for one in chosen]


@routes.get("/issues")
def list_issues(home: Home, caller: Caller, site: Site, page: Paged, wanted: Filtered) -> list[Json]:
    """The issues of a project."""
    chosen = page.cut(wanted.choose(home.tracker.issues, caller, "all"))
    return [shape.issue(site, home, one, with_label_details=wanted.with_labels_details) for one in chosen]


@routes.post("/issues", status_code=201)
def open_issue(
    home: Home, caller: Caller, forge: Forge, site: Site, new: Annotated[NewIssue, Depends(wish(NewIssue))]
) -> Json:
    """Open an issue; labels and assignees of guests are dropped, as GitLab does."""
    labels = new.labels if caller.may_write else ()
    assignees = people(forge, new.assignee_ids) if caller.may_write else ()
    return shape.issue(site, home, home.tracker.open_issue(caller, new.title, new.description or "", labels, assignees))


@routes.get("/issues/{iid:int}")
def read_issue(iid: int, home: Home, site: Site) -> Json:
    """One issue."""
    return shape.issue(site, home, home.tracker.issue(iid))


@routes.put("/issues/{iid:int}")
def change_issue(
    iid: int, home: Home, caller: Caller, forge: Forge, site: Site, change: Annotated[Change, Depends(wish(Change))]
) -> Json:
    """Change an issue; its author may change all but labels and assignees."""
    with home.journal.lock:
        one = home.tracker.issue(iid)
        refuse_strangers(caller, one, change)
        return shape.issue(site, home, home.tracker.edit(iid, caller, change.as_edit(forge, one)))


@routes.get("/issues/{iid:int}/related_merge_requests")
def related(iid: int, home: Home, site: Site, page: Paged) -> list[Json]:
    """The merge requests whose text names an issue."""
    found = page.cut(home.pulls_naming(home.tracker.issue(iid).number))
    return [shape.merge_request(site, home, *home.pull(one.number)) for one in found]


def refuse_strangers(caller: Person, one: Issue, change: Change) -> None:
    """Let those who may write change everything, and authors what is theirs."""
    if not caller.may_write and (change.needs_write or one.author != caller):
        raise NotAllowed(caller.login)


def people(forge: DevForge, ids: list[int]) -> tuple[Person, ...]:
    """The people with these ids; 0 stands for nobody."""
    found: list[Person] = []
    for person_id in ids:
        try:
            found.append(forge.person_numbered(person_id))
        except NotThere:
            continue
    return tuple(found)
