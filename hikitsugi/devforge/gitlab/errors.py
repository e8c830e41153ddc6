"""Refusals in GitLab's words."""

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from hikitsugi.devforge.refusals import Duplicate, Invalid, NotAllowed, NotMergeable, NotThere, Outdated

Refusal = NotThere | NotAllowed | NotMergeable | Outdated | Invalid | ValidationError | RequestValidationError
REFUSALS = (NotThere, NotAllowed, NotMergeable, Outdated, Invalid, ValidationError, RequestValidationError)
_NAMED = ("project", "user", "note", "branch", "file", "hook", "label", "commit", "award emoji", "group")
_WORDS = {"repository": "project", "person": "user", "comment": "note"}
_FIELDS = {"head": "source_branch", "base": "target_branch", "body": "description"}


class Missing(NotThere):
    """Something that GitLab names when it is not there."""


def error(status: int, message: object) -> JSONResponse:
    """An error as GitLab words it."""
    return JSONResponse({"message": message}, status_code=status)


def refusal(reason: Refusal) -> JSONResponse:
    """What a client is told when the forge refuses."""
    match reason:
        case NotThere():
            return error(404, _not_found(str(reason)))
        case NotAllowed():
            return error(403, "403 Forbidden")
        case NotMergeable() | Outdated():
            is_late = isinstance(reason, Outdated)
            told = "SHA does not match HEAD of source branch" if is_late else "405 Method Not Allowed"
            return error(409 if is_late else 405, told)
        case Invalid():
            return _invalid(reason)
        case ValidationError() | RequestValidationError():
            return _malformed(reason)


def _not_found(what: str) -> str:
    kind, _, _ = what.partition(" ")
    name = next((name for name in _NAMED if what.lower().startswith(name)), _WORDS.get(kind))
    return f"404 {name.title()} Not Found" if name else "404 Not found"


def _invalid(reason: Invalid) -> JSONResponse:
    if isinstance(reason, Duplicate):
        return error(409, [f"Another open merge request already exists for this source branch: !{reason.number}"])
    if reason.resource == "Reference":
        exists = reason.code == "already_exists"
        return error(400, "Branch already exists" if exists else f"Invalid reference name: {reason.reason}")
    if reason.resource == "Hook":
        return JSONResponse({"error": f"Invalid url given: {reason.reason}"}, status_code=422)
    if reason.code == "already_exists":
        return error(409, f"{reason.resource} already exists")
    field = _FIELDS.get(reason.field, reason.field)
    if reason.resource == "IssueComment":
        field = "note"
    told = {"missing_field": "can't be blank", "invalid": "is invalid"}.get(reason.code) or reason.reason
    return error(400, {field: [told]})


def _malformed(reason: ValidationError | RequestValidationError) -> JSONResponse:
    told = [
        f"{'.'.join(str(part) for part in problem['loc'] if part not in {'body', 'query', 'path'})} "
        f"{'is missing' if problem['type'] == 'missing' else 'is invalid'}"
        for problem in reason.errors()
    ]
    return JSONResponse({"error": ", ".join(dict.fromkeys(told))}, status_code=400)
