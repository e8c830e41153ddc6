"""All API routes together."""

from fastapi import APIRouter, Depends

from hikitsugi.devforge.gitlab import accounts, events, hooks, issues, merge_requests, notes, projects
from hikitsugi.devforge.gitlab.asking import home
from hikitsugi.devforge.raw_path import GITLAB_API

_IN_PROJECT = (
    issues.routes,
    merge_requests.routes,
    notes.routes,
    events.routes,
    hooks.routes,
    accounts.project_routes,
    projects.routes,
)


def gitlab_routes() -> APIRouter:
    """The API below `/api/v4`, with projects by id or by encoded path."""
    api = APIRouter(prefix=GITLAB_API)
    for part in (accounts.routes, projects.list_routes, issues.list_routes):
        api.include_router(part)
    for part in _IN_PROJECT:
        api.include_router(part, prefix="/projects/{project}", dependencies=[Depends(home)])
    return api
