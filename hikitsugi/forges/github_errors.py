"""What GitHub's refusals mean to us: never, or later and when."""

import json
import re
from datetime import timedelta
from http import HTTPStatus
from typing import cast

from github.Requester import Requester

from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.forges.client import Answer
from hikitsugi.forges.refusals import LONGEST_MESSAGE, Headers, limited, refused, wait

_SUBJECT = re.compile(r"/repos/([^/]+/[^/?]+)(?:/(?:issues|pulls)/([0-9]+))?")
_GRAPHQL_STATUS = {"NOT_FOUND": HTTPStatus.NOT_FOUND, "FORBIDDEN": HTTPStatus.FORBIDDEN}


def failure(answer: Answer) -> WillNeverWork | TryAgainLater:
    """The error for an answer that is not the one we need."""
    status, headers, told = answer.status, answer.headers, message_in(answer.body)
    if status == HTTPStatus.TOO_MANY_REQUESTS or (status == HTTPStatus.FORBIDDEN and _is_limit(told, headers)):
        return limited(answer.forge, _wait(headers))
    if status == HTTPStatus.OK:  # GraphQL answers so whatever happened.
        return _graphql_failure(answer, told)
    return refused(answer.forge, answer.request, _subject(answer.request), status, headers, told)


def _graphql_failure(answer: Answer, told: str) -> WillNeverWork | TryAgainLater:
    kinds = kinds_in(answer)
    if "RATE_LIMITED" in kinds:
        return limited(answer.forge, _wait(answer.headers))
    status = next((_GRAPHQL_STATUS[kind] for kind in kinds if kind in _GRAPHQL_STATUS), HTTPStatus.UNPROCESSABLE_ENTITY)
    return refused(answer.forge, answer.request, "pull request", status, answer.headers, told)


def kinds_in(answer: Answer) -> set[str]:
    """Which errors GraphQL tells of."""
    return set(re.findall(r'"type":\s*"([A-Z_]+)"', answer.body))


def _subject(request: str) -> str:
    match = _SUBJECT.search(request)
    if not match:
        return request.partition(" ")[2]
    return f"{match[1]}#{match[2]}" if match[2] else match[1]


def message_in(body: str) -> str:
    """GitHub's message and the messages of its details, in one line."""
    try:
        answer: object = json.loads(body)
    except ValueError:
        return ""
    if not isinstance(answer, dict):
        return ""
    fields = cast("dict[str, object]", answer)
    errors = fields.get("errors")
    details = cast("list[object]", errors) if isinstance(errors, list) else []
    return "; ".join(text for text in map(_message, [fields, *details]) if text)[:LONGEST_MESSAGE]


def _message(part: object) -> str:
    if isinstance(part, dict):
        return str(cast("dict[str, object]", part).get("message") or "")
    return str(part)


def _is_limit(told: str, headers: Headers) -> bool:
    return Requester.isRateLimitError(told) or "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"


def _wait(headers: Headers) -> timedelta:
    # A secondary limit also carries the reset of the primary one, which is not what it waits for.
    is_primary = headers.get("x-ratelimit-remaining", "0") == "0"
    return wait(headers, headers.get("x-ratelimit-reset", "") if is_primary else "")
