"""All API routes together, under each address GitHub knows them by."""

from fastapi import APIRouter, Depends

from hikitsugi.devforge.github import comments, issues, people, pulls, repositories
from hikitsugi.devforge.github.asking import home
from hikitsugi.devforge.github.links import ENTERPRISE_PREFIX


def github_routes() -> APIRouter:
    """The API at the root and below `/api/v3`, with repositories by name and by id."""
    api = APIRouter()
    for prefix in ("", ENTERPRISE_PREFIX):
        api.include_router(people.account_routes, prefix=prefix)
        for address in ("/repos/{owner}/{repository}", "/repositories/{repository_id}"):
            # Comments come first: /issues/comments would else be read as the issue called "comments".
            for part in (comments.routes, issues.routes, pulls.routes, people.repository_routes, repositories.routes):
                api.include_router(part, prefix=prefix + address, dependencies=[Depends(home)])
    return api
