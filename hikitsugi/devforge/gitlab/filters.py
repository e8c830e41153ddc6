"""Which issues and merge requests of a list were asked for, and in which order."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Annotated, Literal

from fastapi import Depends
from pydantic import BaseModel

from hikitsugi.devforge.gitlab.asking import Names, Numbers, Sort, in_utc, wish
from hikitsugi.devforge.gitlab.issue_shape import state
from hikitsugi.devforge.records import Issue, Person


class Filter(BaseModel):
    """The parameters that narrow a list."""

    state: Literal["opened", "closed", "locked", "merged", "all"] = "all"
    scope: str | None = None
    labels: Names = []
    iids: Numbers = []
    author_id: int | None = None
    author_username: str | None = None
    assignee_id: int | Literal["None", "Any"] | None = None
    assignee_username: Names = []
    source_branch: str | None = None
    target_branch: str | None = None
    search: str = ""
    created_after: datetime | None = None
    created_before: datetime | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    order_by: Literal["created_at", "updated_at", "title"] = "created_at"
    sort: Sort = "desc"
    with_labels_details: bool = False

    def choose(self, items: Iterable[Issue], caller: Person, default_scope: str) -> list[Issue]:
        """The items that fit, in order."""
        tests: list[Callable[[Issue], bool]] = [
            lambda one: self.state in {"all", state(one)},
            lambda one: not self.iids or one.number in self.iids,
            lambda one: self.search.lower() in f"{one.title}\n{one.body}".lower(),
            self._has_labels,
            self._is_by,
            self._is_in_time,
            self._is_from,
            lambda one: _in_scope(one, caller, self.scope or default_scope),
        ]
        chosen = [one for one in items if all(test(one) for test in tests)]
        return sorted(chosen, key=self._key, reverse=self.sort == "desc")

    def _key(self, one: Issue) -> tuple[datetime | str, int]:
        return {"created_at": one.created_at, "updated_at": one.updated_at, "title": one.title}[self.order_by], one.id

    def _has_labels(self, one: Issue) -> bool:
        wanted = {name.lower() for name in self.labels}
        if wanted in ({"none"}, {"any"}):
            return bool(one.labels) is ("any" in wanted)
        return wanted <= {name.lower() for name in one.labels}

    def _is_by(self, one: Issue) -> bool:
        logins = {somebody.login for somebody in one.assignees}
        return (
            self.author_id in {None, one.author.id}
            and self.author_username in {None, one.author.login}
            and self._is_assigned(one)
            and set(self.assignee_username) <= logins
        )

    def _is_assigned(self, one: Issue) -> bool:
        if self.assignee_id in {"None", "Any"}:
            return bool(one.assignees) is (self.assignee_id == "Any")
        return self.assignee_id is None or self.assignee_id in {somebody.id for somebody in one.assignees}

    def _is_in_time(self, one: Issue) -> bool:
        return (
            (self.created_after is None or one.created_at >= in_utc(self.created_after))
            and (self.created_before is None or one.created_at <= in_utc(self.created_before))
            and (self.updated_after is None or one.updated_at >= in_utc(self.updated_after))
            and (self.updated_before is None or one.updated_at <= in_utc(self.updated_before))
        )

    def _is_from(self, one: Issue) -> bool:
        head, base = (one.pull.head, one.pull.base) if one.pull else (None, None)
        return self.source_branch in {None, head} and self.target_branch in {None, base}


def _in_scope(one: Issue, caller: Person, scope: str) -> bool:
    if scope in {"created_by_me", "created-by-me"}:
        return one.author == caller
    return caller in one.assignees if scope in {"assigned_to_me", "assigned-to-me"} else True


Filtered = Annotated[Filter, Depends(wish(Filter))]
