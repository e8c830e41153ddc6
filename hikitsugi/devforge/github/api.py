"""All API routes together, under each address GitHub knows them by."""

from fastapi import APIRouter, Depends

from hikitsugi.devforge.github import apps, comments, graphql, hooks, issues, people, pulls, repositories, reviews
from hikitsugi.devforge.github.asking import home
from hikitsugi.devforge.github.links import ENTERPRISE_PREFIX

# Comments come first: /issues/comments would else be read as the issue called "comments".
_IN_REPOSITORY = (
    comments.routes,
    issues.routes,
    reviews.routes,
    pulls.routes,
    people.repository_routes,
    hooks.routes,
    apps.repository_routes,
    repositories.routes,
)


def github_routes() -> APIRouter:
    """The API at the root and below `/api/v3`, with repositories by name and by id."""
    api = APIRouter()
    for prefix in ("", "/api"):
        api.include_router(graphql.routes, prefix=prefix)
    for prefix in ("", ENTERPRISE_PREFIX):
        api.include_router(people.account_routes, prefix=prefix)
        api.include_router(apps.account_routes, prefix=prefix)
        for address in ("/repos/{owner}/{repository}", "/repositories/{repository_id}"):
            for part in _IN_REPOSITORY:
                api.include_router(part, prefix=prefix + address, dependencies=[Depends(home)])
    return api
