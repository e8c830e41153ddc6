"""The dashboard: every issue at a glance, each with its plan, its cost and three buttons."""

import hmac
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Literal, Protocol

from fastapi import APIRouter, Form, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.status import Status
from hikitsugi.domain.value import Value

OPERATOR = "operator"
_PAGES = Environment(loader=PackageLoader("hikitsugi.broker"), autoescape=True)
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
}


class Line(Value):
    """One issue in the list."""

    issue: str
    title: str
    url: str
    state: str
    agent: str
    cost_usd: float | None
    since: datetime


class Overview(Protocol):
    """All issues with a workflow, and the orders that can be given to them."""

    async def lines(self) -> Sequence[Line]:
        """The issues, newest first."""
        ...

    async def status(self, issue: IssueAddress) -> tuple[Status, str] | None:
        """How one stands, and its plan as Markdown; None when it has no workflow."""
        ...

    async def order(self, issue: IssueAddress, order: str) -> None:
        """Give an order to one."""
        ...


def dashboard(overview: Overview, secret: Callable[[], Awaitable[bytes]]) -> APIRouter:
    """The pages; what they send is taken only from themselves."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/")
    async def list_issues() -> Response:
        """Show every issue."""
        return _page("issues.html", lines=await overview.lines())

    @routes.get("/issue")
    async def show_issue(request: Request, id_: Annotated[str, Query(alias="id", max_length=500)]) -> Response:
        """Show one issue with its plan."""
        found = await overview.status(_address(id_))
        if found is None:
            raise HTTPException(404, "there is no workflow of this issue")
        status, plan = found
        mark = _mark(await secret(), id_)
        facts = status.model_dump(mode="json", exclude={"plan"})
        return _page("issue.html", status=status, facts=facts, plan=plan, mark=mark, may_order=_may_order(request))

    @routes.post("/issue")
    async def order_issue(
        request: Request,
        id_: Annotated[str, Form(alias="id", max_length=500)],
        mark: Annotated[str, Form(max_length=100)],
        order: Annotated[Literal["pause", "resume", "stop"], Form()],
    ) -> Response:
        """Pause, resume or stop one."""
        if not _may_order(request):
            raise HTTPException(403, "only the token named operator may give orders")
        if not hmac.compare_digest(mark, _mark(await secret(), id_)):
            raise HTTPException(403, "the page is too old; load it again")
        await overview.order(_address(id_), order)
        return RedirectResponse(f"/issue?id={id_}", 303)

    return routes


def _page(name: str, **facts: object) -> HTMLResponse:
    return HTMLResponse(_PAGES.get_template(name).render(**facts), headers=_HEADERS)


def _mark(secret: bytes, issue: str) -> str:
    return hmac.new(secret, issue.encode(), sha256).hexdigest()


def _may_order(request: Request) -> bool:
    """Whether somebody may steer: on this machine alone everybody, with tokens the operator."""
    agent = getattr(request.state, "agent", None)
    return agent in (None, OPERATOR)


def _address(text: str) -> IssueAddress:
    try:
        return IssueAddress.parse(text)
    except ValueError:
        raise HTTPException(404, "there is no such issue") from None
