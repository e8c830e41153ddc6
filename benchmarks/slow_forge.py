"""A forge whose every call takes the same time and changes nothing."""

import asyncio
from collections.abc import Collection

from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.issue import Comment
from tests.workflows.fakes import FakeForge

_ANY = IssueAddress(forge="github", repository="octo/repo", number=1)


class SlowForge(FakeForge):
    """Branch, labels and comments, each after a while."""

    def __init__(self, seconds: float) -> None:
        super().__init__(_ANY)
        self._seconds = seconds
        self.calls = 0

    async def ensure_branch(self, home: RepositoryAddress, name: str, from_ref: str) -> None:
        """Make a branch."""
        await self._take_time()

    async def change_labels(self, issue: IssueAddress, add: Collection[str], remove: Collection[str]) -> None:
        """Set labels."""
        await self._take_time()

    async def read_comments(self, issue: IssueAddress, *, on_lines: bool = False) -> list[Comment]:
        """Read the conversation."""
        await self._take_time()
        return []

    async def _take_time(self) -> None:
        self.calls += 1
        await asyncio.sleep(self._seconds)
