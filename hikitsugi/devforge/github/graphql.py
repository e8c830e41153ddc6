"""The two GraphQL mutations that REST has no equal for."""

import re
from typing import Any, cast

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from hikitsugi.devforge.forge import DevForge
from hikitsugi.devforge.github.asking import Caller, Forge
from hikitsugi.devforge.github.people_shape import Json, node_id
from hikitsugi.devforge.github.route import GitHubRoute
from hikitsugi.devforge.records import Issue
from hikitsugi.devforge.refusals import Unsupported
from hikitsugi.devforge.repository import Repository

routes = APIRouter(route_class=GitHubRoute)
_MUTATION = re.compile(r"\b(?P<name>markPullRequestReadyForReview|convertPullRequestToDraft)\s*\(")
_INLINE_ID = re.compile(r'pullRequestId\s*:\s*"([^"]+)"')


class Query(BaseModel):
    """A GraphQL request."""

    query: str
    variables: dict[str, Any] = {}


@routes.post("/graphql")
def mutate(forge: Forge, caller: Caller, asked: Query) -> JSONResponse:
    """Make a pull request a draft, or say that it is ready."""
    mutation = _MUTATION.search(asked.query)
    if not mutation:
        return _problem(
            "UNPROCESSABLE", "This forge knows markPullRequestReadyForReview and convertPullRequestToDraft."
        )
    found = _find(forge, _wanted_id(asked))
    if not found:
        return _problem("NOT_FOUND", f"Could not resolve to a node with the global id of '{_wanted_id(asked)}'.")
    home, one = found
    if not home.member(caller).may_write:
        return _problem("FORBIDDEN", f"{caller.login} does not have permission to change the pull request.")
    is_draft = mutation["name"] == "convertPullRequestToDraft"
    try:
        changed = home.set_draft(one.number, caller, is_draft=is_draft)
    except Unsupported as reason:
        return _problem("UNPROCESSABLE", str(reason))
    told: Json = {"id": node_id("PR", one.id), "number": changed.number, "isDraft": is_draft}
    return JSONResponse({"data": {mutation["name"]: {"clientMutationId": None, "pullRequest": told}}})


def _wanted_id(asked: Query) -> str:
    """The pull request's id, wherever the caller put it."""
    inline = _INLINE_ID.search(asked.query)
    if inline:
        return inline[1]
    nested = [cast("dict[str, Any]", value) for value in asked.variables.values() if isinstance(value, dict)]
    places = [asked.variables, *nested]
    named = (place[key] for place in places for key in ("pullRequestId", "id", "pullRequest") if key in place)
    return str(next(named, ""))


def _find(forge: DevForge, wanted: str) -> tuple[Repository, Issue] | None:
    every = ((home, one) for home in forge.repositories for one in home.pulls)
    return next(((home, one) for home, one in every if node_id("PR", one.id) == wanted), None)


def _problem(kind: str, message: str) -> JSONResponse:
    return JSONResponse({"data": None, "errors": [{"type": kind, "path": [], "message": message}]})
