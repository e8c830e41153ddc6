"""A look over one GitLab project: two lists, and the notes of what changed; however many issues are open.

GitLab lists no notes by project, and a note moves `updated_at` of its issue only if that is more than a minute old.
So every change of a note either lies within a minute after `updated_at`, or moves it. Therefore it is enough

- to list issues of all states by `updated_at` with an overlap of more than that minute (which also shows, by
  `user_notes_count`, a note that moved nothing), and to read the notes of those that changed;
- to read these notes once more when the minute is over, for edits that moved nothing and changed no count; where
  somebody has just spoken, at each look until then.

That costs one call per list, plus those that changed; what must be remembered is what happened within the overlap.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import quote

from pydantic import Field

from hikitsugi.domain.address import IssueAddress, Kind, RepositoryAddress
from hikitsugi.domain.issue import Comment, Issue
from hikitsugi.domain.ports import Cursor, Sighting
from hikitsugi.domain.value import Value
from hikitsugi.forges.account import is_own
from hikitsugi.forges.client import PAGE_SIZE
from hikitsugi.forges.feed import Feed, Page, Reading, Version
from hikitsugi.forges.gitlab_notes import Reader, read_notes
from hikitsugi.forges.gitlab_payloads import NoteablePayload
from hikitsugi.forges.payloads import gathered, readable

_LAG = timedelta(seconds=30)
SETTLING = timedelta(seconds=60) + _LAG
OVERLAP = SETTLING + _LAG


class Warm(NamedTuple):
    """Until when the notes of something can change unseen, and whether somebody has just spoken there."""

    until: datetime
    is_lively: bool = False


class Trail(Value):
    """How far one list was read, with the notes below it."""

    listed: Feed
    counts: dict[int, int] = Field(default_factory=dict[int, int])
    notes: dict[int, Version] = Field(default_factory=dict[int, Version])
    warm: dict[int, Warm] = Field(default_factory=dict[int, Warm])


class Position(Value):
    """The cursor: how far both lists were read."""

    issues: Trail
    merge_requests: Trail


@dataclass(frozen=True)
class Listing:
    """One reading of a list: what of it is fresh, all its entries by number, and the server's clock."""

    reading: Reading[NoteablePayload]
    entries: Mapping[int, NoteablePayload]
    at: datetime

    def changed_since(self, counts: Mapping[int, int]) -> dict[int, NoteablePayload]:
        """What is fresh; and where a note came though servers whose clocks differ moved the time back."""
        fresh = {entry.iid: entry for entry in self.reading.fresh}
        counted = {
            iid: entry for iid, entry in self.entries.items() if iid in counts and counts[iid] != entry.user_notes_count
        }
        return counted | fresh


@dataclass(frozen=True)
class Found:
    """What one pass over a list brought, and from where the next one starts."""

    issues: list[Issue]
    comments: list[tuple[IssueAddress, Comment]]
    trail: Trail


async def first_look(reader: Reader, home: RepositoryAddress, site: str, *, on_lines: bool = False) -> Sighting:
    """The open issues and merge requests, and a position after every comment there is."""
    issues = await _Pass(reader, home, Kind.ISSUE, site, on_lines=on_lines).begin()
    requests = await _Pass(reader, home, Kind.MERGE_REQUEST, site, on_lines=on_lines).begin()
    return _sighting(issues, requests)


async def next_look(
    reader: Reader, home: RepositoryAddress, site: str, cursor: Cursor, ours: frozenset[str], *, on_lines: bool = False
) -> Sighting:
    """What changed since the position, without our own comments."""
    position = Position.model_validate(cursor)
    of_issues = _Pass(reader, home, Kind.ISSUE, site, on_lines=on_lines)
    of_requests = _Pass(reader, home, Kind.MERGE_REQUEST, site, on_lines=on_lines)
    issues = await of_issues.go_on(position.issues, ours)
    return _sighting(issues, await of_requests.go_on(position.merge_requests, ours))


def _sighting(issues: Found, requests: Found) -> Sighting:
    position = Position(issues=issues.trail, merge_requests=requests.trail)
    news = gathered([*issues.issues, *requests.issues], [*issues.comments, *requests.comments])
    return Sighting(news=news, cursor=position.model_dump(mode="json"))


class _Pass:
    """One pass over the issues, or the merge requests, of a project."""

    def __init__(self, reader: Reader, home: RepositoryAddress, kind: Kind, site: str, *, on_lines: bool) -> None:
        self._reader = reader
        self._home = home
        self._kind = kind
        self._site = site
        self._on_lines = on_lines
        self._path = f"/projects/{quote(home.repository, safe='')}/{kind}"

    async def begin(self) -> Found:
        """What is open now; what was said before is taken as known."""
        opened = await self._list(Feed(), "opened")
        recent = await self.go_on(Trail(listed=Feed(since=opened.at - OVERLAP)), frozenset())
        latest = {issue.address: issue for issue in [*self._issues(opened), *recent.issues]}
        quiet = {iid: Warm(one.until) for iid, one in recent.trail.warm.items()}
        trail = recent.trail.model_copy(update={"warm": quiet})
        return Found([issue for issue in latest.values() if issue.is_open], [], trail)

    async def go_on(self, trail: Trail, ours: frozenset[str]) -> Found:
        """What changed since the trail ends, and what others said."""
        listing = await self._list(trail.listed, "all")
        changed = listing.changed_since(trail.counts)
        warm = _warmed(trail.warm, changed)
        known = dict(trail.notes)
        said: list[tuple[IssueAddress, Comment]] = []
        for iid, one in warm.items():
            if iid in changed or one.is_lively or listing.at >= one.until:
                said += await self._read_on(iid, trail.listed.since or listing.at, known, ours)
        return Found(self._issues(listing), said, _next_trail(listing, known, warm, said))

    async def _read_on(
        self, iid: int, since: datetime, known: dict[int, Version], ours: frozenset[str]
    ) -> list[tuple[IssueAddress, Comment]]:
        path = f"{self._path}/{iid}/notes"
        notes = await read_notes(self._reader, path, since, "updated_at", on_lines=self._on_lines)
        fresh = [note for note in notes if note.version.replaces(known.get(note.id))]
        known |= {note.id: note.version for note in fresh}
        address = IssueAddress(**self._home.model_dump(), kind=self._kind, number=iid)
        in_order = sorted(fresh, key=lambda note: (note.created_at, note.id))
        comments = (note.comment(page_of(self._site, address)) for note in in_order)
        return [(address, comment) for comment in comments if not is_own(comment, ours)]

    async def _list(self, feed: Feed, state: str) -> Listing:
        reading = Reading[NoteablePayload](feed, OVERLAP)
        entries: dict[int, NoteablePayload] = {}
        # Where merge requests are switched off or not for us, the list of them is forbidden.
        allow = {HTTPStatus.FORBIDDEN} if self._kind is Kind.MERGE_REQUEST else ()
        while True:
            answer = await self._reader.get(self._path, {"state": state, **_question(reading)}, allow=allow)
            is_forbidden = answer.status == HTTPStatus.FORBIDDEN
            page = [] if is_forbidden else readable(NoteablePayload, answer.items())
            entries |= {entry.iid: entry for entry in page}
            reading.take(Page(page, is_last=is_forbidden or answer.is_last_page, etag=None, at=answer.at))
            if reading.is_done:
                return Listing(reading, entries, reading.started_at or answer.at)

    def _issues(self, listing: Listing) -> list[Issue]:
        return [entry.issue(self._home, self._kind) for entry in listing.reading.fresh]


def page_of(site: str, issue: IssueAddress) -> str:
    """The web page of an issue or merge request."""
    return f"{site}/{issue.repository}/-/{issue.kind}/{issue.number}"


def _question(reading: Reading[NoteablePayload]) -> dict[str, str | int]:
    question: dict[str, str | int] = {"order_by": "updated_at", "sort": "asc", "per_page": PAGE_SIZE}
    if reading.since:
        question["updated_after"] = reading.since.astimezone(UTC).isoformat(timespec="milliseconds")
    if reading.page > 1:
        question["page"] = reading.page
    return question


def _warmed(warm: Mapping[int, Warm], changed: Mapping[int, NoteablePayload]) -> dict[int, Warm]:
    now_warm = dict(warm)
    for iid, entry in changed.items():
        if entry.user_notes_count:
            now_warm[iid] = Warm(entry.updated_at + SETTLING, iid in warm and warm[iid].is_lively)
    return now_warm


def _next_trail(
    listing: Listing,
    known: Mapping[int, Version],
    warm: Mapping[int, Warm],
    said: Iterable[tuple[IssueAddress, Comment]],
) -> Trail:
    feed = listing.reading.next_feed()
    spoken = {address.number for address, _ in said}
    return Trail(
        listed=feed,
        counts={entry.iid: entry.user_notes_count for entry in listing.entries.values() if entry.id in feed.seen},
        notes={id_: version for id_, version in known.items() if feed.since and version.at >= feed.since},
        warm={
            iid: Warm(one.until, one.is_lively or iid in spoken) for iid, one in warm.items() if listing.at < one.until
        },
    )
