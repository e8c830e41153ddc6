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

    async def ensure_branch(self, home: RepositoryAddress, name: str, from_ref: str) -> None:
        """Make a branch."""
        await asyncio.sleep(self._seconds)

    async def change_labels(self, issue: IssueAddress, add: Collection[str], remove: Collection[str]) -> None:
        """Set labels."""
        await asyncio.sleep(self._seconds)

    async def read_comments(self, issue: IssueAddress) -> list[Comment]:
        """Read the conversation."""
        await asyncio.sleep(self._seconds)
        return []
