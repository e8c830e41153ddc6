"""A look over one GitHub repository: two lists for all its issues and comments, however many there are.

Where comments on lines of pull requests count too, they are a third list.
"""

from collections.abc import Iterable
from datetime import UTC
from typing import TypeVar

from hikitsugi.domain.address import RepositoryAddress
from hikitsugi.domain.ports import Cursor, Sighting
from hikitsugi.domain.value import Value
from hikitsugi.forges.account import is_own
from hikitsugi.forges.client import PAGE_SIZE, ForgeClient, Parameters
from hikitsugi.forges.feed import Feed, Page, Reading
from hikitsugi.forges.github_payloads import CommentPayload, IssuePayload, ReviewCommentPayload
from hikitsugi.forges.payloads import ListedPayload, gathered, readable

P = TypeVar("P", bound=ListedPayload)


class Position(Value):
    """The cursor: how far the lists were read."""

    issues: Feed
    comments: Feed
    reviews: Feed | None = None


async def first_look(client: ForgeClient, home: RepositoryAddress, *, reviews: bool = False) -> Sighting:
    """The open issues, and a position after every comment there is."""
    issues = await _read(client, IssuePayload, f"/repos/{home.repository}/issues", Feed(), {"state": "open"})
    start = issues.next_feed()
    comments = await _read_comments(client, home, Feed(since=start.since))
    remarks = await _read_reviews(client, home, Feed(since=start.since)) if reviews else None
    return _sighting(home, issues.fresh, (), _position(issues, comments, remarks))


async def next_look(
    client: ForgeClient, home: RepositoryAddress, cursor: Cursor, ours: frozenset[str], *, reviews: bool = False
) -> Sighting:
    """What changed since the position, without our own comments."""
    position = Position.model_validate(cursor)
    issues = await _read(client, IssuePayload, f"/repos/{home.repository}/issues", position.issues, {"state": "all"})
    comments = await _read_comments(client, home, position.comments)
    said, remarks = list(comments.fresh), None
    if reviews:
        remarks = await _read_reviews(client, home, position.reviews or Feed(since=position.comments.since))
        # What was there before anybody asked for it is no news.
        said += remarks.fresh if position.reviews else ()
    others = [payload for payload in said if not is_own(payload.comment(), ours)]
    return _sighting(home, issues.fresh, others, _position(issues, comments, remarks))


async def _read_comments(client: ForgeClient, home: RepositoryAddress, feed: Feed) -> Reading[CommentPayload]:
    return await _read(client, CommentPayload, f"/repos/{home.repository}/issues/comments", feed, {})


async def _read_reviews(client: ForgeClient, home: RepositoryAddress, feed: Feed) -> Reading[ReviewCommentPayload]:
    return await _read(client, ReviewCommentPayload, f"/repos/{home.repository}/pulls/comments", feed, {})


async def _read(client: ForgeClient, model: type[P], path: str, feed: Feed, narrowed: Parameters) -> Reading[P]:
    reading = Reading[P](feed)
    while not reading.is_done:
        answer = await client.get(path, {**narrowed, **_question(reading)}, reading.etag)
        if answer.is_unchanged:
            reading.unchanged()
        else:
            entries = readable(model, answer.items())
            reading.take(Page(entries, is_last=answer.is_last_page, etag=answer.etag, at=answer.at))
    return reading


def _question(reading: Reading[P]) -> dict[str, str | int]:
    question: dict[str, str | int] = {"sort": "updated", "direction": "asc", "per_page": PAGE_SIZE}
    if reading.since:
        question["since"] = f"{reading.since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    if reading.page > 1:
        question["page"] = reading.page
    return question


def _position(
    issues: Reading[IssuePayload], comments: Reading[CommentPayload], reviews: Reading[ReviewCommentPayload] | None
) -> Position:
    return Position(
        issues=issues.next_feed(), comments=comments.next_feed(), reviews=reviews.next_feed() if reviews else None
    )


def _sighting(
    home: RepositoryAddress, issues: Iterable[IssuePayload], comments: Iterable[CommentPayload], position: Position
) -> Sighting:
    in_order = sorted(comments, key=lambda comment: (comment.created_at, comment.id))
    news = gathered(
        (payload.issue(home) for payload in issues),
        ((payload.address(home), payload.comment()) for payload in in_order),
    )
    return Sighting(news=news, cursor=position.model_dump(mode="json"))
