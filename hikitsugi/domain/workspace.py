"""A checkout an issue is worked in, and what was published from it."""

from datetime import datetime

from hikitsugi.domain.value import Value


class Commit(Value):
    """A commit made by the platform; equal input gives an equal hash."""

    message: str
    at: datetime


class Published(Value):
    """What the work branch holds after a push: its commit, and what it changes against the base branch."""

    commit: str
    files_changed: int = 0
    insertions: int = 0
    deletions: int = 0
    withheld: bool = False
    """Whether nothing was pushed, because the branch is in somebody else's copy."""

    @property
    def is_empty(self) -> bool:
        """Whether the branch holds nothing beyond its base."""
        return self.files_changed == 0
