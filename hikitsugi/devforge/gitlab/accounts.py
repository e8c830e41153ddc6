"""Routes about people, the server, and who may do what in a project."""

from fastapi import APIRouter

from hikitsugi.devforge.gitlab import shape
from hikitsugi.devforge.gitlab.asking import Caller, Forge, Home, Paged, Site
from hikitsugi.devforge.gitlab.route import GitLabRoute
from hikitsugi.devforge.gitlab.shape import Json
from hikitsugi.devforge.records import Permission, Person
from hikitsugi.devforge.refusals import NotThere
from hikitsugi.devforge.repository import Repository

VERSION = "18.6.0"
routes = APIRouter(route_class=GitLabRoute)
project_routes = APIRouter(route_class=GitLabRoute)


@routes.get("/user")
def who_asks(caller: Caller, site: Site) -> Json:
    """The caller's own account."""
    return shape.own_account(site, caller)


@routes.get("/version")
@routes.get("/metadata")
def version() -> Json:
    """Which GitLab this forge resembles."""
    kas = {"enabled": False, "externalUrl": None, "externalK8sProxyUrl": None, "version": None}
    return {"version": VERSION, "revision": "devforge", "kas": kas, "enterprise": False}


@routes.get("/users")
def users(forge: Forge, site: Site, page: Paged, username: str = "", search: str = "") -> list[Json]:
    """People by name."""
    found = [
        somebody
        for somebody in forge.people
        if username.lower() in {"", somebody.login.lower()} and search.lower() in somebody.login.lower()
    ]
    return [shape.person(site, somebody) for somebody in page.cut(found)]


@routes.get("/users/{user_id:int}")
def user(user_id: int, forge: Forge, site: Site) -> Json:
    """One person."""
    return shape.person(site, forge.person_numbered(user_id))


@project_routes.get("/members/all")
@project_routes.get("/members")
def members(home: Home, forge: Forge, site: Site, page: Paged) -> list[Json]:
    """Everybody who belongs to a project."""
    every = (home.member(somebody) for somebody in forge.people)
    return [shape.member(site, one) for one in page.cut([one for one in every if _belongs(one)])]


@project_routes.get("/members/all/{user_id:int}")
@project_routes.get("/members/{user_id:int}")
def member(user_id: int, home: Home, forge: Forge, site: Site) -> Json:
    """What one person may do in a project."""
    return shape.member(site, _member(home, forge.people, user_id))


def _member(home: Repository, people: list[Person], user_id: int) -> Person:
    found = next((home.member(somebody) for somebody in people if somebody.id == user_id), None)
    if not found or not _belongs(found):
        raise NotThere("member")
    return found


def _belongs(somebody: Person) -> bool:
    return somebody.permission is not Permission.NONE
