"""The board as the steps of the stories see it."""

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.issue import Base, Issue
from hikitsugi.domain.selection import Card
from hikitsugi.domain.value import Value


class Held(Value):
    """A lease as everybody may see it."""

    lease_id: str
    agent_id: str
    issue: IssueAddress
    branch_name: str
    lease_expires_at: datetime


class Board(Protocol):
    """A cache of what can be given to whom; everything on it can be found again elsewhere."""

    async def is_filled(self, home: RepositoryAddress) -> bool:
        """Whether the repository's issues are on it."""
        ...

    async def fill(
        self, home: RepositoryAddress, base: Base, cards: Iterable[Card], waiting: Iterable[Issue] = ()
    ) -> None:
        """Let it show exactly these tasks of a repository, and know what waits for a review."""
        ...

    async def set_base(self, home: RepositoryAddress, base: Base) -> None:
        """Note where new branches start."""
        ...

    async def keep_waiting(self, issue: Issue) -> None:
        """Take an issue off that waits for a review, and remember it."""
        ...

    async def waiting(self, home: RepositoryAddress) -> list[Issue]:
        """The issues that wait for a review."""
        ...

    async def put(self, card: Card) -> None:
        """Show a task as it stands now."""
        ...

    async def remove(self, issue: IssueAddress) -> None:
        """Take a task off."""
        ...

    async def hold(self, held: Held, shelf: str) -> bool:
        """Note that an agent has a task; False when it has another one, or when that is not known."""
        ...

    async def let_go(self, issue: IssueAddress, agent: str, *, again: bool) -> None:
        """Note that nobody has it any more; whether it can be given again."""
        ...
