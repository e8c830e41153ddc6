"""What GitHub's refusals mean to us: never, or later and when."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import cast

from github.Requester import Requester

from hikitsugi.domain.errors import TryAgainLater, WillNeverWork

Headers = Mapping[str, str]

_SUBJECT = re.compile(r"/repos/([^/]+/[^/?]+)(?:/(?:issues|pulls)/([0-9]+))?")
_UNKNOWN_LIMIT = timedelta(seconds=60)
_LONGEST_MESSAGE = 300


def failure(forge: str, request: str, status: int, headers: Headers, body: str) -> WillNeverWork | TryAgainLater:
    """The error for an answer that is not the one we need; `request` is `GET /repos/…`."""
    told = _told(body)
    if status == HTTPStatus.TOO_MANY_REQUESTS or (status == HTTPStatus.FORBIDDEN and _is_limit(told, headers)):
        return TryAgainLater(f"Forge {forge!r} limits our requests.", after=_wait(headers))
    if status in {202, 408, 425} or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return TryAgainLater(f"Forge {forge!r} answered {request} with {status}{_quoted(told)}.", _asked(headers))
    return WillNeverWork(_refusal(forge, request, status, told))


def server_time(headers: Headers) -> datetime:
    """The server's clock when it answered; ours where it does not tell."""
    try:
        told = parsedate_to_datetime(headers.get("date", ""))
    except ValueError:
        return datetime.now(UTC)
    # A proxy that adds a second date makes the zone unreadable; it is GMT by definition.
    return told if told.tzinfo else told.replace(tzinfo=UTC)


def _refusal(forge: str, request: str, status: int, told: str) -> str:
    subject = _subject(request)
    match status:
        case 401:
            return f"Forge {forge!r} does not accept the token (401): check forges[].token."
        case 403:
            return f"The token of forge {forge!r} lacks the permission for {request}{_quoted(told)}: widen its access."
        case 404:
            return (
                f"Forge {forge!r} knows no {subject} ({request}), or its token may not see it: "
                "check the name under forges[].repositories and the token's access."
            )
        case 410:
            return f"{subject} on forge {forge!r} is gone, or its issues are switched off{_quoted(told)}."
        case 301 | 302 | 307 | 308:
            return f"{subject} on forge {forge!r} has moved: write its new name under forges[].repositories."
        case _:
            return f"Forge {forge!r} refused {request} with {status}{_quoted(told)}."


def _subject(request: str) -> str:
    match = _SUBJECT.search(request)
    if not match:
        return request.partition(" ")[2]
    return f"{match[1]}#{match[2]}" if match[2] else match[1]


def _told(body: str) -> str:
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
    return "; ".join(text for text in map(_message, [fields, *details]) if text)[:_LONGEST_MESSAGE]


def _message(part: object) -> str:
    if isinstance(part, dict):
        return str(cast("dict[str, object]", part).get("message") or "")
    return str(part)


def _quoted(told: str) -> str:
    return f" ({told})" if told else ""


def _is_limit(told: str, headers: Headers) -> bool:
    return Requester.isRateLimitError(told) or "retry-after" in headers or headers.get("x-ratelimit-remaining") == "0"


def _wait(headers: Headers) -> timedelta:
    asked = _asked(headers)
    if asked is not None:
        return asked
    reset = headers.get("x-ratelimit-reset", "")
    # A secondary limit also carries the reset of the primary one, which is not what it waits for.
    if reset.isdigit() and headers.get("x-ratelimit-remaining", "0") == "0":
        until = datetime.fromtimestamp(int(reset), UTC) - server_time(headers)
        return max(until, timedelta()) + timedelta(seconds=1)
    return _UNKNOWN_LIMIT


def _asked(headers: Headers) -> timedelta | None:
    seconds = headers.get("retry-after", "")
    return timedelta(seconds=int(seconds)) if seconds.isdigit() else None
