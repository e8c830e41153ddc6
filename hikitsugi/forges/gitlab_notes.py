"""The notes of an issue or merge request, latest first, as far back as they are wanted."""

from collections.abc import Collection
from datetime import datetime
from http import HTTPStatus
from typing import Literal, Protocol

from hikitsugi.forges.client import PAGE_SIZE, Answer, Parameters
from hikitsugi.forges.gitlab_payloads import NotePayload
from hikitsugi.forges.payloads import readable

Order = Literal["created_at", "updated_at"]


class Reader(Protocol):
    """Asks GitLab."""

    async def get(self, path: str, parameters: Parameters | None = None, *, allow: Collection[int] = ()) -> Answer:
        """Read once; an allowed status is the caller's to judge."""
        ...


async def read_notes(
    reader: Reader, path: str, since: datetime, order: Order, *, on_lines: bool = False
) -> list[NotePayload]:
    """What people wrote, or changed, since a time; nothing where there is no such issue any more."""
    notes: dict[int, NotePayload] = {}
    page, total = 1, 0
    while True:
        answer = await reader.get(path, _question(order, page), allow={HTTPStatus.NOT_FOUND})
        if answer.status == HTTPStatus.NOT_FOUND:
            return []
        if _total(answer) < total:  # One was taken back meanwhile, which moves another to a page already read.
            page, total = 1, 0
            continue
        listed = readable(NotePayload, answer.items())
        notes |= {note.id: note for note in listed if note.is_said(on_lines=on_lines) and _stamp(note, order) >= since}
        if answer.is_last_page or (listed and _stamp(listed[-1], order) < since):
            return list(notes.values())
        page, total = page + 1, _total(answer)


def _question(order: Order, page: int) -> Parameters:
    return {
        "sort": "desc",
        "order_by": order,
        "activity_filter": "only_comments",
        "per_page": PAGE_SIZE,
        "page": page,
    }


def _stamp(note: NotePayload, order: Order) -> datetime:
    return note.created_at if order == "created_at" else note.updated_at


def _total(answer: Answer) -> int:
    told = answer.headers.get("x-total", "")
    return int(told) if told.isdigit() else 0
