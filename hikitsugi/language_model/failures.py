"""What the client's errors mean: whether to try again, when, and what an operator can do."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from math import isfinite

import anthropic
import httpx2

from hikitsugi.domain.errors import HikitsugiError, TryAgainLater, WillNeverWork

# An error inside a stream arrives with status 200; its type says which status it stands for.
_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_ADVICE = {
    **dict.fromkeys((301, 302, 303, 307, 308), "The model's address has moved; check llm.base_url"),
    401: "The model's provider refused the key; check llm.api_key",
    402: "The account at the model's provider cannot be billed; check its billing",
    403: "The key may not use this model; check llm.api_key and llm.model",
    404: "The model's provider does not know what was asked for; check llm.model and llm.base_url",
    408: "The model's provider gave up waiting for the request",
    409: "The model's provider is busy with a conflicting request",
    413: "The conversation is too large for the model's provider; lower llm.compress_at_tokens",
    429: "The model's provider limits the rate of requests",
    529: "The model's provider is overloaded",
}
_SPEND_LIMIT = "The spend limit of the account at the model's provider is reached; raise it there"
_RETRIED = frozenset({408, 409, 429})
_LONGEST_WAIT = timedelta(days=1)
_LONGEST_QUOTE = 300


def translate(error: Exception) -> HikitsugiError:
    """The failure an activity should report for an error of the client."""
    if isinstance(error, anthropic.APIStatusError):
        return _from_answer(error)
    cause = error.__cause__ if isinstance(error, anthropic.APIConnectionError) else error
    if isinstance(cause, (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError)):
        return WillNeverWork("The model's address cannot be used; check llm.base_url.")
    if isinstance(error, anthropic.APITimeoutError) or isinstance(cause, httpx2.TimeoutException):
        return TryAgainLater("The model's provider did not answer in time.")
    if isinstance(cause, httpx2.ConnectError):
        return TryAgainLater("The model's provider cannot be reached; check llm.base_url and the network.")
    # The client's own text may quote headers or bodies, so only the kind of the fault is told.
    return TryAgainLater(f"The model's answer broke off ({type(cause).__name__}).")


def _from_answer(error: anthropic.APIStatusError) -> HikitsugiError:
    status = error.status_code
    if status == HTTPStatus.OK:
        status = _STATUS_OF_TYPE.get(error.type or "", 500)
    out_of_money = error.error_code == "enforced_spend_limit_reached"
    advice = _SPEND_LIMIT if out_of_money else _ADVICE.get(status, f"The model's provider answered with error {status}")
    sentence = f"{advice}{_quote(error)}."
    if out_of_money or not _may_pass(status, error.response.headers):
        return WillNeverWork(sentence)
    return TryAgainLater(sentence, after=wanted_wait(error.response.headers))


def _may_pass(status: int, headers: Mapping[str, str]) -> bool:
    said = headers.get("x-should-retry")
    if said in {"true", "false"}:
        return said == "true"
    return status in _RETRIED or status >= HTTPStatus.INTERNAL_SERVER_ERROR


def _quote(error: anthropic.APIStatusError) -> str:
    said = " ".join(str(error.api_message or "").split())[:_LONGEST_QUOTE].rstrip(".")
    request = f" (request {error.request_id})" if error.request_id else ""
    return f": {said}{request}" if said else request


def wanted_wait(headers: Mapping[str, str]) -> timedelta | None:
    """How long the other side asked us to wait, if it did."""
    for header, unit in (("retry-after-ms", timedelta(milliseconds=1)), ("retry-after", timedelta(seconds=1))):
        amount = _number(headers.get(header))
        if amount is not None:
            return min(max(amount, 0), _LONGEST_WAIT / unit) * unit
    return _until(headers.get("retry-after"))


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if isfinite(number) else None


def _until(date: str | None) -> timedelta | None:
    try:
        moment = parsedate_to_datetime(date or "")
    except ValueError:
        return None
    wait = moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)
    return min(max(wait, timedelta()), _LONGEST_WAIT)
