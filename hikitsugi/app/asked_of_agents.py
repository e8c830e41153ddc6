"""What repositories ask of agents, read from the base branch once for each of its commits."""

import asyncio
from collections.abc import Mapping

from hikitsugi.domain.address import IssueAddress, RepositoryAddress
from hikitsugi.domain.ports import Forge, Workspaces

_ANY_ISSUE = 1


class AskedOfAgents:
    """The instruction files of each repository; whoever asks meanwhile waits for the same reading."""

    def __init__(self, forges: Mapping[str, Forge], workspaces: Workspaces) -> None:
        self._forges = forges
        self._workspaces = workspaces
        self._known: dict[RepositoryAddress, tuple[str, str]] = {}
        self._reading: dict[RepositoryAddress, asyncio.Lock] = {}

    async def at(self, home: RepositoryAddress, commit: str) -> str:
        """The instructions of a repository whose base branch stands at a commit."""
        async with self._reading.setdefault(home, asyncio.Lock()):
            known = self._known.get(home)
            if known is None or known[0] != commit:
                known = self._known[home] = commit, await self._read(home)
        return known[1]

    async def _read(self, home: RepositoryAddress) -> str:
        remote = await self._forges[home.forge].git_remote(home)
        anywhere = IssueAddress(forge=home.forge, repository=home.repository, number=_ANY_ISSUE)
        return await self._workspaces.instructions(anywhere, remote)
