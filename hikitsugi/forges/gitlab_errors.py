"""What GitLab's refusals mean to us: never, or later and when."""

import json
import re
from http import HTTPStatus
from typing import cast
from urllib.parse import unquote

from hikitsugi.domain.errors import TryAgainLater, WillNeverWork
from hikitsugi.forges.client import Answer
from hikitsugi.forges.refusals import LONGEST_MESSAGE, limited, refused, wait

_SUBJECT = re.compile(r"/projects/([^/?]+)(?:/(issues|merge_requests)/([0-9]+))?")


def failure(answer: Answer) -> WillNeverWork | TryAgainLater:
    """The error for an answer that is not the one we need."""
    told = _told(answer.body)
    if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        return limited(answer.forge, wait(answer.headers, answer.headers.get("ratelimit-reset", "")))
    if answer.status == HTTPStatus.CONFLICT and "lock" in told.casefold():
        return TryAgainLater(f"Forge {answer.forge!r} is busy with what {answer.request} changes ({told}).")
    return refused(answer.forge, answer.request, _subject(answer.request), answer.status, answer.headers, told)


def _subject(request: str) -> str:
    match = _SUBJECT.search(request)
    if not match:
        return request.partition(" ")[2]
    project, kind, number = unquote(match[1]), match[2], match[3]
    return f"{project}{'!' if kind == 'merge_requests' else '#'}{number}" if number else project


def _told(body: str) -> str:
    """GitLab's message, which may be a text, a list, or lists by field; in one line."""
    try:
        answer: object = json.loads(body)
    except ValueError:
        return ""
    if not isinstance(answer, dict):
        return ""
    fields = cast("dict[str, object]", answer)
    parts = (fields.get(key) for key in ("message", "error", "error_description"))
    return "; ".join(_flat(part) for part in parts if part)[:LONGEST_MESSAGE]


def _flat(part: object) -> str:
    if isinstance(part, dict):
        return ", ".join(f"{name} {_flat(value)}" for name, value in cast("dict[str, object]", part).items())
    if isinstance(part, list):
        return ", ".join(map(_flat, cast("list[object]", part)))
    return str(part)
