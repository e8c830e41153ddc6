"""Reading a list sorted by update time again and again: nothing is lost, nothing comes twice."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, NamedTuple, Protocol, TypeVar

from pydantic import Field

from hikitsugi.domain.value import Value

OVERLAP = timedelta(seconds=60)


class Version(NamedTuple):
    """A state of an entry: the forge's time of its last change, and a mark that tells two of one second apart."""

    at: datetime
    mark: str = ""

    def replaces(self, known: "Version | None") -> bool:
        """Whether it is not the known version, nor one from before it."""
        return known is None or self.at > known.at or (self.at == known.at and self.mark != known.mark)


class Entry(Protocol):
    """Something a forge lists."""

    @property
    def id(self) -> int:
        """What tells it from the others in its list."""
        ...

    @property
    def version(self) -> Version:
        """Its present state."""
        ...


E = TypeVar("E", bound=Entry)


class Feed(Value):
    """Up to where a list was read; address and ETag stay the same for as long as nothing happens."""

    since: datetime | None = None
    etag: str | None = None
    seen: dict[int, Version] = Field(default_factory=dict[int, Version])


@dataclass(frozen=True)
class Page(Generic[E]):
    """One answered page, oldest change first."""

    entries: Sequence[E]
    is_last: bool
    etag: str | None
    at: datetime


class Reading(Generic[E]):
    """One pass over a list: where to ask next, what is fresh, and from where the next pass starts."""

    def __init__(self, feed: Feed, overlap: timedelta = OVERLAP) -> None:
        self._feed = feed
        self._overlap = overlap
        self._first: Page[E] | None = None
        self._read: dict[int, Version] = {}
        self._fresh: dict[int, E] = {}
        self.since = feed.since
        self.page = 1
        self.is_done = False

    @property
    def etag(self) -> str | None:
        """What the first question may be answered with 'unchanged' by."""
        return None if self._first else self._feed.etag

    @property
    def started_at(self) -> datetime | None:
        """The forge's clock at the first page."""
        return self._first.at if self._first else None

    @property
    def fresh(self) -> tuple[E, ...]:
        """What no earlier pass has seen, the latest version of each, oldest change first."""
        return tuple(self._fresh.values())

    def unchanged(self) -> None:
        """The forge says that nothing happened."""
        self.is_done = True

    def take(self, page: Page[E]) -> None:
        """Take in a page and decide whether, and where, to ask on."""
        self._first = self._first or page
        unread = [entry for entry in page.entries if self._read.get(entry.id) != entry.version]
        for entry in unread:
            self._keep(entry)
        # A page with nothing unread comes from a forge that ignores where we ask; asking on would never end.
        self.is_done = page.is_last or not unread
        if not self.is_done:
            self._turn_over(page.entries)

    def next_feed(self) -> Feed:
        """From where the next pass starts."""
        if self._first is None:
            return self._feed
        since = self._next_since(self._first)
        same_address = since == self._feed.since
        # Only the first page has an ETag: where there were more, it says nothing about the others.
        etag = self._first.etag if same_address and self._first.is_last else None
        versions = {**self._feed.seen, **self._read}
        return Feed(since=since, etag=etag, seen={id_: seen for id_, seen in versions.items() if seen.at >= since})

    def _keep(self, entry: E) -> None:
        known = self._read.get(entry.id) or self._feed.seen.get(entry.id)
        if entry.version.replaces(known):
            self._fresh.pop(entry.id, None)
            self._fresh[entry.id] = entry
            known = entry.version
        self._read[entry.id] = known or entry.version

    def _turn_over(self, entries: Sequence[E]) -> None:
        first, last = entries[0].version.at, entries[-1].version.at
        # Page numbers shift when an entry changes meanwhile, times do not.
        if first == last:
            self.page += 1
        else:
            self.since, self.page = last, 1

    def _next_since(self, first: Page[E]) -> datetime:
        since = self._feed.since
        if since is None:
            return first.at - self._overlap
        if self._fresh:
            newest = max(entry.version.at for entry in self._fresh.values())
            # A stamp ahead of the forge's clock would hide everything until then.
            return max(since, min(newest, first.at) - self._overlap)
        return since if first.is_last else max(since, first.at - self._overlap)
