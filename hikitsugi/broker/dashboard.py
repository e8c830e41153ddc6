"""The dashboard: every issue at a glance, each with its plan, its cost and three buttons."""

import hmac
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from hashlib import sha256
from importlib.resources import files
from typing import Annotated, Protocol

from fastapi import APIRouter, Form, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader

from hikitsugi.domain.address import IssueAddress
from hikitsugi.domain.policy import Language
from hikitsugi.domain.status import Status
from hikitsugi.domain.value import Value
from hikitsugi.messages import dashboard as texts

OPERATOR = "operator"
_PAGES = Environment(loader=PackageLoader("hikitsugi.broker"), autoescape=True)
_STYLE = (files("hikitsugi.broker") / "static" / "style.css").read_text(encoding="utf-8")
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
}
_ELSEWHERE = {"issue", "state", "plan", "waiting_for", "error"}
"""What a page does not tell among the facts, but in a place of its own."""


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

    async def status(self, issue: IssueAddress) -> Status | None:
        """How one stands; None when it has no workflow."""
        ...

    async def order(self, issue: IssueAddress, order: str) -> None:
        """Give an order to one."""
        ...


def dashboard(overview: Overview, secret: Callable[[], Awaitable[bytes]], language: Language) -> APIRouter:
    """The pages; what they send is taken only from themselves."""
    routes = APIRouter(include_in_schema=False)

    def page(name: str, **shown: object) -> HTMLResponse:
        made = _PAGES.get_template(name).render(texts=texts, language=language, **shown)
        return HTMLResponse(made, headers=_HEADERS)

    @routes.get("/style.css")
    async def style() -> Response:
        """How the pages look."""
        return Response(_STYLE, media_type="text/css", headers=_HEADERS)

    @routes.get("/")
    async def list_issues(state: Annotated[str, Query(max_length=50)] = "") -> Response:
        """Show every issue, or those in one state."""
        lines = await overview.lines()
        return page("issues.html", lines=lines, counts=Counter(line.state for line in lines), state=state)

    @routes.get("/issue")
    async def show_issue(request: Request, id_: Annotated[str, Query(alias="id", max_length=500)]) -> Response:
        """Show one issue with its plan."""
        status = await overview.status(_address(id_))
        if status is None:
            raise HTTPException(404, "there is no workflow of this issue")
        facts = {name: _said(fact) for name, fact in status.model_dump(exclude=_ELSEWHERE).items() if fact}
        mark = _mark(await secret(), id_)
        return page("issue.html", status=status, facts=facts, mark=mark, may_order=_may_order(request))

    @routes.post("/issue")
    async def order_issue(
        request: Request,
        id_: Annotated[str, Form(alias="id", max_length=500)],
        mark: Annotated[str, Form(max_length=100)],
        order: Annotated[texts.Order, Form()],
    ) -> Response:
        """Pause, resume or stop one."""
        if not _may_order(request):
            raise HTTPException(403, "only the token named operator may give orders")
        if not hmac.compare_digest(mark, _mark(await secret(), id_)):
            raise HTTPException(403, "the page is too old; load it again")
        await overview.order(_address(id_), order)
        return RedirectResponse(f"/issue?id={id_}", 303)

    return routes


def _said(fact: object) -> str:
    return f"{fact:%Y-%m-%d %H:%M:%S} UTC" if isinstance(fact, datetime) else str(fact)


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
