"""The only split a retry needs: what will never work, and what may work later."""

from datetime import timedelta


class HikitsugiError(Exception):
    """An expected failure whose text is one sentence a person can act on."""


class WillNeverWork(HikitsugiError):
    """Trying again changes nothing: bad credentials, an unknown repository, a refused request."""


class Unprepared(WillNeverWork):
    """The checkout is not on this host; preparing it is what helps."""


class TryAgainLater(HikitsugiError):
    """A passing fault; `after` is how long the other side asked us to wait, if it did."""

    def __init__(self, reason: str, after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.after = after


class Away(TryAgainLater):
    """A fault that passes, but has lasted so long that people should see it."""
