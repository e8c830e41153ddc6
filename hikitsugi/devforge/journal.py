"""What happened in a repository, in order; also its clock, its ids and the lock under which it changes."""

from collections.abc import Callable
from datetime import datetime
from threading import RLock
from typing import Any

from hikitsugi.devforge.records import Deed, Entry, Issue, Person

Clock = Callable[[], datetime]


class Journal:
    """The entries of one repository."""

    def __init__(self, next_id: Callable[[], int], now: Clock, heard: Callable[[Entry], None]) -> None:
        self.lock = RLock()
        self.next_id = next_id
        self.now = now
        self._heard = heard
        self._entries: list[Entry] = []

    @property
    def entries(self) -> list[Entry]:
        """All entries, oldest first."""
        return list(self._entries)

    def write(self, deed: Deed, by: Person, after: Issue, before: Issue | None = None, **facts: Any) -> None:
        """Note what was done and tell whoever listens."""
        entry = Entry(self.next_id(), self.now(), deed, by, after, before, **facts)
        self._entries.append(entry)
        self._heard(entry)
