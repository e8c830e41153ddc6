"""Routes about people: who asks, what is left of the quota, and who may do what."""

from fastapi import APIRouter, Request, Response

from hikitsugi.devforge.github import people_shape as shape
from hikitsugi.devforge.github.asking import At, Caller, Forge, Home, Paged
from hikitsugi.devforge.github.people_shape import Json
from hikitsugi.devforge.github.quota import quota_shape
from hikitsugi.devforge.github.route import GitHubRoute
from hikitsugi.devforge.rate import RateMeter
from hikitsugi.devforge.refusals import NotAllowed

account_routes = APIRouter(route_class=GitHubRoute)
repository_routes = APIRouter(route_class=GitHubRoute)


@account_routes.get("/user")
def who_asks(caller: Caller, links: At) -> Json:
    """The caller's own account, which an App acting for itself has none of."""
    if caller.is_app:
        raise NotAllowed("Resource not accessible by integration")
    return shape.own_account(links, caller)


@account_routes.get("/rate_limit")
def quota(caller: Caller, request: Request) -> Json:
    """What is left of the caller's quota."""
    meter: RateMeter = request.app.state.meter
    core = quota_shape(meter.quota(caller))
    return {"resources": {"core": core, "search": core, "graphql": core}, "rate": core}


@repository_routes.get("/collaborators/{login}/permission")
def permission(login: str, home: Home, forge: Forge, links: At) -> Json:
    """What somebody may do in the repository."""
    return shape.permission(links, home.member(forge.person(login)))


@repository_routes.get("/assignees")
def assignees(home: Home, forge: Forge, links: At, page: Paged) -> list[Json]:
    """Whom issues can be assigned to."""
    return page.cut([shape.person(links, somebody) for somebody in forge.people if home.member(somebody).may_write])


@repository_routes.get("/assignees/{login}", status_code=204)
def can_be_assigned(login: str, home: Home, forge: Forge) -> Response:
    """Whether issues can be assigned to somebody."""
    return Response(status_code=204 if home.member(forge.person(login)).may_write else 404)
