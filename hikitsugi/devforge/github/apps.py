"""Routes for GitHub Apps: who they are, where they are installed, and tokens to act with."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from hikitsugi.devforge.apps import App
from hikitsugi.devforge.github.asking import At, Forge, home
from hikitsugi.devforge.github.links import Links
from hikitsugi.devforge.github.people_shape import Json, account, node_id, stamp
from hikitsugi.devforge.github.route import AppRoute
from hikitsugi.devforge.refusals import NotThere

_PERMISSIONS = {"contents": "write", "issues": "write", "metadata": "read", "pull_requests": "write"}
account_routes = APIRouter(route_class=AppRoute)
repository_routes = APIRouter(route_class=AppRoute)


async def _app(request: Request) -> App:
    return request.state.app


Asking = Annotated[App, Depends(_app)]


@account_routes.get("/app")
def who_asks(app: Asking, links: At) -> Json:
    """The App itself."""
    return {
        "id": app.id,
        "slug": app.slug,
        "node_id": node_id("A", app.id),
        "owner": account(links, app.slug, app.id),
        "name": app.slug,
        "description": None,
        "external_url": links.site,
        "html_url": f"{links.site}/apps/{app.slug}",
        "created_at": stamp(app.created_at),
        "updated_at": stamp(app.created_at),
        "permissions": _PERMISSIONS,
        "events": [],
        "installations_count": 1,
    }


@account_routes.get("/app/installations/{installation_id}")
def installation(installation_id: int, app: Asking, links: At) -> Json:
    """The App's own installation."""
    if app.installation_id != installation_id:
        raise NotThere(f"installation {installation_id}")
    return _installation(links, app)


@account_routes.post("/app/installations/{installation_id}/access_tokens", status_code=201)
def give_token(installation_id: int, app: Asking, forge: Forge) -> Json:
    """A token for an hour that may do all its installation may, whatever limits were asked for."""
    if app.installation_id != installation_id:
        raise NotThere(f"installation {installation_id}")
    given = forge.apps.issue_token(app)
    return {
        "token": given.token,
        "expires_at": stamp(given.expires_at),
        "permissions": _PERMISSIONS,
        "repository_selection": "all",
    }


@repository_routes.get("/installation", dependencies=[Depends(home)])
def installation_here(app: Asking, links: At) -> Json:
    """The App's installation in a repository."""
    return _installation(links, app)


def _installation(links: Links, app: App) -> Json:
    url = f"{links.api}/app/installations/{app.installation_id}"
    return {
        "id": app.installation_id,
        "account": account(links, "installations", app.installation_id, "Organization"),
        "repository_selection": "all",
        "access_tokens_url": f"{url}/access_tokens",
        "repositories_url": f"{links.api}/installation/repositories",
        "html_url": f"{links.site}/settings/installations/{app.installation_id}",
        "app_id": app.id,
        "target_id": app.installation_id,
        "target_type": "Organization",
        "permissions": _PERMISSIONS,
        "events": [],
        "created_at": stamp(app.created_at),
        "updated_at": stamp(app.created_at),
        "single_file_name": None,
        "app_slug": app.slug,
        "suspended_by": None,
        "suspended_at": None,
    }
