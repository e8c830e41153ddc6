"""Faults to order: which of the next calls fail, how, and whether their effect happens all the same."""

import re
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock
from typing import Literal

from hikitsugi.domain.errors import WillNeverWork

When = Literal["before", "after", "late"]


class Failing(StrEnum):
    """What the caller gets to see."""

    SERVER_ERROR = "500"
    BAD_GATEWAY = "502"
    UNAVAILABLE = "503"
    TOO_MANY = "429"
    PRIMARY_LIMIT = "primary limit"
    SECONDARY_LIMIT = "secondary limit"
    DROP = "drop"
    SLOW = "slow"
    HALF = "half"
    CUT = "cut"


@dataclass(frozen=True)
class Fault:
    """The next `times` calls that fit fail.

    `before`: the effect never happens. `after`: it happened, but the caller is told otherwise. `late`: it happens
    `seconds` after the caller was told. `SLOW` waits `seconds` and then answers well. `HALF` breaks off in the
    middle of the true answer, `CUT` ends it there as if it were whole; both are always after the effect.
    """

    how: Failing = Failing.SERVER_ERROR
    method: str = ".*"
    path: str = ""
    times: int = 1
    when: When = "before"
    seconds: float = 1.0
    retry_after: int = 1

    def __post_init__(self) -> None:
        try:
            for pattern in (self.method, self.path):
                re.compile(pattern)
        except re.error as reason:
            raise WillNeverWork(f"The fault's pattern is not a regular expression: {reason}.") from reason
        if self.when == "late" and self.how in {Failing.SLOW, Failing.HALF, Failing.CUT}:
            raise WillNeverWork(f"A late effect goes with an error, not with {self.how.value!r}.")

    def fits(self, method: str, path: str) -> bool:
        """Whether a call is one of those meant; the path is searched decoded and without its query."""
        return bool(re.fullmatch(self.method, method, re.IGNORECASE) and re.search(self.path, path))


class Faults:
    """The faults that wait for their calls."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: list[tuple[Fault, int]] = []

    @property
    def waiting(self) -> list[tuple[Fault, int]]:
        """Each fault with how often it will still strike."""
        return list(self._waiting)

    def add(self, fault: Fault) -> None:
        """Let calls fail from now on."""
        with self._lock:
            self._waiting.append((fault, fault.times))

    def clear(self) -> None:
        """Let all calls succeed again."""
        with self._lock:
            self._waiting.clear()

    def strike(self, method: str, path: str) -> Fault | None:
        """The first fault that fits a call, used up by one."""
        with self._lock:
            for at, (fault, left) in enumerate(self._waiting):
                if fault.fits(method, path):
                    self._waiting[at : at + 1] = [(fault, left - 1)] if left > 1 else []
                    return fault
            return None
