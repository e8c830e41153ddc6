"""The hourly quota of each person, as GitHub counts it."""

import time
from dataclasses import dataclass
from threading import Lock

from hikitsugi.devforge.records import Person

HOUR = 3600


@dataclass(frozen=True)
class Quota:
    """How much of an hour's calls is used up, and when the next hour begins."""

    limit: int
    used: int
    reset: int

    @property
    def remaining(self) -> int:
        """The calls left in this hour."""
        return max(0, self.limit - self.used)

    def shape(self) -> dict[str, int]:
        """The quota in GitHub's words."""
        return {"limit": self.limit, "remaining": self.remaining, "reset": self.reset, "used": self.used}

    def headers(self) -> dict[str, str]:
        """The quota as headers of an answer."""
        return {f"x-ratelimit-{key}": str(value) for key, value in self.shape().items()} | {
            "x-ratelimit-resource": "core"
        }


class RateMeter:
    """Counts the calls of each person."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = Lock()
        self._quotas: dict[str, Quota] = {}

    def quota(self, somebody: Person) -> Quota:
        """Where a person stands now."""
        now = int(time.time())
        known = self._quotas.get(somebody.login)
        return known if known and known.reset > now else Quota(self._limit, 0, now + HOUR)

    def spend(self, somebody: Person) -> None:
        """Count one call."""
        with self._lock:
            quota = self.quota(somebody)
            self._quotas[somebody.login] = Quota(quota.limit, quota.used + 1, quota.reset)
