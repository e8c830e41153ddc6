"""What a forge's refusals mean to us, in sentences that say what to do; and how long it asks us to wait."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from hikitsugi.domain.errors import TryAgainLater, WillNeverWork

Headers = Mapping[str, str]

_UNKNOWN_LIMIT = timedelta(seconds=60)
LONGEST_MESSAGE = 300


def server_time(headers: Headers) -> datetime:
    """The server's clock when it answered; ours where it does not tell."""
    try:
        told = parsedate_to_datetime(headers.get("date", ""))
    except ValueError:
        return datetime.now(UTC)
    # A proxy that adds a second date makes the zone unreadable; it is GMT by definition.
    return told if told.tzinfo else told.replace(tzinfo=UTC)


def limited(forge: str, after: timedelta) -> TryAgainLater:
    """The error for a limit that ends."""
    return TryAgainLater(f"Forge {forge!r} limits our requests.", after=after)


def asked_wait(headers: Headers) -> timedelta | None:
    """How long the server asks us to wait."""
    seconds = headers.get("retry-after", "")
    return timedelta(seconds=int(seconds)) if seconds.isdigit() else None


def wait(headers: Headers, reset: str) -> timedelta:
    """How long a limit lasts: as the server asks, else until its reset by the server's clock, else a minute."""
    asked = asked_wait(headers)
    if asked is not None:
        return asked
    if reset.isdigit():
        until = datetime.fromtimestamp(int(reset), UTC) - server_time(headers)
        return max(until, timedelta()) + timedelta(seconds=1)
    return _UNKNOWN_LIMIT


def refused(
    forge: str, request: str, subject: str, status: int, headers: Headers, told: str
) -> WillNeverWork | TryAgainLater:
    """The error for an answer that is neither what we need nor a limit."""
    if status in {202, 408, 425} or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return TryAgainLater(f"Forge {forge!r} answered {request} with {status}{_quoted(told)}.", asked_wait(headers))
    return WillNeverWork(_refusal(forge, request, subject, status, told))


def _refusal(forge: str, request: str, subject: str, status: int, told: str) -> str:
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


def _quoted(told: str) -> str:
    return f" ({told})" if told else ""
