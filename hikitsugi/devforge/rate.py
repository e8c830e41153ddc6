"""How many calls each person has made in the running window."""

import time
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock

from hikitsugi.devforge.records import Person


@dataclass(frozen=True)
class Quota:
    """How much of a window's calls is used up, and when the next window begins."""

    limit: int
    used: int
    reset: int

    @property
    def remaining(self) -> int:
        """The calls left in this window."""
        return max(0, self.limit - self.used)


class RateMeter:
    """Counts the calls of each person."""

    def __init__(self, limit: int, window: timedelta) -> None:
        self._limit = limit
        self._window = int(window.total_seconds())
        self._lock = Lock()
        self._quotas: dict[str, Quota] = {}

    def quota(self, somebody: Person) -> Quota:
        """Where a person stands now."""
        now = int(time.time())
        known = self._quotas.get(somebody.login)
        return known if known and known.reset > now else Quota(self._limit, 0, now + self._window)

    def spend(self, somebody: Person) -> None:
        """Count one call."""
        with self._lock:
            quota = self.quota(somebody)
            self._quotas[somebody.login] = Quota(quota.limit, quota.used + 1, quota.reset)
