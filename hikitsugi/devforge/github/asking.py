"""What the routes want to know of a request: who asks, about which repository, and which page of a list."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Query, Request, Response

from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.github.links import Links
from hikitsugi.devforge.records import Issue, Permission, Person
from hikitsugi.devforge.refusals import NotAllowed, NotThere
from hikitsugi.devforge.repository import Repository

LONGEST_PAGE = 100
_REPOSITORY = re.compile(r"^(/api/v3)?/(repos/[^/]+/[^/]+|repositories/\d+)")
T = TypeVar("T")
Sort = Literal["created", "updated"]
Direction = Literal["asc", "desc"]
State = Literal["open", "closed", "all"]


async def _forge(request: Request) -> DevForge:
    return request.app.state.forge


async def _caller(request: Request) -> Person:
    caller: Person = request.state.caller
    home = _named_home(request)
    return home.member(caller) if home else caller


async def writer(request: Request) -> Person:
    """The caller, who must be allowed to write."""
    caller = await _caller(request)
    if not caller.may_write:
        raise NotAllowed(caller.login)
    return caller


async def _links(request: Request) -> Links:
    return Links.of(request)


async def home(request: Request) -> Repository:
    """The repository the address names, if the caller may know of it."""
    found = _named_home(request)
    if not found or found.member(request.state.caller).permission is Permission.NONE:
        raise NotThere(request.url.path)
    return found


def _named_home(request: Request) -> Repository | None:
    forge: DevForge = request.app.state.forge
    told = request.path_params
    if "repository_id" in told:
        return forge.repository_with(int(told["repository_id"]))
    return forge.repository(f"{told['owner']}/{told['repository']}") if "owner" in told else None


Forge = Annotated[DevForge, Depends(_forge)]
Caller = Annotated[Person, Depends(_caller)]
Writer = Annotated[Person, Depends(writer)]
At = Annotated[Links, Depends(_links)]
Home = Annotated[Repository, Depends(home)]


@dataclass(frozen=True)
class Page:
    """The part of a list that was asked for."""

    request: Request
    response: Response
    home: Repository
    number: int
    size: int

    def cut(self, items: Sequence[T]) -> list[T]:
        """This page's items; the answer's `Link` header names the other pages."""
        last = max(1, -(-len(items) // self.size))
        others = {"prev": self.number - 1, "next": self.number + 1, "last": last, "first": 1}
        if self.number == 1:
            others = {rel: page for rel, page in others.items() if rel not in {"prev", "first"}}
        if self.number >= last:
            others = {rel: page for rel, page in others.items() if rel not in {"next", "last"}}
        if others:
            links = (f'<{self._address(page)}>; rel="{rel}"' for rel, page in others.items())
            self.response.headers["link"] = ", ".join(links)
        start = (self.number - 1) * self.size
        return list(items[start : start + self.size])

    def _address(self, page: int) -> str:
        below = _REPOSITORY.sub("", self.request.url.path, count=1)
        query = [(key, value) for key, value in self.request.query_params.multi_items() if key != "page"]
        links = Links.of(self.request)
        return f"{links.api}/repositories/{self.home.id}{below}?{urlencode([*query, ('page', page)])}"


async def _page(
    request: Request,
    response: Response,
    home: Home,
    page: Annotated[int, Query()] = 1,
    per_page: Annotated[int, Query()] = 30,
) -> Page:
    return Page(request, response, home, max(1, page), min(LONGEST_PAGE, max(1, per_page)))


Paged = Annotated[Page, Depends(_page)]


def in_order(issues: Iterable[Issue], sort: Sort, direction: Direction) -> list[Issue]:
    """Issues by the time they came or last changed."""
    if sort == "created":
        return sorted(issues, key=lambda issue: issue.number, reverse=direction == "desc")
    return sorted(issues, key=lambda issue: (issue.updated_at, issue.number), reverse=direction == "desc")


def in_utc(moment: datetime) -> datetime:
    """A moment from a query, which means UTC when it names no zone."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def whole_second(moment: datetime) -> datetime:
    """A moment as precise as GitHub's answers are."""
    return moment.replace(microsecond=0)
