"""ETags: one per person, address and content; an answer the caller has already is sent without its body."""

import hashlib

from fastapi import Request, Response

from hikitsugi.devforge.records import Person

OK = 200
NOT_MODIFIED = 304


def conditional(request: Request, caller: Person, response: Response, *, is_weak: bool = False) -> Response:
    """The answer with its ETag, or 304 when that is the one the caller named."""
    if request.method != "GET" or response.status_code != OK:
        return response
    seen = b"\0".join((str(caller.id).encode(), caller.token.encode(), str(request.url).encode(), bytes(response.body)))
    etag = f'"{hashlib.sha256(seen).hexdigest()}"'
    wanted = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
    if wanted & {etag, "*"}:
        response = Response(status_code=NOT_MODIFIED)
    response.headers["etag"] = f"W/{etag}" if is_weak else etag
    return response
