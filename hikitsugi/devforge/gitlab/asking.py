"""What the routes want to know of a request: who asks, about which project, with which wishes, which page."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import unquote, urlencode

from fastapi import Depends, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import AfterValidator, BaseModel, BeforeValidator

from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.gitlab.errors import Missing
from hikitsugi.devforge.places import ISSUES
from hikitsugi.devforge.records import Issue, Permission, Person
from hikitsugi.devforge.refusals import NotAllowed, NotThere
from hikitsugi.devforge.repository import Repository
from hikitsugi.devforge.tracker import Tracker

LONGEST_PAGE = 100
MOST_COUNTED = 10_000
T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Sort = Literal["asc", "desc"]
Unquoted = Annotated[str, AfterValidator(unquote)]


async def _forge(request: Request) -> DevForge:
    return request.app.state.forge


async def home(request: Request) -> Repository:
    """The project the address names by id or by path, if the caller may know of it."""
    forge: DevForge = request.app.state.forge
    named = unquote(request.path_params["project"])
    try:
        found = forge.repository_with(int(named)) if named.isdigit() else forge.repository(named)
    except NotThere:
        raise Missing("project") from None
    if found.member(request.state.caller).permission is Permission.NONE:
        raise Missing("project")
    return found


async def _caller(request: Request) -> Person:
    caller: Person = request.state.caller
    return (await home(request)).member(caller) if "project" in request.path_params else caller


async def writer(request: Request) -> Person:
    """The caller, who must be allowed to write."""
    caller = await _caller(request)
    if not caller.may_write:
        raise NotAllowed(caller.login)
    return caller


async def _site(request: Request) -> str:
    return str(request.base_url).rstrip("/")


Forge = Annotated[DevForge, Depends(_forge)]
Caller = Annotated[Person, Depends(_caller)]
Writer = Annotated[Person, Depends(writer)]
Home = Annotated[Repository, Depends(home)]
Site = Annotated[str, Depends(_site)]


async def _noteable(request: Request, home: Home) -> Issue:
    return _tracker(request, home).issue(int(request.path_params["iid"]))


async def _noteables(request: Request, home: Home) -> Tracker:
    return _tracker(request, home)


def _tracker(request: Request, home: Repository) -> Tracker:
    return home.tracker if request.path_params["place"] == ISSUES else home.pull_tracker


Noteable = Annotated[Issue, Depends(_noteable)]
Noteables = Annotated[Tracker, Depends(_noteables)]


async def _told(request: Request) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for key, value in request.query_params.multi_items():
        told[key.removesuffix("[]")] = [*told.get(key.removesuffix("[]"), []), value] if key.endswith("[]") else value
    kind = request.headers.get("content-type", "")
    if "json" in kind and await request.body():
        try:
            body = await request.json()
        except ValueError:
            problem = {"type": "json_invalid", "loc": ("body",), "msg": "not JSON"}
            raise RequestValidationError([problem]) from None
        return told | (body if isinstance(body, dict) else {})
    if "form" in kind:
        async with request.form() as form:
            return told | {key: value for key, value in form.multi_items() if isinstance(value, str)}
    return told


def wish(model: type[M]) -> Callable[[Request], Awaitable[M]]:
    """What a request asks for, wherever it stands: GitLab takes query, form and JSON alike."""

    async def read(request: Request) -> M:
        return model.model_validate(await _told(request))

    return read


def _listed(value: Any) -> Any:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_listed)]
Numbers = Annotated[list[int], BeforeValidator(_listed)]


@dataclass(frozen=True)
class Page:
    """The part of a list that was asked for."""

    request: Request
    response: Response
    number: int
    size: int

    def cut(self, items: Sequence[T]) -> list[T]:
        """This page's items; the answer's headers name the other pages."""
        total = len(items)
        last = max(1, -(-total // self.size))
        after = self.number + 1 if self.number < last else None
        before = self.number - 1 if self.number > 1 else None
        told = {"page": self.number, "per-page": self.size, "next-page": after, "prev-page": before}
        # Beyond this GitLab does not count, and leaves the totals and the last page out.
        is_counted = total <= MOST_COUNTED
        if is_counted:
            told |= {"total": total, "total-pages": last}
        self.response.headers.update(
            {f"x-{key}": str(value or ("" if value is None else 0)) for key, value in told.items()}
        )
        others = {"prev": before, "next": after, "first": 1, "last": last if is_counted else None}
        links = (f'<{self._address(page)}>; rel="{rel}"' for rel, page in others.items() if page)
        self.response.headers["link"] = ", ".join(links)
        start = (self.number - 1) * self.size
        return list(items[start : start + self.size])

    def _address(self, page: int) -> str:
        query = [(k, v) for k, v in self.request.query_params.multi_items() if k not in {"page", "per_page"}]
        base = str(self.request.base_url).rstrip("/") + self.request.scope["path"]
        return f"{base}?{urlencode([*query, ('page', page), ('per_page', self.size)])}"


async def _page(
    request: Request,
    response: Response,
    page: Annotated[int, Query()] = 1,
    per_page: Annotated[int, Query()] = 20,
) -> Page:
    return Page(request, response, max(1, page), min(LONGEST_PAGE, max(1, per_page)))


Paged = Annotated[Page, Depends(_page)]


def in_utc(moment: datetime) -> datetime:
    """A moment from a query, which means UTC when it names no zone."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
