"""Refusals in GitHub's words; clients classify some of them by their exact text."""

from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from hikitsugi.devforge.refusals import Invalid, NotAllowed, NotMergeable, NotThere, Outdated, Unsupported

DOCUMENTATION = "https://docs.github.com/rest"
Refusal = NotThere | NotAllowed | NotMergeable | Outdated | Unsupported | Invalid | RequestValidationError


def error(status: int, message: str, errors: list[dict[str, Any]] | None = None) -> JSONResponse:
    """An error as GitHub words it."""
    body: dict[str, Any] = {"message": message, "documentation_url": DOCUMENTATION, "status": str(status)}
    if errors:
        body["errors"] = errors
    return JSONResponse(body, status_code=status)


def refusal(reason: Refusal) -> JSONResponse:
    """What a client is told when the forge refuses."""
    match reason:
        case NotThere():
            return error(404, "Not Found")
        case NotAllowed():
            words = str(reason)
            return error(403, words if words.startswith("Resource not") else "Must have admin rights to Repository.")
        case NotMergeable() | Outdated():
            return error(405 if isinstance(reason, NotMergeable) else 409, str(reason))
        case Unsupported() | Invalid(resource="Reference"):
            return error(422, str(reason))
        case Invalid():
            return error(422, "Validation Failed", [_problem(reason)])
        case RequestValidationError():
            return _malformed(reason)


def _problem(reason: Invalid) -> dict[str, str]:
    told = {"resource": reason.resource, "field": reason.field, "code": reason.code}
    return told | ({"message": reason.reason} if reason.reason else {})


def _malformed(reason: RequestValidationError) -> JSONResponse:
    problems = reason.errors()
    if any(problem["type"] == "json_invalid" for problem in problems):
        return error(400, "Problems parsing JSON")
    told = [
        {
            "resource": "Request",
            "field": ".".join(str(part) for part in problem["loc"][1:]),
            "code": "missing_field" if problem["type"] == "missing" else "invalid",
        }
        for problem in problems
    ]
    return error(422, "Validation Failed", told)
